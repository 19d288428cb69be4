"""Queueing: each event becomes one delivery for each endpoint, in the transaction of what it reports."""

from pressroom.db import Tx
from pressroom.domains.events.actions import emit
from pressroom.domains.events.models import Event, EventType
from pressroom.domains.webhooks.actions.endpoints import lock_live
from pressroom.domains.webhooks.envelope import new_envelope_id
from pressroom.domains.webhooks.events import TestData
from pressroom.domains.webhooks.models import RETENTION, Subscription
from pressroom.domains.webhooks.queries import deliveries, endpoints


async def fan_out(tx: Tx, event: Event) -> None:
    """Queues `event` for each endpoint of its account that gets it, and wakes the delivery workers.

    The event of a key's revocation is the last that the key's endpoints get (docs/keys.md#revocation). A test is queued
    by `send_test`.
    """
    if event.type is EventType.WEBHOOK_TEST:
        return
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
