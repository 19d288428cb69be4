"""How often a password may be given, right or wrong, by account and by address (docs/limits.md#signing-in-and-up).

Each function takes an open transaction first. An attempt is counted before its password is verified, so that a burst
gains nothing. A `check_` comes before that: a client that goes on after a refusal costs one read, and holds no row's
lock.
"""

from typing import Final

import msgspec

from pressroom.clock import MINUTE, seconds_until
from pressroom.db import Tx
from pressroom.domains.accounts import queries
from pressroom.domains.accounts.models import WRONG_CREDENTIALS, account_subject, folded, login_subject, network_of
from pressroom.domains.accounts.queries import status
from pressroom.domains.audit.actions import count
from pressroom.domains.audit.models import UNKNOWN, Kind, Source
from pressroom.domains.sign_in import sessions, tokens, two_factor
from pressroom.domains.sign_in.hourly_attempts import WINDOW
from pressroom.domains.sign_in.queries import attempts
from pressroom.domains.sign_in.queries.attempts import Attempts
from pressroom.domains.sign_in.queries.sessions import confirm_session as confirm
from pressroom.domains.sign_in.sessions import KNOWN_ADDRESS_LIFE
from pressroom.domains.sign_in.tokens import Purpose, consume_token, find_token, issue_token
from pressroom.errors import TooManyAttempts, WrongCredentials

SIGN_IN_WINDOW: Final = 15 * MINUTE


class SignInLimits(msgspec.Struct, frozen=True):
    """How often the password of an account, and passwords from an address, may be wrong and right in 15 minutes."""

    failures_per_account: int
    failures_per_address: int
    per_account: int
    per_address: int


class SignInAttempt(msgspec.Struct):
    """An attempt to give the password of an account, or a code.

    Attributes:
        credentials: The account that the login names, if it names one.
        login: The subject that counts the login; empty where a session or a link names the account.
        account: The subject that counts the account. An unknown login has one too, so that it costs the same work.
        address: The subject that counts the client's address.
        limits: The limits of these counts.
        is_locked: Too many attempts at the account have failed, by whichever of its names. The password is then not
            looked at, and the answer is that of a wrong one (docs/sign-in.md#uniform-answers).
        is_verified: Whether its password was right.
        demand: Whether the account wants a code as well, and whether the right one came.
    """

    credentials: queries.Credentials | None
    login: str
    account: str
    address: str
    limits: SignInLimits
    is_locked: bool = False
    is_verified: bool = False
    demand: two_factor.Demand = two_factor.Demand(is_on=False, proof=None)

    @property
    def lacks_code(self) -> bool:
        """Returns whether the account wants a code and the right one did not come."""
        return self.demand.is_on and self.demand.proof is None

    @property
    def password_hash(self) -> str | None:
        """Returns the hash that the password must match; None when no password is right."""
        return None if self.credentials is None or self.is_locked else self.credentials.password_hash


async def check_sign_in(tx: Tx, login: str, client: str, limits: SignInLimits) -> None:
    """Raises TooManyAttempts when `attempt_sign_in` would; counts nothing."""
    await _check(tx, await _attempt_of_login(tx, login, client, limits))


async def check_confirmation(tx: Tx, account_id: str, client: str, limits: SignInLimits) -> None:
    """Raises TooManyAttempts when `attempt_confirmation` would; counts nothing."""
    await _check(tx, await _attempt_of_account(tx, account_id, client, limits))


async def attempt_sign_in(
    tx: Tx, login: str, client: str, limits: SignInLimits, code: str | None = None
) -> SignInAttempt:
    """Counts an attempt from the address `client` to sign in as `login`, and looks whether `code` is right.

    An address from which the account was signed in to before has counts of its own for that account, so that failures
    from elsewhere do not lock the owner out. Raises TooManyAttempts by the login as typed and by the address alone: the
    account's own count would show which user name and e-mail address belong together (docs/sign-in.md#uniform-answers).
    """
    return await _count(tx, await _attempt_of_login(tx, login, client, limits), code)


async def attempt_confirmation(
    tx: Tx, account_id: str, client: str, limits: SignInLimits, code: str | None = None
) -> SignInAttempt:
    """Counts an attempt to give the password, or a code, of an account that is known already.

    Raises TooManyAttempts by the counts of the account and of the address.
    """
    return await _count(tx, await _attempt_of_account(tx, account_id, client, limits), code)


async def check_passkey(tx: Tx, client: str, limits: SignInLimits) -> None:
    """Raises TooManyAttempts when `attempt_passkey` would; counts nothing."""
    await _check(tx, _attempt_of_address(client, limits))


async def attempt_passkey(tx: Tx, client: str, limits: SignInLimits) -> SignInAttempt:
    """Counts an attempt to use a passkey, by the address alone: a passkey cannot be guessed, so failures at an account
    must not lock its owner out. Raises TooManyAttempts."""
    attempt = _attempt_of_address(client, limits)
    counted = await _count_one(tx, attempt.address, failures=1, successes=0)
    if counted.failures > limits.failures_per_address or counted.successes >= limits.per_address:
        raise _too_many_sign_ins(counted, tx.now)
    return attempt


def _attempt_of_address(client: str, limits: SignInLimits) -> SignInAttempt:
    return SignInAttempt(None, "", "", f"address:{network_of(client)}", limits)


async def check_new_password(tx: Tx, account_id: str, client: str, limits: SignInLimits) -> None:
    """Raises TooManyAttempts when `count_new_password` would; counts nothing."""
    attempt = await _attempt_of_account(tx, account_id, client, limits)
    for subject, _, successes in _subjects(attempt):
        found = await attempts.find_attempts(tx, subject)
        if found is not None and found.successes >= successes and found.window_ends_at > tx.now:
            raise _too_many_sign_ins(found, tx.now)


async def count_new_password(tx: Tx, account_id: str, client: str, limits: SignInLimits) -> SignInAttempt:
    """Counts the hash of a new password like a password that was right. Failures refuse none.

    `account_id` is empty for an account that is still to be made. Raises TooManyAttempts.
    """
    attempt = await _attempt_of_account(tx, account_id, client, limits)
    for subject, _, successes in _subjects(attempt):
        counted = await _count_one(tx, subject, failures=0, successes=1)
        if counted.successes > successes:
            raise _too_many_sign_ins(counted, tx.now)
    return attempt


async def forgive_new_password(tx: Tx, attempt: SignInAttempt) -> None:
    """Takes a new password out of the counts: it was never hashed."""
    for subject, _, _ in _subjects(attempt):
        await attempts.change_attempts(tx, subject, failures=0, successes=-1)


async def forgive_sign_in(tx: Tx, attempt: SignInAttempt) -> None:
    """Takes an attempt out of all counts: its password was never verified."""
    for subject in (attempt.login, attempt.account, attempt.address):
        await attempts.change_attempts(tx, subject, failures=-1, successes=0)


async def complete_sign_in(tx: Tx, source: Source, account_id: str, attempt: SignInAttempt) -> str | None:
    """Begins a session after a right password, and returns its token; None when the account is suspended.

    Uses up the code, forgets the account's failures, counts the attempt as a success, and remembers the address. Locks
    the account, so that no session begins while it is being suspended. Raises WrongCredentials when the password was
    changed or another request has used the code meanwhile, TooManyAttempts when others were as right meanwhile.
    """
    is_suspended = await _lock(tx, account_id, attempt)
    # In the transaction of the session: a code is used up exactly when it signs in.
    if attempt.demand.proof is not None:
        await two_factor.use_proof(tx, account_id, attempt.demand.proof, source)
    # Of a suspended account too: its right passwords are limited like all others.
    await forget_failures(tx, attempt)
    if is_suspended:
        return None
    await sessions.remember_address(tx, account_id, source.address)
    return await sessions.begin_session(tx, account_id, source)


async def record_failure(tx: Tx, attempt: SignInAttempt, client: str) -> None:
    """Records in the account's log that an attempt from the address `client` failed.

    An unknown account costs the same write, so that both take as long (docs/sign-in.md#uniform-answers).
    """
    account_id, network = (attempt.credentials.id, network_of(client)) if attempt.credentials else ("", "")
    await count(tx, account_id, Kind.SIGN_IN_FAILED, network)


async def forget_failures(tx: Tx, attempt: SignInAttempt) -> None:
    """Forgets the account's failures after a right attempt, and counts it as a success where its password was right.

    Raises TooManyAttempts when that is one too many.
    """
    await _succeed(tx, attempt, forget=True)


async def await_code(tx: Tx, account_id: str, attempt: SignInAttempt) -> str | None:
    """Counts an attempt as a success whose password was right and whose code is still to come.

    Returns the token that the code must come with; None when the account is suspended. Earlier failures stay: guesses
    at the code are among them. Raises WrongCredentials when the password was changed meanwhile, and TooManyAttempts.
    """
    is_suspended = await _lock(tx, account_id, attempt)
    await _succeed(tx, attempt, forget=False)
    if is_suspended:
        return None
    return await issue_token(tx, account_id, Purpose.SIGN_IN_CODE)


async def complete_pending(tx: Tx, source: Source, token: str, attempt: SignInAttempt) -> str | None:
    """Begins the session of a sign-in that waited for its code; otherwise as `complete_sign_in`.

    Raises WrongCredentials when the wait has ended or another request has used the code.
    """
    account_id = await find_token(tx, token, Purpose.SIGN_IN_CODE)
    if account_id is not None:  # The account is locked before its tokens, as by the removal of all of them.
        await status.lock_status(tx, account_id)
        account_id = await consume_token(tx, token, Purpose.SIGN_IN_CODE)
    if account_id is None:
        raise WrongCredentials("The time for the code has passed; sign in again.")
    return await complete_sign_in(tx, source, account_id, attempt)


async def confirm_session(tx: Tx, token: str, attempt: SignInAttempt) -> None:
    """Records that the password was given again in the session of this token, and forgets the account's failures."""
    await confirm(tx, tokens.hash_token(token))
    await forget_failures(tx, attempt)


async def remove_two_factor(tx: Tx, account_id: str, attempt: SignInAttempt, source: Source = UNKNOWN) -> None:
    """Takes two-factor sign-in off after a right password or code; raises like `two_factor.remove`."""
    await two_factor.remove(tx, account_id, attempt.demand.proof, source)
    await forget_failures(tx, attempt)


async def purge_attempts(tx: Tx, batch: int) -> int:
    """Removes attempts and known addresses that have expired, oldest first; returns the number of rows."""
    sign_ins = await attempts.purge_attempts(tx, batch)
    sign_ups = await attempts.purge_sign_ups(tx, before=tx.now - WINDOW, batch=batch)
    return sign_ins + sign_ups + await attempts.purge_addresses(tx, before=tx.now - KNOWN_ADDRESS_LIFE, batch=batch)


async def _lock(tx: Tx, account_id: str, attempt: SignInAttempt) -> bool:
    """Locks an account and returns whether it is suspended.

    Raises WrongCredentials when its password is no longer the one that the attempt was verified against.
    """
    now = (await status.lock_status(tx, account_id)).get(account_id)
    present, verified = await queries.find_own_credentials(tx, account_id), attempt.credentials
    if present is None or verified is None or present.password_hash != verified.password_hash:
        raise WrongCredentials(WRONG_CREDENTIALS)
    return now is None or now.suspended_at is not None


def _too_many_sign_ins(attempts: Attempts, now: int) -> TooManyAttempts:
    seconds = seconds_until(attempts.window_ends_at, now)
    return TooManyAttempts(f"Too many attempts to sign in; try again in {seconds} s.", seconds)


async def _attempt_of_login(tx: Tx, login: str, client: str, limits: SignInLimits) -> SignInAttempt:
    """Returns the attempt for a login as typed. Known and unknown logins take the same statements."""
    credentials = await queries.find_credentials(tx, folded(login))
    account_id = credentials.id if credentials else ""
    typed = login_subject(folded(login))
    at = await _own_count(tx, account_id, client)
    # An unknown login counts in a row as well: with a write less, its answer would come sooner.
    account = f"{account_subject(account_id)}{at}" if credentials else f"nobody:{typed}"
    return SignInAttempt(credentials, f"{typed}{at}", account, f"address:{network_of(client)}", limits)


async def _attempt_of_account(tx: Tx, account_id: str, client: str, limits: SignInLimits) -> SignInAttempt:
    credentials = await queries.find_own_credentials(tx, account_id)
    account = f"{account_subject(account_id)}{await _own_count(tx, account_id, client)}" if account_id else ""
    return SignInAttempt(credentials, "", account, f"address:{network_of(client)}", limits)


async def _own_count(tx: Tx, account_id: str, client: str) -> str:
    """Returns the suffix of the account's subjects for a known address of the account, "" for any other address."""
    known = await sessions.find_known_address(tx, account_id, client)
    return f":{known}" if known else ""


def _subjects(attempt: SignInAttempt) -> list[tuple[str, int, int]]:
    """Returns the subjects whose limits refuse an attempt, each with how many may fail and how many may succeed."""
    limits = attempt.limits
    # By the login as typed: a refusal by the account's count would show that user name and e-mail address belong
    # together.
    own = attempt.login or attempt.account
    refusing = [(own, limits.failures_per_account, limits.per_account)] if own else []
    return [*refusing, (attempt.address, limits.failures_per_address, limits.per_address)]


async def _check(tx: Tx, attempt: SignInAttempt) -> None:
    for subject, failures, successes in _subjects(attempt):
        found = await attempts.find_attempts(tx, subject)
        is_full = found is not None and (found.failures >= failures or found.successes >= successes)
        if found is not None and is_full and found.window_ends_at > tx.now:
            raise _too_many_sign_ins(found, tx.now)


async def _count(tx: Tx, attempt: SignInAttempt, code: str | None) -> SignInAttempt:
    """Counts an attempt as failed until it is known to be right; returns it with the account's demand for a code.

    Logins, accounts and addresses are locked in this order, here and in `_succeed`.
    """
    (subject, failures, successes), last = _subjects(attempt)
    counted = await _count_one(tx, subject, failures=1, successes=0)
    if counted.failures > failures or counted.successes >= successes:
        raise _too_many_sign_ins(counted, tx.now)
    if attempt.login:
        of_account = await _count_one(tx, attempt.account, failures=1, successes=0)
        # Not refused here: it fails later like a wrong password (docs/sign-in.md#uniform-answers).
        attempt.is_locked = of_account.failures > failures
    counted = await _count_one(tx, last[0], failures=1, successes=0)
    if counted.failures > last[1] or counted.successes >= last[2]:
        raise _too_many_sign_ins(counted, tx.now)
    attempt.demand = await two_factor.find_demand(tx, attempt.credentials.id if attempt.credentials else "", code)
    return attempt


async def _count_one(tx: Tx, subject: str, *, failures: int, successes: int) -> Attempts:
    ends_at = tx.now + SIGN_IN_WINDOW
    return await attempts.count_attempt(
        tx, subject=subject, window_ends_at=ends_at, failures=failures, successes=successes
    )


async def _succeed(tx: Tx, attempt: SignInAttempt, *, forget: bool) -> None:
    """Takes an attempt that was right out of the failures, and counts it as a success if its password was verified.

    With `forget`, all failures of the account are forgotten, by whichever of its names. Raises TooManyAttempts.
    """
    limits = {subject: successes for subject, _, successes in _subjects(attempt)}
    # In one order: two sign-ins by different names of the account lock the rows of both.
    logins = sorted({attempt.login, *_own_logins(attempt)} - {""}) if forget or attempt.login else []
    for subject in (*logins, attempt.account, attempt.address):
        is_forgotten = forget and subject != attempt.address
        failures = 0 if subject not in (attempt.login, attempt.account, attempt.address) else -1
        successes = int(attempt.is_verified and subject in limits)
        counted = await attempts.change_attempts(
            tx, subject, failures=failures, successes=successes, forget=is_forgotten
        )
        if counted is not None and successes and counted.successes > limits[subject]:
            raise _too_many_sign_ins(counted, tx.now)


def _own_logins(attempt: SignInAttempt) -> list[str]:
    """Returns what both logins of the account are counted as, from the address of the attempt."""
    account = attempt.credentials
    if account is None:
        return []
    at = attempt.account.removeprefix(account_subject(account.id))
    return [f"{login_subject(folded(login))}{at}" for login in (account.username, account.email)]
