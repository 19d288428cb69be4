"""Openings of permalinks, counted in the process and written behind in batches (docs/posts.md#statistics)."""

import operator
from collections import Counter
from typing import Final

from pressroom.clock import HOUR
from pressroom.db import Database, Tx
from pressroom.domains.posts.queries import writing
from pressroom.jobs.write_behind import WriteBehind

MOST: Final = 10_000
"""Posts whose openings may wait to be written: more come only while the database is away, and go uncounted."""


SEEN: Final = 100_000
"""Visits that are known in an hour; further ones go uncounted until the next."""

POSTS_OF_VISITOR: Final = 500
"""Posts whose views one visitor can add to in an hour, so that none of them uses up what is known."""


class ViewCounter:
    """How often each post was opened since the last flush (docs/posts.md#statistics): by each visitor once an hour."""

    def __init__(self, db: Database) -> None:
        # A write that is cancelled goes on by itself: what it adds must not be added again.
        self._counts = WriteBehind[int](
            lambda opened: db.transact(_add_all, opened), merge=operator.add, most=MOST, repeatable=False
        )
        self._hour = 0
        self._seen: set[int] = set()
        self._visits: Counter[int] = Counter()

    def note(self, post_id: str, visitor: str, now: int) -> None:
        """The post's permalink was opened at `now` (milliseconds) by a visitor who is not its author."""
        if self._is_first(post_id, visitor, now // HOUR):
            self._counts.add(post_id, 1)

    def _is_first(self, post_id: str, visitor: str, hour: int) -> bool:
        """Whether the visitor opens the post for the first time in this hour, as far as that can be remembered."""
        if hour != self._hour:
            self._hour = hour
            self._seen.clear()
            self._visits.clear()
        who, visit = hash(visitor), hash((post_id, visitor))  # Python salts them anew in each process.
        if visit in self._seen or len(self._seen) >= SEEN or self._visits[who] >= POSTS_OF_VISITOR:
            return False
        self._seen.add(visit)
        self._visits[who] += 1
        return True

    async def flush(self) -> None:
        """Writes down what was noted."""
        await self._counts.flush()


async def _add_all(tx: Tx, opened: dict[str, int]) -> None:
    # Bounces before what they share, as everywhere: those are older.
    for post_id in sorted(opened, reverse=True):
        await writing.add_views(tx, post_id, opened[post_id])
