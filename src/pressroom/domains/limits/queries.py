"""SQL of the limits package."""

from collections.abc import Callable, Mapping
from typing import Final

from pressroom.db import Command, Query, Tx, sql
from pressroom.domains.limits.models import Holder, SavedState

FIND_WINDOWS: Final = Query(SavedState, "SELECT state, updated_at FROM rate_windows WHERE key_id = :key_id")

SAVE_WINDOWS: Final = Command(
    "INSERT INTO rate_windows (key_id, state, updated_at) VALUES (:key_id, :state, :now)"
    " ON CONFLICT (key_id) DO UPDATE SET state = excluded.state, updated_at = excluded.updated_at"
)


FIND_HOLDER: Final = Query(Holder, "SELECT holder, clean FROM rate_window_holders WHERE name = 'api'")

SET_HOLDER: Final = Command(
    "INSERT INTO rate_window_holders (name, holder, clean, taken_at) VALUES ('api', :holder, FALSE, :now)"
    " ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, clean = FALSE, taken_at = excluded.taken_at"
)

SPEND_QUOTA: Final = Command(
    "INSERT INTO content_quotas (account_id, day, used) VALUES (:account_id, :day, 1)"
    " ON CONFLICT (account_id, day) DO UPDATE SET used = content_quotas.used + 1"
    " WHERE content_quotas.used < :quota"
)

SPEND_SIGNED_IN: Final = Command(
    "INSERT INTO content_quotas (account_id, day, used, used_signed_in) VALUES (:account_id, :day, 0, 1)"
    " ON CONFLICT (account_id, day) DO UPDATE SET used_signed_in = content_quotas.used_signed_in + 1"
    " WHERE content_quotas.used_signed_in < :quota"
)


async def save_windows(tx: Tx, states: Mapping[str, str]) -> None:
    """Saves the states (JSON text) of the windows of keys, in the order of the keys' ids."""
    await tx.run_each(SAVE_WINDOWS, [{"key_id": key, "state": states[key], "now": tx.now} for key in sorted(states)])


async def set_holder(tx: Tx, holder: str) -> Holder | None:
    """Makes `holder` the process that counts in the windows, and returns the one before."""
    before = await tx.one(FIND_HOLDER)
    await tx.run(SET_HOLDER, holder=holder, now=tx.now)
    return before


# The row's lock keeps a successor from taking over before this process has saved its windows: it would count from
# older ones, and let requests through that are above the limit.
@sql.run("UPDATE rate_window_holders SET clean = :clean WHERE name = 'api' AND holder = :holder")
async def confirm_holder(tx: Tx, holder: str, *, clean: bool) -> bool:
    """Records whether `holder` stopped in order. Returns False when another process has taken the windows over."""
    ...


@sql.run(
    "DELETE FROM rate_windows WHERE key_id IN"
    " (SELECT key_id FROM rate_windows WHERE updated_at < :before ORDER BY updated_at LIMIT :batch)"
)
async def purge_windows(tx: Tx, *, before: int, batch: int) -> int:
    """Removes windows last written before `before` (milliseconds), and returns how many."""
    ...


async def spend_quota(tx: Tx, *, account_id: str, day: int, quota: int, refusal: Callable[[], Exception]) -> None:
    """Takes one unit of the account's quota of `day` (days since 1970). Raises `refusal()` when none is left."""
    await tx.require(SPEND_QUOTA, refusal, account_id=account_id, day=day, quota=quota)


async def spend_signed_in(tx: Tx, *, account_id: str, day: int, quota: int, refusal: Callable[[], Exception]) -> None:
    """Takes one unit of the account's quota of signed-in writes. Raises `refusal()` when none is left."""
    await tx.require(SPEND_SIGNED_IN, refusal, account_id=account_id, day=day, quota=quota)


@sql.one("SELECT used FROM content_quotas WHERE account_id = :account_id AND day = :day")
async def get_used(tx: Tx, *, account_id: str, day: int) -> int:
    """Returns the used units of the account's quota by API key for `day` (days since 1970)."""
    ...


@sql.one("SELECT used_signed_in FROM content_quotas WHERE account_id = :account_id AND day = :day")
async def get_used_signed_in(tx: Tx, *, account_id: str, day: int) -> int:
    """Returns the used units of the account's quota of signed-in writes for `day` (days since 1970)."""
    ...


@sql.run(
    "DELETE FROM content_quotas WHERE (account_id, day) IN"
    " (SELECT account_id, day FROM content_quotas WHERE day < :before ORDER BY day LIMIT :batch)"
)
async def purge_quotas(tx: Tx, *, before: int, batch: int) -> int:
    """Removes the quotas of days before `before` (days since 1970), and returns how many."""
    ...
