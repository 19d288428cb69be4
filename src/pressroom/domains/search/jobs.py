"""Indexes posts soon after they were written, edited or deleted (docs/search.md#the-index)."""

import asyncio
from typing import Final

from pressroom.db import Database
from pressroom.domains.posts.queries.indexing import FIND_UNINDEXED
from pressroom.domains.search.actions import index_posts

SECONDS: Final = 1.0
"""Seconds between two looks for posts to index."""

PAUSE_SECONDS: Final = 0.01
"""Pause between two transactions, so that others can write."""


async def index_waiting(db: Database) -> None:
    """Indexes all posts whose search words are out of date. One process at a time does so."""
    if await db.one(FIND_UNINDEXED) is None:
        return
    while await db.transact(index_posts):
        await asyncio.sleep(PAUSE_SECONDS)
