"""Deliveries: queues one for each endpoint that an event goes to, reads them, and queues past events again.

Rules: docs/webhooks.md#events, docs/webhooks.md#redeliver.
"""

from collections import Counter
from collections.abc import Sequence

from pressroom.clock import iso
from pressroom.db import Tx
from pressroom.domains.events.actions import emit
from pressroom.domains.events.models import Event, EventType
from pressroom.domains.webhooks.actions.endpoints import check_sendable, get_webhook, lock_live
from pressroom.domains.webhooks.envelope import new_envelope_id
from pressroom.domains.webhooks.events import TestData
from pressroom.domains.webhooks.filters import bounds_of, is_of_all, ranges_of
from pressroom.domains.webhooks.models import (
    REDELIVERED,
    RETENTION,
    Delivery,
    DeliveryFilter,
    DeliveryRecord,
    KindCount,
    Redelivered,
    Redelivery,
    RedeliveryPreview,
    Resent,
    State,
    Subscription,
    Webhook,
)
from pressroom.domains.webhooks.queries import deliveries, endpoints
from pressroom.domains.webhooks.queries.deliveries import PastEvent
from pressroom.errors import Code, FieldError, NotFound, Unprocessable
from pressroom.ids import first_id, last_id, time_of


async def fan_out(tx: Tx, event: Event) -> None:
    """Queues `event` for each endpoint of its account that gets it, and wakes the delivery workers.

    The event of a key's revocation is the last that the key's endpoints get (docs/keys.md#revocation). A test is queued
    by `send_test`.
    """
    if event.type is EventType.WEBHOOK_TEST:
        return
    # The locks keep the end of a batch from looking for pending deliveries just before these are committed: the
    # endpoint would not be due, and they would stay until its next event.
    for subscription in await deliveries.lock_subscriptions(tx, event.account_id):
        if subscription.hears_of(event.type, event.key_id, tx.now):
            await _queue(tx, event, subscription)
    if event.type is EventType.APIKEY_REVOKED and event.key_id is not None:
        await endpoints.close_webhooks(tx, event.account_id, event.key_id, sweep_at=tx.now + RETENTION)


async def send_test(tx: Tx, account_id: str, key_id: str, webhook_id: str) -> str:
    """Queues a webhook.test for the endpoint, ahead of all other deliveries. Returns the envelope's id.

    Raises NotFound, Unprocessable when the key is not active or the endpoint is disabled.
    """
    await lock_live(tx, account_id, key_id, webhook_id)
    data = TestData("It works: this is a test delivery from Pressroom.", webhook_id)
    event = await emit(tx, data, account_id=account_id, key_id=key_id)
    envelope_id = new_envelope_id()
    await deliveries.queue_delivery(
        tx, account_id, webhook_id, event_id=event.id, event_type=event.type, envelope_id=envelope_id
    )
    await deliveries.make_due(tx, account_id, webhook_id, tx.now)
    tx.signal()
    return envelope_id


async def _queue(tx: Tx, event: Event, subscription: Subscription) -> None:
    await deliveries.queue_delivery(
        tx,
        event.account_id,
        subscription.id,
        event_id=event.id,
        event_type=event.type,
        envelope_id=new_envelope_id(),
    )
    # While an endpoint fails, a new delivery waits for the next probe like the others.
    due_at = max(tx.now, subscription.probe_at or 0)
    if subscription.next_due_at is None or subscription.next_due_at > due_at:
        await deliveries.make_due(tx, event.account_id, subscription.id, due_at)
        # Otherwise a worker was woken already, or looks for more when it gives its lease back.
        tx.signal()


async def list_deliveries(
    tx: Tx, account_id: str, key_id: str, webhook_id: str, wanted: DeliveryFilter, before: str, limit: int
) -> list[Delivery]:
    """Returns deliveries to an endpoint that a filter takes, newest event first, of events before `before`.

    Raises NotFound.
    """
    webhook = await get_webhook(tx, account_id, key_id, webhook_id)
    return await list_filtered(tx, account_id, webhook, wanted, before, limit)


async def list_filtered(
    tx: Tx, account_id: str, webhook: Webhook, wanted: DeliveryFilter, before: str, limit: int
) -> list[Delivery]:
    """Returns the same deliveries of an endpoint that was read already."""
    since, before = bounds_of(wanted, before)
    if is_of_all(wanted):
        return await deliveries.list_deliveries(tx, account_id, webhook, since=since, before=before, limit=limit)
    ranges = ranges_of(wanted, closed=webhook.closed_at is not None, disabled=webhook.disabled_at is not None)
    if not ranges:
        return []
    return await deliveries.list_in_ranges(tx, account_id, webhook, ranges, since=since, before=before, limit=limit)


async def get_delivery(
    tx: Tx, account_id: str, key_id: str, webhook_id: str, delivery_id: str
) -> tuple[Webhook, DeliveryRecord]:
    """Returns an endpoint and one delivery to it, with all that was sent. Raises NotFound."""
    webhook = await get_webhook(tx, account_id, key_id, webhook_id)
    delivery = await deliveries.find_delivery(tx, account_id, webhook_id, delivery_id)
    if delivery is None:
        raise NotFound("There is no such delivery to this endpoint.")
    return webhook, delivery


async def redeliver(tx: Tx, account_id: str, key_id: str, webhook_id: str, wanted: Redelivery) -> Redelivered:
    """Queues the oldest 1,000 of the wanted events for an endpoint, of the kinds that it chose.

    An event that was queued before, for the endpoint or for one that it continues, keeps its envelope, byte for byte;
    any other gets a new envelope with the event's own time. One that is pending is sent now: where the endpoint fails,
    its probe is (docs/webhooks.md#redeliver). Each event is found once, so none is a duplicate within a call. Raises
    NotFound, Unprocessable when the key is not active or the endpoint is disabled.
    """
    webhook = await lock_live(tx, account_id, key_id, webhook_id)
    await deliveries.lock_continued(tx, account_id, webhook)
    events = await _find(tx, account_id, webhook, wanted, REDELIVERED)
    # An event that was never queued here gets a new envelope; any other keeps its own, so that a receiver that stored
    # the id of the first delivery recognizes the second.
    late = [event for event in events if event.state is None]
    waiting = [event for event in events if _waits(event, webhook_id)]
    again = [event for event in events if event.state and not _waits(event, webhook_id)]
    await deliveries.send_now(tx, account_id, webhook_id, waiting)
    await deliveries.queue_again(tx, account_id, webhook_id, again)
    await deliveries.queue_late(tx, account_id, webhook_id, late, [new_envelope_id() for _ in late])
    if events:
        await _make_due(tx, account_id, webhook, now=bool(waiting))
    return Redelivered(len(events), 0)


async def preview(tx: Tx, account_id: str, key_id: str, webhook_id: str, wanted: Redelivery) -> RedeliveryPreview:
    """Returns the result that `redeliver` would have now; changes nothing. Raises the same errors as `redeliver`."""
    webhook = await check_sendable(tx, account_id, key_id, webhook_id)
    found = await _find(tx, account_id, webhook, wanted, REDELIVERED + 1)
    events = found[:REDELIVERED]
    kinds = Counter(event.type for event in events)
    return RedeliveryPreview(
        events=len(events),
        kinds=[KindCount(kind, kinds[kind]) for kind in EventType if kind in kinds],
        oldest=time_of(events[0].id) if events else None,
        newest=time_of(events[-1].id) if events else None,
        waiting=sum(_waits(event, webhook_id) for event in events),
        more=len(found) > REDELIVERED,
    )


async def resend(tx: Tx, account_id: str, key_id: str, webhook_id: str, delivery_id: str) -> Resent:
    """Queues one delivery again, with the same envelope; a pending one is sent now.

    `queued` is False for a delivery that is due already, and may be under way. Raises NotFound, Unprocessable when the
    key is not active, the endpoint is disabled or the event too old.
    """
    webhook = await lock_live(tx, account_id, key_id, webhook_id)
    delivery = await deliveries.find_delivery(tx, account_id, webhook_id, delivery_id)
    if delivery is None:
        raise NotFound("There is no such delivery to this endpoint.")
    event = PastEvent(delivery.event_id, delivery.event, webhook_id, delivery.state)
    if delivery.state == State.PENDING:
        is_due = max(delivery.due_at, webhook.probe_at or 0) <= tx.now
        if not is_due:
            await deliveries.send_now(tx, account_id, webhook_id, [event])
            await _make_due(tx, account_id, webhook, now=True)
        return Resent(delivery_id, queued=not is_due)
    # Older events may be removed at any moment, and with them the data of the envelope.
    if (at := time_of(delivery.event_id)) <= tx.now - RETENTION:
        message = f"The event is of {iso(at)}. Events can be sent again for 30 days."
        raise Unprocessable([FieldError("deliveryId", Code.NOT_ALLOWED, message)])
    await deliveries.queue_again(tx, account_id, webhook_id, [event])
    if delivery.event == EventType.WEBHOOK_TEST:  # goes ahead of the queue, whether or not the endpoint fails
        await deliveries.make_due(tx, account_id, webhook_id, tx.now)
        tx.signal()
    else:
        await _make_due(tx, account_id, webhook, now=False)
    return Resent(delivery_id, queued=True)


async def _make_due(tx: Tx, account_id: str, webhook: Webhook, *, now: bool) -> None:
    """Makes the endpoint due and wakes the workers: at its next probe while it fails, or `now`."""
    if now:
        await deliveries.probe_now(tx, account_id, webhook.id)
    due_at = tx.now if now else max(tx.now, webhook.probe_at or 0)
    await deliveries.make_due(tx, account_id, webhook.id, due_at)
    tx.signal()


async def _find(tx: Tx, account_id: str, webhook: Webhook, wanted: Redelivery, limit: int) -> Sequence[PastEvent]:
    """Returns the oldest of the wanted events, of the kinds that the endpoint chose."""
    return await deliveries.find_events(
        tx,
        account_id,
        webhook,
        since=first_id(max(wanted.since, tx.now - RETENTION + 1)),
        until=last_id(wanted.until),
        kinds=[kind for kind in wanted.kinds if webhook.takes(kind)],
        limit=limit,
    )


def _waits(event: PastEvent, webhook_id: str) -> bool:
    """Returns whether the event is pending at this very endpoint: a removed one sends no more."""
    return event.state == State.PENDING and event.holder_id == webhook_id
