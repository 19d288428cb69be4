"""Retention: deliveries are removed 30 days after they ended, events after they happened, endpoints after removal.

A setting lengthens the first two; `kept` is the time in milliseconds (docs/operations.md#retention).
"""

from typing import Final

from pressroom.clock import DAY, HOUR
from pressroom.db import Tx
from pressroom.domains.events.queries import delete_events, erase_counter, erase_events
from pressroom.domains.webhooks.models import RETENTION
from pressroom.domains.webhooks.queries import retention
from pressroom.domains.webhooks.queries.statistics import erase_hours, purge_hours
from pressroom.domains.webhooks.statistics import KEPT
from pressroom.ids import first_id

MOST_LASTING: Final = 1_000
"""Rows that are moved out of a partition to drop it, while requests wait (docs/decisions/0020-partitions.md)."""


async def purge_deliveries(tx: Tx, batch: int, *, kept: int = RETENTION) -> int:
    """Removes deliveries that ended `kept` milliseconds ago. Returns their number."""
    return await retention.purge_deliveries(tx, until=tx.now - kept, batch=batch)


async def purge_paused(tx: Tx, batch: int) -> int:
    """Removes deliveries that were pending at a paused endpoint for 30 days. Returns their number."""
    until = tx.now - RETENTION
    return await retention.purge_paused(tx, until=until, before=first_id(until + 1), batch=batch)


async def purge_events(tx: Tx, batch: int, *, kept: int = RETENTION) -> int:
    """Removes events after `kept` milliseconds and an hour, except those of pending deliveries.

    Returns their number.
    """
    before = first_id(expired_until(tx, kept) + 1)
    expired = await retention.list_expired_events(tx, before=before, batch=batch)
    await delete_events(tx, [(event.account_id, event.id) for event in expired])
    return len(expired)


def expired_until(tx: Tx, kept: int) -> int:
    """Returns the time (milliseconds) up to which events without pending deliveries are removed."""
    # No redelivery takes an event older than 30 days: after the hour none can be queueing an event that this removes.
    return tx.now - kept - HOUR


async def find_lasting_deliveries(tx: Tx, first: str, end: str, kept: int) -> str | None:
    """Returns the condition of deliveries that outlive a partition of expired events, with ids from `first` to before
    `end`; None while there are too many to be moved."""
    until = tx.now - kept
    count = await retention.count_lasting(tx, first, end, until=until, most=MOST_LASTING)
    return retention.LASTING_DELIVERIES.format(until=until) if count < MOST_LASTING else None


async def find_lasting_events(tx: Tx, first: str, end: str, _kept: int) -> str | None:
    """Returns the same of the events themselves."""
    count = await retention.count_pending(tx, first, end, most=MOST_LASTING)
    return retention.LASTING_EVENTS.format(first=first, end=end) if count < MOST_LASTING else None


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
    if await erase_hours(tx, account_id, batch) >= batch:
        return True
    await retention.erase_webhooks(tx, account_id)
    if await erase_events(tx, account_id, batch) >= batch:
        return True
    await erase_counter(tx, account_id)
    return False


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


async def purge_statistics(tx: Tx, batch: int) -> int:
    """Removes at most `batch` counts that are no longer shown. Returns their number."""
    return await purge_hours(tx, before=(tx.now - KEPT) // HOUR, batch=batch)
