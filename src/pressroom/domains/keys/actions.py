"""Creating and revoking keys. Each action takes an open transaction first."""

from operator import attrgetter

from pressroom.clock import DAY, HOUR, iso
from pressroom.db import Tx
from pressroom.domains.accounts import queries as accounts
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import UNKNOWN, Kind, Source
from pressroom.domains.events.actions import emit
from pressroom.domains.keys import queries
from pressroom.domains.keys.events import Revocation, RevocationData
from pressroom.domains.keys.models import (
    ACTIVE_KEYS,
    DAYS_SHOWN,
    HOURS_SHOWN,
    RECENT_REFUSALS,
    USAGE_KEPT,
    ApiKey,
    FirstUse,
    KeysByStatus,
    NewKey,
    RevokedBy,
    Usage,
    periods,
    warn_at,
)
from pressroom.domains.keys.secret import SHOWN, hash_secret, new_secret
from pressroom.domains.limits.queries import get_used
from pressroom.domains.notifications.actions import notify
from pressroom.domains.notifications.models import NotificationType
from pressroom.errors import Conflict, NotFound
from pressroom.ids import new_id


async def create_key(tx: Tx, account_id: str, new: NewKey, source: Source = UNKNOWN) -> tuple[ApiKey, str]:
    """Creates a key. Returns its record and the key itself, which is not stored and cannot be had again.

    Raises Conflict when the account has five active keys (docs/keys.md#api-keys), NotFound when it is suspended.
    The account's row is locked first, so that two requests at once cannot both be the fifth.
    """
    # Under this lock a suspension comes before or after, and revokes the key if it comes after.
    if not await accounts.lock_account(tx, account_id):
        raise NotFound("There is no such account, or it is suspended.")
    if await queries.count_active(tx, account_id) >= ACTIVE_KEYS:
        raise Conflict(f"An account has at most {ACTIVE_KEYS} active keys; revoke one to create another.")
    secret, key_id, expires_at = new_secret(account_id), new_id(tx.now, account_id), new.end_of(tx.now)
    await queries.insert_key(
        tx,
        key_id=key_id,
        account_id=account_id,
        secret_hash=hash_secret(secret),
        key_prefix=secret[:SHOWN],
        label=new.label,
        scopes=" ".join(new.scopes),
        ip_allowlist=" ".join(new.ip_allowlist),
        expires_at=expires_at,
        warn_at=warn_at(expires_at, tx.now),
    )
    await record(tx, account_id, Kind.KEY_MADE, source, keyId=key_id, label=new.label)
    return await _get(tx, key_id), secret


async def get_key(tx: Tx, account_id: str, key_id: str, *, lock: bool = False) -> ApiKey:
    """Returns a key of the account, locked if asked. Raises NotFound, also for another account's key."""
    key = await queries.lock_key(tx, key_id) if lock else await queries.find_key(tx, key_id)
    # The same answer for both: nobody learns which ids other accounts' keys have.
    if key is None or key.account_id != account_id:
        raise NotFound("There is no such key.")
    return key


async def list_by_status(tx: Tx, account_id: str, before: str, limit: int) -> KeysByStatus:
    """Returns the active keys of the account, and at most `limit` of the ended ones with ids before `before`."""
    active = await queries.list_active_keys(tx, account_id)
    return KeysByStatus(active, await queries.list_ended_keys(tx, account_id, before=before, limit=limit))


async def read_first_use(tx: Tx, account_id: str, key_id: str, replaced_id: str | None) -> FirstUse:
    """Returns whether a key of the account was used yet, and the key that it replaces, if any. Raises NotFound."""
    key = await get_key(tx, account_id, key_id)
    refusals = await queries.list_refusals(tx, key_id, limit=1)
    counts = await queries.sum_usage(tx, key_id)
    replaced = await get_key(tx, account_id, replaced_id) if replaced_id else None
    return FirstUse(key, counts, refusals[0] if refusals else None, replaced)


async def read_usage(tx: Tx, account_id: str, key_id: str) -> Usage:
    """Returns how much a key of the account was used, as far as it is written down. Raises NotFound.

    The last second may be missing (docs/keys.md#usage).
    """
    key, now = await get_key(tx, account_id, key_id), tx.now
    hours = await queries.list_hours(tx, key_id, since=now // HOUR - HOURS_SHOWN + 1)
    days = await queries.list_days(tx, key_id, since=(now // DAY - DAYS_SHOWN + 1) * (DAY // HOUR))
    return Usage(
        key,
        periods(hours, now, HOUR, HOURS_SHOWN),
        periods(days, now, DAY, DAYS_SHOWN),
        await queries.list_refusals(tx, key_id, limit=RECENT_REFUSALS),
        await get_used(tx, account_id=account_id, day=now // DAY),
    )


async def warn_of_expiry(tx: Tx, batch: int) -> int:
    """Notifies the owners of at most `batch` keys that expire within SOON, each once; returns the number of keys."""
    keys = await queries.take_expiring(tx, batch)
    # In one order, so that two transactions that notify the same accounts do not deadlock.
    for key in sorted(keys, key=attrgetter("id")):
        if key.revoked_at is None:
            await notify(tx, key.account_id, NotificationType.KEY_EXPIRING, key_id=key.id)
    return len(keys)


async def purge_usage(tx: Tx, batch: int) -> int:
    """Removes at most `batch` counts and as many refusals that are no longer shown; returns the larger number."""
    before = tx.now - USAGE_KEPT
    counts = await queries.purge_usage(tx, before=before // HOUR, batch=batch)
    return max(counts, await queries.purge_refusals(tx, before=before, batch=batch))


async def set_note(tx: Tx, account_id: str, key_id: str, note: str) -> ApiKey:
    """Changes the note on a key, also of one that has ended, and returns the key; an empty note removes it.

    Raises NotFound.
    """
    key = await get_key(tx, account_id, key_id, lock=True)
    key.note = note or None
    await queries.set_note(tx, key_id, key.note)
    return key


async def revoke_own_key(tx: Tx, account_id: str, key_id: str, source: Source = UNKNOWN) -> ApiKey:
    """Revokes a key for its owner and returns it. Raises NotFound."""
    await get_key(tx, account_id, key_id)
    return await revoke_key(tx, key_id, RevokedBy.SELF, None, source)


async def revoke_key(
    tx: Tx, key_id: str, revoked_by: RevokedBy, reason: str | None, source: Source = UNKNOWN
) -> ApiKey:
    """Revokes a key and returns it. Emits apikey.revoked once, however often this is called.

    It holds from the next request on, in every process, because no process caches keys (docs/keys.md#revocation). The
    owner is notified unless `revoked_by` is the owner. Raises NotFound.
    """
    # A conditional update, which is also the lock: of two revocations, one gets the row.
    key = await queries.revoke_key(tx, key_id, revoked_by=revoked_by, reason=reason)
    # Revoked before, perhaps at this very moment: the event and the notification are those of the first revocation.
    if key is None or key.revoked_at is None:
        return await _get(tx, key_id)
    revocation = Revocation(key.id, key.label, key.key_prefix, iso(key.revoked_at), revoked_by, reason)
    await emit(tx, RevocationData(revocation), account_id=key.account_id, key_id=key.id)
    await record(tx, key.account_id, Kind.KEY_REVOKED, source, keyId=key.id, label=key.label, reason=reason)
    if revoked_by is not RevokedBy.SELF:
        await notify(tx, key.account_id, NotificationType.KEY_REVOKED, key_id=key.id)
    return key


async def _get(tx: Tx, key_id: str) -> ApiKey:
    key = await queries.find_key(tx, key_id)
    if key is None:
        raise NotFound("There is no such key.")
    return key
