"""Reads and removes the hourly counts of attempts at endpoints (docs/webhooks.md#statistics)."""

from pressroom.clock import DAY, HOUR
from pressroom.db import Tx
from pressroom.domains.webhooks.actions.endpoints import get_webhook
from pressroom.domains.webhooks.models import Webhook
from pressroom.domains.webhooks.queries import statistics as queries
from pressroom.domains.webhooks.statistics import DAYS_SHOWN, HOURS_SHOWN, KEPT, Statistics, statistics


async def get_statistics(tx: Tx, account_id: str, key_id: str, webhook_id: str) -> Statistics:
    """Returns how an endpoint of one of the account's keys answered. Raises NotFound."""
    return await read_statistics(tx, account_id, await get_webhook(tx, account_id, key_id, webhook_id))


async def read_statistics(tx: Tx, account_id: str, webhook: Webhook) -> Statistics:
    """Returns how an endpoint answered: 54 rows at most."""
    now = tx.now
    hours = await queries.read_hours(tx, account_id, webhook.id, since=now // HOUR - HOURS_SHOWN + 1)
    first_day = now // DAY - DAYS_SHOWN + 1
    days = await queries.read_days(tx, account_id, webhook.id, since=first_day * (DAY // HOUR))
    return statistics(hours, days, now)


async def purge_statistics(tx: Tx, batch: int) -> int:
    """Removes at most `batch` counts that are no longer shown. Returns their number."""
    return await queries.purge_hours(tx, before=(tx.now - KEPT) // HOUR, batch=batch)
