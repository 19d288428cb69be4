"""How often sign-up and mails may be asked for in any hour (docs/limits.md#signing-in-and-up).

Each function takes an open transaction first. A `check_` comes before the attempt that counts: a client that goes on
after a refusal costs one read, and holds no row's lock.
"""

import hashlib
from typing import Final

import msgspec

from pressroom.clock import HOUR, seconds_until
from pressroom.db import Tx
from pressroom.domains.accounts.models import folded, network_of, without_passed
from pressroom.domains.sign_in.queries import attempts
from pressroom.errors import Limit, TooManyAttempts

WINDOW: Final = HOUR

MAILS: Final = 3
"""Mails of one kind to one address in any hour, from all clients."""

TAKEN_EMAILS: Final = 10
"""E-mail addresses of others that one account may ask for in any hour: each answer shows that somebody has one."""

_OF_LIMIT: Final = {
    Limit.SIGNUPS_PER_HOUR: "sign-ups an hour from one address",
    Limit.RESETS_PER_HOUR: "requests an hour from one address",
    Limit.MAILS_PER_HOUR: "mails an hour to one address",
    Limit.EMAIL_CHANGES_PER_HOUR: "e-mail addresses of others an hour",
}

_decoder: Final = msgspec.json.Decoder(list[int])


async def check_sign_up(tx: Tx, client: str, per_hour: int) -> None:
    """Raises TooManyAttempts when `attempt_sign_up` would; counts nothing."""
    _refuse_sign_up(await attempts.find_sign_ups(tx, network_of(client)), tx.now, per_hour)


async def attempt_sign_up(tx: Tx, client: str, per_hour: int) -> int:
    """Counts a sign-up from the address `client`, successful or not.

    Returns its time in milliseconds, for `forgive_sign_up`. Raises TooManyAttempts when the address has tried
    `per_hour` times within the last hour.
    """
    subject = network_of(client)
    # Under the row's lock: of two sign-ups at once, both could otherwise be the last that is allowed.
    times = _refuse_sign_up(await attempts.lock_sign_ups(tx, subject), tx.now, per_hour)
    await _save_sign_ups(tx, subject, [*times, tx.now])
    return tx.now


async def forgive_sign_up(tx: Tx, client: str, at: int) -> None:
    """Takes the sign-up of `at` (milliseconds) out of the count: its password was never hashed."""
    subject = network_of(client)
    times = _decoder.decode(await attempts.lock_sign_ups(tx, subject))
    if at in times:
        times.remove(at)
        await _save_sign_ups(tx, subject, times)


async def check_reset(tx: Tx, email: str, client: str, per_address: int) -> None:
    """Raises TooManyAttempts when `attempt_reset` would; counts nothing."""
    for subject, most, limit in _reset_subjects(email, client, per_address):
        _within_hour(await attempts.find_sign_ups(tx, subject), tx.now, most, limit)


async def attempt_reset(tx: Tx, email: str, client: str, per_address: int) -> None:
    """Counts a request, from the address `client`, to set a new password for the account of `email`, if there is one.

    Raises TooManyAttempts after `per_address` requests from the client or MAILS for that e-mail address in an hour.
    """
    for subject, most, limit in _reset_subjects(email, client, per_address):
        await _count_in_hour(tx, subject, most, limit)


async def check_email_change(tx: Tx, account_id: str) -> None:
    """Raises TooManyAttempts when an account has asked for TAKEN_EMAILS within the last hour; counts nothing."""
    stored = await attempts.find_sign_ups(tx, _taken_emails(account_id))
    _within_hour(stored, tx.now, TAKEN_EMAILS, Limit.EMAIL_CHANGES_PER_HOUR)


async def count_taken_email(tx: Tx, account_id: str) -> None:
    """Counts an e-mail address that an account asked for and another has. Raises TooManyAttempts after TAKEN_EMAILS."""
    await _count_in_hour(tx, _taken_emails(account_id), TAKEN_EMAILS, Limit.EMAIL_CHANGES_PER_HOUR)


async def attempt_verification(tx: Tx, account_id: str) -> None:
    """Counts a mail that verifies the account's address. Raises TooManyAttempts after MAILS in an hour."""
    await _count_in_hour(tx, f"verify {account_id}", MAILS, Limit.MAILS_PER_HOUR)


def _refuse_sign_up(stored: str, now: int, per_hour: int) -> list[int]:
    """Returns the sign-ups of the last hour (milliseconds). Raises TooManyAttempts when there are `per_hour`."""
    return _within_hour(stored, now, per_hour, Limit.SIGNUPS_PER_HOUR)


def _taken_emails(account_id: str) -> str:
    return f"email of {account_id}"


def _reset_subjects(email: str, client: str, per_address: int) -> tuple[tuple[str, int, Limit], ...]:
    """Returns the subjects that count a request for a new password, with their limits, always in the same order."""
    # Hashed, so that the table does not list typed addresses; requests for unknown ones count alike.
    hashed = hashlib.sha256(folded(email).encode()).hexdigest()
    return (
        (f"reset from {network_of(client)}", per_address, Limit.RESETS_PER_HOUR),
        (f"reset of {hashed}", MAILS, Limit.MAILS_PER_HOUR),
    )


async def _count_in_hour(tx: Tx, subject: str, most: int, limit: Limit) -> None:
    times = _within_hour(await attempts.lock_sign_ups(tx, subject), tx.now, most, limit)
    await _save_sign_ups(tx, subject, [*times, tx.now])


def _within_hour(stored: str, now: int, most: int, limit: Limit) -> list[int]:
    """Returns the times of the last hour (milliseconds). Raises TooManyAttempts when there are `most` of them."""
    times = without_passed(_decoder.decode(stored), now, WINDOW)
    if len(times) < most:
        return times
    seconds = seconds_until(times[-most] + WINDOW, now)
    of = _OF_LIMIT[limit]
    raise TooManyAttempts(f"The limit of {most:,} {of} is reached; try again in {seconds} s.", seconds, limit)


async def _save_sign_ups(tx: Tx, subject: str, times: list[int]) -> None:
    await attempts.save_sign_ups(tx, subject, msgspec.json.encode(times).decode())
