"""The daily content quota: spent in the transaction of the write, so it is never overrun and never wasted."""

from pressroom.clock import DAY, next_midnight, seconds_until
from pressroom.db import Tx
from pressroom.domains.limits import queries
from pressroom.errors import QuotaExceeded


async def spend_content_quota(tx: Tx, account_id: str, quota: int) -> None:
    """Takes one unit of the account's `quota` posts, clips and bounces per UTC day.

    Raises QuotaExceeded, with the seconds until UTC midnight (SPEC, Per-account quotas).
    """
    if quota <= 0 or await queries.spend_quota(tx, account_id=account_id, day=tx.now // DAY, quota=quota) is None:
        raise _exceeded(tx.now, quota)


async def check_content_quota(tx: Tx, account_id: str, quota: int) -> None:
    """Looks whether a unit is left, and takes none. Raises QuotaExceeded."""
    if await queries.find_used(tx, account_id=account_id, day=tx.now // DAY) >= quota:
        raise _exceeded(tx.now, quota)


def _exceeded(now: int, quota: int) -> QuotaExceeded:
    return QuotaExceeded(
        f"The account has published {quota:,} posts and clips by API key today; the quota resets at UTC midnight.",
        seconds_until(next_midnight(now), now),
    )


async def purge_limits(tx: Tx, batch: int) -> int:
    """Removes windows a day after their last request and quotas after a week; how many rows."""
    windows = await queries.purge_windows(tx, before=tx.now - DAY - DAY // 24, batch=batch)
    return windows + await queries.purge_quotas(tx, before=tx.now // DAY - 7, batch=batch)
