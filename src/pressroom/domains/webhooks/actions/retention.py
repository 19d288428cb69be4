"""Retention: deliveries are removed 30 days after they ended, events after they happened, endpoints after removal."""

from pressroom.clock import DAY, HOUR
from pressroom.db import Tx
from pressroom.domains.events.queries import delete_events, erase_events
from pressroom.domains.webhooks.models import RETENTION
from pressroom.domains.webhooks.queries import retention
from pressroom.ids import first_id


async def purge_deliveries(tx: Tx, batch: int) -> int:
    """Removes deliveries 30 days after they ended. Returns their number."""
    return await retention.purge_deliveries(tx, until=tx.now - RETENTION, batch=batch)


async def purge_paused(tx: Tx, batch: int) -> int:
    """Removes deliveries that were pending at a paused endpoint for 30 days. Returns their number."""
    until = tx.now - RETENTION
    return await retention.purge_paused(tx, until=until, before=first_id(until + 1), batch=batch)


async def purge_events(tx: Tx, batch: int) -> int:
    """Removes events after 30 days and an hour, except those of pending deliveries. Returns their number."""
    # No redelivery takes an event older than 30 days: after the hour none can be queueing an event that this removes.
    expired = await retention.list_expired_events(tx, until=tx.now - RETENTION - HOUR, batch=batch)
    await delete_events(tx, [(event.account_id, event.id) for event in expired])
    return len(expired)


async def close_expired(tx: Tx, batch: int) -> int:
    """Closes endpoints a day after their keys expired: by then earlier deliveries have ended. Returns their number."""
    return await retention.close_expired(tx, until=tx.now - DAY, sweep_at=tx.now + RETENTION, batch=batch)


async def erase_endpoints(tx: Tx, account_id: str, until: int, batch: int) -> bool:
    """Removes endpoints of a deleted account with their deliveries, and the account's events.

    Waits until `until` (milliseconds) at most for pending deliveries of the revocation. Returns whether more rows may
    remain.
    """
    if tx.now < until and await retention.has_news(tx, account_id):
        return False
    if await retention.erase_deliveries(tx, account_id, batch) >= batch:
        return True
    await retention.erase_webhooks(tx, account_id)
    return await erase_events(tx, account_id, batch) >= batch


async def sweep_endpoints(tx: Tx, batch: int) -> int:
    """Removes up to `batch` deliveries of one endpoint that was removed or ended 30 days ago.

    Returns `batch` if there may be more to do, else 0.
    """
    ended = await retention.find_sweepable(tx)
    if ended is None:
        return 0
    if await retention.sweep_deliveries(tx, ended, batch) < batch:
        await retention.finish_sweep(tx, ended)
    return batch
