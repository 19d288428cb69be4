"""Reading the deliveries of endpoints."""

from pressroom.db import Tx
from pressroom.domains.webhooks.actions.endpoints import get_webhook
from pressroom.domains.webhooks.filters import bounds_of, is_of_all, ranges_of
from pressroom.domains.webhooks.models import Delivery, DeliveryFilter, DeliveryRecord, Webhook
from pressroom.domains.webhooks.queries import deliveries
from pressroom.errors import NotFound


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
    """Returns the same of an endpoint that was read."""
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
