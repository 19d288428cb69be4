"""Who sees a post (docs/posts.md#visibility) and who may comment on it, by pure functions. Lists have an index for each
visibility."""

from enum import StrEnum
from itertools import product

import msgspec


class Visibility(StrEnum):
    """Who may see a post or clip.

    PUBLIC (the default): anyone, signed-out visitors too. FOLLOWERS: accounts that follow the author. CONNECTIONS:
    accounts that follow the author and are followed back. PRIVATE: the author alone. CUSTOM: a list that only the web
    app can set; without one it is like PRIVATE.
    """

    PUBLIC = "PUBLIC"
    FOLLOWERS = "FOLLOWERS"
    CONNECTIONS = "CONNECTIONS"
    PRIVATE = "PRIVATE"
    CUSTOM = "CUSTOM"


class Commenters(StrEnum):
    """Who may comment on a post, of those who see it: everyone, followers of its author, or nobody else."""

    EVERYONE = "everyone"
    FOLLOWERS = "followers"
    NOBODY = "nobody"


class Relationship(msgspec.Struct, frozen=True):
    """A reader's relationship to a post and its author.

    `listed`: the reader is on the allowlist that the author set for the post. `blocked`: one of the two blocks the
    other. `suspended`: the operator suspended the author, and nobody sees anything of them.
    """

    is_author: bool = False
    follows: bool = False
    followed_back: bool = False
    listed: bool = False
    blocked: bool = False
    suspended: bool = False


def may_see(visibility: Visibility, relationship: Relationship) -> bool:
    """Returns whether a reader may see a post of this visibility. A signed-out reader has the empty relationship."""
    if relationship.suspended or relationship.blocked:
        return False
    match visibility:
        case Visibility.PUBLIC:
            return True
        case Visibility.FOLLOWERS:
            return relationship.is_author or relationship.follows
        case Visibility.CONNECTIONS:
            return relationship.is_author or (relationship.follows and relationship.followed_back)
        case Visibility.PRIVATE:
            return relationship.is_author
        case Visibility.CUSTOM:
            return relationship.is_author or relationship.listed


def may_comment(commenters: Commenters, *, is_author: bool, follows: bool) -> bool:
    """Returns whether a reader who sees a post may comment on it."""
    match commenters:
        case Commenters.EVERYONE:
            return True
        case Commenters.FOLLOWERS:
            return is_author or follows
        case Commenters.NOBODY:
            return is_author


_ALL_RELATIONSHIPS = [Relationship(*each) for each in product((False, True), repeat=5)]


def narrows(before: Visibility, after: Visibility) -> bool:
    """Returns whether somebody may see a post of visibility `before` and not one of visibility `after`."""
    return any(
        may_see(before, relationship) and not may_see(after, relationship) for relationship in _ALL_RELATIONSHIPS
    )


def key_may_read(visibility: Visibility, *, is_author: bool) -> bool:
    """Returns whether a key may read a post: its own account's, or one that anybody may see."""
    return may_see(visibility, Relationship(is_author=is_author))
