"""Attempts to sign in and up, and the addresses of earlier sign-ins: SQL."""

from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx, sql
from pressroom.domains.accounts.models import account_subject, login_subject
from pressroom.domains.sign_in.queries import two_factor
from pressroom.domains.sign_in.queries.passkeys import erase_passkeys
from pressroom.domains.sign_in.queries.sessions import delete_sessions
from pressroom.domains.sign_in.queries.tokens import erase_tokens


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


# The holder of a subject's row counts alone: sign-ups of an address, and requested mails.
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


class Logins(msgspec.Struct):
    """The logins of an account, folded."""

    username_key: str
    email_key: str


FIND_LOGINS: Final = Query(Logins, "SELECT username_key, email_key FROM accounts WHERE id = :account_id")


# From all addresses: `account:ID` and `account:ID:ADDRESS`.
_OF_SUBJECT: Final = "subject = :subject OR (subject > :subject || ':' AND subject < :subject || ';')"


DELETE_ATTEMPTS: Final = Command(f"DELETE FROM sign_in_attempts WHERE {_OF_SUBJECT}")


FORGET_FAILURES: Final = Command(f"UPDATE sign_in_attempts SET failures = 0 WHERE {_OF_SUBJECT}")


DELETE_ADDRESSES: Final = Command("DELETE FROM known_addresses WHERE account_id = :account_id")


async def erase_sign_in(tx: Tx, account_id: str) -> None:
    """Deletes how people sign in to an account: sessions, links, two-factor, and from where it was tried."""
    await delete_sessions(tx, account_id)
    await tx.run(DELETE_ADDRESSES, account_id=account_id)
    await tx.run(DELETE_ATTEMPTS, subject=account_subject(account_id))
    await erase_tokens(tx, account_id)
    await erase_passkeys(tx, account_id)
    await two_factor.delete(tx, account_id)


async def forget_failures(tx: Tx, account_id: str) -> None:
    """Forgets the failed sign-ins of the account, by whichever of its names and from whichever address.

    Successes go on counting: a new password does not begin their window anew.
    """
    keys = await tx.one(FIND_LOGINS, account_id=account_id)
    logins = sorted((login_subject(keys.username_key), login_subject(keys.email_key))) if keys else ()
    for subject in (*logins, account_subject(account_id)):
        await tx.run(FORGET_FAILURES, subject=subject)
