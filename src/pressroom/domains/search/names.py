"""Search of accounts, hubs and hashtags by the beginnings of their names (docs/search.md#people-hubs-and-hashtags)."""

import re
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, Protocol, TypeVar

import msgspec

from pressroom.db import Database
from pressroom.db.params import BATCH
from pressroom.domains.accounts.models import folded, words_of_account
from pressroom.domains.hubs.models import words_of_hub
from pressroom.domains.search import queries
from pressroom.domains.search.posts import BUDGET
from pressroom.domains.search.queries import FoundHub, FoundPerson, FoundTag
from pressroom.entities import tag_identity
from pressroom.words import runs_of

_NAME: Final = re.compile(r"@?((?=_*[A-Za-z0-9])[A-Za-z0-9_]{1,30})")
_SLUG: Final = re.compile(r"((?=-*[A-Za-z0-9])[A-Za-z0-9-]{1,40})")
_NOT_IN_TAGS: Final = re.compile(r"[\s\x00-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f]")

TAGS: Final = 10
"""Hashtags that one step looks at, with up to TAGGED posts of each."""

MOST_SECONDS: Final = 1.0
"""Seconds after which a search ends that has come upon no name that the reader may see, behind which it could go on."""

Place = tuple[str, str]
"""The end of a page: a word and an id; of hashtags, a hashtag and an empty text."""


class _Named(Protocol):
    @property
    def word(self) -> str: ...
    @property
    def id(self) -> str: ...


T = TypeVar("T")
N = TypeVar("N", bound=_Named)


class FoundNames(msgspec.Struct, Generic[T]):
    """A page of results. `place`: where the next one begins; None on the last. `is_complete`: the time sufficed."""

    found: list[T]
    place: Place | None
    is_complete: bool = True


def prefixes_of(text: str, whole: re.Pattern[str]) -> list[str]:
    """Returns the beginnings of words that a name must have, the longest first.

    Args:
        text: The text of a search.
        whole: Matches a part of it that can begin a user name or a slug, which is its first group and stays whole.
    """
    found: dict[str, None] = {}
    for part in text.split():
        match = whole.fullmatch(part)
        found |= dict.fromkeys([folded(match[1])] if match else runs_of(part))
    return sorted(found, key=len, reverse=True)


def people_prefixes(text: str) -> list[str]:
    """Returns the beginnings of words that an account's names must have, the longest first."""
    return prefixes_of(text, _NAME)


def hub_prefixes(text: str) -> list[str]:
    """Returns the beginnings of words that a hub's names must have, the longest first."""
    return prefixes_of(text, _SLUG)


def tag_prefix(text: str) -> str:
    """Returns the beginning of a hashtag that a text names; empty without any."""
    prefix = tag_identity(_NOT_IN_TAGS.sub("", text))
    return prefix if any(character.isalnum() for character in prefix) else ""


async def search_people(
    db: Database, text: str, reader: str, place: Place | None, limit: int
) -> FoundNames[FoundPerson]:
    """Returns up to `limit` accounts whose names begin with the words of a text: first that with this user name."""
    prefixes = people_prefixes(text)
    exact = await db.read(queries.find_person, prefixes[0], reader=reader) if len(prefixes) == 1 else None

    def is_open(person: FoundPerson) -> bool:
        return person.is_listed and not person.is_hidden

    def is_found(person: FoundPerson) -> bool:
        words = words_of_account(person.username, person.display_name)
        return (exact is None or person.id != exact.id) and _is_first(person.word, words, prefixes)

    async def step(behind: Place) -> list[FoundPerson]:
        return await db.read_in_thread(queries.find_people, prefixes[0], reader=reader, place=behind, limit=BATCH)

    first = [exact] if exact is not None and not exact.is_hidden and place is None else []
    return await _walk(step, BATCH, is_open, is_found, _later(prefixes[0], place), limit, first)


async def search_hubs(db: Database, text: str, reader: str, place: Place | None, limit: int) -> FoundNames[FoundHub]:
    """Returns up to `limit` hubs whose names begin with the words of a text."""
    prefixes = hub_prefixes(text)

    async def step(behind: Place) -> list[FoundHub]:
        return await db.read_in_thread(queries.find_hubs, prefixes[0], reader=reader, place=behind, limit=BATCH)

    def is_found(hub: FoundHub) -> bool:
        return _is_first(hub.word, words_of_hub(hub.name, hub.slug), prefixes)

    return await _walk(step, BATCH, lambda _: True, is_found, _later(prefixes[0], place), limit)


async def search_tags(db: Database, text: str, reader: str, place: Place | None, limit: int) -> FoundNames[FoundTag]:
    """Returns up to `limit` hashtags, each of a visible post, that begin with a text."""
    prefix = tag_prefix(text)

    async def step(behind: Place) -> list[FoundTag]:
        return await db.read_in_thread(queries.find_tags, prefix, reader=reader, after=behind[0], limit=TAGS)

    return await _walk(step, TAGS, lambda tag: tag.is_shown, lambda _: True, place or ("", ""), limit)


def _later(prefix: str, place: Place | None) -> Place:
    """Returns where a list begins: never before the words with the prefix, even if a cursor names such a place."""
    return max((prefix, ""), place or ("", ""))


def _is_first(word: str, words: Sequence[str], prefixes: Sequence[str]) -> bool:
    """Returns whether a name has all prefixes, and `word` is the first of its words with that which is looked for.

    So a name is listed once, even when several of its words match.
    """
    if any(all(not each.startswith(prefix) for each in words) for prefix in prefixes[1:]):
        return False
    return word == min((each for each in words if each.startswith(prefixes[0])), default=None)


async def _walk(
    step: Callable[[Place], Awaitable[list[N]]],
    size: int,
    is_open: Callable[[N], bool],
    is_found: Callable[[N], bool],
    start: Place,
    limit: int,
    first: Sequence[N] = (),
) -> FoundNames[N]:
    """Returns at most `limit` names behind the place `start` that are found, after the one in `first`, if any.

    Args:
        step: Reads the names behind a place.
        size: How many names a step reads, fewer at the end alone.
        is_open: Whether the reader may learn a name.
        is_found: Whether an open name is found.
    """
    found, began = list(first), time.perf_counter()
    behind, last, known = start, start, start
    while True:
        rows = await step(behind)
        for row in rows:
            behind = row.word, row.id
            # Passed over without a trace: neither the page nor its cursor names it.
            if not is_open(row):
                continue
            known = behind
            if is_found(row):
                if len(found) == limit:
                    return FoundNames(found, last)
                found.append(row)
                last = behind
        if len(rows) < size:
            return FoundNames(found, None)
        took = time.perf_counter() - began
        # A cursor never names a hidden account or hub.
        if took > BUDGET and known != start:
            return FoundNames(found, known, is_complete=False)
        if took > MOST_SECONDS:
            return FoundNames(found, None, is_complete=False)
