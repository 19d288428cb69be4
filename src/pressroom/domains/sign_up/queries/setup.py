"""Tokens of the first account: SQL."""

from typing import Final

from pressroom.db import Command, Query, Tx, sql

INSERT_TOKEN: Final = Command("INSERT INTO setup_tokens (token_hash, created_at) VALUES (:token_hash, :now)")

TRIM_TOKENS: Final = Command(
    "DELETE FROM setup_tokens WHERE token_hash NOT IN"
    " (SELECT token_hash FROM setup_tokens ORDER BY created_at DESC, token_hash LIMIT :kept)"
)

FIND_TOKEN: Final = Query(str, "SELECT token_hash FROM setup_tokens WHERE token_hash = :token_hash")


async def insert_token(tx: Tx, token_hash: str, kept: int) -> None:
    """Stores the hash of a token; the latest `kept` are stored."""
    await tx.run(INSERT_TOKEN, token_hash=token_hash, now=tx.now)
    await tx.run(TRIM_TOKENS, kept=kept)


async def has_token(tx: Tx, token_hash: str) -> bool:
    """Returns whether a token is good."""
    return await tx.one(FIND_TOKEN, token_hash=token_hash) is not None


# All of them: of two that make the first account at once, with whichever tokens, one waits here and finds none.
@sql.run("DELETE FROM setup_tokens")
async def delete_tokens(tx: Tx) -> int:
    """Removes all tokens and returns how many there were."""
    ...
