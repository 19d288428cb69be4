"""Creating and revoking keys. Each action takes an open transaction first."""

from pressroom.clock import iso
from pressroom.db import Tx
from pressroom.domains.accounts import queries as accounts
from pressroom.domains.events.actions import emit
from pressroom.domains.keys import queries
from pressroom.domains.keys.events import Revocation, RevocationData
from pressroom.domains.keys.models import ACTIVE_KEYS, ApiKey, NewKey, RevokedBy
from pressroom.domains.keys.secret import SHOWN, hash_secret, new_secret
from pressroom.domains.notifications.actions import notify
from pressroom.domains.notifications.models import NotificationType
from pressroom.errors import Conflict, NotFound
from pressroom.ids import new_id


async def create_key(tx: Tx, account_id: str, new: NewKey) -> tuple[ApiKey, str]:
    """Creates a key. Returns its record and the key itself, which is not stored and cannot be had again.

    Raises Conflict when the account has five active keys (docs/keys.md#api-keys), NotFound when it is suspended.
    The account's row is locked first, so that two requests at once cannot both be the fifth.
    """
    if not await accounts.lock_account(tx, account_id):
        raise NotFound("There is no such account, or it is suspended.")
    if await queries.count_active(tx, account_id) >= ACTIVE_KEYS:
        raise Conflict(f"An account has at most {ACTIVE_KEYS} active keys; revoke one to create another.")
    secret, key_id = new_secret(), new_id(tx.now)
    await queries.insert_key(
        tx,
        key_id=key_id,
        account_id=account_id,
        secret_hash=hash_secret(secret),
        key_prefix=secret[:SHOWN],
        label=new.label,
        scopes=" ".join(new.scopes),
        ip_allowlist=" ".join(new.ip_allowlist),
        expires_at=new.expires_at,
    )
    return await _get(tx, key_id), secret


async def get_key(tx: Tx, account_id: str, key_id: str, *, lock: bool = False) -> ApiKey:
    """Returns a key of the account, locked if asked. Raises NotFound, also for another account's key."""
    key = await queries.lock_key(tx, key_id) if lock else await queries.find_key(tx, key_id)
    if key is None or key.account_id != account_id:
        raise NotFound("There is no such key.")
    return key


async def list_keys(tx: Tx, account_id: str, before: str, limit: int) -> list[ApiKey]:
    """Returns at most `limit` keys of the account with ids before `before`, newest first."""
    return await queries.list_keys(tx, account_id, before=before, limit=limit)


async def revoke_own_key(tx: Tx, account_id: str, key_id: str) -> ApiKey:
    """Revokes a key for its owner and returns it. Raises NotFound."""
    await get_key(tx, account_id, key_id)
    return await revoke_key(tx, key_id, RevokedBy.SELF, None)


async def revoke_key(tx: Tx, key_id: str, revoked_by: RevokedBy, reason: str | None) -> ApiKey:
    """Revokes a key and returns it. Emits apikey.revoked once, however often this is called.

    It holds from the next request on, in every process, because no process caches keys (docs/keys.md#revocation). The
    owner is notified unless `revoked_by` is the owner. Raises NotFound.
    """
    key = await queries.revoke_key(tx, key_id, revoked_by=revoked_by, reason=reason)
    if key is None or key.revoked_at is None:
        return await _get(tx, key_id)
    revocation = Revocation(key.id, key.label, key.key_prefix, iso(key.revoked_at), revoked_by, reason)
    await emit(tx, RevocationData(revocation), account_id=key.account_id, key_id=key.id)
    if revoked_by is not RevokedBy.SELF:
        await notify(tx, key.account_id, NotificationType.KEY_REVOKED, key_id=key.id)
    return key


async def _get(tx: Tx, key_id: str) -> ApiKey:
    key = await queries.find_key(tx, key_id)
    if key is None:
        raise NotFound("There is no such key.")
    return key
