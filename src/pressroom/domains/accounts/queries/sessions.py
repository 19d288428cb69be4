"""The sessions of an account: SQL."""

from typing import Final

import msgspec

from pressroom.db import Query, Tx, sql
from pressroom.domains.accounts.models import Session


class EndedSession(msgspec.Struct):
    """A session that has ended, and what its browser called itself."""

    id: str
    agent: str


FIND_BY_TOKEN: Final = Query(
    Session,
    "SELECT id, token_hash, agent, address, created_at, seen_at, expires_at FROM sessions"
    " WHERE token_hash = :token_hash",
)


@sql.all(
    "SELECT id, token_hash, agent, address, created_at, seen_at, expires_at FROM sessions"
    " WHERE account_id = :account_id AND id < :before AND expires_at > :now ORDER BY id DESC LIMIT :limit"
)
async def list_sessions(tx: Tx, account_id: str, *, before: str, limit: int) -> list[Session]:
    """Returns at most `limit` sessions of the account with ids before `before`, latest first."""
    ...


async def find_by_token(tx: Tx, token_hash: str) -> Session | None:
    """Returns the session with this token."""
    return await tx.one(FIND_BY_TOKEN, token_hash=token_hash)


@sql.one("DELETE FROM sessions WHERE account_id = :account_id AND id = :session_id RETURNING agent")
async def end_session(tx: Tx, account_id: str, session_id: str) -> str | None:
    """Ends a session of the account. Returns its User-Agent; None when there is no such session."""
    ...


@sql.run("DELETE FROM sessions WHERE account_id = :account_id AND token_hash <> :token_hash")
async def end_others(tx: Tx, account_id: str, token_hash: str) -> int:
    """Ends all sessions of the account but that of `token_hash`, and returns how many."""
    ...


# SQLite takes no OFFSET without a LIMIT.
@sql.all(
    "DELETE FROM sessions WHERE token_hash IN (SELECT token_hash FROM sessions WHERE account_id = :account_id"
    " AND expires_at > :now ORDER BY created_at DESC, id DESC LIMIT 1000000 OFFSET :but)"
    " RETURNING id, agent"
)
async def end_oldest(tx: Tx, account_id: str, *, but: int) -> list[EndedSession]:
    """Ends all but the latest `but` sessions of the account, and returns those."""
    ...


@sql.run("UPDATE sessions SET seen_at = :seen_at, address = :address WHERE token_hash = :token_hash")
async def touch_session(tx: Tx, token_hash: str, *, seen_at: int, address: str) -> None:
    """Records when (milliseconds) and from where a session was last used."""
    ...
