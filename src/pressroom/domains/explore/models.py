"""Picks of explore, people to follow, and the exclusions of admins."""

from enum import StrEnum
from typing import Final

import msgspec

from pressroom.entities import EntityKind, entities
from pressroom.errors import NotFound

TAGS: Final = 10
POSTS: Final = 10
PEOPLE: Final = 10
HUBS: Final = 10
"""Entries of each kind that a reader is shown."""

SPARE: Final = 5
"""Further picks of each kind, in place of those that a reader may not see."""


class PickKind(StrEnum):
    """The kinds of subjects in explore."""

    TAG = "tag"
    POST = "post"
    ACCOUNT = "account"
    HUB = "hub"


SHOWN: Final = {PickKind.TAG: TAGS, PickKind.POST: POSTS, PickKind.ACCOUNT: PEOPLE, PickKind.HUB: HUBS}


class Pick(msgspec.Struct, frozen=True):
    """A pick of the job.

    Attributes:
        kind: Its kind.
        subject: The identity of a hashtag, or the id of a post, account or hub.
        account_id: The author of a post.
        posts: Of a hashtag: the posts with it in the last day.
        accounts: The accounts that used the hashtag, or liked or bounced the post, in the last day.
    """

    kind: PickKind
    subject: str
    account_id: str | None = None
    posts: int = 0
    accounts: int = 0


class RisingTag(msgspec.Struct, frozen=True):
    """A hashtag with its use in the last day."""

    name: str
    posts: int
    accounts: int


class SuggestedPerson(msgspec.Struct):
    """An account to follow. `followed_by` counts accounts that follow it among those that the reader follows."""

    id: str
    username: str
    display_name: str
    bio: str | None
    avatar_token: str | None
    verified: bool
    total_followers: int
    followed_by: int


class NewExclusion(msgspec.Struct):
    """A subject to take out of explore. `subject` is a hashtag, or the id, user name or slug of a post, account or hub,
    or the address of its page."""

    kind: PickKind
    subject: str
    reason: str


def get_tag(text: str) -> str:
    """Returns the identity of a hashtag that is written with or without its sign. Raises NotFound for another text."""
    written = f"#{text.removeprefix('#')}"
    found = entities(written)
    if len(found) != 1 or found[0].kind is not EntityKind.HASHTAG or found[0].end != len(written):
        raise NotFound("This is no hashtag: give its letters and digits, with or without #.")
    return found[0].name


class Exclusion(msgspec.Struct):
    """A subject that is out of explore.

    Attributes:
        id: Its id, by which lists are sorted.
        kind: The kind of the subject.
        subject: The identity of a hashtag, or an id.
        name: The hashtag, the id of the post, the present user name, or the slug of the hub.
        reason: The admin's reason.
        admin: The admin's present user name.
        created_at: When it was taken out (milliseconds).
    """

    id: str
    kind: PickKind
    subject: str
    name: str
    reason: str
    admin: str
    created_at: int
