"""Wire shapes of the explore package (docs/web-app.md#explore)."""

from collections.abc import Iterator
from typing import Annotated, Final, Self

import msgspec
from msgspec import Meta

from pressroom.clock import iso
from pressroom.domains.accounts.schemas import AuthorOut, author_of
from pressroom.domains.explore.models import (
    Exclusion,
    NewExclusion,
    PickKind,
    RisingTag,
    SuggestedPerson,
)
from pressroom.domains.hubs.schemas import HubOut
from pressroom.domains.posts.examples import POST_EXAMPLE
from pressroom.domains.posts.schemas import PostOut
from pressroom.errors import Code, FieldError
from pressroom.text import is_invisible
from pressroom.web.json_bodies import Body
from pressroom.web.wire import SHOWN, Id, NextCursor, Time

NO_REASON: Final = "A reason has 1 to 500 characters that show."


class RisingTagOut(msgspec.Struct):
    """A hashtag that more accounts use than on a day of the week before."""

    name: Annotated[str, Meta(description="Its identity: NFKC and case-folded, without #.")]
    posts: Annotated[int, Meta(description="Posts with it in the last 24 hours.")]
    accounts: Annotated[int, Meta(description="Accounts that used it in the last 24 hours: at least 3.")]


class SuggestedPersonOut(AuthorOut, rename="camel"):
    """An account that the caller does not follow."""

    bio: str | None
    total_followers: int
    followed_by: Annotated[int, Meta(description="Accounts that follow it among those that the caller follows.")]

    @classmethod
    def example(cls) -> Self:
        author = msgspec.structs.asdict(AuthorOut.example())
        return cls(**author, bio="Notes on type, paper and ink.", total_followers=180, followed_by=3)


class ExploreOut(msgspec.Struct):
    """Suggestions for the caller."""

    tags: Annotated[list[RisingTagOut], Meta(description="Hashtags that rise, the fastest first: up to 10.")]
    posts: Annotated[
        list[PostOut],
        Meta(description="PUBLIC posts that the most accounts liked or bounced in the last 24 hours: up to 10."),
    ]
    people: Annotated[
        list[SuggestedPersonOut],
        Meta(description="Accounts that followed accounts follow, then much followed ones that publish: up to 10."),
    ]
    hubs: Annotated[list[HubOut], Meta(description="Hubs with the most members: up to 10.")]

    @classmethod
    def example(cls) -> Self:
        return cls(
            tags=[RisingTagOut("letterpress", posts=41, accounts=17)],
            posts=[POST_EXAMPLE],
            people=[SuggestedPersonOut.example()],
            hubs=[HubOut.example()],
        )


class ExcludeSubject(Body):
    """A subject to take out of explore."""

    type: Annotated[PickKind, Meta(description="The kind of the subject.")]
    subject: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=200,
            description="A hashtag, or a post, account or hub: its id, user name or slug, or the address of its page.",
        ),
    ]
    reason: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=500,
            description="For the log, and for the owner of a post or account.",
            extra_json_schema={"pattern": SHOWN},
        ),
    ]

    def field_errors(self, now: int) -> Iterator[FieldError]:
        if self.reason and is_invisible(self.reason):
            yield FieldError("reason", Code.TOO_SHORT, NO_REASON)

    def new_exclusion(self) -> NewExclusion:
        """Returns the exclusion to make."""
        return NewExclusion(self.type, self.subject.strip(), self.reason)

    @classmethod
    def example(cls) -> Self:
        return cls(type=PickKind.TAG, subject="pills", reason="Nothing but advertisements.")


class ExclusionOut(msgspec.Struct, rename="camel"):
    """A subject that is out of explore."""

    id: Id
    type: str
    subject: Annotated[str, Meta(description="The hashtag, the id of the post, the user name, or the slug of the hub.")]
    reason: str
    admin: Annotated[str, Meta(description="The user name of the admin.")]
    created_at: Time

    @classmethod
    def example(cls) -> Self:
        asked = ExcludeSubject.example()
        return cls(
            id="01M7WXTRMHVA0Q1D2S5P8NYV0R",
            type=asked.type,
            subject=asked.subject,
            reason=asked.reason,
            admin="mira_press",
            created_at="2026-11-20T16:50:16.017Z",
        )


class ExclusionList(msgspec.Struct, rename="camel"):
    """A page of exclusions, newest first."""

    exclusions: list[ExclusionOut]
    next_cursor: NextCursor


def tag_shape(tag: RisingTag) -> RisingTagOut:
    """Returns a hashtag that rises."""
    return RisingTagOut(tag.name, tag.posts, tag.accounts)


def person_shape(person: SuggestedPerson, base_url: str) -> SuggestedPersonOut:
    """Returns an account to follow."""
    return SuggestedPersonOut(
        **msgspec.structs.asdict(author_of(person.id, person, base_url)),
        bio=person.bio,
        total_followers=person.total_followers,
        followed_by=person.followed_by,
    )


def exclusion_shape(exclusion: Exclusion) -> ExclusionOut:
    """Returns an exclusion as admins see it."""
    return ExclusionOut(
        exclusion.id, exclusion.kind, exclusion.name, exclusion.reason, exclusion.admin, iso(exclusion.created_at)
    )
