"""Replacing an endpoint: the only way to enable it again, or to change its address."""

from pressroom.db import Tx
from pressroom.domains.accounts import queries as accounts
from pressroom.domains.audit.models import UNKNOWN, Source
from pressroom.domains.keys.actions import get_key
from pressroom.domains.webhooks.actions.endpoints import add_webhook, remove_webhook
from pressroom.domains.webhooks.actions.status import get_status
from pressroom.domains.webhooks.models import NewWebhook, ReplacedWebhook
from pressroom.domains.webhooks.queries import endpoints


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
