"""Views of posts, counted in the process and saved in batches (docs/posts.md#statistics)."""

import operator
from collections import Counter
from typing import Final

from pressroom.clock import HOUR
from pressroom.db import Database, Tx
from pressroom.domains.posts.queries import writing
from pressroom.jobs.write_behind import WriteBehind

MOST: Final = 10_000
"""Posts whose views can wait to be saved. Only while the database is away are there more; theirs are not counted."""

SEEN: Final = 100_000
"""Visits that are remembered in an hour; views beyond that are not counted until the next hour."""

POSTS_OF_VISITOR: Final = 500
"""Posts whose views one visitor can add to in an hour, so that no visitor alone uses up SEEN."""


class ViewCounter:
    """Counts the views of each post since the last flush; a visitor counts once an hour."""

    def __init__(self, db: Database) -> None:
        # A write that is cancelled may still commit; repeated, it would count its views twice.
        self._counts = WriteBehind[int](
            lambda opened: db.transact(_add_all, opened), merge=operator.add, most=MOST, repeatable=False
        )
        self._hour = 0
        self._seen: set[int] = set()
        self._visits: Counter[int] = Counter()

    def note(self, post_id: str, visitor: str, now: int) -> None:
        """Counts a view at `now` (milliseconds) by a visitor who is not the author."""
        if self._is_first(post_id, visitor, now // HOUR):
            self._counts.add(post_id, 1)

    def _is_first(self, post_id: str, visitor: str, hour: int) -> bool:
        """Returns whether this is the visitor's first view of the post in this hour; False once SEEN is full."""
        if hour != self._hour:
            self._hour = hour
            self._seen.clear()
            self._visits.clear()
        who, visit = hash(visitor), hash((post_id, visitor))  # salted in each process: no address is stored
        if visit in self._seen or len(self._seen) >= SEEN or self._visits[who] >= POSTS_OF_VISITOR:
            return False
        self._seen.add(visit)
        self._visits[who] += 1
        return True

    async def flush(self) -> None:
        """Saves the counts."""
        await self._counts.flush()


async def _add_all(tx: Tx, opened: dict[str, int]) -> None:
    # A bounce is locked before its original everywhere (docs/architecture.md#locks); originals are older.
    for post_id in sorted(opened, reverse=True):
        await writing.add_views(tx, post_id, opened[post_id])
