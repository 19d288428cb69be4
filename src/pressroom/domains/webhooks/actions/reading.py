"""Reading the deliveries of endpoints."""

from pressroom.db import Tx
from pressroom.domains.webhooks.actions.endpoints import get_webhook
from pressroom.domains.webhooks.models import Delivery
from pressroom.domains.webhooks.queries import deliveries


async def list_deliveries(
    tx: Tx, account_id: str, key_id: str, webhook_id: str, before: str, limit: int
) -> list[Delivery]:
    """Returns deliveries to an endpoint, newest event first, of events before `before`. Raises NotFound."""
    await get_webhook(tx, account_id, key_id, webhook_id)
    return await deliveries.list_deliveries(tx, account_id, webhook_id, before=before, limit=limit)
