"""How endpoints do (docs/webhooks.md#endpoint-status)."""

from typing import Final

from pressroom.db import Tx
from pressroom.domains.keys.actions import get_key
from pressroom.domains.webhooks.models import (
    ENDPOINTS,
    EndpointFigures,
    EndpointReport,
    Webhook,
    missed_since,
)
from pressroom.domains.webhooks.queries import deliveries, endpoints
from pressroom.errors import NotFound
from pressroom.ids import BEYOND

LOOKED_AT: Final = 20
"""Deliveries before the oldest that waits which are looked at for what failed."""


async def get_status(tx: Tx, account_id: str, key_id: str, webhook_id: str) -> EndpointReport:
    """Returns an endpoint of one of the account's keys and how it does. Raises NotFound."""
    key = await get_key(tx, account_id, key_id)
    webhook = await endpoints.find_webhook(tx, account_id, key_id, webhook_id)
    figures = await endpoints.find_figures(tx, account_id, key_id, webhook_id)
    if webhook is None or figures is None:
        raise NotFound("There is no such webhook endpoint.")
    missed = await find_missed(tx, account_id, webhook, figures.oldest_waiting)
    return EndpointReport(key, webhook, figures, missed, await deliveries.find_last_test(tx, account_id, webhook_id))


async def list_statuses(tx: Tx, account_id: str, key_id: str) -> list[tuple[Webhook, EndpointFigures]]:
    """Returns all endpoints of one of the account's keys and how each does, newest first. Raises NotFound."""
    await get_key(tx, account_id, key_id)
    found = await endpoints.list_webhooks(tx, key_id, before=BEYOND, limit=ENDPOINTS)
    figures = {each.id: each for each in await endpoints.list_figures(tx, account_id, key_id)}
    return [(webhook, figures[webhook.id]) for webhook in found]


async def find_missed(tx: Tx, account_id: str, webhook: Webhook, oldest_waiting: str | None) -> int | None:
    """Returns since when an endpoint missed events (milliseconds); None when it missed none."""
    before = await deliveries.deliveries_before(
        tx, account_id, webhook.id, before=oldest_waiting or BEYOND, limit=LOOKED_AT
    )
    return missed_since(webhook, oldest_waiting, before)
