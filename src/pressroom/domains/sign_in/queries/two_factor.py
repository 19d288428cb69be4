"""Two-factor sign-in: secrets and recovery codes."""

from collections.abc import Sequence
from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx, sql


class TwoFactor(msgspec.Struct):
    """The two-factor sign-in of an account; `enabled_at` (milliseconds) is None until it is confirmed."""

    secret: str
    enabled_at: int | None
    last_step: int


BEGIN_TWO_FACTOR: Final = Command(
    "INSERT INTO two_factor (account_id, secret, created_at, last_step) VALUES (:account_id, :secret, :now, 0)"
    " ON CONFLICT (account_id) DO UPDATE SET secret = excluded.secret, created_at = excluded.created_at"
    " WHERE two_factor.enabled_at IS NULL"
)

ENABLE_TWO_FACTOR: Final = Command(
    "UPDATE two_factor SET enabled_at = :now, last_step = :step"
    " WHERE account_id = :account_id AND enabled_at IS NULL AND secret = :secret"
)

# Of two that send the same code at once, the second waits for the first and finds its step taken.
USE_STEP: Final = Command(
    "UPDATE two_factor SET last_step = :step"
    " WHERE account_id = :account_id AND enabled_at IS NOT NULL AND last_step < :step"
)

DELETE_TWO_FACTOR: Final = Command("DELETE FROM two_factor WHERE account_id = :account_id")

INSERT_RECOVERY_CODE: Final = Command(
    "INSERT INTO recovery_codes (account_id, code_hash) VALUES (:account_id, :code_hash)"
)

COUNT_RECOVERY_CODES: Final = Query(int, "SELECT count(*) FROM recovery_codes WHERE account_id = :account_id")

HAS_RECOVERY_CODE: Final = Query(
    int, "SELECT 1 FROM recovery_codes WHERE account_id = :account_id AND code_hash = :code_hash"
)

USE_RECOVERY_CODE: Final = Command(
    "DELETE FROM recovery_codes WHERE account_id = :account_id AND code_hash = :code_hash"
)

DELETE_RECOVERY_CODES: Final = Command("DELETE FROM recovery_codes WHERE account_id = :account_id")


@sql.one("SELECT secret, enabled_at, last_step FROM two_factor WHERE account_id = :account_id")
async def find(tx: Tx, account_id: str) -> TwoFactor | None:
    """Returns the two-factor sign-in of an account, confirmed or only begun."""
    ...


async def begin(tx: Tx, account_id: str, secret: str) -> bool:
    """Stores a new secret in place of one that was not confirmed. Returns False when two-factor sign-in is on."""
    return await tx.run(BEGIN_TWO_FACTOR, account_id=account_id, secret=secret, now=tx.now) > 0


async def enable(tx: Tx, account_id: str, secret: str, step: int) -> bool:
    """Turns on two-factor sign-in that was begun with this secret. Returns False when it is on or was begun anew."""
    return await tx.run(ENABLE_TWO_FACTOR, account_id=account_id, secret=secret, step=step, now=tx.now) > 0


async def use_step(tx: Tx, account_id: str, step: int) -> bool:
    """Records that the code of a step passed. Returns False when it, or a later one, has passed before."""
    return await tx.run(USE_STEP, account_id=account_id, step=step) > 0


async def delete(tx: Tx, account_id: str) -> None:
    """Removes the account's secret and recovery codes."""
    await tx.run(DELETE_TWO_FACTOR, account_id=account_id)
    await tx.run(DELETE_RECOVERY_CODES, account_id=account_id)


async def replace_recovery_codes(tx: Tx, account_id: str, hashes: Sequence[str]) -> None:
    """Stores new recovery codes in place of all earlier ones."""
    await tx.run(DELETE_RECOVERY_CODES, account_id=account_id)
    await tx.run_each(INSERT_RECOVERY_CODE, [{"account_id": account_id, "code_hash": each} for each in hashes])


async def count_recovery_codes(tx: Tx, account_id: str) -> int:
    """Returns how many recovery codes are left."""
    return await tx.one(COUNT_RECOVERY_CODES, account_id=account_id) or 0


async def has_recovery_code(tx: Tx, account_id: str, code_hash: str) -> bool:
    """Returns whether this is an unused recovery code of the account."""
    return await tx.one(HAS_RECOVERY_CODE, account_id=account_id, code_hash=code_hash) is not None


async def use_recovery_code(tx: Tx, account_id: str, code_hash: str) -> bool:
    """Uses up a recovery code. Returns False when it was used before."""
    return await tx.run(USE_RECOVERY_CODE, account_id=account_id, code_hash=code_hash) > 0
