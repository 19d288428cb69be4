"""Queueing: every event becomes one delivery per endpoint, in the transaction of the write that it reports."""

from pressroom.db import Tx
from pressroom.domains.events.actions import emit
from pressroom.domains.events.models import Event, EventType
from pressroom.domains.webhooks.actions.endpoints import lock_live
from pressroom.domains.webhooks.envelope import new_envelope_id
from pressroom.domains.webhooks.events import TestData
from pressroom.domains.webhooks.models import RETENTION, Listener
from pressroom.domains.webhooks.queries import deliveries, endpoints


async def fan_out(tx: Tx, event: Event) -> None:
    """Queues `event` for each endpoint of its account that hears of it, and wakes whoever delivers.

    The news that a key was revoked is the last that the key's endpoints are told (docs/keys.md#revocation). A test is
    queued by whoever sends it.
    """
    if event.type is EventType.WEBHOOK_TEST:
        return
    for listener in await deliveries.lock_listeners(tx, event.account_id):
        if listener.hears_of(event.type, event.key_id, tx.now):
            await _queue(tx, event, listener)
    if event.type is EventType.APIKEY_REVOKED and event.key_id is not None:
        await endpoints.close_webhooks(tx, event.account_id, event.key_id, sweep_at=tx.now + RETENTION)


async def send_test(tx: Tx, account_id: str, key_id: str, webhook_id: str) -> str:
    """Queues a webhook.test for the endpoint, ahead of all that waits; the envelope's id.

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


async def _queue(tx: Tx, event: Event, listener: Listener) -> None:
    await deliveries.queue_delivery(
        tx,
        event.account_id,
        listener.id,
        event_id=event.id,
        event_type=event.type,
        envelope_id=new_envelope_id(),
    )
    # While an endpoint fails, what is new waits for the next probe like the rest.
    due_at = max(tx.now, listener.probe_at or 0)
    if listener.next_due_at is None or listener.next_due_at > due_at:
        await deliveries.make_due(tx, event.account_id, listener.id, due_at)
        # Otherwise somebody has been told already, or will look when they give their lease back.
        tx.signal()
