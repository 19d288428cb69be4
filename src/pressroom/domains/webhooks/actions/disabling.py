"""Disabling an endpoint by an admin (docs/operations.md#admins). Takes an open transaction first."""

from pressroom.db import Tx
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import Kind, Source
from pressroom.domains.notifications.actions import notify
from pressroom.domains.notifications.models import NotificationType
from pressroom.domains.webhooks.models import RETENTION, Webhook
from pressroom.domains.webhooks.queries import endpoints, leases
from pressroom.errors import Conflict, NotFound


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
