"""Retention: what is removed after its time, in small batches."""

from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx

PURGE_DELIVERIES: Final = Command(
    "DELETE FROM deliveries WHERE (account_id, webhook_id, event_id) IN (SELECT account_id, webhook_id, event_id"
    " FROM deliveries WHERE finished_at <= :until ORDER BY finished_at LIMIT :batch)"
)


class EventKey(msgspec.Struct):
    """An event, by its key."""

    account_id: str
    id: str


# An event is what its deliveries are made of: while one waits, however long, the event stays.
LIST_EXPIRED_EVENTS: Final = Query(
    EventKey,
    "SELECT e.account_id, e.id FROM events e WHERE e.created_at <= :until AND NOT EXISTS (SELECT 1 FROM webhooks w"
    " JOIN deliveries d ON d.account_id = w.account_id AND d.webhook_id = w.id"
    " WHERE w.account_id = e.account_id AND d.event_id = e.id AND d.state = 'pending')"
    " ORDER BY e.created_at LIMIT :batch",
)

CLOSE_EXPIRED: Final = Command(
    "UPDATE webhooks SET closed_at = :now, sweep_at = coalesce(sweep_at, :sweep_at) WHERE (account_id, id) IN"
    " (SELECT account_id, id FROM webhooks WHERE key_expires_at <= :until AND closed_at IS NULL"
    " ORDER BY key_expires_at LIMIT :batch FOR UPDATE SKIP LOCKED)"
)


class Sweepable(msgspec.Struct):
    """An endpoint for which things wait in vain."""

    account_id: str
    id: str
    removed: bool


FIND_SWEEPABLE: Final = Query(
    Sweepable,
    "SELECT account_id, id, removed_at IS NOT NULL AS removed FROM webhooks"
    " WHERE sweep_at <= :now ORDER BY sweep_at LIMIT 1 FOR UPDATE SKIP LOCKED",
)

SWEEP_DELIVERIES: Final = Command(
    "DELETE FROM deliveries WHERE (account_id, webhook_id, event_id) IN (SELECT account_id, webhook_id, event_id"
    " FROM deliveries WHERE account_id = :account_id AND webhook_id = :webhook_id AND (state = 'pending' OR :removed)"
    " LIMIT :batch)"
)

FORGET_WEBHOOK: Final = Command("DELETE FROM webhooks WHERE account_id = :account_id AND id = :webhook_id")

SWEPT: Final = Command("UPDATE webhooks SET sweep_at = NULL WHERE account_id = :account_id AND id = :webhook_id")


async def purge_deliveries(tx: Tx, *, until: int, batch: int) -> int:
    """Removes deliveries that ended up to `until` (milliseconds), oldest first; how many."""
    return await tx.run(PURGE_DELIVERIES, until=until, batch=batch)


async def list_expired_events(tx: Tx, *, until: int, batch: int) -> list[EventKey]:
    """Returns events that were appended up to `until` (milliseconds) and that no delivery waits for, oldest first."""
    return await tx.all(LIST_EXPIRED_EVENTS, until=until, batch=batch)


async def close_expired(tx: Tx, *, until: int, sweep_at: int, batch: int) -> int:
    """Lets the endpoints of keys that expired up to `until` (milliseconds) hear of nothing more; how many."""
    return await tx.run(CLOSE_EXPIRED, until=until, sweep_at=sweep_at, batch=batch, now=tx.now)


async def find_sweepable(tx: Tx) -> Sweepable | None:
    """An endpoint whose waiting deliveries are to be removed."""
    return await tx.one(FIND_SWEEPABLE, now=tx.now)


async def sweep_deliveries(tx: Tx, ended: Sweepable, batch: int) -> int:
    """Removes what waits for the endpoint, and everything else too when the endpoint was removed; how many."""
    return await tx.run(
        SWEEP_DELIVERIES, account_id=ended.account_id, webhook_id=ended.id, removed=ended.removed, batch=batch
    )


async def finish_sweep(tx: Tx, ended: Sweepable) -> None:
    """Forgets a removed endpoint; keeps another one, with nothing waiting."""
    await tx.run(FORGET_WEBHOOK if ended.removed else SWEPT, account_id=ended.account_id, webhook_id=ended.id)
