"""Clean-ups that one process at a time does for all, under a lease (docs/architecture.md#sweeps)."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pressroom import metrics
from pressroom.clock import MINUTE, SECOND, Clock
from pressroom.db import Command, Database, Query, Tx
from pressroom.logs import Log

LEASE: Final = 5 * MINUTE
"""How long a killed process keeps the others from a group. It is renewed before each of its sweeps."""

BATCH: Final = 100
"""Rows that a sweep removes or changes in one transaction; requests wait for no longer one
(docs/decisions/0004-retention-batches.md)."""

PAUSE: Final = 0.004
"""Seconds between two batches, in which waiting requests are answered (docs/decisions/0004-retention-batches.md)."""

Batch = Callable[[Tx, int], Awaitable[int]]
"""`batch(tx, most)` removes or changes at most so many rows and returns how many; no fewer: there may be more."""

# Nobody else may hold the lease, and the group must be due.
CLAIM: Final = Query(
    str,
    "INSERT INTO sweeps (name, next_at, leased_until, lease_token) VALUES (:name, :now, :until, :token)"
    " ON CONFLICT (name) DO UPDATE SET leased_until = :until, lease_token = :token"
    " WHERE sweeps.leased_until <= :now AND sweeps.next_at <= :now RETURNING name",
)

RENEW: Final = Command("UPDATE sweeps SET leased_until = :until WHERE name = :name AND lease_token = :token")

FINISH: Final = Command(
    "UPDATE sweeps SET leased_until = 0, next_at = :next_at WHERE name = :name AND lease_token = :token"
)

HOLD: Final = Command(
    "INSERT INTO sweeps (name, next_at, leased_until, lease_token) VALUES (:name, 0, 0, '')"
    " ON CONFLICT (name) DO UPDATE SET next_at = sweeps.next_at"
)


@dataclass(frozen=True, slots=True)
class Sweep:
    """A clean-up: `work` does it from beginning to end."""

    name: str
    work: Callable[[], Awaitable[object]]


async def run_batches(db: Database, batch: Batch) -> None:
    """Runs batches until one is not full, each in a transaction of its own, so that none is long."""
    while await db.transact(batch, BATCH) >= BATCH:
        # On SQLite batches in a row would keep every writer waiting, since there is one writer.
        await asyncio.sleep(PAUSE)


class SweepGroup:
    """Sweeps that are due together every `seconds`, in one of all processes.

    Args:
        name: The name of the group, the same in every process.
        seconds: The time from the end of one run to the beginning of the next.
        db: The swept database, which also holds the lease.
        clock: Nothing is swept while it is doubtful (docs/operations.md#clocks).
        log: Where a sweep that failed is named. It does not keep the others from being done.
        sweeps: The clean-ups, in their order.
    """

    def __init__(self, name: str, seconds: int, db: Database, clock: Clock, log: Log, sweeps: Sequence[Sweep]) -> None:
        self._name = name
        self._every = seconds * SECOND
        self._db = db
        self._clock = clock
        self._log = log
        self._sweeps = sweeps
        self._token = uuid.uuid4().hex

    async def run(self) -> None:
        """Does all sweeps, if they are due and no other process does them; ends early when the lease was lost."""
        # With a wrong clock, rows that are still wanted would look expired and be removed.
        if not self._clock.is_settled:
            return
        if not await self._db.transact(claim, self._name, self._token):
            return
        for sweep in self._sweeps:
            # Renewed before each: a run over all rules may take longer than one lease.
            if not self._clock.is_settled or not await self._db.transact(renew, self._name, self._token):
                return
            outcome = "done"
            try:
                await sweep.work()
            except Exception as error:  # one failure must not end the others
                outcome = "failed"
                self._log.recurring("scheduled work failed", error, work=sweep.name)
            if metrics.recorder is not None:
                metrics.recorder.sweep(sweep.name, outcome)
        await self._db.transact(finish, self._name, self._token, self._every)


async def claim(tx: Tx, name: str, token: str) -> bool:
    """Takes the lease of a group that is due. Returns whether it is taken."""
    return await tx.one(CLAIM, name=name, token=token, now=tx.now, until=tx.now + LEASE) is not None


async def renew(tx: Tx, name: str, token: str) -> bool:
    """Prolongs a lease. Returns whether it is still held."""
    return bool(await tx.run(RENEW, name=name, token=token, until=tx.now + LEASE))


async def finish(tx: Tx, name: str, token: str, every: int) -> None:
    """Gives a lease back; the group is due again in `every` milliseconds."""
    await tx.run(FINISH, name=name, token=token, next_at=tx.now + every)


async def hold(tx: Tx, name: str) -> None:
    """Keeps other processes from the same work until the transaction ends, for work of one short transaction.

    Unlike a lease it ends with the process.
    """
    await tx.run(HOLD, name=name)
