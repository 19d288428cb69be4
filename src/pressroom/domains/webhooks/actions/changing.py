"""Changes the event types of an endpoint, pauses and resumes it (docs/webhooks.md#change-or-pause)."""

from collections.abc import Sequence

from pressroom.db import Tx
from pressroom.domains.audit.models import UNKNOWN, Kind, Source
from pressroom.domains.events.models import EventType
from pressroom.domains.webhooks.actions.endpoints import check_not_disabled, lock_webhook, record_change
from pressroom.domains.webhooks.models import Webhook
from pressroom.domains.webhooks.queries import endpoints


async def change_events(
    tx: Tx, account_id: str, key_id: str, webhook_id: str, events: Sequence[EventType], source: Source = UNKNOWN
) -> Webhook:
    """Changes the event types of an endpoint and returns it. Deliveries queued before stay queued.

    A disabled endpoint stays disabled. Raises NotFound.
    """
    webhook = await lock_webhook(tx, account_id, key_id, webhook_id)
    webhook.events = " ".join(events)
    await endpoints.set_events(tx, account_id, webhook_id, webhook.events)
    await record_change(tx, account_id, Kind.ENDPOINT_CHANGED, source, webhook)
    return webhook


async def pause(tx: Tx, account_id: str, key_id: str, webhook_id: str, source: Source = UNKNOWN) -> Webhook:
    """Pauses an endpoint and returns it: its deliveries wait and spend no attempt; those in flight end.

    One that is paused stays so. Raises NotFound, Unprocessable when it is disabled.
    """
    webhook = await lock_webhook(tx, account_id, key_id, webhook_id)
    check_not_disabled(webhook)
    if webhook.paused_at is None:
        webhook.paused_at = tx.now
        await endpoints.pause_webhook(tx, account_id, webhook_id)
        await record_change(tx, account_id, Kind.ENDPOINT_PAUSED, source, webhook)
    return webhook


async def resume(tx: Tx, account_id: str, key_id: str, webhook_id: str, source: Source = UNKNOWN) -> Webhook:
    """Resumes a paused endpoint and returns it; one that is not paused stays as it is.

    Also under a key that has ended, so that the news of that arrives. Raises NotFound, Unprocessable when the endpoint
    is disabled.
    """
    webhook = await lock_webhook(tx, account_id, key_id, webhook_id)
    check_not_disabled(webhook)
    if webhook.paused_at is not None:
        webhook.paused_at = None
        await endpoints.resume_webhook(tx, account_id, webhook_id)
        await record_change(tx, account_id, Kind.ENDPOINT_RESUMED, source, webhook)
        tx.signal()
    return webhook
