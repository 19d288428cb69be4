"""The queue of work that is done apart from requests: enqueued in the transaction that wants it done.

A job is claimed by lease, so that one whose worker was killed is taken up by another. Its row goes in the transaction
that finishes it; after its last try it is dead, and stays for the operator to see.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from pressroom.clock import DAY
from pressroom.db import Command, Query, Tx
from pressroom.ids import new_id

RETENTION: Final = 30 * DAY

ENQUEUE: Final = Command(
    "INSERT INTO jobs (id, kind, subject, account_id, tries, due_at, leased_until, created_at)"
    " VALUES (:id, :kind, :subject, :account_id, 0, :due_at, 0, :now)"
    " ON CONFLICT (kind, subject) DO UPDATE SET due_at = :due_at, tries = 0 WHERE jobs.due_at IS NULL"
)


class Job(msgspec.Struct):
    """Something to be done. `tries` counts this one."""

    id: str
    kind: str
    subject: str
    tries: int


CLAIM: Final = Query(
    Job,
    "UPDATE jobs SET tries = tries + 1, leased_until = :until, lease_token = :token WHERE id IN"
    " (SELECT id FROM jobs j WHERE kind = :kind AND due_at <= :now AND leased_until <= :now"
    " AND (SELECT count(*) FROM jobs r WHERE r.kind = :kind AND r.account_id = j.account_id"
    " AND r.due_at IS NOT NULL AND r.leased_until > 0 AND r.leased_until > :now) < :each"
    " ORDER BY due_at LIMIT :limit FOR UPDATE SKIP LOCKED)"
    " RETURNING id, kind, subject, tries",
)

ANY_DUE: Final = Query(
    str, "SELECT id FROM jobs WHERE kind = :kind AND due_at <= :now AND leased_until <= :now LIMIT 1"
)

RENEW: Final = Command("UPDATE jobs SET leased_until = :until WHERE id = :id AND lease_token = :token")

FINISH: Final = Command("DELETE FROM jobs WHERE id = :id AND lease_token = :token")

FAIL: Final = Command(
    "UPDATE jobs SET leased_until = 0, lease_token = NULL, due_at = :due_at, error = :error"
    " WHERE id = :id AND lease_token = :token"
)

# A claim counts as a try; to be stopped is none.
GIVE_BACK: Final = Command(
    "UPDATE jobs SET leased_until = 0, lease_token = NULL, due_at = :now, tries = tries - 1"
    " WHERE id = :id AND lease_token = :token"
)

FORGET_LEASES: Final = Command("UPDATE jobs SET leased_until = 0, lease_token = NULL WHERE lease_token IS NOT NULL")

COUNT_DEAD: Final = Query(int, "SELECT count(*) FROM jobs WHERE due_at IS NULL")

PURGE_DEAD: Final = Command(
    "DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE due_at IS NULL AND created_at <= :until"
    " ORDER BY created_at LIMIT :batch)"
)


async def enqueue(tx: Tx, kind: str, subject: str, *, account_id: str = "", due_at: int = 0) -> None:
    """Has a job done, at `due_at` (milliseconds) at the earliest; nothing when the same job waits already.

    Of one account's jobs of a kind only so many are done together as their handler says.
    """
    await tx.run(
        ENQUEUE,
        id=new_id(tx.now),
        kind=kind,
        subject=subject,
        account_id=account_id,
        due_at=max(due_at, tx.now),
        now=tx.now,
    )
    tx.signal()


async def claim(tx: Tx, kind: str, *, token: str, until: int, limit: int, each: int = 1_000_000) -> list[Job]:
    """Takes up to `limit` jobs of a kind that are due, oldest first, leased until `until` (milliseconds).

    Those of accounts that have `each` or more of them under way must wait.
    """
    return await tx.all(CLAIM, kind=kind, token=token, until=until, limit=limit, each=each, now=tx.now)


async def renew(tx: Tx, jobs: Sequence[Job], *, token: str, until: int) -> None:
    """Prolongs leases that are still held."""
    await tx.run_each(RENEW, [{"id": job.id, "token": token, "until": until} for job in jobs])


async def finish(tx: Tx, job: Job, token: str) -> bool:
    """Removes a job that is done, in the transaction of its effect; False when the lease was lost meanwhile."""
    return bool(await tx.run(FINISH, id=job.id, token=token))


async def fail(tx: Tx, job: Job, *, token: str, error: str, due_at: int | None) -> bool:
    """Gives a job back, to be tried again at `due_at` (milliseconds) or, None, never; False when the lease was lost."""
    return bool(await tx.run(FAIL, id=job.id, token=token, error=error[:500], due_at=due_at))


async def give_back(tx: Tx, job: Job, token: str) -> None:
    """Gives a job back that was cut off, as if it had not been claimed."""
    await tx.run(GIVE_BACK, id=job.id, token=token, now=tx.now)
    tx.signal()


async def forget_leases(tx: Tx) -> None:
    """Gives back the leases of workers that were killed: for whoever knows that no other worker is alive."""
    await tx.run(FORGET_LEASES)


async def count_dead(tx: Tx) -> int:
    """Jobs that were given up."""
    return await tx.one(COUNT_DEAD) or 0


async def purge_dead(tx: Tx, batch: int) -> int:
    """Removes jobs that were given up, 30 days after they were enqueued; how many."""
    return await tx.run(PURGE_DEAD, until=tx.now - RETENTION, batch=batch)
