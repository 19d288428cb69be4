"""Deliveries of endpoints: queueing, listing and finding them, and queueing them again."""

from collections.abc import Sequence
from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx, Value, sql
from pressroom.domains.events.models import EventType
from pressroom.domains.webhooks.filters import FEW_RANGES, MOST_RANGES, Range
from pressroom.domains.webhooks.models import Delivery, DeliveryRecord, PastDelivery, Subscription, Webhook

# The lock orders queueing against the end of a batch, which looks for pending deliveries and may find none.
LOCK_SUBSCRIPTIONS: Final = Query(
    Subscription,
    "SELECT id, key_id, events, key_expires_at, probe_at, next_due_at FROM webhooks WHERE account_id = :account_id"
    " AND disabled_at IS NULL AND removed_at IS NULL AND closed_at IS NULL ORDER BY id FOR UPDATE",
)

QUEUE_DELIVERY: Final = Command(
    "INSERT INTO deliveries (account_id, webhook_id, event_id, envelope_id, event_type, state, redelivery, tries,"
    " attempts, due_at, code) VALUES (:account_id, :webhook_id, :event_id, :envelope_id, :event_type, 'pending', FALSE,"
    " 0, '[]', :now, '')"
)

# A paused endpoint is due when it is resumed.
MAKE_DUE: Final = Command(
    "UPDATE webhooks SET next_due_at = :due_at WHERE account_id = :account_id AND id = :webhook_id"
    " AND paused_at IS NULL AND (next_due_at IS NULL OR next_due_at > :due_at)"
)


# Tries and attempts stay: the worker that has the delivery in flight saves its outcome over this, and counts on.
SEND_NOW: Final = Command(
    "UPDATE deliveries SET due_at = CASE WHEN due_at > :now THEN :now ELSE due_at END, redelivery = TRUE"
    " WHERE account_id = :account_id AND webhook_id = :webhook_id AND event_id = :event_id AND state = 'pending'"
)

# Under the endpoint's lock nothing else is queued for it. A row of an endpoint that it continues becomes its own, so
# that an event never has two envelopes in one line of endpoints.
QUEUE_AGAIN: Final = Command(
    "UPDATE deliveries SET webhook_id = :webhook_id, state = 'pending', redelivery = TRUE, tries = 0, due_at = :now,"
    " finished_at = NULL WHERE account_id = :account_id AND webhook_id = :holder_id AND event_id = :event_id"
    " AND (state <> 'pending' OR webhook_id <> :webhook_id)"
)

QUEUE_LATE: Final = Command(
    "INSERT INTO deliveries (account_id, webhook_id, event_id, envelope_id, event_type, state, redelivery, tries,"
    " attempts, due_at, code) VALUES (:account_id, :webhook_id, :event_id, :envelope_id, :event_type, 'pending', TRUE,"
    " 0, '[]', :now, '')"
)


class PastEvent(msgspec.Struct):
    """An event to be sent again. `state` is that of its delivery to the endpoint or to one that it continues, whose id
    is `holder_id`; None: there is no such delivery."""

    id: str
    type: str
    holder_id: str | None
    state: str | None


# A sweep of a removed endpoint holds its lock too, or finds it held and comes back later.
LOCK_CONTINUED: Final = Query(
    str,
    "SELECT id FROM webhooks WHERE account_id = :account_id AND origin_id = :origin_id AND id <> :webhook_id"
    " AND removed_at IS NOT NULL AND sweep_at > :now ORDER BY id FOR UPDATE",
)

KINDS: Final = len(EventType)

# Each kind is one range of the index, read from its oldest event on: the events of other kinds cost nothing.
_RANGES: Final = " UNION ALL ".join(
    "SELECT * FROM (SELECT id, type FROM events WHERE account_id = :account_id"
    f" AND (type, id) >= (:kind{each}, :since) AND (type, id) <= (:kind{each}, :until)"
    f" AND (key_id IS NULL OR key_id = :key_id) ORDER BY type, id LIMIT :limit) AS range{each}"
    for each in range(KINDS)
)

# The delivery is found by a subquery for each event: PostgreSQL without statistics of a new account's deliveries would
# compare each event with each of them in a join. `tries` is not in the index of the filters: SQLite without statistics
# would walk along that as a covering one.
FIND_EVENTS: Final = Query(
    PastEvent,
    "SELECT f.id, f.type, f.holder_id, (SELECT d.state FROM deliveries d WHERE d.account_id = :account_id"
    " AND d.webhook_id = f.holder_id AND d.event_id = f.id AND d.tries >= 0) AS state"
    " FROM (SELECT e.id, e.type, (SELECT d.webhook_id FROM deliveries d WHERE d.account_id = :account_id"
    " AND d.webhook_id IN (SELECT id FROM webhooks WHERE account_id = :account_id AND origin_id = :origin_id"
    " AND (id = :webhook_id OR removed_at IS NOT NULL AND sweep_at > :now))"
    " AND d.event_id = e.id AND d.tries >= 0 LIMIT 1) AS holder_id"
    f" FROM (SELECT * FROM ({_RANGES}) AS found ORDER BY id LIMIT :limit) AS e) AS f"
    " ORDER BY f.id",
)


async def lock_subscriptions(tx: Tx, account_id: str) -> list[Subscription]:
    """Returns the account's endpoints that can get events, locked: no batch of theirs ends meanwhile."""
    return await tx.all(LOCK_SUBSCRIPTIONS, account_id=account_id)


async def queue_delivery(
    tx: Tx, account_id: str, webhook_id: str, *, event_id: str, event_type: str, envelope_id: str
) -> None:
    """Queues the first delivery of an event to an endpoint, due at once."""
    await tx.later(
        QUEUE_DELIVERY,
        account_id=account_id,
        webhook_id=webhook_id,
        event_id=event_id,
        event_type=event_type,
        envelope_id=envelope_id,
        now=tx.now,
    )


async def make_due(tx: Tx, account_id: str, webhook_id: str, due_at: int) -> None:
    """Makes the endpoint due at `due_at` (milliseconds), if not before."""
    await tx.later(MAKE_DUE, account_id=account_id, webhook_id=webhook_id, due_at=due_at)


@sql.run("UPDATE webhooks SET probe_at = :now WHERE account_id = :account_id AND id = :webhook_id AND probe_at > :now")
async def probe_now(tx: Tx, account_id: str, webhook_id: str) -> None:
    """Has a failing endpoint probed at once."""
    ...


async def send_now(tx: Tx, account_id: str, webhook_id: str, events: Sequence[PastEvent]) -> None:
    """Makes pending deliveries of the endpoint due at once, in the order of `events`."""
    common: dict[str, Value] = {"account_id": account_id, "webhook_id": webhook_id, "now": tx.now}
    await tx.run_each(SEND_NOW, [common | {"event_id": event.id} for event in events])


async def queue_again(tx: Tx, account_id: str, webhook_id: str, events: Sequence[PastEvent]) -> None:
    """Queues events that have an envelope once more, with that envelope."""
    common: dict[str, Value] = {"account_id": account_id, "webhook_id": webhook_id, "now": tx.now}
    await tx.run_each(QUEUE_AGAIN, [common | {"event_id": event.id, "holder_id": event.holder_id} for event in events])


async def queue_late(
    tx: Tx, account_id: str, webhook_id: str, events: Sequence[PastEvent], envelope_ids: Sequence[str]
) -> None:
    """Queues events that were never queued for the endpoint or one that it continues, with new envelopes."""
    common: dict[str, Value] = {"account_id": account_id, "webhook_id": webhook_id, "now": tx.now}
    rows = [
        common | {"event_id": event.id, "event_type": event.type, "envelope_id": envelope_id}
        for event, envelope_id in zip(events, envelope_ids, strict=True)
    ]
    await tx.run_each(QUEUE_LATE, rows)


async def lock_continued(tx: Tx, account_id: str, webhook: Webhook) -> None:
    """Locks the endpoints that this one continues, so that their deliveries stay until the transaction ends."""
    await tx.all(LOCK_CONTINUED, account_id=account_id, webhook_id=webhook.id, origin_id=webhook.origin_id, now=tx.now)


async def find_events(
    tx: Tx, account_id: str, webhook: Webhook, *, since: str, until: str, kinds: Sequence[str], limit: int
) -> list[PastEvent]:
    """Returns events of these kinds from the id `since` to `until`, oldest first, without those of other keys."""
    wanted: dict[str, Value] = {f"kind{each}": kinds[each] if each < len(kinds) else "" for each in range(KINDS)}
    return await tx.all(
        FIND_EVENTS,
        account_id=account_id,
        key_id=webhook.key_id,
        webhook_id=webhook.id,
        origin_id=webhook.origin_id,
        since=since,
        until=until,
        limit=limit,
        now=tx.now,
        **wanted,
    )


# "held" and "cancelled" follow from the endpoint, so disabling one costs the same however many deliveries are pending.
_DELIVERY: Final = (
    "d.envelope_id AS id, d.event_type AS event, d.event_id, CASE WHEN d.state <> 'pending' THEN d.state"
    " WHEN w.closed_at IS NOT NULL AND d.event_type <> 'apikey.revoked' THEN 'cancelled'"
    " WHEN w.disabled_at IS NOT NULL THEN 'held' ELSE 'pending' END AS state,"
    " d.redelivery, d.due_at, w.probe_at, w.paused_at IS NOT NULL AS paused, d.attempts"
)
_ENDPOINT: Final = "JOIN webhooks w ON w.account_id = d.account_id AND w.id = d.webhook_id"

_OF_ENDPOINT: Final = (
    f"SELECT {_DELIVERY} FROM deliveries d {_ENDPOINT} WHERE d.account_id = :account_id AND d.webhook_id = :webhook_id"
)

LIST_DELIVERIES: Final = Query(
    Delivery,
    f"{_OF_ENDPOINT} AND d.event_id < :before AND d.event_id >= :since ORDER BY d.event_id DESC LIMIT :limit",
)


_PLACE: Final = "(state, event_type, code, event_id)"


def _in_ranges(number: int) -> str:
    """Returns the statement for deliveries in so many ranges of the index, each read from its newest row on.

    A range is written as places between two others, in the order of the index, and its rows are joined with nothing
    but their endpoint: otherwise a planner may walk through all rows of the endpoint, which are in the order wanted.
    """
    ranges = " UNION ALL ".join(
        f"SELECT * FROM (SELECT * FROM deliveries WHERE account_id = :account_id AND webhook_id = :webhook_id"
        f" AND {_PLACE} <= (:state{each}, :event{each}, :code{each}, :before) AND event_id <> :before"
        f" AND {_PLACE} >= (:state{each}, :event{each}, :code{each}, :since)"
        f" ORDER BY state DESC, event_type DESC, code DESC, event_id DESC LIMIT :limit) AS range{each}"
        for each in range(number)
    )
    return (
        f"SELECT {_DELIVERY} FROM (SELECT * FROM ({ranges}) AS found ORDER BY event_id DESC LIMIT :limit) AS d"
        " JOIN webhooks w ON w.account_id = :account_id AND w.id = :webhook_id ORDER BY d.event_id DESC"
    )


LIST_IN_FEW_RANGES: Final = Query(Delivery, _in_ranges(FEW_RANGES))

LIST_IN_RANGES: Final = Query(Delivery, _in_ranges(MOST_RANGES))


async def list_deliveries(
    tx: Tx, account_id: str, webhook: Webhook, *, since: str, before: str, limit: int
) -> list[Delivery]:
    """Returns deliveries to an endpoint, newest event first, of events with ids from `since` to before `before`."""
    return await tx.all(
        LIST_DELIVERIES, account_id=account_id, webhook_id=webhook.id, since=since, before=before, limit=limit
    )


async def list_in_ranges(
    tx: Tx, account_id: str, webhook: Webhook, ranges: Sequence[Range], *, since: str, before: str, limit: int
) -> list[Delivery]:
    """Returns the same of the deliveries in these ranges, 30 at most."""
    statement, number = (LIST_IN_FEW_RANGES, FEW_RANGES) if len(ranges) <= FEW_RANGES else (LIST_IN_RANGES, MOST_RANGES)
    values: dict[str, Value] = {}
    for place in range(number):
        each = ranges[place] if place < len(ranges) else None
        values[f"state{place}"] = each.state if each else ""
        values[f"event{place}"] = each.event if each else ""
        values[f"code{place}"] = each.code if each else ""
    return await tx.all(
        statement, account_id=account_id, webhook_id=webhook.id, since=since, before=before, limit=limit, **values
    )


@sql.one(
    f"SELECT {_DELIVERY}, w.url, e.data FROM deliveries d {_ENDPOINT}"
    " LEFT JOIN events e ON e.account_id = d.account_id AND e.id = d.event_id"
    " WHERE d.envelope_id = :delivery_id AND d.account_id = :account_id AND d.webhook_id = :webhook_id"
)
async def find_delivery(tx: Tx, account_id: str, webhook_id: str, delivery_id: str) -> DeliveryRecord | None:
    """Returns a delivery to an endpoint by its envelope's id."""
    ...


@sql.all(
    "SELECT event_id, event_type, state FROM deliveries WHERE account_id = :account_id AND webhook_id = :webhook_id"
    " AND event_id < :before ORDER BY event_id DESC LIMIT :limit"
)
async def deliveries_before(tx: Tx, account_id: str, webhook_id: str, *, before: str, limit: int) -> list[PastDelivery]:
    """Returns deliveries to an endpoint of events before the id `before`, newest first."""
    ...


@sql.one(f"{_OF_ENDPOINT} AND d.event_type = 'webhook.test' ORDER BY d.event_id DESC LIMIT 1")
async def find_last_test(tx: Tx, account_id: str, webhook_id: str) -> Delivery | None:
    """Returns the last test that was sent to an endpoint, or is to be sent."""
    ...
