"""SQL of the accounts package."""

from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx, sql
from pressroom.domains.accounts.models import Account
from pressroom.domains.audit.models import Source

_ACCOUNT: Final = (
    "a.id, a.username, a.email, a.display_name, a.bio, a.verified, a.email_verified, a.is_private,"
    " a.is_creator, a.total_followers, a.total_following, a.total_posts, a.created_at, a.avatar_token,"
    " a.cover_token"
)


FIND_SHOWN_NAME: Final = Query(str, "SELECT display_name FROM accounts WHERE id = :account_id AND suspended_at IS NULL")


COUNT_ACCOUNTS: Final = Query(int, "SELECT count(*) FROM (SELECT 1 FROM accounts LIMIT 1) AS any_account")

INSERT_ACCOUNT: Final = Query(
    str,
    "INSERT INTO accounts (id, username, username_key, email, email_key, password_hash, display_name, bio,"
    " verified, email_verified, is_private, is_creator, total_followers, total_following, total_posts,"
    " created_at, updated_at) VALUES (:id, :username, :username_key, :email, :email_key, :password_hash,"
    " :display_name, NULL, FALSE, FALSE, FALSE, FALSE, 0, 0, 0, :now, :now) ON CONFLICT DO NOTHING RETURNING id",
)

UPDATE_ACCOUNT: Final = Command(
    "UPDATE accounts SET username = :username, username_key = :username_key, display_name = :display_name,"
    " bio = :bio, is_private = :is_private, updated_at = :now WHERE id = :account_id"
)

# Whoever holds this row's lock is alone in deciding about the account's caps.
LOCK_ACCOUNT: Final = Query(
    str,
    "UPDATE accounts SET updated_at = :now WHERE id = :account_id AND suspended_at IS NULL RETURNING id",
)

# Against everybody who writes in the account's name, as a change of its user name needs it. Taken at once, not after a
# weaker lock that they wait behind: each would wait for the other.
LOCK_WHOLLY: Final = Query(str, "SELECT id FROM accounts WHERE id = :account_id FOR UPDATE")

TAKEN: Final = Query(
    str,
    "SELECT CASE WHEN username_key = :username_key THEN 'username' ELSE 'email' END FROM accounts"
    " WHERE (username_key = :username_key OR email_key = :email_key) AND id <> :but ORDER BY 1 DESC LIMIT 1",
)


class Credentials(Account):
    """An account with the hash that its password must match."""

    password_hash: str


class SessionRow(Account):
    """A session's account, how long the session lasts, and when the password was last given (milliseconds)."""

    renewed_at: int
    expires_at: int
    confirmed_at: int
    is_admin: bool
    seen_at: int


FIND_SESSION: Final = Query(
    SessionRow,
    f"SELECT {_ACCOUNT}, s.renewed_at, s.expires_at, s.confirmed_at, a.is_admin, s.seen_at FROM sessions s"
    " JOIN accounts a ON a.id = s.account_id WHERE s.token_hash = :token_hash AND a.suspended_at IS NULL",
)

INSERT_SESSION: Final = Command(
    "INSERT INTO sessions (token_hash, account_id, id, agent, address, created_at, renewed_at, confirmed_at, seen_at,"
    " expires_at) VALUES (:token_hash, :account_id, :id, :agent, :address, :now, :now, :now, :now, :expires_at)"
)


class Attempts(msgspec.Struct):
    """How many attempts of a subject have failed and succeeded in its window, and when that ends (milliseconds)."""

    failures: int
    successes: int
    window_ends_at: int


COUNT_ATTEMPT: Final = Query(
    Attempts,
    "INSERT INTO sign_in_attempts (subject, failures, successes, window_ends_at)"
    " VALUES (:subject, :failures, :successes, :window_ends_at) ON CONFLICT (subject) DO UPDATE SET"
    " failures = CASE WHEN sign_in_attempts.window_ends_at <= :now THEN 0 ELSE sign_in_attempts.failures END"
    " + excluded.failures,"
    " successes = CASE WHEN sign_in_attempts.window_ends_at <= :now THEN 0 ELSE sign_in_attempts.successes END"
    " + excluded.successes,"
    " window_ends_at = CASE WHEN sign_in_attempts.window_ends_at <= :now"
    " THEN excluded.window_ends_at ELSE sign_in_attempts.window_ends_at END"
    " RETURNING failures, successes, window_ends_at",
)


# Whoever holds the row of a subject counts alone: sign-ups of an address, and mails that were asked for.
LOCK_SIGN_UPS: Final = Query(
    str,
    "INSERT INTO sign_up_attempts (subject, times, updated_at) VALUES (:subject, '[]', :now)"
    " ON CONFLICT (subject) DO UPDATE SET updated_at = excluded.updated_at RETURNING times",
)

FIND_SIGN_UPS: Final = Query(str, "SELECT times FROM sign_up_attempts WHERE subject = :subject")


IS_KNOWN_ADDRESS: Final = Query(
    int,
    "SELECT 1 FROM known_addresses"
    " WHERE account_id = :account_id AND address_hash = :address_hash AND seen_at > :since",
)


@sql.one(f"SELECT {_ACCOUNT} FROM accounts a WHERE a.id = :account_id")
async def find_account(tx: Tx, account_id: str) -> Account | None:
    """Returns the account with this id."""
    ...


@sql.one(f"SELECT {_ACCOUNT} FROM accounts a WHERE a.username_key = :username_key AND a.suspended_at IS NULL")
async def find_by_username(tx: Tx, username_key: str) -> Account | None:
    """Returns the account with this user name, folded."""
    ...


@sql.one(f"SELECT {_ACCOUNT} FROM accounts a WHERE a.email_key = :email_key AND a.suspended_at IS NULL")
async def find_by_email(tx: Tx, email_key: str) -> Account | None:
    """Returns the account with this e-mail address, folded, unless it is suspended."""
    ...


async def any_account(tx: Tx) -> bool:
    """Returns whether there is an account at all."""
    return bool(await tx.one(COUNT_ACCOUNTS))


async def insert_account(
    tx: Tx,
    *,
    account_id: str,
    username: str,
    username_key: str,
    email: str,
    email_key: str,
    password_hash: str,
    display_name: str,
) -> bool:
    """Inserts an account. Returns False when its user name or e-mail address is taken."""
    made = await tx.one(
        INSERT_ACCOUNT,
        id=account_id,
        username=username,
        username_key=username_key,
        email=email,
        email_key=email_key,
        password_hash=password_hash,
        display_name=display_name,
        now=tx.now,
    )
    return made is not None


async def find_taken(tx: Tx, *, username_key: str, email_key: str, but: str = "") -> str | None:
    """Returns which of the two an account other than `but` has: `username`, `email` or None."""
    return await tx.one(TAKEN, username_key=username_key, email_key=email_key, but=but)


async def update_account(tx: Tx, account: Account, *, username_key: str) -> None:
    """Writes what its owner may change of an account."""
    await tx.run(
        UPDATE_ACCOUNT,
        account_id=account.id,
        username=account.username,
        username_key=username_key,
        display_name=account.display_name,
        bio=account.bio,
        is_private=account.is_private,
        now=tx.now,
    )


async def lock_account(tx: Tx, account_id: str) -> bool:
    """Locks the account until the transaction ends. Returns False when it is suspended."""
    return await tx.one(LOCK_ACCOUNT, account_id=account_id, now=tx.now) is not None


async def lock_wholly(tx: Tx, account_id: str) -> None:
    """Locks the account against every write in its name until the transaction ends."""
    await tx.one(LOCK_WHOLLY, account_id=account_id)


@sql.one(f"SELECT {_ACCOUNT}, a.password_hash FROM accounts a WHERE a.username_key = :login OR a.email_key = :login")
async def find_credentials(tx: Tx, login: str) -> Credentials | None:
    """Returns the account whose user name or e-mail address is `login`, folded."""
    ...


@sql.one(f"SELECT {_ACCOUNT}, a.password_hash FROM accounts a WHERE a.id = :account_id")
async def find_own_credentials(tx: Tx, account_id: str) -> Credentials | None:
    """Returns the account with this id."""
    ...


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


async def count_attempt(tx: Tx, *, subject: str, window_ends_at: int, failures: int, successes: int) -> Attempts:
    """Counts an attempt, and returns the counts with it."""
    attempts = await tx.one(
        COUNT_ATTEMPT,
        subject=subject,
        window_ends_at=window_ends_at,
        failures=failures,
        successes=successes,
        now=tx.now,
    )
    return attempts or Attempts(failures, successes, window_ends_at)


@sql.one("SELECT failures, successes, window_ends_at FROM sign_in_attempts WHERE subject = :subject")
async def find_attempts(tx: Tx, subject: str) -> Attempts | None:
    """Returns how many attempts of a subject have failed and succeeded."""
    ...


@sql.one(
    "UPDATE sign_in_attempts SET failures = CASE WHEN :forget THEN 0 ELSE failures + :failures END,"
    " successes = successes + :successes WHERE subject = :subject RETURNING failures, successes, window_ends_at"
)
async def change_attempts(
    tx: Tx, subject: str, *, failures: int, successes: int, forget: bool = False
) -> Attempts | None:
    """Adds to the counts of a subject, with `forget` to no failures; returns them, None when its row has gone."""
    ...


async def find_sign_ups(tx: Tx, subject: str) -> str:
    """Returns when an address tried to sign up (JSON, milliseconds)."""
    return await tx.one(FIND_SIGN_UPS, subject=subject) or "[]"


async def lock_sign_ups(tx: Tx, subject: str) -> str:
    """Locks the row of an address until the transaction ends. Returns when it tried to sign up (JSON, milliseconds)."""
    return await tx.one(LOCK_SIGN_UPS, subject=subject, now=tx.now) or "[]"


@sql.run("UPDATE sign_up_attempts SET times = :times WHERE subject = :subject")
async def save_sign_ups(tx: Tx, subject: str, times: str) -> None:
    """Saves when an address tried to sign up (JSON, milliseconds)."""
    ...


@sql.run(
    "INSERT INTO known_addresses (account_id, address_hash, seen_at) VALUES (:account_id, :address_hash, :now)"
    " ON CONFLICT (account_id, address_hash) DO UPDATE SET seen_at = excluded.seen_at"
)
async def remember_address(tx: Tx, *, account_id: str, address_hash: str) -> None:
    """Notes an address of a right sign-in."""
    ...


@sql.run(
    "DELETE FROM known_addresses WHERE account_id = :account_id AND address_hash NOT IN"
    " (SELECT address_hash FROM known_addresses WHERE account_id = :account_id"
    " ORDER BY seen_at DESC, address_hash LIMIT :but)"
)
async def forget_addresses(tx: Tx, *, account_id: str, but: int) -> None:
    """Forgets all but the latest `but` addresses of an account."""
    ...


async def is_known_address(tx: Tx, *, account_id: str, address_hash: str, since: int) -> bool:
    """Returns whether the account was signed in to from this address after `since` (milliseconds)."""
    found = await tx.one(IS_KNOWN_ADDRESS, account_id=account_id, address_hash=address_hash, since=since)
    return found is not None


@sql.run(
    "DELETE FROM sessions WHERE token_hash IN"
    " (SELECT token_hash FROM sessions WHERE expires_at <= :now ORDER BY expires_at LIMIT :batch)"
)
async def purge_sessions(tx: Tx, batch: int) -> int:
    """Removes ended sessions, oldest first, and returns how many."""
    ...


@sql.run(
    "DELETE FROM sign_in_attempts WHERE subject IN (SELECT subject FROM sign_in_attempts"
    " WHERE window_ends_at <= :now ORDER BY window_ends_at LIMIT :batch)"
)
async def purge_attempts(tx: Tx, batch: int) -> int:
    """Removes attempts to sign in whose window has passed, oldest first, and returns how many."""
    ...


@sql.run(
    "DELETE FROM sign_up_attempts WHERE subject IN (SELECT subject FROM sign_up_attempts"
    " WHERE updated_at <= :before ORDER BY updated_at LIMIT :batch)"
)
async def purge_sign_ups(tx: Tx, *, before: int, batch: int) -> int:
    """Removes sign-ups of addresses that have tried none since `before` (milliseconds), and returns how many."""
    ...


@sql.run(
    "DELETE FROM known_addresses WHERE (account_id, address_hash) IN (SELECT account_id, address_hash"
    " FROM known_addresses WHERE seen_at <= :before ORDER BY seen_at LIMIT :batch)"
)
async def purge_addresses(tx: Tx, *, before: int, batch: int) -> int:
    """Removes addresses last signed in from before `before` (milliseconds), and returns how many."""
    ...
