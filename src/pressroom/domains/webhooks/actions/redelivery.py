"""Redelivery: past events sent again, as durable as any other delivery, and answered before anything is sent."""

from pressroom.db import Tx
from pressroom.domains.webhooks.actions.endpoints import lock_live
from pressroom.domains.webhooks.envelope import new_envelope_id
from pressroom.domains.webhooks.models import REDELIVERED, Redelivered, Redelivery
from pressroom.domains.webhooks.queries import deliveries
from pressroom.ids import first_id, last_id


async def redeliver(tx: Tx, account_id: str, key_id: str, webhook_id: str, wanted: Redelivery) -> Redelivered:
    """Queues the oldest 1,000 of the wanted events for an endpoint; how many, and how many waited already.

    An event that the endpoint was sent before keeps its envelope, byte for byte; one that it never was sent gets an
    envelope with the event's own time (SPEC, redeliver). Only kinds that the endpoint chose are sent. Raises
    NotFound, Unprocessable when the key is not active or the endpoint is disabled.
    """
    webhook = await lock_live(tx, account_id, key_id, webhook_id)
    events = await deliveries.find_events(
        tx,
        account_id,
        key_id,
        since=first_id(wanted.since),
        until=last_id(wanted.until),
        kinds=[kind for kind in wanted.kinds if webhook.takes(kind)],
        limit=REDELIVERED,
    )
    queued = 0
    for event in events:
        queued += await deliveries.queue_again(tx, account_id, webhook_id, event=event, envelope_id=new_envelope_id())
    if queued:
        due_at = max(tx.now, await deliveries.probe_time(tx, account_id, webhook_id))
        await deliveries.make_due(tx, account_id, webhook_id, due_at)
        tx.signal()
    return Redelivered(queued, len(events) - queued)
