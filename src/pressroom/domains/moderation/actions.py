"""An operator's verbs. Each takes an open transaction first, and locks the account wholly before it decides.

Whatever was begun in the account's name before ends first; a session or key that is made at the same moment is either
ended here, or refused where it is made, since both are made under the account's lock.
"""

from msgspec.structs import replace

from pressroom.db import Tx
from pressroom.domains.accounts import queries as accounts
from pressroom.domains.accounts.actions import TAG_JOB, get_record
from pressroom.domains.accounts.actions import set_password as set_password_of
from pressroom.domains.accounts.models import RESERVED, AccountRecord, folded
from pressroom.domains.accounts.queries import status, usernames
from pressroom.domains.keys import queries as keys
from pressroom.domains.keys.actions import revoke_key
from pressroom.domains.keys.models import RevokedBy
from pressroom.domains.moderation.models import DELETED, SUSPENDED
from pressroom.errors import Conflict
from pressroom.jobs import queue


async def suspend_account(tx: Tx, username: str, reason: str = SUSPENDED) -> AccountRecord:
    """Suspends an account: its sessions end, its keys are revoked for `reason`, and nothing of it is shown; its record.

    Suspending once more changes nothing. Raises NotFound (docs/people.md#suspension).
    """
    record = await _lock(tx, username)
    if record.suspended_at is None:
        await _shut_out(tx, record.id, reason)
    return await get_record(tx, username)


async def restore_account(tx: Tx, username: str) -> AccountRecord:
    """Takes a suspension back: pages and posts are shown again, its keys stay revoked; the account's record.

    Raises NotFound.
    """
    record = await _lock(tx, username)
    if record.suspended_at is not None:
        await status.suspend(tx, record.id, None)
        await queue.enqueue(tx, TAG_JOB, record.id, account_id=record.id)
    return await get_record(tx, username)


async def delete_account(tx: Tx, username: str) -> AccountRecord:
    """Suspends an account for good and erases what it says of a person; its record, still with the names it had.

    Its user name stays reserved like one that was given up. Raises NotFound.
    """
    record = await _lock(tx, username)
    await _shut_out(tx, record.id, DELETED)
    await status.erase(tx, record.id)
    await usernames.reserve_username(tx, folded(record.username), record.id, until=tx.now + RESERVED)
    return replace(record, suspended_at=tx.now, deleted_at=tx.now, is_admin=False)


async def set_password(tx: Tx, username: str, password_hash: str) -> AccountRecord:
    """Gives an account another password, ends its sessions and forgets its failed sign-ins; its record.

    Raises NotFound.
    """
    record = await _lock(tx, username)
    await set_password_of(tx, record.id, password_hash)
    return record


async def set_admin(tx: Tx, username: str, *, is_admin: bool) -> AccountRecord:
    """Makes an account an admin's, or no longer; its record. Raises NotFound, Conflict for a suspended account."""
    record = await _lock(tx, username)
    if is_admin and record.suspended_at is not None:
        raise Conflict(f"{record.username} is suspended; restore the account first.")
    await status.set_admin(tx, record.id, is_admin=is_admin)
    return await get_record(tx, username)


async def _lock(tx: Tx, username: str) -> AccountRecord:
    """The account, which nobody else writes in the name of until the transaction ends. Raises NotFound."""
    record = await get_record(tx, username)
    await accounts.lock_wholly(tx, record.id)
    return await get_record(tx, username)


async def _shut_out(tx: Tx, account_id: str, reason: str) -> None:
    await status.suspend(tx, account_id, tx.now)
    await status.delete_sessions(tx, account_id)
    for key_id in await keys.list_active(tx, account_id):
        await revoke_key(tx, key_id, RevokedBy.ADMIN, reason)
    await queue.enqueue(tx, TAG_JOB, account_id, account_id=account_id)
