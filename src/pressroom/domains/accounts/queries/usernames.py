"""User names that were given up and stay reserved."""

from typing import Final

from pressroom.db import Query, Tx, sql

FIND_RESERVED: Final = Query(
    str,
    "SELECT account_id FROM reserved_usernames WHERE username_key = :username_key AND reserved_until > :now"
    " AND account_id <> :but",
)

COUNT_RESERVED: Final = Query(
    int, "SELECT count(*) FROM reserved_usernames WHERE account_id = :account_id AND reserved_until > :now"
)

WAS_DELETED: Final = Query(
    int,
    "SELECT 1 FROM reserved_usernames r JOIN accounts a ON a.id = r.account_id"
    " WHERE r.username_key = :username_key AND r.reserved_until > :now AND a.suspended_at = a.deleted_at",
)


@sql.run(
    "INSERT INTO reserved_usernames (username_key, account_id, reserved_until)"
    " VALUES (:username_key, :account_id, :until) ON CONFLICT (username_key) DO UPDATE SET"
    " account_id = excluded.account_id, reserved_until = excluded.reserved_until"
)
async def reserve_username(tx: Tx, username_key: str, account_id: str, *, until: int) -> None:
    """Reserves a user name for this account until `until` (milliseconds)."""
    ...


@sql.run("DELETE FROM reserved_usernames WHERE username_key = :username_key")
async def free_username(tx: Tx, username_key: str) -> None:
    """Ends a reservation: the name is in use again."""
    ...


async def is_reserved(tx: Tx, username_key: str, *, but: str) -> bool:
    """Returns whether a user name is reserved for an account other than `but`."""
    return await tx.one(FIND_RESERVED, username_key=username_key, but=but, now=tx.now) is not None


async def count_reserved(tx: Tx, account_id: str) -> int:
    """Returns how many user names are reserved for the account."""
    return await tx.one(COUNT_RESERVED, account_id=account_id, now=tx.now) or 0


async def was_deleted(tx: Tx, username_key: str) -> bool:
    """Returns whether a user name is reserved for an account that was deleted, and not suspended before."""
    return await tx.one(WAS_DELETED, username_key=username_key, now=tx.now) is not None


@sql.run(
    "DELETE FROM reserved_usernames WHERE username_key IN (SELECT username_key FROM reserved_usernames"
    " WHERE reserved_until <= :now ORDER BY reserved_until LIMIT :batch)"
)
async def purge_reserved(tx: Tx, batch: int) -> int:
    """Removes reservations that have ended, oldest first, and returns how many."""
    ...
