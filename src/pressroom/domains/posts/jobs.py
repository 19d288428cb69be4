"""A job that hides or shows an account's hashtags once it turned private, public, suspended or restored."""

import asyncio
from typing import Final

from pressroom.clock import SECOND
from pressroom.db import Database
from pressroom.domains.accounts.actions import TAG_JOB
from pressroom.domains.posts.actions.reach import move_tags
from pressroom.jobs.queue import Job
from pressroom.jobs.worker import Handler

PAUSE_SECONDS: Final = 0.01
"""Pause between two transactions, so that others can write."""

WAITS: Final = (SECOND, 10 * SECOND, 60 * SECOND, 600 * SECOND)


def tag_handler(db: Database) -> Handler:
    """Returns the job's handler. After a kill it repeats its last steps, which changes nothing."""

    async def work(job: Job, token: str) -> None:
        last: str | None = ""
        while last is not None:
            last = await db.transact(move_tags, job, token, last)
            await asyncio.sleep(PAUSE_SECONDS)

    return Handler(TAG_JOB, work, together=2, waits=WAITS)
