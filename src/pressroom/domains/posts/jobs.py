"""Tag pages follow what became of an account: private, public again, suspended, restored. A few rows at a time."""

import asyncio
from typing import Final

from pressroom.clock import SECOND
from pressroom.db import Database
from pressroom.domains.accounts.actions import TAG_JOB
from pressroom.domains.posts.actions.reach import TagProgress, move_tags
from pressroom.jobs.queue import Job
from pressroom.jobs.worker import Handler

PAUSE_SECONDS: Final = 0.01
"""Between two transactions, for everybody else's writes."""

WAITS: Final = (SECOND, 10 * SECOND, 60 * SECOND, 600 * SECOND)


def tag_handler(db: Database) -> Handler:
    """For the worker of the queue. What was moved before a kill is not moved again."""

    async def work(job: Job, token: str) -> None:
        moved: TagProgress | None = TagProgress()
        while moved is not None:
            moved = await db.transact(move_tags, job, token, moved)
            await asyncio.sleep(PAUSE_SECONDS)

    return Handler(TAG_JOB, work, together=2, waits=WAITS)
