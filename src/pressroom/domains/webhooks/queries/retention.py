"""Retention: removes rows after their time, in small batches."""

from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx, sql


class EventKey(msgspec.Struct):
    """An event, by its key."""

    account_id: str
    id: str


class Sweepable(msgspec.Struct):
    """An endpoint that was removed or has ended, and still has deliveries."""

    account_id: str
    id: str
    removed: bool


SWEEP_DELIVERIES: Final = Command(
    "DELETE FROM deliveries WHERE (account_id, webhook_id, event_id) IN (SELECT account_id, webhook_id, event_id"
    " FROM deliveries WHERE account_id = :account_id AND webhook_id = :webhook_id AND (state = 'pending' OR :removed)"
    " LIMIT :batch)"
)

FORGET_WEBHOOK: Final = Command("DELETE FROM webhooks WHERE account_id = :account_id AND id = :webhook_id")

SWEPT: Final = Command("UPDATE webhooks SET sweep_at = NULL WHERE account_id = :account_id AND id = :webhook_id")


HAS_NEWS: Final = Query(
    int,
    "SELECT 1 FROM webhooks w JOIN deliveries d ON d.account_id = w.account_id AND d.webhook_id = w.id"
    " AND d.state = 'pending' AND d.event_type = 'apikey.revoked'"
    " WHERE w.account_id = :account_id AND w.removed_at IS NULL AND w.disabled_at IS NULL LIMIT 1",
)


async def has_news(tx: Tx, account_id: str) -> bool:
    """Returns whether an endpoint of the account is still to hear that its key was revoked."""
    return await tx.one(HAS_NEWS, account_id=account_id) is not None


@sql.run(
    "DELETE FROM deliveries WHERE account_id = :account_id AND (webhook_id, event_id) IN"
    " (SELECT webhook_id, event_id FROM deliveries WHERE account_id = :account_id LIMIT :batch)"
)
async def erase_deliveries(tx: Tx, account_id: str, batch: int) -> int:
    """Removes deliveries of an account, and returns how many."""
    ...


@sql.run("DELETE FROM webhooks WHERE account_id = :account_id")
async def erase_webhooks(tx: Tx, account_id: str) -> None:
    """Removes all endpoints of an account."""
    ...


@sql.run(
    "DELETE FROM deliveries WHERE (account_id, webhook_id, event_id) IN (SELECT account_id, webhook_id, event_id"
    " FROM deliveries WHERE finished_at <= :until ORDER BY finished_at LIMIT :batch)"
)
async def purge_deliveries(tx: Tx, *, until: int, batch: int) -> int:
    """Removes deliveries that ended up to `until` (milliseconds), oldest first. Returns how many."""
    ...


# CROSS JOIN makes SQLite begin with endpoints: few are paused for so long.
@sql.run(
    "DELETE FROM deliveries WHERE (account_id, webhook_id, event_id) IN (SELECT d.account_id, d.webhook_id, d.event_id"
    " FROM webhooks w CROSS JOIN deliveries d WHERE w.paused_at <= :until AND d.account_id = w.account_id"
    " AND d.webhook_id = w.id AND d.state = 'pending' AND d.event_id < :before LIMIT :batch)"
)
async def purge_paused(tx: Tx, *, until: int, before: str, batch: int) -> int:
    """Removes pending deliveries of events before the id `before` to endpoints that were paused up to `until`
    (milliseconds). Returns how many."""
    ...


# The event holds the data of its deliveries: it stays while one is pending, however long.
# CROSS JOIN has SQLite begin with endpoints, OFFSET has PostgreSQL look per event: neither compares all with all.
@sql.all(
    "SELECT e.account_id, e.id FROM events e WHERE e.id < :before AND NOT EXISTS (SELECT 1 FROM webhooks w"
    " CROSS JOIN deliveries d WHERE w.account_id = e.account_id AND d.account_id = w.account_id"
    " AND d.webhook_id = w.id AND d.event_id = e.id AND d.state = 'pending' LIMIT 1 OFFSET 0)"
    " ORDER BY e.id LIMIT :batch"
)
async def list_expired_events(tx: Tx, *, before: str, batch: int) -> list[EventKey]:
    """Returns events before the id `before` without a pending delivery, oldest first."""
    ...


# Conditions for `pressroom.db.postgres.partitions`: the rows that outlive the partition of ids from `first` to `end`.
LASTING_DELIVERIES: Final = "state = 'pending' OR finished_at > {until}"
LASTING_EVENTS: Final = (
    "(account_id, id) IN (SELECT account_id, event_id FROM deliveries WHERE state = 'pending'"
    " AND event_id >= '{first}' AND event_id < '{end}')"
)

_PENDING: Final = (
    "SELECT 1 FROM deliveries WHERE state = 'pending' AND event_id >= :first AND event_id < :end LIMIT :most"
)


@sql.one(f"SELECT count(*) FROM ({_PENDING}) AS pending")
async def count_pending(tx: Tx, first: str, end: str, *, most: int) -> int:
    """Returns how many deliveries of events with ids from `first` to before `end` are pending, at most `most`."""
    ...


# Two reads along an index each: the rows are few among those of a week.
@sql.one(
    f"SELECT (SELECT count(*) FROM ({_PENDING}) AS pending) + (SELECT count(*) FROM (SELECT 1 FROM deliveries"
    " WHERE finished_at > :until AND event_id >= :first AND event_id < :end LIMIT :most) AS finished)"
)
async def count_lasting(tx: Tx, first: str, end: str, *, until: int, most: int) -> int:
    """Returns how many of these are pending or ended after `until` (milliseconds), at most `most` of each kind."""
    ...


@sql.run(
    "UPDATE webhooks SET closed_at = :now, sweep_at = coalesce(sweep_at, :sweep_at) WHERE (account_id, id) IN"
    " (SELECT account_id, id FROM webhooks WHERE key_expires_at <= :until AND closed_at IS NULL"
    " ORDER BY key_expires_at LIMIT :batch FOR UPDATE SKIP LOCKED)"
)
async def close_expired(tx: Tx, *, until: int, sweep_at: int, batch: int) -> int:
    """Closes the endpoints of keys that expired up to `until` (milliseconds). Returns how many."""
    ...


@sql.one(
    "SELECT account_id, id, removed_at IS NOT NULL AS removed FROM webhooks"
    " WHERE sweep_at <= :now ORDER BY sweep_at LIMIT 1 FOR UPDATE SKIP LOCKED"
)
async def find_sweepable(tx: Tx) -> Sweepable | None:
    """Returns an endpoint whose deliveries are to be removed."""
    ...


async def sweep_deliveries(tx: Tx, ended: Sweepable, batch: int) -> int:
    """Removes the endpoint's pending deliveries; all of them when it was removed. Returns how many."""
    return await tx.run(
        SWEEP_DELIVERIES, account_id=ended.account_id, webhook_id=ended.id, removed=ended.removed, batch=batch
    )


async def finish_sweep(tx: Tx, ended: Sweepable) -> None:
    """Removes the row of a removed endpoint; notes of another one that it was swept."""
    await tx.run(FORGET_WEBHOOK if ended.removed else SWEPT, account_id=ended.account_id, webhook_id=ended.id)
