"""Changes, pauses, resumes, replaces and disables an endpoint (docs/webhooks.md#change-or-pause)."""

from collections.abc import Sequence

from pressroom.db import Tx
from pressroom.domains.accounts import queries as accounts
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import UNKNOWN, Kind, Source
from pressroom.domains.events.models import EventType
from pressroom.domains.keys.actions import get_key
from pressroom.domains.notifications.actions import notify
from pressroom.domains.notifications.models import NotificationType
from pressroom.domains.webhooks.actions.endpoints import (
    add_webhook,
    check_not_disabled,
    lock_webhook,
    record_change,
    remove_webhook,
)
from pressroom.domains.webhooks.actions.status import get_status
from pressroom.domains.webhooks.models import RETENTION, NewWebhook, ReplacedWebhook, Webhook
from pressroom.domains.webhooks.queries import endpoints, leases
from pressroom.errors import Conflict, NotFound


async def replace_webhook(
    tx: Tx, account_id: str, key_id: str, webhook_id: str, new: NewWebhook, source: Source = UNKNOWN
) -> ReplacedWebhook:
    """Removes an endpoint and adds another in its place; either both happen or neither.

    With the same URL the new endpoint continues the old one (docs/webhooks.md#replace). Raises NotFound, Unprocessable
    when the key is not active. Account, key and endpoint are locked first, in the order of docs/architecture.md#locks:
    nothing is queued between the look at what the old endpoint missed and its removal.
    """
    await accounts.lock_account(tx, account_id)
    await get_key(tx, account_id, key_id, lock=True)
    await endpoints.find_webhook(tx, account_id, key_id, webhook_id, lock=True)
    old = await get_status(tx, account_id, key_id, webhook_id)
    await remove_webhook(tx, account_id, key_id, webhook_id, source)
    webhook, secret = await add_webhook(tx, account_id, key_id, new, source)
    return ReplacedWebhook(webhook, secret, old.missed_since)


async def disable_webhook(
    tx: Tx, account_id: str, key_id: str, webhook_id: str, reason: str, source: Source
) -> Webhook:
    """Disables an endpoint, tells its owner and returns it: what waits for it is held, as after its fifth failure.

    Raises NotFound, Conflict when it is disabled already.
    """
    webhook = await endpoints.find_webhook(tx, account_id, key_id, webhook_id, lock=True)
    if webhook is None:
        raise NotFound("There is no such webhook endpoint.")
    if webhook.disabled_at is not None:
        raise Conflict("The endpoint is disabled already.")
    await leases.disable(tx, account_id, webhook_id, reason=reason, sweep_at=tx.now + RETENTION)
    await notify(tx, account_id, NotificationType.WEBHOOK_DISABLED, webhook_id=webhook_id)
    await record(tx, account_id, Kind.ENDPOINT_DISABLED, source, webhookId=webhook_id, reason=reason)
    webhook.disabled_at, webhook.disabled_reason = tx.now, reason
    return webhook


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
