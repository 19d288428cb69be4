"""The daily content quota, charged in the transaction of the write: never exceeded, and never spent on a failure."""

from functools import partial

from pressroom.clock import DAY, next_midnight, seconds_until
from pressroom.db import Tx
from pressroom.domains.limits import queries
from pressroom.domains.limits.models import Allowance
from pressroom.errors import Limit, QuotaExceeded
from pressroom.settings import Settings


def allowance_of(settings: Settings) -> Allowance:
    """Returns the allowance that the settings give."""
    return Allowance(settings.daily_content_quota, settings.session_content_per_day, settings.account_storage_bytes)


async def spend_content_quota(tx: Tx, account_id: str, quota: int, *, signed_in: bool) -> None:
    """Charges one post, clip or bounce to the account's `quota` of this UTC day, by key or `signed_in`.

    Raises QuotaExceeded when none is left, with the seconds until UTC midnight (docs/limits.md#daily-content).
    """
    spend = queries.spend_signed_in if signed_in else queries.spend_quota
    refusal = partial(_exceeded, tx.now, quota, signed_in=signed_in)
    # The upsert's INSERT would count the first one: its condition is only asked when the row exists.
    if quota <= 0:
        raise refusal()
    await spend(tx, account_id=account_id, day=tx.now // DAY, quota=quota, refusal=refusal)


async def check_content_quota(tx: Tx, account_id: str, quota: int, *, signed_in: bool) -> None:
    """Raises QuotaExceeded when `spend_content_quota` would; charges nothing."""
    get = queries.get_used_signed_in if signed_in else queries.get_used
    if await get(tx, account_id=account_id, day=tx.now // DAY) >= quota:
        raise _exceeded(tx.now, quota, signed_in=signed_in)


def _exceeded(now: int, quota: int, *, signed_in: bool) -> QuotaExceeded:
    how = "signed in" if signed_in else "by API key"
    return QuotaExceeded(
        f"The account has published {quota:,} posts and clips {how} today; the quota resets at UTC midnight.",
        seconds_until(next_midnight(now), now),
        Limit.SESSION_CONTENT_PER_DAY if signed_in else Limit.CONTENT_PER_DAY,
    )


async def purge_limits(tx: Tx, batch: int) -> int:
    """Removes windows 25 hours after their last request and quotas after a week; returns the number of rows."""
    windows = await queries.purge_windows(tx, before=tx.now - DAY - DAY // 24, batch=batch)
    return windows + await queries.purge_quotas(tx, before=tx.now // DAY - 7, batch=batch)
