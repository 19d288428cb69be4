"""The routes of password, e-mail address, sessions, audit log and two-factor sign-in (docs/sign-in.md#sessions)."""

from collections.abc import Callable
from functools import partial
from typing import Final
from urllib.parse import urlsplit

from pressroom.clock import iso_or_none
from pressroom.db import ConstraintViolated
from pressroom.domains.accounts.models import Account, Caller
from pressroom.domains.accounts.queries import lock_wholly
from pressroom.domains.accounts.routes import TAG
from pressroom.domains.accounts.schemas import AccountOut, MessageOut, account_shape
from pressroom.domains.audit.queries import list_entries
from pressroom.domains.sign_in import attempts, credentials, sessions, tokens, two_factor
from pressroom.domains.sign_in.hourly_attempts import check_email_change, count_taken_email
from pressroom.domains.sign_in.queries.sessions import list_sessions as read_sessions
from pressroom.domains.sign_in.schemas import (
    ChangeEmail,
    ChangePassword,
    ConfirmTwoFactor,
    EndedSessionOut,
    EndedSessionsOut,
    LogEntryOut,
    LogList,
    RecoveryCodesOut,
    RemoveTwoFactor,
    SessionList,
    SessionOut,
    TwoFactorOut,
    TwoFactorSetupOut,
    log_shape,
    session_shape,
)
from pressroom.domains.sign_in.signing_in import check_own_code, check_own_password, hash_new_password, refused
from pressroom.errors import (
    Code,
    Conflict,
    FieldError,
    NotFound,
    TooManyAttempts,
    Unprocessable,
    WrongCredentials,
)
from pressroom.web.access import SessionOnly
from pressroom.web.paging import read_paged
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller](TAG)
two_factor_routes: Final = Routes[Caller](TAG)

_TAKEN: Final = Conflict("There is already an account with this e-mail address.")
_CHANGED: Final = MessageOut("The password is changed. Every other session has ended.")
_ENDED: Final = "The session has ended"


@routes.post(
    "/api/auth/password",
    SessionOnly(recent=True),
    summary="Change the password",
    gives=MessageOut,
    fails=(TooManyAttempts,),
    response_example=_CHANGED,
)
async def change_password(request: Request[Caller], body: ChangePassword) -> Response:
    """Sets a new password. Every other session ends, and every link to set one; this session goes on."""
    return await set_new_password(request, body)


@routes.post(
    "/api/auth/email",
    SessionOnly(recent=True),
    summary="Change the e-mail address",
    gives=AccountOut,
    fails=(_TAKEN, TooManyAttempts),
)
async def change_email(request: Request[Caller], body: ChangeEmail) -> Response:
    """Sets a new e-mail address, which is confirmed by the link that is mailed there. A mail tells the address before.
    In any hour three mails of a kind go out for one account."""
    return await set_new_email(request, body)


@routes.get(
    "/api/auth/sessions",
    SessionOnly(),
    summary="List sessions",
    gives=SessionList,
    paged=True,
    response_example=SessionList([SessionOut.example()], None),
)
async def list_sessions(request: Request[Caller]) -> Response:
    """Where the account is signed in, latest sign-in first."""
    shown, cursor = await read_paged(request, lambda session: session.id, read_sessions, request.caller.account.id)
    own_hash = tokens.hash_token(request.session_token or "")
    return json_response(SessionList([session_shape(each, own_hash) for each in shown], cursor))


@routes.delete(
    "/api/auth/sessions",
    SessionOnly(),
    summary="End all other sessions",
    gives=EndedSessionsOut,
    response_example=EndedSessionsOut(2),
)
async def end_other_sessions(request: Request[Caller]) -> Response:
    """Signs the account out everywhere but here."""
    caller, token = request.caller, request.session_token or ""
    return await request.once(sessions.end_other_sessions, EndedSessionsOut, caller.account.id, token, caller.source)


@routes.delete(
    "/api/auth/sessions/{sessionId}",
    SessionOnly(),
    summary="End a session",
    gives=EndedSessionOut,
    fails=(NotFound("There is no such session."),),
    response_example=EndedSessionOut(_ENDED, SessionOut.example().id),
)
async def end_session(request: Request[Caller]) -> Response:
    """Ends one session of the account. From its next request on it is refused."""
    session_id, caller = request.parameters["sessionId"], request.caller
    ended = EndedSessionOut(_ENDED, session_id)
    return await request.once(sessions.end_session, lambda _: ended, caller.account.id, session_id, caller.source)


@routes.get(
    "/api/auth/log",
    SessionOnly(),
    summary="Show the audit log",
    gives=LogList,
    paged=True,
    response_example=LogList([LogEntryOut.example()], None),
)
async def show_log(request: Request[Caller]) -> Response:
    """Acts on the account and its keys, newest first, with actor and address. Kept for a year."""
    shown, cursor = await read_paged(request, lambda entry: entry.id, list_entries, request.caller.account.id)
    return json_response(LogList([log_shape(entry) for entry in shown], cursor))


async def set_new_password(request: Request[Caller], body: ChangePassword) -> Response:
    """Changes the caller's password, once. Raises TooManyAttempts, and Unavailable when none can be hashed now."""
    if (stored := await request.once.stored()) is not None:
        return stored
    password_hash = await hash_new_password(request, request.caller.account.id, body.password)
    return await request.once.locking(partial(lock_wholly, account_id=request.caller.account.id))(
        credentials.change_password, lambda _: _CHANGED, request.caller, request.session_token or "", password_hash
    )


async def set_new_email(request: Request[Caller], body: ChangeEmail) -> Response:
    """Changes the caller's e-mail address, once. Raises Conflict and TooManyAttempts."""
    base_url = request.settings.base_url

    def shape(account: Account) -> AccountOut:
        return account_shape(account, base_url)

    if (stored := await request.once.stored()) is not None:
        return stored
    await request.db.read(check_email_change, request.caller.account.id)
    once = request.once.locking(partial(lock_wholly, account_id=request.caller.account.id))
    try:
        return await once(
            credentials.change_email, shape, request.caller, body.email, verify=request.services.mail.is_available
        )
    except (Conflict, ConstraintViolated):
        await request.db.transact(count_taken_email, request.caller.account.id)
        raise _TAKEN from None


_ON: Final = Conflict("Two-factor sign-in is on already; take it off before you set it up anew.")
_OFF: Final = NotFound("Two-factor sign-in is off.")
_WRONG_CODE: Final = Unprocessable([FieldError("code", Code.NOT_ALLOWED, two_factor.WRONG_CODE)])


@two_factor_routes.get(
    "/api/auth/two-factor",
    SessionOnly(),
    summary="Show two-factor sign-in",
    gives=TwoFactorOut,
)
async def show_two_factor(request: Request[Caller]) -> Response:
    """Whether two-factor sign-in is on, and how many recovery codes are left."""
    state = await request.db.read(two_factor.find_state, request.caller.account.id)
    enabled_at = iso_or_none(state.enabled_at)
    return json_response(TwoFactorOut(state.enabled_at is not None, enabled_at, state.recovery_codes_left))


@two_factor_routes.post(
    "/api/auth/two-factor",
    SessionOnly(recent=True),
    summary="Begin two-factor sign-in",
    gives=TwoFactorSetupOut,
    fails=(_ON,),
)
async def begin_two_factor(request: Request[Caller]) -> Response:
    """Makes a secret for an authenticator app, and shows it this once. Nothing changes for signing in until a code
    confirms it; a set-up that was begun before is forgotten."""
    account = request.caller.account
    return await request.once.hiding("secret", "otpauthUri")(
        two_factor.begin, setup_shape(account.username, host_of(request)), account.id, two_factor.new_secret()
    )


@two_factor_routes.post(
    "/api/auth/two-factor/confirm",
    SessionOnly(recent=True),
    summary="Turn two-factor sign-in on",
    gives=RecoveryCodesOut,
    fails=(_ON, NotFound("No set-up was begun: POST /api/auth/two-factor."), _WRONG_CODE),
)
async def confirm_two_factor(request: Request[Caller], body: ConfirmTwoFactor) -> Response:
    """Turns two-factor sign-in on with a first code, and shows the ten recovery codes this once. From now on signing in
    takes `code`; the account's other sessions go on."""
    return await request.once.hiding("recoveryCodes")(
        two_factor.confirm, RecoveryCodesOut, request.caller.account.id, body.code, request.caller.source
    )


@two_factor_routes.post(
    "/api/auth/two-factor/recovery-codes",
    SessionOnly(recent=True),
    summary="Make new recovery codes",
    gives=RecoveryCodesOut,
    fails=(_OFF,),
)
async def renew_recovery_codes(request: Request[Caller]) -> Response:
    """Replaces the recovery codes, used or not, by ten new ones and shows them this once."""
    return await request.once.hiding("recoveryCodes")(
        two_factor.renew_recovery_codes, RecoveryCodesOut, request.caller.account.id, request.caller.source
    )


@two_factor_routes.delete(
    "/api/auth/two-factor",
    SessionOnly(recent=True),
    summary="Take two-factor sign-in off",
    gives=MessageOut,
    fails=(_OFF, WrongCredentials, TooManyAttempts),
    response_example=MessageOut("Two-factor sign-in is off"),
)
async def remove_two_factor(request: Request[Caller], body: RemoveTwoFactor) -> Response:
    """Takes two-factor sign-in off, with the password or a code; where both are given, both must be right. Failures are
    counted like those of signing in."""
    if stored := await request.once.stored():
        return stored
    attempt = await prove(request, body)
    return await request.once(
        attempts.remove_two_factor,
        lambda _: MessageOut("Two-factor sign-in is off"),
        request.caller.account.id,
        attempt,
        request.caller.source,
    )


def setup_shape(username: str, host: str) -> Callable[[str], TwoFactorSetupOut]:
    """Returns the function that shapes a new secret for the account `username` of the server `host`."""
    return lambda secret: TwoFactorSetupOut(secret, two_factor.enrolment_uri(secret, username, host))


def host_of(request: Request[Caller]) -> str:
    """Returns the host of this server's base address, with its port."""
    return urlsplit(request.settings.base_url).netloc


async def prove(request: Request[Caller], body: RemoveTwoFactor) -> attempts.SignInAttempt:
    """Returns the attempt of a caller who gave the right password, the right code, or both.

    Raises WrongCredentials, TooManyAttempts, NotFound when two-factor sign-in is off.
    """
    state = await request.db.read(two_factor.find_state, request.caller.account.id)
    if state.enabled_at is None:
        raise NotFound(_OFF.message)
    if body.password is not None:
        attempt = await check_own_password(request, body.password, body.code)
    else:
        attempt = await check_own_code(request, request.caller.account.id, body.code)
    if body.code is not None and attempt.lacks_code:
        raise await refused(request, attempt)
    return attempt
