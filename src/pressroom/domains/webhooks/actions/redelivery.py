"""Redelivery: queues past events to be sent again (docs/webhooks.md#redeliver)."""

from pressroom.db import Tx
from pressroom.domains.webhooks.actions.endpoints import lock_live
from pressroom.domains.webhooks.envelope import new_envelope_id
from pressroom.domains.webhooks.models import REDELIVERED, RETENTION, Redelivered, Redelivery, State
from pressroom.domains.webhooks.queries import deliveries
from pressroom.domains.webhooks.queries.deliveries import PastEvent
from pressroom.ids import first_id, last_id


async def redeliver(tx: Tx, account_id: str, key_id: str, webhook_id: str, wanted: Redelivery) -> Redelivered:
    """Queues the oldest 1,000 of the wanted events for an endpoint, of the kinds that it chose.

    An event that was queued before, for the endpoint or for one that it continues, keeps its envelope, byte for byte;
    any other gets a new envelope with the event's own time. Returns how many were queued, and how many were pending
    already. Raises NotFound, Unprocessable when the key is not active or the endpoint is disabled.
    """
    webhook = await lock_live(tx, account_id, key_id, webhook_id)
    await deliveries.lock_continued(tx, account_id, webhook)
    events = await deliveries.find_events(
        tx,
        account_id,
        webhook,
        since=first_id(max(wanted.since, tx.now - RETENTION + 1)),
        until=last_id(wanted.until),
        kinds=[kind for kind in wanted.kinds if webhook.takes(kind)],
        limit=REDELIVERED,
    )
    late = [event for event in events if event.state is None]
    again = [event for event in events if event.state and not _waits(event, webhook_id)]
    await deliveries.queue_again(tx, account_id, webhook_id, again)
    await deliveries.queue_late(tx, account_id, webhook_id, late, [new_envelope_id() for _ in late])
    queued = len(again) + len(late)
    if queued:
        await deliveries.make_due(tx, account_id, webhook_id, max(tx.now, webhook.probe_at or 0))
        tx.signal()
    return Redelivered(queued, len(events) - queued)


def _waits(event: PastEvent, webhook_id: str) -> bool:
    """Returns whether the event is pending at this very endpoint; at a removed one nothing is sent any more."""
    return event.state == State.PENDING and event.holder_id == webhook_id
