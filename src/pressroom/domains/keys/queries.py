"""SQL of the keys package."""

from typing import Final

from pressroom.db import Command, Query, Tx
from pressroom.domains.keys.models import ApiKey, Bearer

_KEY: Final = (
    "id, account_id, key_prefix, label, scopes, ip_allowlist, created_at, expires_at, last_used_at,"
    " revoked_at, revoked_by, reason"
)

FIND_BEARER: Final = Query(
    Bearer,
    "SELECT a.id, a.username, a.email, a.display_name, a.bio, a.verified, a.email_verified, a.is_private,"
    " a.is_creator, a.total_followers, a.total_following, a.total_posts, a.created_at,"
    " k.id AS key_id, k.key_prefix, k.label, k.scopes, k.ip_allowlist, k.expires_at, k.last_used_at, k.revoked_at"
    " FROM api_keys k JOIN accounts a ON a.id = k.account_id WHERE k.secret_hash = :secret_hash",
)

INSERT_KEY: Final = Command(
    "INSERT INTO api_keys"
    " (id, account_id, secret_hash, key_prefix, label, scopes, ip_allowlist, created_at, expires_at)"
    " VALUES (:id, :account_id, :secret_hash, :key_prefix, :label, :scopes, :ip_allowlist, :now, :expires_at)"
)

COUNT_ACTIVE: Final = Query(
    int,
    "SELECT count(*) FROM api_keys WHERE account_id = :account_id AND revoked_at IS NULL"
    " AND (expires_at IS NULL OR expires_at > :now)",
)

LIST_ACTIVE: Final = Query(
    str,
    "SELECT id FROM api_keys WHERE account_id = :account_id AND revoked_at IS NULL"
    " AND (expires_at IS NULL OR expires_at > :now) ORDER BY id",
)

FIND_KEY: Final = Query(ApiKey, f"SELECT {_KEY} FROM api_keys WHERE id = :key_id")

LOCK_KEY: Final = Query(ApiKey, f"{FIND_KEY.text} FOR UPDATE")

LIST_KEYS: Final = Query(
    ApiKey,
    f"SELECT {_KEY} FROM api_keys WHERE account_id = :account_id AND id < :before ORDER BY id DESC LIMIT :limit",
)

REVOKE_KEY: Final = Query(
    ApiKey,
    "UPDATE api_keys SET revoked_at = :now, revoked_by = :revoked_by, reason = :reason"
    f" WHERE id = :key_id AND revoked_at IS NULL RETURNING {_KEY}",
)

TOUCH_KEY: Final = Command(
    "UPDATE api_keys SET last_used_at = :used_at"
    " WHERE id = :key_id AND (last_used_at IS NULL OR last_used_at < :used_at)"
)


async def insert_key(
    tx: Tx,
    *,
    key_id: str,
    account_id: str,
    secret_hash: str,
    key_prefix: str,
    label: str,
    scopes: str,
    ip_allowlist: str,
    expires_at: int | None,
) -> None:
    """Inserts a new key."""
    await tx.run(
        INSERT_KEY,
        id=key_id,
        account_id=account_id,
        secret_hash=secret_hash,
        key_prefix=key_prefix,
        label=label,
        scopes=scopes,
        ip_allowlist=ip_allowlist,
        expires_at=expires_at,
        now=tx.now,
    )


async def count_active(tx: Tx, account_id: str) -> int:
    """Returns keys of the account that are neither revoked nor expired."""
    return await tx.one(COUNT_ACTIVE, account_id=account_id, now=tx.now) or 0


async def list_active(tx: Tx, account_id: str) -> list[str]:
    """Returns the ids of these keys."""
    return await tx.all(LIST_ACTIVE, account_id=account_id, now=tx.now)


async def find_key(tx: Tx, key_id: str) -> ApiKey | None:
    """Returns the key with this id."""
    return await tx.one(FIND_KEY, key_id=key_id)


async def lock_key(tx: Tx, key_id: str) -> ApiKey | None:
    """Returns the key with this id, which nobody else changes until the transaction ends."""
    return await tx.one(LOCK_KEY, key_id=key_id)


async def list_keys(tx: Tx, account_id: str, *, before: str, limit: int) -> list[ApiKey]:
    """Returns keys of the account, newest first, made before the one called `before`."""
    return await tx.all(LIST_KEYS, account_id=account_id, before=before, limit=limit)


async def revoke_key(tx: Tx, key_id: str, *, revoked_by: str, reason: str | None) -> ApiKey | None:
    """Revokes a key and returns it; None when it is unknown or was revoked before."""
    return await tx.one(REVOKE_KEY, key_id=key_id, revoked_by=revoked_by, reason=reason, now=tx.now)


async def touch_key(tx: Tx, key_id: str, used_at: int) -> None:
    """Writes down when the key was last used (milliseconds)."""
    await tx.run(TOUCH_KEY, key_id=key_id, used_at=used_at)
