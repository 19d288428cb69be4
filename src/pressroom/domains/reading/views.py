"""Openings of permalinks, counted in the process and written behind in batches."""

from collections import Counter
from typing import Final

from pressroom.db import Database, Tx
from pressroom.domains.posts.queries import writing

MOST: Final = 10_000
"""Posts whose openings may wait to be written: more come only while the database is away, and go uncounted."""


class ViewCounter:
    """How often each post was opened since the last flush (SPEC, Post: stats.views)."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._waiting: Counter[str] = Counter()

    def note(self, post_id: str) -> None:
        """The post's permalink was opened by somebody who is not its author."""
        if post_id in self._waiting or len(self._waiting) < MOST:
            self._waiting[post_id] += 1

    async def flush(self) -> None:
        """Writes down what was noted."""
        waiting, self._waiting = self._waiting, Counter()
        if waiting:
            try:
                await self._db.transact(_add_all, waiting)
            except Exception:
                # One that is cancelled goes on by itself: what it writes must not be counted again.
                self._waiting += waiting
                raise


async def _add_all(tx: Tx, opened: Counter[str]) -> None:
    # Bounces before what they share, as everywhere: those are older.
    for post_id in sorted(opened, reverse=True):
        await writing.add_views(tx, post_id, opened[post_id])
