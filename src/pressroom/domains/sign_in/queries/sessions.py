"""The sessions of an account: SQL."""

from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx, sql
from pressroom.domains.accounts.models import Account, Session
from pressroom.domains.accounts.queries import ACCOUNT_COLUMNS
from pressroom.domains.audit.models import Source


class EndedSession(msgspec.Struct):
    """A session that has ended, and the User-Agent of its browser."""

    id: str
    agent: str


@sql.all(
    "SELECT id, token_hash, agent, address, created_at, seen_at, expires_at FROM sessions"
    " WHERE account_id = :account_id AND id < :before AND expires_at > :now ORDER BY id DESC LIMIT :limit"
)
async def list_sessions(tx: Tx, account_id: str, before: str, limit: int) -> list[Session]:
    """Returns at most `limit` sessions of the account with ids before `before`, latest first."""
    ...


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


class SessionRow(Account):
    """A session's account, how long the session lasts, and when the password was last given (milliseconds)."""

    renewed_at: int
    expires_at: int
    confirmed_at: int
    is_admin: bool
    is_moderator: bool
    seen_at: int


FIND_SESSION: Final = Query(
    SessionRow,
    f"SELECT {ACCOUNT_COLUMNS}, s.renewed_at, s.expires_at, s.confirmed_at, a.is_admin, a.is_moderator, s.seen_at FROM"
    " sessions s JOIN accounts a ON a.id = s.account_id WHERE s.token_hash = :token_hash AND a.suspended_at IS NULL",
)


INSERT_SESSION: Final = Command(
    "INSERT INTO sessions (token_hash, account_id, id, agent, address, created_at, renewed_at, confirmed_at, seen_at,"
    " expires_at) VALUES (:token_hash, :account_id, :id, :agent, :address, :now, :now, :now, :now, :expires_at)"
)


async def insert_session(
    tx: Tx, *, token_hash: str, account_id: str, session_id: str, source: Source, expires_at: int
) -> None:
    """Begins a session."""
    await tx.run(
        INSERT_SESSION,
        token_hash=token_hash,
        account_id=account_id,
        id=session_id,
        agent=source.agent,
        address=source.address,
        expires_at=expires_at,
        now=tx.now,
    )


@sql.run("UPDATE sessions SET renewed_at = :now, expires_at = :expires_at WHERE token_hash = :token_hash")
async def renew_session(tx: Tx, *, token_hash: str, expires_at: int) -> None:
    """Extends a session."""
    ...


@sql.run("UPDATE sessions SET confirmed_at = :now WHERE token_hash = :token_hash")
async def confirm_session(tx: Tx, token_hash: str) -> None:
    """Records that the password was given in a session."""
    ...


@sql.one("DELETE FROM sessions WHERE token_hash = :token_hash RETURNING account_id")
async def delete_session(tx: Tx, token_hash: str) -> str | None:
    """Ends a session and returns its account's id; None when there was none."""
    ...


@sql.run(
    "DELETE FROM sessions WHERE token_hash IN"
    " (SELECT token_hash FROM sessions WHERE expires_at <= :now ORDER BY expires_at LIMIT :batch)"
)
async def purge_sessions(tx: Tx, batch: int) -> int:
    """Removes ended sessions, oldest first, and returns how many."""
    ...


@sql.all(
    "DELETE FROM sessions WHERE token_hash IN (SELECT token_hash FROM sessions ORDER BY token_hash LIMIT :batch)"
    " RETURNING account_id"
)
async def end_some(tx: Tx, batch: int) -> list[str]:
    """Ends sessions of any accounts, and returns the account of each."""
    ...


@sql.run("DELETE FROM sessions WHERE account_id = :account_id")
async def delete_sessions(tx: Tx, account_id: str) -> None:
    """Ends all sessions of the account."""
    ...
