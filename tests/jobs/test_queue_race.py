"""Workers, failures and new jobs all at once: nothing is lost, done twice together, or over an account's share."""

import asyncio
import random
from collections import Counter

from pressroom.clock import SECOND, SettableClock
from pressroom.db import Database
from pressroom.jobs import queue
from pressroom.jobs.queue import Job
from tests.harness.action_database import Run

ACCOUNTS = 5
JOBS = 8
WORKERS = 4
LEASE = 60 * SECOND
PATIENCE = 60.0


class Crowd:
    """Jobs of several accounts, and the running ones of each."""

    def __init__(self, db: Database, clock: SettableClock, seed: int) -> None:
        self.db = db
        self.clock = clock
        self.chance = random.Random(seed)
        self.of_account: Counter[str] = Counter()
        self.of_job: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.most = 0

    async def enqueue(self, account: str) -> None:
        """Has an account's jobs done, one after the other."""
        for number in range(JOBS):
            await self.db.transact(queue.enqueue, "work", f"{account}.{number}", account_id=account)
            await asyncio.sleep(0)

    async def work(self, token: str) -> None:
        """Claims until everything is done."""
        while sum(self.done.values()) < ACCOUNTS * JOBS:
            until = self.clock.now() + LEASE
            jobs = await self.db.transact(queue.claim, "work", token=token, until=until, limit=2, each=1)
            for job in jobs:
                self.of_account[job.account_id] += 1
                self.of_job[job.subject] += 1
                self.most = max(self.most, *self.of_account.values(), *self.of_job.values())
            for job in jobs:
                await asyncio.sleep(self.chance.uniform(0, 0.003))
                self.of_account[job.account_id] -= 1
                self.of_job[job.subject] -= 1
                await self.end(job, token)
            await asyncio.sleep(0 if jobs else 0.005)

    async def end(self, job: Job, token: str) -> None:
        """Finishes a job, or has it come back."""
        match self.chance.randrange(4):
            case 0:
                await self.db.transact(queue.fail, job, token=token, error="no", due_at=0)
            case 1:
                await self.db.transact(queue.defer, job, token=token, error="later", due_at=0)
            case _:
                self.done[job.subject] += await self.db.transact(queue.finish, job, token)


def test_everything_is_done_once_and_in_turns(db: Database, clock: SettableClock, run: Run) -> None:
    async def story() -> None:
        crowd = Crowd(db, clock, random.randrange(1_000_000))
        accounts = [f"a{number}" for number in range(ACCOUNTS)]
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(
                *(crowd.enqueue(account) for account in accounts),
                *(crowd.work(f"t{number}") for number in range(WORKERS)),
            )
        assert crowd.done == Counter(f"{account}.{number}" for account in accounts for number in range(JOBS))
        assert crowd.most == 1

    run(story())
