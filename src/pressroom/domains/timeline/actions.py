"""Reads a page of the home timeline on one snapshot (docs/timeline.md)."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from pressroom.db import Database, Tx
from pressroom.domains.privacy.models import Matcher, Place
from pressroom.domains.privacy.queries import list_filters
from pressroom.domains.timeline import queries
from pressroom.domains.timeline.models import MANY, ROUNDS, SOURCES, WALKED, Author, Entry, Hub, Timeline
from pressroom.domains.timeline.omissions import list_entries
from pressroom.domains.timeline.queries import SLOTS, Recent
from pressroom.ids import BEYOND

NEW: Final = 20
"""New entries that are counted at most."""

S = TypeVar("S", Author, Hub)

RECENT: Final = 500
"""The newest posts of all that a look for new entries reads."""


async def read_timeline(tx: Tx, reader: str, follows: int, before: str, limit: int) -> Timeline:
    """Returns a page of the reader's timeline, newest first, with entries below `before`.

    A post and its bounces stand once in a page, at the place of the newest. Where many entries are not shown, the page
    is shorter than `limit`, or empty, although others follow: it is read in ROUNDS at most.

    Args:
        tx: The transaction.
        reader: The id of the reader's account.
        follows: The approximate number of followed accounts. It decides the order of reads, not the result.
        before: The id below which the page begins.
        limit: How many entries the page has at the most.
    """
    matcher = Matcher(await list_filters(tx, reader), Place.TIMELINE)
    shown: dict[str, Entry] = {}
    place = before
    for _ in range(ROUNDS):
        ids, floor = await _list_ids(tx, reader, follows, place, limit + 1)
        for start in range(0, len(ids), limit + 1):
            some = ids[start : start + limit + 1]
            for entry in await list_entries(tx, reader, some, matcher):
                # The first one stays: entries come newest first.
                shown.setdefault(entry.subject, entry)
            place = some[-1]
            if len(shown) > limit:
                entries = list(shown.values())[:limit]
                return Timeline(entries, entries[-1].id)
        if not floor:
            return Timeline(list(shown.values()), None)
        place = min(place, floor)
    return Timeline(list(shown.values()), place)


async def get_recent(db: Database, reader: str, after: str) -> Recent:
    """Looks at the newest RECENT posts and clips of all with ids above `after`, without a transaction: a page asks once
    a minute, nearly always in vain, and on PostgreSQL each statement of a transaction's own is another round trip."""
    found = await db.one(queries.FIND_RECENT, reader=reader, after=after, looked_at=RECENT)
    return found or Recent(0, after, 0)


async def count_new(tx: Tx, reader: str, follows: int, after: str, recent: Recent) -> tuple[int, str]:
    """Counts the entries of the reader's timeline above the id `after`, NEW of them at most.

    Returns the number, and the id above which the next look begins. As long as nothing in `recent` came from a source
    of the reader, no page is read.
    """
    hubs = await queries.list_hubs(tx, reader, before=BEYOND, limit=1)
    # The usual case, without a page: nothing new in any source of the reader.
    if not recent.found and recent.looked_at < RECENT and all(hub.newest <= after for hub in hubs):
        return 0, recent.newest
    page = await read_timeline(tx, reader, follows, BEYOND, NEW)
    return sum(entry.id > after for entry in page.entries), after


async def _list_ids(tx: Tx, reader: str, follows: int, before: str, wanted: int) -> tuple[list[str], str]:
    """Returns ids of posts and clips below `before`, newest first, and the id down to which they are all; empty: these
    are all. Those that the reader may not see can be among them."""
    hubs = await queries.list_hubs(tx, reader, before=before, limit=SOURCES)

    async def read_hubs(some: Sequence[Hub]) -> list[str]:
        return await queries.list_of_hubs(tx, reader, some, before=before, limit=wanted)

    async def read_authors(some: Sequence[Author]) -> list[str]:
        seen = [each for each in some if not each.muted]
        return await queries.list_of_authors(tx, reader, seen, before=before, limit=wanted) if seen else []

    found, floor = await _merge(hubs, read_hubs, wanted)
    # A reader of thousands of accounts finds entries sooner among the newest of all than by their sources.
    walked = await _walk(tx, reader, before, wanted) if follows > MANY else None
    if walked is None:
        authors = await queries.list_authors(tx, reader, before=before, limit=SOURCES)
        walked = await _merge(authors, read_authors, wanted)
    floor = max(floor, walked[1])
    return sorted((each for each in found | walked[0] if each >= floor), reverse=True), floor


async def _walk(tx: Tx, reader: str, before: str, wanted: int) -> tuple[set[str], str] | None:
    """Finds entries among the newest of all; None when there are fewer than `wanted` among WALKED."""
    found = await queries.walk_newest(tx, reader, before=before, looked_at=WALKED, limit=wanted)
    return None if len(found) < wanted else (set(found), min(found))


async def _merge(
    sources: list[S], read: Callable[[Sequence[S]], Awaitable[list[str]]], wanted: int
) -> tuple[set[str], str]:
    """Reads the sources with the newest entries first, until no other source can have one of the newest `wanted`.

    Returns the ids that were found and the id down to which they are all; empty: these are all.
    """
    found: set[str] = set()
    floor = sources[-1].newest if len(sources) == SOURCES else ""
    for start in range(0, len(sources), SLOTS):
        found.update(await read(sources[start : start + SLOTS]))
        unread = sources[start + SLOTS :]
        if unread and sum(each > unread[0].newest for each in found) >= wanted:
            break
    # Each source gave `wanted` ids at most: below the last of the newest there may be others.
    newest = sorted(found, reverse=True)[:wanted]
    return found, max(floor, newest[-1]) if len(newest) == wanted else floor
