"""The queue as operators see it: how much waits of each kind, and the dead jobs, which can be tried again."""

import re
from typing import Final

import msgspec

from pressroom.db import Query, Tx, sql
from pressroom.jobs import queue

_SITE: Final = re.compile(r"[a-z]+://[^/?#]*", re.IGNORECASE)


class Depth(msgspec.Struct):
    """How many jobs of a kind wait, up to the limit that was asked for, and when the oldest was enqueued."""

    kind: str
    waiting: int
    oldest_at: int


class DeadJob(msgspec.Struct):
    """A job after its last try, whose message is `error`. Times in milliseconds."""

    id: str
    kind: str
    subject: str
    account_id: str
    tries: int
    kills: int
    error: str | None
    created_at: int


class DeadOfKind(msgspec.Struct):
    """How many jobs of a kind were given up, of those that were looked at."""

    kind: str
    dead: int


class RetriedJob(msgspec.Struct):
    """A job that was dead and waits again."""

    id: str
    kind: str
    subject: str
    account_id: str


RETRY: Final = Query(
    RetriedJob,
    "UPDATE jobs SET due_at = :now, tries = 0, kills = 0, deferrals = 0 WHERE id = :id AND due_at IS NULL"
    " RETURNING id, kind, subject, account_id",
)


@sql.one("SELECT id, kind, subject, account_id FROM jobs WHERE id = :job_id AND due_at IS NULL")
async def find_dead(tx: Tx, job_id: str) -> RetriedJob | None:
    """Returns a dead job, or None when there is no such one."""
    ...


# From one kind to the next along the index jobs_of_account, so that it costs a look for each kind.
@sql.all(
    "WITH RECURSIVE kinds(kind) AS (SELECT (SELECT j.kind FROM jobs j WHERE j.due_at IS NOT NULL ORDER BY j.kind"
    " LIMIT 1) UNION ALL SELECT (SELECT j.kind FROM jobs j WHERE j.due_at IS NOT NULL AND j.kind > kinds.kind"
    " ORDER BY j.kind LIMIT 1) FROM kinds WHERE kinds.kind IS NOT NULL)"
    " SELECT kinds.kind, (SELECT count(*) FROM (SELECT 1 AS one FROM jobs j WHERE j.kind = kinds.kind"
    " AND j.due_at IS NOT NULL LIMIT :most) AS waiting) AS waiting,"
    " (SELECT min(created_at) FROM (SELECT j.created_at FROM jobs j WHERE j.kind = kinds.kind"
    " AND j.due_at IS NOT NULL LIMIT :most) AS oldest) AS oldest_at"
    " FROM kinds WHERE kinds.kind IS NOT NULL"
)
async def list_depths(tx: Tx, most: int) -> list[Depth]:
    """Returns how many jobs of each kind wait, `most` at the most."""
    ...


@sql.all(
    "SELECT id, kind, subject, account_id, tries, kills, error, created_at FROM jobs"
    " WHERE due_at IS NULL AND id < :before ORDER BY id DESC LIMIT :limit"
)
async def list_dead(tx: Tx, *, before: str, limit: int) -> list[DeadJob]:
    """Returns at most `limit` dead jobs with ids before `before`, newest first."""
    ...


@sql.all(
    "SELECT kind, count(*) AS dead FROM (SELECT kind FROM jobs WHERE due_at IS NULL LIMIT :most) AS given_up"
    " GROUP BY kind"
)
async def count_dead(tx: Tx, most: int) -> list[DeadOfKind]:
    """Returns how many jobs of each kind were given up, among `most` of them."""
    ...


async def retry(tx: Tx, job_id: str) -> RetriedJob | None:
    """Has a dead job tried again from the first try on, at once. Returns None when there is no such dead job."""
    job = await tx.one(RETRY, id=job_id, now=tx.now)
    if job is not None:
        await tx.run(queue.OFFER, kind=job.kind, account_id=job.account_id, due_at=tx.now)
        tx.signal()
    return job


def shown_subject(subject: str) -> str:
    """Returns a job's subject as people other than its owner may read it: of a link only the site, since the rest may
    be a secret; of an e-mail address only the domain."""
    site = _SITE.match(subject)
    return site[0] if site else subject[subject.find("@") + 1 :]
