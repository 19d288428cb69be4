"""A hub, and the rule for its slug."""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from pressroom.errors import Code, FieldError
from pressroom.words import beginnings_of

SLUG: Final = re.compile(r"[a-z0-9-]{3,40}")


class NewHub(msgspec.Struct):
    """A hub to create."""

    name: str
    slug: str
    description: str | None = None


class Hub(msgspec.Struct):
    """A stored hub, and whether the reader is a member. `created_at` is in milliseconds."""

    id: str
    name: str
    slug: str
    description: str | None
    members: int
    created_at: int
    is_member: bool


class HubChoice(msgspec.Struct):
    """The hubs that a form offers to publish into. `more`: the account is a member of others too."""

    hubs: list[Hub]
    more: bool


def words_of_hub(name: str, slug: str) -> list[str]:
    """Returns the words by whose beginning a hub is found, each once."""
    return list(dict.fromkeys([slug, *beginnings_of(slug), *beginnings_of(name)]))


def slug_errors(slug: object) -> Iterator[FieldError]:
    """Returns the fault of a slug: 3 to 40 of a-z 0-9 -."""
    if isinstance(slug, str) and not SLUG.fullmatch(slug):
        code = Code.TOO_SHORT if len(slug) < 3 else Code.TOO_LONG if len(slug) > 40 else Code.INVALID_FORMAT
        yield FieldError("slug", code, "A slug has 3 to 40 characters of a-z, 0-9 and -.")
