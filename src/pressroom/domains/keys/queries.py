"""SQL of the keys package."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx, sql
from pressroom.domains.keys.models import RECENT_REFUSALS, ApiKey, Bearer, Counts, Refusal, UsageRow
from pressroom.ids import new_id

_KEY: Final = (
    "id, account_id, key_prefix, label, scopes, ip_allowlist, created_at, expires_at, last_used_at,"
    " revoked_at, revoked_by, reason, note"
)

# As the index api_keys_active has it.
_ERASED: Final = "''"
"""The label of a key of a deleted account; no other is empty."""

_ACTIVE: Final = "revoked_at IS NULL AND coalesce(expires_at, 9223372036854775807) > :now"

FIND_BEARER: Final = Query(
    Bearer,
    "SELECT a.id, a.username, a.email, a.display_name, a.bio, a.verified, a.email_verified, a.is_private,"
    " a.discoverable, a.is_creator, a.total_followers, a.total_following, a.total_posts, a.created_at, a.avatar_token,"
    " a.cover_token, a.limits,"
    " k.id AS key_id, k.key_prefix, k.label, k.scopes, k.ip_allowlist, k.expires_at, k.last_used_at, k.revoked_at"
    " FROM api_keys k JOIN accounts a ON a.id = k.account_id WHERE k.secret_hash = :secret_hash",
)


_FIND_KEY: Final = f"SELECT {_KEY} FROM api_keys WHERE id = :key_id"

TOUCH_KEY: Final = Command(
    "UPDATE api_keys SET last_used_at = :used_at"
    " WHERE id = :key_id AND (last_used_at IS NULL OR last_used_at < :used_at)"
)

ADD_USAGE: Final = Command(
    "INSERT INTO api_key_usage (key_id, hour, accepted, limited, refused, failed)"
    " VALUES (:key_id, :hour, :accepted, :limited, :refused, :failed)"
    " ON CONFLICT (key_id, hour) DO UPDATE SET accepted = api_key_usage.accepted + excluded.accepted,"
    " limited = api_key_usage.limited + excluded.limited, refused = api_key_usage.refused + excluded.refused,"
    " failed = api_key_usage.failed + excluded.failed"
)


SUM_USAGE: Final = Query(
    Counts,
    "SELECT CAST(coalesce(sum(accepted), 0) AS BIGINT) AS accepted, CAST(coalesce(sum(limited), 0) AS BIGINT) AS"
    " limited, CAST(coalesce(sum(refused), 0) AS BIGINT) AS refused, CAST(coalesce(sum(failed), 0) AS BIGINT) AS failed"
    " FROM api_key_usage WHERE key_id = :key_id",
)


# Requests with the keys of a deleted account leave no address behind.
INSERT_REFUSAL: Final = Command(
    "INSERT INTO api_key_refusals (key_id, id, refused_at, method, route, status, label, address, request_id)"
    " SELECT k.id, :id, CAST(:refused_at AS BIGINT), :method, :route, CAST(:status AS INTEGER), :label, :address,"
    f" :request_id FROM api_keys k WHERE k.id = :key_id AND k.label <> {_ERASED}"
)

TRIM_REFUSALS: Final = Command(
    "DELETE FROM api_key_refusals WHERE key_id = :key_id AND id <="
    " (SELECT id FROM api_key_refusals WHERE key_id = :key_id ORDER BY id DESC LIMIT 1 OFFSET :kept)"
)


ERASE_KEYS: Final = Command(
    f"UPDATE api_keys SET label = {_ERASED}, ip_allowlist = '', reason = NULL, note = NULL, last_used_at = NULL"
    f" WHERE id IN (SELECT id FROM api_keys WHERE account_id = :account_id AND label <> {_ERASED} LIMIT :batch)"
)

ERASE_USAGE: Final = Command(
    "DELETE FROM api_key_usage WHERE (key_id, hour) IN (SELECT u.key_id, u.hour FROM api_keys k"
    " JOIN api_key_usage u ON u.key_id = k.id WHERE k.account_id = :account_id LIMIT :batch)"
)

ERASE_REFUSALS: Final = Command(
    "DELETE FROM api_key_refusals WHERE (key_id, id) IN (SELECT r.key_id, r.id FROM api_keys k"
    " JOIN api_key_refusals r ON r.key_id = k.id WHERE k.account_id = :account_id LIMIT :batch)"
)


@sql.run("UPDATE api_keys SET note = :note WHERE id = :key_id")
async def set_note(tx: Tx, key_id: str, note: str | None) -> None:
    """Changes the note on a key."""
    ...


@sql.run(
    "INSERT INTO api_keys"
    " (id, account_id, secret_hash, key_prefix, label, scopes, ip_allowlist, created_at, expires_at, warn_at)"
    " VALUES (:key_id, :account_id, :secret_hash, :key_prefix, :label, :scopes, :ip_allowlist, :now, :expires_at,"
    " :warn_at)"
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
    warn_at: int | None,
) -> None:
    """Inserts a new key."""
    ...


class ExpiringKey(msgspec.Struct):
    """A key whose owner is to be notified of its expiry, unless it was revoked."""

    id: str
    account_id: str
    revoked_at: int | None


@sql.all(
    "UPDATE api_keys SET warn_at = NULL WHERE warn_at IS NOT NULL AND id IN"
    " (SELECT id FROM api_keys WHERE warn_at <= :now ORDER BY warn_at LIMIT :batch)"
    " RETURNING id, account_id, revoked_at"
)
async def take_expiring(tx: Tx, batch: int) -> list[ExpiringKey]:
    """Returns keys whose owners are to be notified by now, each once, in no order."""
    ...


@sql.one(f"SELECT count(*) FROM api_keys WHERE account_id = :account_id AND {_ACTIVE}")
async def count_active(tx: Tx, account_id: str) -> int:
    """Returns the number of the account's keys that are neither revoked nor expired."""
    ...


@sql.all(f"SELECT id FROM api_keys WHERE account_id = :account_id AND {_ACTIVE} ORDER BY id")
async def list_active(tx: Tx, account_id: str) -> list[str]:
    """Returns the ids of the account's keys that are neither revoked nor expired."""
    ...


@sql.all(f"SELECT {_KEY} FROM api_keys WHERE account_id = :account_id AND {_ACTIVE} ORDER BY id DESC")
async def list_active_keys(tx: Tx, account_id: str) -> list[ApiKey]:
    """Returns keys of the account that are neither revoked nor expired, newest first."""
    ...


@sql.all(
    f"SELECT {_KEY} FROM api_keys WHERE account_id = :account_id AND id < :before AND NOT ({_ACTIVE})"
    " ORDER BY id DESC LIMIT :limit"
)
async def list_ended_keys(tx: Tx, account_id: str, *, before: str, limit: int) -> list[ApiKey]:
    """Returns keys of the account that are revoked or expired, newest first, made before the one called `before`."""
    ...


@sql.one(_FIND_KEY)
async def find_key(tx: Tx, key_id: str) -> ApiKey | None:
    """Returns the key with this id."""
    ...


@sql.one(f"SELECT {_KEY} FROM api_keys WHERE secret_hash = :secret_hash")
async def find_key_by_secret(tx: Tx, secret_hash: str) -> ApiKey | None:
    """Returns the key whose secret has this hash, whatever its status."""
    ...


# Against a revocation, and not against writes of rows that refer to the key: they lock the account after it.
@sql.one(f"{_FIND_KEY} FOR NO KEY UPDATE")
async def lock_key(tx: Tx, key_id: str) -> ApiKey | None:
    """Locks the key with this id against changes and returns it."""
    ...


@sql.all(f"SELECT {_KEY} FROM api_keys WHERE account_id = :account_id AND id < :before ORDER BY id DESC LIMIT :limit")
async def list_keys(tx: Tx, account_id: str, before: str, limit: int) -> list[ApiKey]:
    """Returns keys of the account, newest first, made before the one called `before`."""
    ...


@sql.one(
    "UPDATE api_keys SET revoked_at = :now, revoked_by = :revoked_by, reason = :reason"
    f" WHERE id = :key_id AND revoked_at IS NULL RETURNING {_KEY}"
)
async def revoke_key(tx: Tx, key_id: str, *, revoked_by: str, reason: str | None) -> ApiKey | None:
    """Revokes a key and returns it; None when it is unknown or was revoked before."""
    ...


async def touch_keys(tx: Tx, used: Mapping[str, int]) -> None:
    """Records the times at which keys were last used (milliseconds), in the order of their ids."""
    await tx.run_each(TOUCH_KEY, [{"key_id": key_id, "used_at": used[key_id]} for key_id in sorted(used)])


async def add_usage(tx: Tx, usage: Sequence[tuple[str, int, Counts]]) -> None:
    """Adds counts to the usage of keys: key, hour since 1970 and counts, in the order of the keys."""
    rows = [
        {
            "key_id": key_id,
            "hour": hour,
            "accepted": counts.accepted,
            "limited": counts.limited,
            "refused": counts.refused,
            "failed": counts.failed,
        }
        for key_id, hour, counts in usage
    ]
    await tx.run_each(ADD_USAGE, rows)


@sql.all(
    "SELECT accepted, limited, refused, failed, hour AS number FROM api_key_usage"
    " WHERE key_id = :key_id AND hour >= :since"
)
async def list_hours(tx: Tx, key_id: str, *, since: int) -> list[UsageRow]:
    """Returns the key's counts by hour, from the hour `since` (since 1970) on; none for an hour without requests."""
    ...


@sql.all(
    "SELECT CAST(sum(accepted) AS BIGINT) AS accepted, CAST(sum(limited) AS BIGINT) AS limited,"
    " CAST(sum(refused) AS BIGINT) AS refused, CAST(sum(failed) AS BIGINT) AS failed, hour / 24 AS number"
    " FROM api_key_usage WHERE key_id = :key_id AND hour >= :since GROUP BY hour / 24"
)
async def list_days(tx: Tx, key_id: str, *, since: int) -> list[UsageRow]:
    """Returns the key's counts by UTC day, from the hour `since` (since 1970) on."""
    ...


async def sum_usage(tx: Tx, key_id: str) -> Counts:
    """Returns the key's counts over all hours that are kept."""
    return await tx.one(SUM_USAGE, key_id=key_id) or Counts()


async def add_refusals(tx: Tx, key_id: str, refusals: Sequence[Refusal]) -> None:
    """Adds refusals of a key, oldest first, and removes all but its last RECENT_REFUSALS."""
    rows = [
        {"key_id": key_id, "id": new_id(each.refused_at, key_id), **msgspec.structs.asdict(each)} for each in refusals
    ]
    await tx.run_each(INSERT_REFUSAL, rows)
    await tx.run(TRIM_REFUSALS, key_id=key_id, kept=RECENT_REFUSALS)


@sql.all(
    "SELECT refused_at, method, route, status, label, address, request_id FROM api_key_refusals"
    " WHERE key_id = :key_id ORDER BY id DESC LIMIT :limit"
)
async def list_refusals(tx: Tx, key_id: str, *, limit: int) -> list[Refusal]:
    """Returns the last refusals of a key, newest first."""
    ...


@sql.run(
    "DELETE FROM api_key_usage WHERE (key_id, hour) IN"
    " (SELECT key_id, hour FROM api_key_usage WHERE hour < :before ORDER BY hour LIMIT :batch)"
)
async def purge_usage(tx: Tx, *, before: int, batch: int) -> int:
    """Removes counts of hours before `before` (since 1970), and returns how many."""
    ...


@sql.run(
    "DELETE FROM api_key_refusals WHERE (key_id, id) IN"
    " (SELECT key_id, id FROM api_key_refusals WHERE refused_at < :before ORDER BY refused_at LIMIT :batch)"
)
async def purge_refusals(tx: Tx, *, before: int, batch: int) -> int:
    """Removes refusals from before `before` (milliseconds), and returns how many."""
    ...


async def erase_keys(tx: Tx, account_id: str, batch: int) -> int:
    """Erases labels, usage and refusals of a deleted account's keys. Returns the most rows of one table."""
    usage = await tx.run(ERASE_USAGE, account_id=account_id, batch=batch)
    refusals = await tx.run(ERASE_REFUSALS, account_id=account_id, batch=batch)
    return max(usage, refusals, await tx.run(ERASE_KEYS, account_id=account_id, batch=batch))
