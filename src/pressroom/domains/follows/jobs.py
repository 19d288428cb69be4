"""The job that accepts the follow requests of an account that turned public, a batch in each transaction."""

import asyncio
from typing import Final

from pressroom.clock import SECOND
from pressroom.db import Database
from pressroom.domains.accounts.actions import REQUESTS_JOB
from pressroom.domains.follows.actions import accept_waiting
from pressroom.jobs.queue import Job
from pressroom.jobs.worker import Handler

PAUSE_SECONDS: Final = 0.01
"""The pause between two transactions, which lets other writes through."""

WAITS: Final = (SECOND, 10 * SECOND, 60 * SECOND, 600 * SECOND)


def request_handler(db: Database) -> Handler:
    """Returns the handler of REQUESTS_JOB. Requests that were accepted before a kill stay accepted."""

    async def work(job: Job, token: str) -> None:
        while not await db.transact(accept_waiting, job, token):
            await asyncio.sleep(PAUSE_SECONDS)

    return Handler(REQUESTS_JOB, work, together=2, waits=WAITS)
