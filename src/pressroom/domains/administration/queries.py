"""SQL of the overview: each count has a bound and uses an index."""

from typing import Final

from pressroom.db import Query, Tx, sql
from pressroom.domains.administration.models import LOOKED_AT, MOST, Counts
from pressroom.ids import first_id


def _counted(rows: str) -> str:
    return f"(SELECT count(*) FROM (SELECT 1 AS one FROM {rows} LIMIT {MOST + 1}) AS counted)"


_WAITING: Final = (
    "webhooks w JOIN deliveries d ON d.account_id = w.account_id AND d.webhook_id = w.id AND d.state = 'pending'"
    " WHERE w.next_due_at IS NOT NULL"
)

_STORED: Final = f"(SELECT bytes FROM stored_media LIMIT {MOST + 1}) AS stored"

COUNT: Final = Query(
    Counts,
    f"SELECT {_counted('accounts')} AS accounts, {_counted('accounts WHERE id >= :since')} AS new_accounts,"
    f" {_counted('accounts WHERE suspended_at IS NOT NULL AND deleted_at IS NULL')} AS suspended_accounts,"
    f" {_counted('posts')} AS posts, {_counted('posts WHERE id >= :since')} AS new_posts,"
    f" {_counted(_WAITING)} AS waiting_deliveries, {_counted('jobs WHERE due_at IS NULL')} AS dead_jobs,"
    f" (SELECT count(*) FROM {_STORED}) AS storing_accounts,"
    f" (SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM {_STORED}) AS stored_bytes",
)


FIND_STORED: Final = Query(int, "SELECT bytes FROM stored_media WHERE account_id = :account_id")


async def count(tx: Tx, since: int) -> Counts:
    """Returns how much there is, and what of it is newer than `since` (milliseconds)."""
    found = await tx.one(COUNT, since=first_id(since))
    return found or Counts(0, 0, 0, 0, 0, 0, 0, 0, 0)


# Of each endpoint that has something to do, the oldest delivery that waits is the first in the index.
@sql.one(
    "SELECT oldest FROM (SELECT (SELECT d.event_id FROM deliveries d WHERE d.account_id = w.account_id"
    " AND d.webhook_id = w.id AND d.state = 'pending' ORDER BY d.event_id LIMIT 1) AS oldest"
    f" FROM (SELECT account_id, id FROM webhooks WHERE next_due_at IS NOT NULL LIMIT {LOOKED_AT}) AS w) AS found"
    " WHERE oldest IS NOT NULL ORDER BY oldest LIMIT 1"
)
async def find_oldest_waiting(tx: Tx) -> str | None:
    """Returns the id of the oldest event that waits to be delivered."""
    ...


async def find_stored_bytes(tx: Tx, account_id: str) -> int:
    """Returns how many bytes of media an account stores."""
    return await tx.one(FIND_STORED, account_id=account_id) or 0
