"""The worker of the queue: claims jobs under leases and hands them to the handlers of their kinds."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import msgspec

from pressroom import metrics
from pressroom.clock import SECOND, Clock
from pressroom.db import Database, Tx
from pressroom.errors import PressroomError, Unavailable
from pressroom.jobs import queue
from pressroom.jobs.lease_loop import LeaseLoop, Look
from pressroom.jobs.outages import Outages, deferral
from pressroom.jobs.overview import shown_subject
from pressroom.jobs.queue import Job
from pressroom.logs import Log

LEASE: Final = 15 * SECOND
"""The length of a lease, if the handler has no other. On SQLite a start gives back all leases."""

KILLS: Final = 20
"""How often workers may be killed during a job before the job itself is taken to be the cause."""


class TryAgain(PressroomError):
    """The job failed and is to be tried again. `message` has the reason."""


class GiveUp(PressroomError):
    """The job failed for good: it is dead without a further try. `message` has the reason."""


class Defer(PressroomError):
    """The job lacked something by no fault of its own: it waits and spends no try.

    For a fault of this job alone. A fault of every job of its kind (the store, the disk, the database) is an
    Unavailable or an OSError.
    """


class Postpone(PressroomError):
    """Other jobs come first: the job waits for `wait` milliseconds, as if it had not been claimed."""

    def __init__(self, message: str, wait: int) -> None:
        super().__init__(message)
        self.wait = wait


class Handler(msgspec.Struct, frozen=True):
    """How jobs of one kind are done.

    work: `work(job, token)` does a job and removes it in the transaction of its effect (`queue.finish`). When it
    raises, the job is tried again; Unavailable, OSError and Defer spend no try (docs/media.md#outages),
    and after GiveUp there is none.
    together: jobs that are done at once; each: of these, jobs of one account. waits: milliseconds before each further
    try. gave_up: `gave_up(tx, job, reason)` runs in the transaction in which the job becomes dead.
    """

    kind: str
    work: Callable[[Job, str], Awaitable[None]]
    together: int
    waits: tuple[int, ...]
    gave_up: Callable[[Tx, Job, str], Awaitable[None]] | None = None
    each: int = 1_000_000
    lease: int = LEASE


class JobWorker:
    """Does jobs until it is stopped."""

    def __init__(self, db: Database, clock: Clock, log: Log, handlers: Sequence[Handler]) -> None:
        self._db = db
        self._clock = clock
        self._log = log
        self._handlers = handlers
        self._leases = {handler.kind: handler.lease for handler in handlers}
        self._outages = Outages(clock, log)
        shortest = min(self._leases.values(), default=LEASE)
        self._loop = LeaseLoop[Job](
            "jobs", clock, log, db.listen(), lease=shortest, look=self._look, renew=self._renew_leases
        )
        self._token = self._loop.token

    async def run(self) -> None:
        """Does jobs until `stop`; then finishes running ones, or gives them back."""
        await self._loop.run()

    def stop(self, seconds: float) -> None:
        """Has `run` begin nothing more and end within so many seconds. Jobs that are cut off are done again later."""
        self._loop.stop(seconds)

    async def settle(self) -> None:
        """Does all that is due by the clock and returns when that is done. For tests, which set the clock."""
        await self._loop.settle()

    async def _look(self) -> Look:
        """Begins due jobs."""
        begun = [await self._begin(handler) for handler in self._handlers]
        return Look(any(begun))

    async def _begin(self, handler: Handler) -> bool:
        """Begins jobs of a kind that are due, as many as may be under way together; returns whether there were any.

        While their resource is away, a single one probes whether it is back.
        """
        busy = sum(job.kind == handler.kind for job in self._loop.items())
        free, now = self._outages.free(handler.kind, handler.together, busy), self._clock.now()
        if free <= 0 or await self._db.one(queue.ANY_DUE, kind=handler.kind, now=now) is None:
            return False
        jobs = await self._db.transact(claim, handler, self._token, free)
        for job in jobs:
            # Its lease ran out while it was still at work here, and this very worker claimed it again. The running one
            # goes on, under the new lease.
            if not self._loop.is_under_way(job.id):
                self._loop.start(job.id, job, self._do(handler, job), f"{job.kind} {job.id}")
        return bool(jobs)

    async def _do(self, handler: Handler, job: Job) -> None:
        try:
            # A job that kills its process, as a hostile file might, must not do so for ever.
            if job.kills > KILLS:
                await self._failed(
                    handler, job, f"The process was killed {job.kills} times while it worked on this job.", last=True
                )
                return
            await handler.work(job, self._token)
            self._outages.ended(handler.kind)
            _record(job, "done")
        # Cut off by a stop: no fault of the job, so it spends no try.
        except asyncio.CancelledError:
            await self._give_back(job)
            raise
        except Postpone as later:
            await self._give_back(job, self._clock.now() + later.wait)
        # Away for all jobs of the kind alike, which the outage now throttles. `Defer` below concerns this job alone.
        except (Unavailable, OSError) as lack:
            self._outages.began(handler.kind, _reason(lack))
            await self._defer(job, lack)
        except Defer as lack:
            self._log.recurring("job deferred", lack, kind=job.kind)
            await self._defer(job, lack)
        except GiveUp as error:
            self._outages.ended(handler.kind)
            await self._failed(handler, job, error.message, last=True)
        except Exception as error:  # one job that fails must not keep the others from being done
            self._outages.ended(handler.kind)
            await self._failed(handler, job, _reason(error), last=job.tries > len(handler.waits))

    async def _failed(self, handler: Handler, job: Job, reason: str, *, last: bool) -> None:
        self._log.error("job failed", kind=job.kind, subject=shown_subject(job.subject), tries=job.tries, error=reason)
        _record(job, "given_up" if last else "failed")
        due_at = None if last else self._clock.now() + handler.waits[job.tries - 1]
        try:
            await self._db.transact(self._record_failure, handler, job, reason, due_at)
        except PressroomError as away:
            self._log.recurring("job not given back", away, kind=job.kind)

    async def _defer(self, job: Job, lack: Exception) -> None:
        """Has a job wait that lacked something. When that is the database, the lease runs out instead."""
        _record(job, "deferred")
        due_at = self._clock.now() + deferral(job.deferrals)
        with contextlib.suppress(PressroomError):
            await self._db.transact(queue.defer, job, token=self._token, error=_reason(lack), due_at=due_at)

    async def _record_failure(self, tx: Tx, handler: Handler, job: Job, reason: str, due_at: int | None) -> None:
        """Gives the job up only while the lease is held: otherwise another worker has the job."""
        held = await queue.fail(tx, job, token=self._token, error=reason, due_at=due_at)
        # In the same transaction, so that an owner never reads of a failure that was not recorded.
        if held and due_at is None and handler.gave_up is not None:
            await handler.gave_up(tx, job, reason)

    async def _give_back(self, job: Job, due_at: int = 0) -> None:
        """Gives back a job that did not fail: when a stop cut it off, another worker can claim it at once."""
        with contextlib.suppress(PressroomError):
            await self._db.transact(queue.give_back, job, self._token, due_at)

    async def _renew_leases(self, jobs: list[Job], token: str, _shortest_end: int) -> None:
        now = self._clock.now()
        await self._db.transact(queue.renew, {job.id: now + self._leases[job.kind] for job in jobs}, token)


async def claim(tx: Tx, handler: Handler, token: str, limit: int) -> list[Job]:
    """Claims up to `limit` due jobs of a handler, leased from the time of the transaction.

    It may have waited for a connection for longer than a lease.
    """
    return await queue.claim(
        tx, handler.kind, token=token, until=tx.now + handler.lease, limit=limit, each=handler.each
    )


def _record(job: Job, outcome: str) -> None:
    if metrics.recorder is not None:
        metrics.recorder.job(job.kind, outcome)


def _reason(error: Exception) -> str:
    return error.message if isinstance(error, PressroomError) else f"{type(error).__name__}: {error}"
