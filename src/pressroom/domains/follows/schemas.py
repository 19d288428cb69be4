"""Wire shapes of the follows package."""

from collections.abc import Iterator
from typing import Annotated, Self

import msgspec
from msgspec import Meta

from pressroom.clock import iso
from pressroom.domains.accounts.schemas import AuthorOut, author_of
from pressroom.domains.follows.models import Accepted, Following, Person
from pressroom.errors import FieldError
from pressroom.web.json_bodies import Body
from pressroom.web.paging import ID_PATTERN, shown_id_errors
from pressroom.web.wire import Id, NextCursor, Time


class FollowOut(msgspec.Struct):
    """Whether the caller follows the account now, or waits for it to accept."""

    following: bool
    requested: Annotated[bool, Meta(description="The account is private and has not answered yet.")]


class FollowerOut(msgspec.Struct):
    """Whether the account follows the caller now."""

    following: bool


class WaitingOut(AuthorOut, rename="camel"):
    """An account that asks to follow the caller."""

    requested_at: Time

    @classmethod
    def example(cls) -> Self:
        return cls(**msgspec.structs.asdict(AuthorOut.example()), requested_at="2026-11-20T16:08:12.345Z")


class WaitingList(msgspec.Struct, rename="camel"):
    """A page of those whom the caller asked to follow, newest account first."""

    follow_requests: list[WaitingOut]
    next_cursor: NextCursor


class RequestOut(WaitingOut, rename="camel"):
    """An account that asks to follow the caller, with its request."""

    request_id: Id

    @classmethod
    def example(cls) -> Self:
        return cls(**msgspec.structs.asdict(WaitingOut.example()), request_id="01KW1H3V9C5Q2Z7M4X8N6B0T1R")


class RequestList(msgspec.Struct, rename="camel"):
    """A page of those who ask to follow the caller, latest first."""

    follow_requests: list[RequestOut]
    next_cursor: NextCursor


class AcceptRequests(Body):
    """The requests to accept."""

    up_to: (
        Annotated[
            str,
            Meta(
                min_length=1,
                max_length=26,
                description="The `requestId` of the newest one that was shown: later ones wait on. Absent: all.",
                extra_json_schema={"pattern": ID_PATTERN},
            ),
        ]
        | None
    ) = None

    def field_errors(self, now: int) -> Iterator[FieldError]:
        """Yields an error for a text that is no id."""
        yield from shown_id_errors("upTo", self.up_to)


class FollowerList(msgspec.Struct, rename="camel"):
    """A page of those who follow the caller, newest account first."""

    followers: list[AuthorOut]
    next_cursor: NextCursor


class FollowedList(msgspec.Struct, rename="camel"):
    """A page of those whom the caller follows, newest account first."""

    follows: list[AuthorOut]
    next_cursor: NextCursor


class SuggestionsOut(msgspec.Struct):
    """Accounts whose user names may be meant."""

    accounts: list[AuthorOut]


class AcceptedOut(msgspec.Struct):
    """The result of accepting all requests."""

    accepted: Annotated[int, Meta(description="How many accounts follow the caller from now on.")]
    left: Annotated[bool, Meta(description="Whether others still wait: send the request again.")]


def accepted_shape(accepted: Accepted) -> AcceptedOut:
    """Returns the result of accepting all requests."""
    return AcceptedOut(accepted.accepted, accepted.left)


def follow_shape(following: Following) -> FollowOut:
    """Returns the state of a follow as the follower sees it."""
    return FollowOut(following.following, following.requested)


def follower_shape(following: Following) -> FollowerOut:
    """Returns the state of a follow as the followed account sees it."""
    return FollowerOut(following.following)


def person_shape(person: Person, base_url: str) -> AuthorOut:
    """Returns an account of a list."""
    return author_of(person.id, person, base_url)


def waiting_shape(person: Person, base_url: str) -> WaitingOut:
    """Returns an account that has requested to follow the caller."""
    author = person_shape(person, base_url)
    return WaitingOut(**msgspec.structs.asdict(author), requested_at=iso(person.created_at))


def request_shape(person: Person, base_url: str) -> RequestOut:
    """Returns an account that has requested to follow the caller, with its request."""
    return RequestOut(**msgspec.structs.asdict(waiting_shape(person, base_url)), request_id=person.listed_as)
