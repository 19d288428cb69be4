"""Deliveries: queueing them when something happens, queueing them again, and listing them."""

from collections.abc import Sequence
from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx
from pressroom.domains.webhooks.models import Delivery


class Listener(msgspec.Struct):
    """An endpoint of the account, as far as queueing is concerned. Times in milliseconds."""

    id: str
    key_id: str
    events: str
    key_expires_at: int | None
    probe_at: int | None
    next_due_at: int | None

    def hears_of(self, kind: str, key_id: str | None, now: int) -> bool:
        """Whether it is told of an event of this kind, which concerns the key `key_id` if that is given."""
        if key_id is not None:
            return key_id == self.key_id and kind in self.events.split(" ")
        alive = self.key_expires_at is None or self.key_expires_at > now
        return alive and kind in self.events.split(" ")


# The lock orders queueing against the end of a turn, which reads what is left and may find nothing.
LOCK_LISTENERS: Final = Query(
    Listener,
    "SELECT id, key_id, events, key_expires_at, probe_at, next_due_at FROM webhooks WHERE account_id = :account_id"
    " AND disabled_at IS NULL AND removed_at IS NULL AND closed_at IS NULL ORDER BY id FOR UPDATE",
)

QUEUE_DELIVERY: Final = Command(
    "INSERT INTO deliveries (account_id, webhook_id, event_id, envelope_id, event_type, state, redelivery, tries,"
    " attempts, due_at) VALUES (:account_id, :webhook_id, :event_id, :envelope_id, :event_type, 'pending', FALSE, 0,"
    " '[]', :now)"
)

MAKE_DUE: Final = Command(
    "UPDATE webhooks SET next_due_at = :due_at WHERE account_id = :account_id AND id = :webhook_id"
    " AND (next_due_at IS NULL OR next_due_at > :due_at)"
)

# Two statements and no upsert: that would wait for an outcome which is just being written down, while whoever writes
# it waits for the endpoint that is locked here.
QUEUE_AGAIN: Final = Command(
    "UPDATE deliveries SET state = 'pending', redelivery = TRUE, tries = 0, due_at = :now, finished_at = NULL"
    " WHERE account_id = :account_id AND webhook_id = :webhook_id AND event_id = :event_id AND state <> 'pending'"
)

QUEUE_LATE: Final = Command(
    "INSERT INTO deliveries (account_id, webhook_id, event_id, envelope_id, event_type, state, redelivery, tries,"
    " attempts, due_at) SELECT :account_id, :webhook_id, :event_id, :envelope_id, :event_type, 'pending', TRUE, 0,"
    " '[]', :now WHERE NOT EXISTS (SELECT 1 FROM deliveries"
    " WHERE account_id = :account_id AND webhook_id = :webhook_id AND event_id = :event_id)"
)


PROBE_TIME: Final = Query(
    int, "SELECT coalesce(probe_at, 0) FROM webhooks WHERE account_id = :account_id AND id = :webhook_id"
)


class Happened(msgspec.Struct):
    """An event to be sent again."""

    id: str
    type: str


FIND_EVENTS: Final = Query(
    Happened,
    "SELECT id, type FROM events WHERE account_id = :account_id AND id >= :since AND id <= :until"
    " AND :kinds LIKE '% ' || type || ' %' AND (key_id IS NULL OR key_id = :key_id) ORDER BY id LIMIT :limit",
)

# Held and cancelled follow from the endpoint: to disable one must not cost more when more waits for it.
LIST_DELIVERIES: Final = Query(
    Delivery,
    "SELECT d.envelope_id, d.event_type, d.event_id, CASE WHEN d.state <> 'pending' THEN d.state"
    " WHEN w.closed_at IS NOT NULL AND d.event_type <> 'apikey.revoked' THEN 'cancelled'"
    " WHEN w.disabled_at IS NOT NULL THEN 'held' ELSE 'pending' END,"
    " d.redelivery, d.due_at, w.probe_at, d.attempts"
    " FROM deliveries d JOIN webhooks w ON w.account_id = d.account_id AND w.id = d.webhook_id"
    " WHERE d.account_id = :account_id AND d.webhook_id = :webhook_id AND d.event_id < :before"
    " ORDER BY d.event_id DESC LIMIT :limit",
)


async def lock_listeners(tx: Tx, account_id: str) -> list[Listener]:
    """The account's endpoints that can be told of anything. Nobody ends a turn of theirs meanwhile."""
    return await tx.all(LOCK_LISTENERS, account_id=account_id)


async def queue_delivery(
    tx: Tx, account_id: str, webhook_id: str, *, event_id: str, event_type: str, envelope_id: str
) -> None:
    """Queues the first delivery of an event to an endpoint, due at once."""
    await tx.run(
        QUEUE_DELIVERY,
        account_id=account_id,
        webhook_id=webhook_id,
        event_id=event_id,
        event_type=event_type,
        envelope_id=envelope_id,
        now=tx.now,
    )


async def make_due(tx: Tx, account_id: str, webhook_id: str, due_at: int) -> None:
    """Has somebody look after the endpoint at `due_at` (milliseconds), if not before."""
    await tx.run(MAKE_DUE, account_id=account_id, webhook_id=webhook_id, due_at=due_at)


async def queue_again(tx: Tx, account_id: str, webhook_id: str, *, event: Happened, envelope_id: str) -> bool:
    """Queues an event anew, in its envelope or, when it has none yet, in `envelope_id`; False when it waits already."""
    if await tx.run(QUEUE_AGAIN, account_id=account_id, webhook_id=webhook_id, event_id=event.id, now=tx.now):
        return True
    queued = await tx.run(
        QUEUE_LATE,
        account_id=account_id,
        webhook_id=webhook_id,
        event_id=event.id,
        event_type=event.type,
        envelope_id=envelope_id,
        now=tx.now,
    )
    return bool(queued)


async def probe_time(tx: Tx, account_id: str, webhook_id: str) -> int:
    """Until when a failing endpoint is left alone (milliseconds); 0 when it does not fail."""
    return await tx.one(PROBE_TIME, account_id=account_id, webhook_id=webhook_id) or 0


async def find_events(
    tx: Tx, account_id: str, key_id: str, *, since: str, until: str, kinds: Sequence[str], limit: int
) -> list[Happened]:
    """Events from the identifier `since` to `until` of these kinds, but for those of other keys; oldest first."""
    return await tx.all(
        FIND_EVENTS,
        account_id=account_id,
        key_id=key_id,
        since=since,
        until=until,
        limit=limit,
        kinds=f" {' '.join(kinds)} ",
    )


async def list_deliveries(tx: Tx, account_id: str, webhook_id: str, *, before: str, limit: int) -> list[Delivery]:
    """Deliveries to an endpoint, newest event first, of events before the one called `before`."""
    return await tx.all(LIST_DELIVERIES, account_id=account_id, webhook_id=webhook_id, before=before, limit=limit)
