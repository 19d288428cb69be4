"""How often sign-in, sign-up and mails may be tried, by account and by address (docs/limits.md#signing-in-and-up).

Each function takes an open transaction first. An attempt is counted before its password is verified, so that a burst
gains nothing. `check_sign_in` and `check_sign_up` come before that: a client that goes on after a refusal costs one
read, and holds no row's lock.
"""

import hashlib
from typing import Final

import msgspec

from pressroom.clock import HOUR, MINUTE, seconds_until
from pressroom.db import Tx
from pressroom.domains.accounts import actions, queries, two_factor
from pressroom.domains.accounts.models import (
    KNOWN_ADDRESS_LIFE,
    WRONG_CREDENTIALS,
    Purpose,
    folded,
    network_of,
    without_passed,
)
from pressroom.domains.accounts.queries import status
from pressroom.domains.accounts.tokens import consume_token, find_token, issue_token
from pressroom.domains.audit.actions import count
from pressroom.domains.audit.models import UNKNOWN, Kind, Source
from pressroom.errors import Limit, TooManyAttempts, WrongCredentials

SIGN_IN_WINDOW: Final = 15 * MINUTE
SIGN_UP_WINDOW: Final = HOUR

MAILS: Final = 3
"""Mails of one kind to one address in any hour, asked for by whomever."""

_OF_LIMIT: Final = {
    Limit.SIGNUPS_PER_HOUR: "sign-ups an hour from one address",
    Limit.RESETS_PER_HOUR: "requests an hour from one address",
    Limit.MAILS_PER_HOUR: "mails an hour to one address",
}

_decoder: Final = msgspec.json.Decoder(list[int])


class SignInAttempt(msgspec.Struct):
    """An attempt to sign in: the account that the login names, and the two subjects that it is counted against.

    `demand` says whether the account wants a code as well, and whether the right one came.
    """

    credentials: queries.Credentials | None
    named: str
    address: str
    demand: two_factor.Demand = two_factor.Demand(is_on=False, proof=None)

    @property
    def lacks_code(self) -> bool:
        """Returns whether the account wants a code and the right one did not come."""
        return self.demand.is_on and self.demand.proof is None


async def check_sign_in(tx: Tx, login: str, client: str, per_account: int, per_address: int) -> None:
    """Raises TooManyAttempts when `attempt_sign_in` would; counts nothing."""
    await _check(tx, await _attempt_of_login(tx, login, client), per_account, per_address)


async def check_confirmation(tx: Tx, account_id: str, client: str, per_account: int, per_address: int) -> None:
    """Raises TooManyAttempts when `attempt_confirmation` would; counts nothing."""
    await _check(tx, await _attempt_of_account(tx, account_id, client), per_account, per_address)


async def attempt_sign_in(
    tx: Tx, login: str, client: str, per_account: int, per_address: int, code: str | None = None
) -> SignInAttempt:
    """Counts an attempt from the address `client` to sign in as `login`, and looks whether `code` is right.

    An address from which the account was signed in to before has a count of its own for that account, so that failures
    from elsewhere do not lock the owner out. Raises TooManyAttempts once the account has failed `per_account` times, by
    whichever of its names, or the address `per_address` times, within 15 minutes.
    """
    return await _count(tx, await _attempt_of_login(tx, login, client), per_account, per_address, code)


async def attempt_confirmation(
    tx: Tx, account_id: str, client: str, per_account: int, per_address: int, code: str | None = None
) -> SignInAttempt:
    """Counts an attempt to give the password, or a code, of an account that is known already: the counts are the same.

    Raises TooManyAttempts as `attempt_sign_in` does.
    """
    return await _count(tx, await _attempt_of_account(tx, account_id, client), per_account, per_address, code)


async def forgive_sign_in(tx: Tx, attempt: SignInAttempt) -> None:
    """Takes an attempt out of both counts: its password was never verified."""
    await queries.forgive_attempt(tx, attempt.named)
    await queries.forgive_attempt(tx, attempt.address)


async def complete_sign_in(tx: Tx, source: Source, account_id: str, attempt: SignInAttempt) -> str | None:
    """Begins a session after a right password, and returns its token; None when the account is suspended.

    Uses up the code, deletes the account's failures, takes the attempt out of the address's count, and remembers the
    address. Locks the account, so that no session begins while it is being suspended. Raises WrongCredentials when
    the password was changed or another request has used the code meanwhile.
    """
    is_suspended = await _lock(tx, account_id, attempt)
    if attempt.demand.proof is not None:
        await two_factor.use_proof(tx, account_id, attempt.demand.proof, source)
    await forget_failures(tx, attempt)
    if is_suspended:
        return None
    await actions.remember_address(tx, account_id, source.address)
    return await actions.begin_session(tx, account_id, source)


async def record_failure(tx: Tx, attempt: SignInAttempt, client: str) -> None:
    """Records in the account's log that an attempt from the address `client` failed.

    One at an account that does not exist is written as well, so that both take as long (docs/sign-in.md#one-answer).
    """
    account_id, network = (attempt.credentials.id, network_of(client)) if attempt.credentials else ("", "")
    await count(tx, account_id, Kind.SIGN_IN_FAILED, network)


async def forget_failures(tx: Tx, attempt: SignInAttempt) -> None:
    """Deletes the account's failures after a right attempt, and takes it out of the address's count."""
    await queries.forget_attempts(tx, attempt.named)
    await queries.forgive_attempt(tx, attempt.address)


async def await_code(tx: Tx, account_id: str, attempt: SignInAttempt) -> str | None:
    """Takes an attempt out of both counts, whose password was right and whose code is still to come.

    Returns the token that the code must come with; None when the account is suspended. Earlier failures stay: guesses
    at the code are among them. Raises WrongCredentials when the password was changed meanwhile.
    """
    is_suspended = await _lock(tx, account_id, attempt)
    await forgive_sign_in(tx, attempt)
    if is_suspended:
        return None
    return await issue_token(tx, account_id, Purpose.SIGN_IN_CODE)


async def complete_pending(tx: Tx, source: Source, token: str, attempt: SignInAttempt) -> str | None:
    """Begins the session of a sign-in that waited for its code; otherwise as `complete_sign_in`.

    Raises WrongCredentials when the wait has ended or another request has used the code.
    """
    account_id = await find_token(tx, token, Purpose.SIGN_IN_CODE)
    if account_id is not None:  # The account is locked before its tokens, as by whoever removes them all.
        await status.lock_status(tx, account_id)
        account_id = await consume_token(tx, token, Purpose.SIGN_IN_CODE)
    if account_id is None:
        raise WrongCredentials("The time for the code has passed; sign in again.")
    return await complete_sign_in(tx, source, account_id, attempt)


async def confirm_session(tx: Tx, token: str, attempt: SignInAttempt) -> None:
    """Records that the password was given again in the session of this token, and deletes the account's failures."""
    await queries.confirm_session(tx, actions.hash_token(token))
    await forget_failures(tx, attempt)


async def remove_two_factor(tx: Tx, account_id: str, attempt: SignInAttempt, source: Source = UNKNOWN) -> None:
    """Takes two-factor sign-in off after a right password or code; raises like `two_factor.remove`."""
    await two_factor.remove(tx, account_id, attempt.demand.proof, source)
    await forget_failures(tx, attempt)


async def check_sign_up(tx: Tx, client: str, per_hour: int) -> None:
    """Raises TooManyAttempts when `attempt_sign_up` would; counts nothing."""
    _refuse_sign_up(await queries.find_sign_ups(tx, network_of(client)), tx.now, per_hour)


async def attempt_sign_up(tx: Tx, client: str, per_hour: int) -> int:
    """Counts a sign-up from the address `client`, whatever becomes of it.

    Returns its time in milliseconds, for `forgive_sign_up`. Raises TooManyAttempts when the address has tried
    `per_hour` times within the last hour.
    """
    subject = network_of(client)
    times = _refuse_sign_up(await queries.lock_sign_ups(tx, subject), tx.now, per_hour)
    await _save_sign_ups(tx, subject, [*times, tx.now])
    return tx.now


async def forgive_sign_up(tx: Tx, client: str, at: int) -> None:
    """Takes the sign-up of `at` (milliseconds) out of the count: its password was never hashed."""
    subject = network_of(client)
    times = _decoder.decode(await queries.lock_sign_ups(tx, subject))
    if at in times:
        times.remove(at)
        await _save_sign_ups(tx, subject, times)


async def check_reset(tx: Tx, email: str, client: str, per_address: int) -> None:
    """Raises TooManyAttempts when `attempt_reset` would; counts nothing."""
    for subject, most, limit in _reset_subjects(email, client, per_address):
        _within_hour(await queries.find_sign_ups(tx, subject), tx.now, most, limit)


async def attempt_reset(tx: Tx, email: str, client: str, per_address: int) -> None:
    """Counts a request, from the address `client`, to set a new password for the account of `email`, if there is one.

    Raises TooManyAttempts after `per_address` requests from the client or MAILS for that e-mail address in an hour.
    """
    for subject, most, limit in _reset_subjects(email, client, per_address):
        await _count_in_hour(tx, subject, most, limit)


async def attempt_verification(tx: Tx, account_id: str) -> None:
    """Counts a mail that verifies the account's address. Raises TooManyAttempts after MAILS in an hour."""
    await _count_in_hour(tx, f"verify {account_id}", MAILS, Limit.MAILS_PER_HOUR)


async def purge_attempts(tx: Tx, batch: int) -> int:
    """Removes attempts and known addresses that have expired, oldest first; returns the number of rows."""
    sign_ins = await queries.purge_attempts(tx, batch)
    sign_ups = await queries.purge_sign_ups(tx, before=tx.now - SIGN_UP_WINDOW, batch=batch)
    return sign_ins + sign_ups + await queries.purge_addresses(tx, before=tx.now - KNOWN_ADDRESS_LIFE, batch=batch)


async def _lock(tx: Tx, account_id: str, attempt: SignInAttempt) -> bool:
    """Locks an account and returns whether it is suspended.

    Raises WrongCredentials when its password is no longer the one that the attempt was verified against.
    """
    now = (await status.lock_status(tx, account_id)).get(account_id)
    present, verified = await queries.find_own_credentials(tx, account_id), attempt.credentials
    if present is None or verified is None or present.password_hash != verified.password_hash:
        raise WrongCredentials(WRONG_CREDENTIALS)
    return now is None or now.suspended_at is not None


def _refuse_sign_up(stored: str, now: int, per_hour: int) -> list[int]:
    """Returns the sign-ups of the last hour (milliseconds). Raises TooManyAttempts when there are `per_hour`."""
    return _within_hour(stored, now, per_hour, Limit.SIGNUPS_PER_HOUR)


def _reset_subjects(email: str, client: str, per_address: int) -> tuple[tuple[str, int, Limit], ...]:
    """Returns what a request for a new password is counted against, always in the same order, with the limits."""
    hashed = hashlib.sha256(folded(email).encode()).hexdigest()
    return (
        (f"reset from {network_of(client)}", per_address, Limit.RESETS_PER_HOUR),
        (f"reset of {hashed}", MAILS, Limit.MAILS_PER_HOUR),
    )


async def _count_in_hour(tx: Tx, subject: str, most: int, limit: Limit) -> None:
    times = _within_hour(await queries.lock_sign_ups(tx, subject), tx.now, most, limit)
    await _save_sign_ups(tx, subject, [*times, tx.now])


def _within_hour(stored: str, now: int, most: int, limit: Limit) -> list[int]:
    """Returns the times of the last hour (milliseconds). Raises TooManyAttempts when there are `most` of them."""
    times = without_passed(_decoder.decode(stored), now, SIGN_UP_WINDOW)
    if len(times) < most:
        return times
    seconds = seconds_until(times[-most] + SIGN_UP_WINDOW, now)
    of = _OF_LIMIT[limit]
    raise TooManyAttempts(f"The limit of {most:,} {of} is reached; try again in {seconds} s.", seconds, limit)


def _too_many_sign_ins(attempts: queries.Attempts, now: int) -> TooManyAttempts:
    seconds = seconds_until(attempts.window_ends_at, now)
    return TooManyAttempts(f"Too many failed sign-ins; try again in {seconds} s.", seconds)


async def _save_sign_ups(tx: Tx, subject: str, times: list[int]) -> None:
    await queries.save_sign_ups(tx, subject, msgspec.json.encode(times).decode())


async def _attempt_of_login(tx: Tx, login: str, client: str) -> SignInAttempt:
    unknown = "login:" + hashlib.sha256(folded(login).encode()).hexdigest()
    return await _attempt_of(tx, await queries.find_credentials(tx, folded(login)), unknown, client)


async def _attempt_of_account(tx: Tx, account_id: str, client: str) -> SignInAttempt:
    return await _attempt_of(tx, await queries.find_own_credentials(tx, account_id), f"account:{account_id}", client)


async def _attempt_of(tx: Tx, credentials: queries.Credentials | None, unknown: str, client: str) -> SignInAttempt:
    """Returns the attempt at an account; `unknown` is what it is counted against when there is none."""
    named = unknown
    if credentials is not None:
        known = await actions.find_known_address(tx, credentials.id, client)
        named = f"account:{credentials.id}" + (f":{known}" if known else "")
    return SignInAttempt(credentials, named, f"address:{network_of(client)}")


async def _check(tx: Tx, attempt: SignInAttempt, per_account: int, per_address: int) -> None:
    for subject, limit in ((attempt.named, per_account), (attempt.address, per_address)):
        attempts = await queries.find_attempts(tx, subject)
        if attempts is not None and attempts.window_ends_at > tx.now and attempts.failures >= limit:
            raise _too_many_sign_ins(attempts, tx.now)


async def _count(tx: Tx, attempt: SignInAttempt, per_account: int, per_address: int, code: str | None) -> SignInAttempt:
    """Counts an attempt and returns it with what the account demands of it."""
    for subject, limit in ((attempt.named, per_account), (attempt.address, per_address)):
        attempts = await queries.count_attempt(tx, subject=subject, window_ends_at=tx.now + SIGN_IN_WINDOW)
        if attempts.failures > limit:
            raise _too_many_sign_ins(attempts, tx.now)
    attempt.demand = await two_factor.find_demand(tx, attempt.credentials.id if attempt.credentials else "", code)
    return attempt
