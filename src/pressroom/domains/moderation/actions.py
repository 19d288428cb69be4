"""An operator's actions on accounts. Each action takes an open transaction first, and locks the account wholly.

Writes in the account's name that began earlier end before the lock is granted. A session or key that is created at the
same moment is either ended here or refused there, because creating one takes the account's lock too.
"""

from collections import Counter

import msgspec
from msgspec.structs import replace

from pressroom.clock import iso
from pressroom.db import Tx
from pressroom.domains.accounts import queries as accounts
from pressroom.domains.accounts.actions import TAG_JOB, get_record
from pressroom.domains.accounts.models import AccountRecord, folded
from pressroom.domains.accounts.queries import delete_words, status
from pressroom.domains.accounts.reserved_usernames import RESERVED
from pressroom.domains.audit.actions import record as log
from pressroom.domains.audit.models import OPERATOR, UNKNOWN, Kind, Source
from pressroom.domains.keys import queries as keys
from pressroom.domains.keys.actions import revoke_key
from pressroom.domains.keys.models import RevokedBy
from pressroom.domains.limits.models import NO_LIMITS, OwnLimits
from pressroom.domains.moderation.models import DELETED, DELETION_JOB, SUSPENDED
from pressroom.domains.sign_in import two_factor
from pressroom.domains.sign_in.credentials import EMAIL_CHANGED_JOB
from pressroom.domains.sign_in.credentials import set_password as set_password_of
from pressroom.domains.sign_in.links import RESET_MAIL_JOB
from pressroom.domains.sign_in.queries import sessions, tokens
from pressroom.domains.sign_in.queries.attempts import erase_sign_in
from pressroom.errors import Conflict
from pressroom.jobs import queue


async def suspend_account(tx: Tx, username: str, reason: str = SUSPENDED, source: Source = OPERATOR) -> AccountRecord:
    """Suspends an account: ends its sessions, revokes its keys for `reason` and hides all that it published.

    Returns its record. Repeating changes nothing. Raises NotFound (docs/people.md#suspension).
    """
    record = await lock_record(tx, username)
    if record.suspended_at is None:
        await _suspend(tx, record.id, reason, source)
        await log(tx, record.id, Kind.ACCOUNT_SUSPENDED, source, reason=reason)
    return await get_record(tx, username)


async def restore_account(tx: Tx, username: str, reason: str | None = None, source: Source = OPERATOR) -> AccountRecord:
    """Ends a suspension and returns the account's record. Raises NotFound.

    Pages and posts are shown again; keys stay revoked.
    """
    record = await lock_record(tx, username)
    if record.suspended_at is not None:
        await status.suspend(tx, record.id, None)
        await log(tx, record.id, Kind.ACCOUNT_RESTORED, source, reason=reason)
        # Anew, for a running job may still hide its hashtags.
        await queue.enqueue_anew(tx, TAG_JOB, record.id, account_id=record.id)
    return await get_record(tx, username)


async def delete_account(
    tx: Tx,
    username: str,
    *,
    by: RevokedBy = RevokedBy.ADMIN,
    reason: str | None = None,
    source: Source = OPERATOR,
) -> AccountRecord:
    """Deletes an account for good and has a job erase all that belongs to it (docs/people.md#deleting-an-account).

    Returns its record with the names it had. Its user name stays reserved like one that was given up. `by` is who
    revokes its keys. Raises NotFound.
    """
    record = await lock_record(tx, username)
    for key_id in await keys.list_active(tx, record.id):
        reason_given, revoker = (None, UNKNOWN) if by is RevokedBy.SELF else (DELETED, source)
        await revoke_key(tx, key_id, by, reason_given, revoker)
    await status.erase(tx, record.id)
    await delete_words(tx, record.id)
    await erase_sign_in(tx, record.id)
    # Their subjects hold e-mail addresses, which must not outlive the account.
    await queue.cancel(tx, RESET_MAIL_JOB, folded(record.email))
    await queue.cancel_of_account(tx, EMAIL_CHANGED_JOB, record.id)
    if by is RevokedBy.ADMIN:
        await log(tx, record.id, Kind.ACCOUNT_DELETED, source, reason=reason)
    # So that nobody takes the name at once and is taken for the deleted account.
    await accounts.reserve_username(tx, folded(record.username), record.id, until=tx.now + RESERVED)
    await queue.enqueue(tx, DELETION_JOB, record.id, account_id=record.id)
    return replace(
        record, suspended_at=record.suspended_at or tx.now, deleted_at=tx.now, is_admin=False, is_moderator=False
    )


async def set_password(tx: Tx, username: str, password_hash: str, source: Source = OPERATOR) -> AccountRecord:
    """Replaces the password of an account, ends its sessions and deletes its failed sign-ins.

    Returns its record. Raises NotFound.
    """
    record = await lock_record(tx, username)
    await set_password_of(tx, record.id, password_hash)
    await log(tx, record.id, Kind.PASSWORD_RESET, source)
    return record


async def remove_two_factor(tx: Tx, username: str, source: Source = OPERATOR) -> AccountRecord:
    """Takes two-factor sign-in off an account whose owner lost every code, and deletes its failed sign-ins.

    Returns its record. Raises NotFound, also when two-factor sign-in is off.
    """
    record = await lock_record(tx, username)
    await two_factor.remove_by_operator(tx, record.id, source)
    return record


async def set_admin(tx: Tx, username: str, *, is_admin: bool, source: Source = OPERATOR) -> AccountRecord:
    """Gives or takes the rights of an admin; returns the record. Raises NotFound, Conflict for a suspended account."""
    record = await lock_record(tx, username)
    if is_admin and record.suspended_at is not None:
        raise Conflict(f"{record.username} is suspended; restore the account first.")
    if is_admin != record.is_admin:
        await status.set_admin(tx, record.id, is_admin=is_admin)
        await log(tx, record.id, Kind.ADMIN_GIVEN if is_admin else Kind.ADMIN_TAKEN, source)
    return await get_record(tx, username)


async def set_moderator(tx: Tx, username: str, *, is_moderator: bool, source: Source = OPERATOR) -> AccountRecord:
    """Gives or takes the rights of a moderator; returns the record.

    Raises NotFound, Conflict for a suspended account.
    """
    record = await lock_record(tx, username)
    if is_moderator and record.suspended_at is not None:
        raise Conflict(f"{record.username} is suspended; restore the account first.")
    if is_moderator != record.is_moderator:
        await status.set_moderator(tx, record.id, is_moderator=is_moderator)
        await log(tx, record.id, Kind.MODERATOR_GIVEN if is_moderator else Kind.MODERATOR_TAKEN, source)
    return await get_record(tx, username)


async def set_limits(
    tx: Tx, username: str, limits: OwnLimits, reason: str | None = None, source: Source = OPERATOR
) -> AccountRecord:
    """Gives an account limits of its own, in place of those that it had; without any, those of the settings hold.

    Returns its record. Raises NotFound (docs/limits.md#limits-of-one-account).
    """
    record = await lock_record(tx, username)
    stored = None if limits == NO_LIMITS else msgspec.json.encode(limits).decode()
    await status.set_limits(tx, record.id, stored)
    shown = {name: each for name, each in msgspec.to_builtins(limits).items() if name != "endsAt"}
    until = {} if limits.ends_at is None else {"until": iso(limits.ends_at)}
    await log(tx, record.id, Kind.LIMITS_SET, source, reason=reason, **shown, **until)
    return await get_record(tx, username)


async def lock_record(tx: Tx, username: str) -> AccountRecord:
    """Locks the account against all other writes in its name, and returns its record. Raises NotFound."""
    record = await get_record(tx, username)
    await accounts.lock_wholly(tx, record.id)
    # Read again behind the lock: the record may have changed while it was waited for.
    return await get_record(tx, username)


async def sign_out_account(tx: Tx, username: str, source: Source = OPERATOR) -> int:
    """Ends all sessions of an account. Returns how many. Raises NotFound."""
    record = await lock_record(tx, username)
    ended = len(await sessions.end_oldest(tx, record.id, but=0))
    if ended:
        await log(tx, record.id, Kind.SESSIONS_ENDED, source, count=ended)
    return ended


async def sign_out_some(tx: Tx, batch: int, source: Source = OPERATOR) -> int:
    """Ends sessions of any accounts, with an entry in the log of each. Returns how many; 0 when there were none."""
    ended = Counter(await sessions.end_some(tx, batch))
    for account_id in sorted(ended):
        await log(tx, account_id, Kind.SESSIONS_ENDED, source, count=ended[account_id])
    return ended.total()


async def _suspend(tx: Tx, account_id: str, reason: str, source: Source) -> None:
    await status.suspend(tx, account_id, tx.now)
    # In the transaction of the suspension: sign-ins wait for the account's lock and then see it.
    await sessions.delete_sessions(tx, account_id)
    await tokens.delete_tokens(tx, account_id)
    for key_id in await keys.list_active(tx, account_id):
        await revoke_key(tx, key_id, RevokedBy.ADMIN, reason, source)
    # Anew: a running job may have read that the account is not suspended.
    await queue.enqueue_anew(tx, TAG_JOB, account_id, account_id=account_id)
