"""The queue of work that is done apart from requests: a job is enqueued in the transaction that wants it done.

A job is claimed under a lease (docs/architecture.md#leases), so that another worker takes it over when its worker is
killed. Its row is deleted in the transaction that finishes it; after its last try the job is dead, and its row stays
for the operator to see.

Jobs of one kind and account are a queue of their own (`job_queues`), and queues are served in rotation. A claim reads
the queues that are due and the head of each, so it costs the same whether ten jobs wait or fifty thousand.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from pressroom.clock import DAY
from pressroom.db import Command, Query, Tx, sql
from pressroom.ids import new_id

RETENTION: Final = 30 * DAY
LOOKS: Final = 100
"""Queues that one claim looks at. Some may have nothing to claim, and no transaction may be long."""

_ERROR_CHARACTERS: Final = 500

ENQUEUE: Final = Command(
    "INSERT INTO jobs (id, kind, subject, account_id, tries, due_at, leased_until, created_at)"
    " VALUES (:id, :kind, :subject, :account_id, 0, :due_at, 0, :now)"
    " ON CONFLICT (kind, subject) DO UPDATE SET account_id = :account_id, due_at = :due_at, tries = 0, kills = 0,"
    " deferrals = 0 WHERE jobs.due_at IS NULL"
)

# Jobs are locked before queues everywhere but in a claim, which waits for no lock while it holds one.
OFFER: Final = Command(
    "INSERT INTO job_queues (kind, account_id, due_at, claims) VALUES (:kind, :account_id, :due_at, 0)"
    " ON CONFLICT (kind, account_id) DO UPDATE SET due_at = :due_at WHERE job_queues.due_at > :due_at"
)


class Job(msgspec.Struct):
    """Work to be done: its `kind`, and its `subject`.

    tries: tries that failed, and this one. kills: how often its worker was killed while it did the job. deferrals: how
    often the job had to wait for something that was away.
    """

    id: str
    kind: str
    subject: str
    account_id: str
    tries: int
    kills: int
    deferrals: int


class Deferred(msgspec.Struct):
    """How many jobs wait for something that is away, and the error of one of them."""

    count: int
    error: str


ANY_DUE: Final = Query(str, "SELECT account_id FROM job_queues WHERE kind = :kind AND due_at <= :now LIMIT 1")

_FIRST_QUEUE: Final = (
    "SELECT account_id FROM job_queues WHERE kind = :kind AND due_at <= :now ORDER BY due_at, claims LIMIT 1 FOR UPDATE"
)

FIND_QUEUE: Final = Query(str, f"{_FIRST_QUEUE} SKIP LOCKED")

AWAIT_QUEUE: Final = Query(str, _FIRST_QUEUE)

COUNT_LEASED: Final = Query(
    int,
    "SELECT count(*) FROM (SELECT id FROM jobs WHERE kind = :kind AND account_id = :account_id AND due_at IS NOT NULL"
    " AND leased_until > 0 AND leased_until > :now LIMIT :each) leased",
)

# A lease that has run out and was not given back is that of a worker that was killed.
CLAIM: Final = Query(
    Job,
    "UPDATE jobs SET kills = kills + CASE WHEN lease_token IS NULL THEN 0 ELSE 1 END, leased_until = :until,"
    " lease_token = :token WHERE id = (SELECT id FROM jobs WHERE kind = :kind AND account_id = :account_id"
    " AND due_at <= :now AND leased_until <= :now ORDER BY due_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)"
    " RETURNING id, kind, subject, account_id, tries + 1 AS tries, kills, deferrals",
)

GO_BEHIND: Final = Command(
    "UPDATE job_queues SET due_at = :now, claims = claims + 1 WHERE kind = :kind AND account_id = :account_id"
)

NEXT_END: Final = Query(
    int,
    "SELECT leased_until FROM jobs WHERE kind = :kind AND account_id = :account_id AND due_at IS NOT NULL"
    " AND leased_until > 0 AND leased_until > :now ORDER BY leased_until LIMIT 1",
)

NEXT_DUE: Final = Query(
    int,
    "SELECT due_at FROM jobs WHERE kind = :kind AND account_id = :account_id AND due_at IS NOT NULL"
    " AND leased_until <= :now ORDER BY due_at LIMIT 1",
)

LOOK_AGAIN: Final = Command("UPDATE job_queues SET due_at = :due_at WHERE kind = :kind AND account_id = :account_id")

REMOVE_QUEUE: Final = Command("DELETE FROM job_queues WHERE kind = :kind AND account_id = :account_id")

RENEW: Final = Command("UPDATE jobs SET leased_until = :until WHERE id = :id AND lease_token = :token")

FINISH: Final = Command("DELETE FROM jobs WHERE id = :id AND lease_token = :token")

FAIL: Final = Command(
    "UPDATE jobs SET leased_until = 0, lease_token = NULL, due_at = :due_at, tries = tries + 1, error = :error"
    " WHERE id = :id AND lease_token = :token"
)

DEFER: Final = Command(
    "UPDATE jobs SET leased_until = 0, lease_token = NULL, due_at = :due_at, deferrals = deferrals + 1,"
    " error = :error WHERE id = :id AND lease_token = :token"
)

GIVE_BACK: Final = Command(
    "UPDATE jobs SET leased_until = 0, lease_token = NULL, due_at = :due_at WHERE id = :id AND lease_token = :token"
)

OFFER_LEASED: Final = Command(
    "INSERT INTO job_queues (kind, account_id, due_at, claims)"
    " SELECT DISTINCT kind, account_id, CAST(:now AS BIGINT), 0 FROM jobs WHERE lease_token IS NOT NULL"
    " ON CONFLICT (kind, account_id) DO UPDATE SET due_at = :now"
)

FORGET_LEASES: Final = Command(
    "UPDATE jobs SET leased_until = 0, lease_token = NULL, kills = kills + 1 WHERE lease_token IS NOT NULL"
)


COUNT_DEAD: Final = Query(int, "SELECT count(*) FROM jobs WHERE due_at IS NULL")

DEFERRED: Final = Query(
    Deferred,
    "SELECT count(*) AS count, coalesce(max(error), '') AS error FROM jobs WHERE due_at IS NOT NULL AND deferrals > 0",
)

PURGE_DEAD: Final = Command(
    "DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE due_at IS NULL AND created_at <= :until"
    " ORDER BY created_at LIMIT :batch)"
)


async def enqueue(tx: Tx, kind: str, subject: str, *, account_id: str = "", due_at: int = 0) -> None:
    """Enqueues a job, due at `due_at` (milliseconds). Does nothing when one of its kind and subject is queued.

    Accounts are served in rotation, and of one account's jobs of a kind only `each` are done together (`Handler`).
    """
    due_at = max(due_at, tx.now)
    job_id = new_id(tx.now, account_id)
    await tx.run(ENQUEUE, id=job_id, kind=kind, subject=subject, account_id=account_id, due_at=due_at, now=tx.now)
    # A claim finds jobs by their queue alone: a job without this row would never be done.
    await tx.run(OFFER, kind=kind, account_id=account_id, due_at=due_at)
    tx.signal()


async def enqueue_anew(tx: Tx, kind: str, subject: str, *, account_id: str = "") -> None:
    """Enqueues a job that begins with the state after this transaction; replaces a running one."""
    # A running job may have read the state before this transaction; its successor reads the one after.
    await cancel(tx, kind, subject)
    await enqueue(tx, kind, subject, account_id=account_id)


@sql.run("DELETE FROM jobs WHERE kind = :kind AND subject = :subject")
async def cancel(tx: Tx, kind: str, subject: str) -> None:
    """Removes a job, if there is one. A worker that has begun it does it to the end."""
    ...


@sql.run("DELETE FROM jobs WHERE kind = :kind AND account_id = :account_id")
async def cancel_of_account(tx: Tx, kind: str, account_id: str) -> None:
    """Removes an account's jobs of a kind, dead ones too."""
    ...


async def claim(tx: Tx, kind: str, *, token: str, until: int, limit: int, each: int = 1_000_000) -> list[Job]:
    """Claims up to `limit` due jobs of a kind, leased until `until` (milliseconds).

    Accounts are served in rotation, the oldest job of each first. An account with `each` jobs under way has to wait.
    """
    claimed: list[Job] = []
    for look in range(LOOKS):
        if len(claimed) >= limit:
            break
        # SKIP LOCKED: a queue that another worker claims from at this moment is its business, and waiting for it would
        # make all workers go one after another.
        account_id = await tx.one(FIND_QUEUE, kind=kind, now=tx.now)
        if account_id is None and look == 0:
            # All due queues are locked. The claim waits for the first, once and holding nothing: otherwise the worker
            # would look again at once, and again, while the others commit.
            account_id = await tx.one(AWAIT_QUEUE, kind=kind, now=tx.now)
        if account_id is None:
            break
        # The lock of the queue's row makes this count exact: no other worker claims from this queue until the commit.
        may_begin = (await tx.one(COUNT_LEASED, kind=kind, account_id=account_id, each=each, now=tx.now) or 0) < each
        job = None
        if may_begin:
            job = await tx.one(CLAIM, kind=kind, account_id=account_id, token=token, until=until, now=tx.now)
        if job is None:
            await _look_again_later(tx, kind, account_id, may_begin=may_begin)
        else:
            claimed.append(job)
            # Behind all others that are due, so that one account's thousand jobs do not hold up the single job of
            # another.
            await tx.run(GO_BEHIND, kind=kind, account_id=account_id, now=tx.now)
    return claimed


async def renew(tx: Tx, ends: Mapping[str, int], token: str) -> None:
    """Renews leases that are still held. `ends`: the end of each, in milliseconds, by the id of its job."""
    await tx.run_each(RENEW, [{"id": job_id, "token": token, "until": until} for job_id, until in ends.items()])


async def finish(tx: Tx, job: Job, token: str) -> bool:
    """Removes a job in the transaction of its effect. Returns False when the lease was lost meanwhile."""
    # By the token: a worker that lost its lease must not finish the job of its successor.
    held = bool(await tx.run(FINISH, id=job.id, token=token))
    await _offer(tx, job)
    return held


async def fail(tx: Tx, job: Job, *, token: str, error: str, due_at: int | None) -> bool:
    """Has a job tried again at `due_at` (milliseconds), or never (None). Returns False when the lease was lost."""
    # By the token, as in `finish`.
    held = bool(await tx.run(FAIL, id=job.id, token=token, error=error[:_ERROR_CHARACTERS], due_at=due_at))
    await _offer(tx, job)
    return held


async def defer(tx: Tx, job: Job, *, token: str, error: str, due_at: int) -> None:
    """Has a job that lacked something wait until `due_at` (milliseconds). It spends no try."""
    await tx.run(DEFER, id=job.id, token=token, error=error[:_ERROR_CHARACTERS], due_at=due_at)
    await _offer(tx, job)


async def give_back(tx: Tx, job: Job, token: str, due_at: int = 0) -> None:
    """Has a job wait until `due_at` (milliseconds; not before now), as if it had not been claimed."""
    await tx.run(GIVE_BACK, id=job.id, token=token, due_at=max(due_at, tx.now))
    await _offer(tx, job)
    # Another worker may take it at once.
    tx.signal()


async def forget_leases(tx: Tx) -> None:
    """Gives back the leases of workers that were killed. Only for a caller that knows that no other worker runs."""
    # Queues before their jobs' leases: a job whose queue is not due would wait until the old lease ends.
    await tx.run(OFFER_LEASED, now=tx.now)
    await tx.run(FORGET_LEASES)


async def count_dead(tx: Tx) -> int:
    """Returns how many jobs are dead."""
    return await tx.one(COUNT_DEAD) or 0


async def count_deferred(tx: Tx) -> Deferred:
    """Returns how many jobs wait for something that is away."""
    return await tx.one(DEFERRED) or Deferred(0, "")


async def purge_dead(tx: Tx, batch: int) -> int:
    """Removes dead jobs 30 days after they were enqueued. Returns how many."""
    return await tx.run(PURGE_DEAD, until=tx.now - RETENTION, batch=batch)


async def _offer(tx: Tx, job: Job) -> None:
    """Makes the queue of a job due: now that the job is no longer under way, another may be begun."""
    # The row of the queue may be gone, or due later because this job was under way.
    await tx.run(OFFER, kind=job.kind, account_id=job.account_id, due_at=tx.now)


async def _look_again_later(tx: Tx, kind: str, account_id: str, *, may_begin: bool) -> None:
    """Sets a queue that had nothing to claim to when it may have something, or removes it when it is empty."""
    of_queue = {"kind": kind, "account_id": account_id}
    next_due = await tx.one(NEXT_DUE, now=tx.now, **of_queue) if may_begin else None
    # A lease that runs out makes its job due again; until then a look finds nothing.
    next_end = await tx.one(NEXT_END, now=tx.now, **of_queue)
    moments = [moment for moment in (next_due, next_end) if moment is not None]
    if moments:
        # A job that is due now and was not claimed is locked by a transaction that gives it back and offers the queue.
        await tx.run(LOOK_AGAIN, due_at=max(min(moments), tx.now + 1), **of_queue)
    else:
        await tx.run(REMOVE_QUEUE, **of_queue)
