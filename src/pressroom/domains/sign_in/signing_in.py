"""Sign-in, as routes and pages share it: an attempt is counted, then its password and code are verified.

Whether the password or the code was wrong shows in nothing: both are looked at for every attempt, and one answer is for
both (docs/sign-in.md#uniform-answers).
"""

from typing import Final

from pressroom.domains.accounts.models import WRONG_CREDENTIALS, Account, Caller, network_of
from pressroom.domains.audit.models import Source, client_source
from pressroom.domains.sign_in import attempts, sessions
from pressroom.domains.sign_in.attempts import SignInAttempt, SignInLimits
from pressroom.errors import AccountSuspended, Unavailable, WrongCredentials
from pressroom.web.request import Request

SUSPENDED: Final = "This account is suspended. Ask the operator of this server."


async def check_password(request: Request[Caller], login: str, password: str, code: str | None = None) -> SignInAttempt:
    """Returns the attempt to sign in as `login`; its `demand`: whether a code is needed and was given.

    Raises WrongCredentials for an unknown login or a wrong password, TooManyAttempts, Unavailable.
    """
    limits = limits_of(request)
    # A read first: a client that continues after a refusal takes no row's lock.
    await request.db.read(attempts.check_sign_in, login, request.client, limits)
    # Counted before the password is verified: a burst of guesses would otherwise all pass the check.
    attempt = await request.db.transact(attempts.attempt_sign_in, login, request.client, limits, code)
    return await _verified(request, attempt, password)


async def check_own_password(request: Request[Caller], password: str, code: str | None = None) -> SignInAttempt:
    """Returns the attempt of a caller who is signed in to give the password again; raises like `check_password`."""
    return await check_account_password(request, request.caller.account.id, password, code)


async def check_account_password(
    request: Request[Caller], account_id: str, password: str, code: str | None = None
) -> SignInAttempt:
    """Returns the attempt to give the password of an account that is known already; raises like `check_password`."""
    attempt = await check_own_code(request, account_id, code)
    return await _verified(request, attempt, password)


async def check_own_code(request: Request[Caller], account_id: str, code: str | None) -> SignInAttempt:
    """Returns the attempt to give a code of an account; its `demand`: whether it was right.

    Raises TooManyAttempts.
    """
    limits = limits_of(request)
    await request.db.read(attempts.check_confirmation, account_id, request.client, limits)
    return await request.db.transact(attempts.attempt_confirmation, account_id, request.client, limits, code)


async def hash_new_password(request: Request[Caller], account_id: str, password: str) -> str:
    """Returns the hash to store of a new password (docs/limits.md#signing-in-and-up).

    `account_id` is empty for an account that is still to be made. Raises TooManyAttempts, Unavailable.
    """
    limits = limits_of(request)
    await request.db.read(attempts.check_new_password, account_id, request.client, limits)
    counted = await request.db.transact(attempts.count_new_password, account_id, request.client, limits)
    try:
        return await request.services.passwords.hash(password, network_of(request.client))
    # The queue of passwords was full: nothing was hashed, so nothing counts.
    except Unavailable:
        await request.db.transact(attempts.forgive_new_password, counted)
        raise


async def begin_session(request: Request[Caller], attempt: SignInAttempt) -> tuple[Account, str]:
    """Begins the session of an attempt whose password and code were right; returns the account and the token.

    Raises AccountSuspended, or WrongCredentials when the code was used or the password changed meanwhile.
    """
    account = attempt.credentials
    if account is None:
        raise WrongCredentials(WRONG_CREDENTIALS)
    token = await request.db.transact(attempts.complete_sign_in, source_of(request), account.id, attempt)
    if token is None:
        raise AccountSuspended(SUSPENDED)
    return account, token


async def end_session_before(request: Request[Caller]) -> None:
    """Ends the session that this browser had when it signed in anew (docs/sign-in.md#repeated-sign-in)."""
    if request.session_token is not None:
        await request.db.transact(sessions.sign_out, request.session_token, source_of(request))


async def _verified(request: Request[Caller], attempt: SignInAttempt, password: str) -> SignInAttempt:
    """Returns the attempt if the password is right. One that could not be verified is not counted."""
    client = network_of(request.client)
    try:
        attempt.is_verified = await request.services.passwords.verify(password, attempt.password_hash, client)
    # The queue was full: the password was not looked at.
    except Unavailable:
        await request.db.transact(attempts.forgive_sign_in, attempt)
        raise
    if not attempt.is_verified:
        raise await refused(request, attempt)
    return attempt


async def refused(request: Request[Caller], attempt: SignInAttempt) -> WrongCredentials:
    """Records the failure of an attempt, and returns its error."""
    await request.db.transact(attempts.record_failure, attempt, request.client)
    return WrongCredentials(WRONG_CREDENTIALS)


def source_of(request: Request[Caller]) -> Source:
    """Returns where a request comes from, whether somebody is signed in or not."""
    return client_source(request.client, request.headers.user_agent)


def limits_of(request: Request[Caller]) -> SignInLimits:
    """Returns how often a sign-in may be attempted."""
    settings = request.settings
    return SignInLimits(
        settings.sign_in_failures_per_account,
        settings.sign_in_failures_per_address,
        settings.sign_ins_per_account,
        settings.sign_ins_per_address,
    )
