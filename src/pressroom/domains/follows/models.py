"""The state of a follow, and the accounts in lists of followers."""

import msgspec


class Following(msgspec.Struct, frozen=True):
    """Whether an account follows another one, or has requested to."""

    following: bool
    requested: bool = False


class Relation(Following, frozen=True):
    """An account's settings towards another one, and whether the other one blocks it."""

    blocked: bool = False
    muted: bool = False
    blocked_by: bool = False


class Accepted(msgspec.Struct, frozen=True):
    """How many requests were accepted at once, and whether others still wait."""

    accepted: int
    left: bool


class Person(msgspec.Struct):
    """An account in a list of followers, followed accounts or follow requests.

    `listed_as` is the id that the list is sorted by; `created_at` is when the follow or request began (milliseconds).
    """

    listed_as: str
    id: str
    username: str
    display_name: str
    avatar_token: str | None
    verified: bool
    created_at: int


class ListedPerson(Person):
    """An account in a list of another account's profile. `shown`: the reader may see it there."""

    shown: bool
