"""One-time tokens: SQL."""

from typing import Final

from pressroom.db import Tx, sql

# Of an account that is not suspended, and still has the address that the token was sent to.
_HOLDS: Final = (
    "token_hash = :token_hash AND purpose = :purpose AND expires_at > :now AND EXISTS (SELECT 1 FROM accounts a"
    " WHERE a.id = one_time_tokens.account_id AND a.suspended_at IS NULL"
    " AND (one_time_tokens.email IS NULL OR one_time_tokens.email = a.email))"
)


@sql.run(
    "INSERT INTO one_time_tokens (token_hash, account_id, purpose, email, created_at, expires_at)"
    " VALUES (:token_hash, :account_id, :purpose, :email, :now, :expires_at)"
)
async def insert_token(
    tx: Tx, *, token_hash: str, account_id: str, purpose: str, email: str | None, expires_at: int
) -> None:
    """Stores the hash of a token that holds until `expires_at` (milliseconds)."""
    ...


@sql.run(
    "INSERT INTO one_time_tokens (token_hash, account_id, purpose, created_at, expires_at)"
    " VALUES (:token_hash, :account_id, :purpose, :now, :expires_at) ON CONFLICT (token_hash) DO NOTHING"
)
async def use_up(tx: Tx, *, token_hash: str, account_id: str, purpose: str, expires_at: int) -> bool:
    """Stores that a token was used, until `expires_at` (milliseconds). Returns False when it was used before."""
    ...


@sql.one(f"SELECT account_id FROM one_time_tokens WHERE {_HOLDS}")
async def find_token(tx: Tx, *, token_hash: str, purpose: str) -> str | None:
    """Returns the account's id of a token that still holds."""
    ...


@sql.one(f"DELETE FROM one_time_tokens WHERE {_HOLDS} RETURNING account_id")
async def consume_token(tx: Tx, *, token_hash: str, purpose: str) -> str | None:
    """Removes a token that still holds, and returns the account's id."""
    ...


# An answered challenge stays: removed, it could be answered once more.
@sql.run(
    "DELETE FROM one_time_tokens WHERE account_id = :account_id"
    " AND (purpose = :purpose OR :purpose = '' AND purpose <> 'passkey')"
)
async def delete_tokens(tx: Tx, account_id: str, purpose: str = "") -> None:
    """Removes the account's tokens of a purpose, or all of them but answered challenges."""
    ...


@sql.run("DELETE FROM one_time_tokens WHERE account_id = :account_id")
async def erase_tokens(tx: Tx, account_id: str) -> None:
    """Removes all tokens of a deleted account, answered challenges too."""
    ...


@sql.run(
    "DELETE FROM one_time_tokens WHERE token_hash IN"
    " (SELECT token_hash FROM one_time_tokens WHERE expires_at <= :now ORDER BY expires_at LIMIT :batch)"
)
async def purge_tokens(tx: Tx, batch: int) -> int:
    """Removes tokens that have expired, oldest first, and returns how many."""
    ...
