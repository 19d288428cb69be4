"""The routes of two-factor sign-in: set up, confirm, take off, new recovery codes."""

from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from pressroom.clock import iso
from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.routes import TAG
from pressroom.domains.accounts.schemas import MessageOut
from pressroom.domains.sign_in import attempts, codes, two_factor
from pressroom.domains.sign_in.signing_in import check_own_code, check_own_password, refused
from pressroom.domains.sign_in.two_factor_schemas import (
    ConfirmTwoFactor,
    RecoveryCodesOut,
    RemoveTwoFactor,
    TwoFactorOut,
    TwoFactorSetupOut,
)
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
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller](TAG)


_ON: Final = Conflict("Two-factor sign-in is on already; take it off before you set it up anew.")
_OFF: Final = NotFound("Two-factor sign-in is off.")
_WRONG_CODE: Final = Unprocessable([FieldError("code", Code.NOT_ALLOWED, two_factor.WRONG_CODE)])


@routes.get(
    "/api/auth/two-factor",
    SessionOnly(),
    summary="Show two-factor sign-in",
    gives=TwoFactorOut,
)
async def show_two_factor(request: Request[Caller]) -> Response:
    """Whether two-factor sign-in is on, and how many recovery codes are left."""
    state = await request.db.read(two_factor.find_state, request.caller.account.id)
    enabled_at = None if state.enabled_at is None else iso(state.enabled_at)
    return json_response(TwoFactorOut(state.enabled_at is not None, enabled_at, state.recovery_codes_left))


@routes.post(
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
        two_factor.begin, setup_shape(account.username, host_of(request)), 200, account.id, codes.new_secret()
    )


@routes.post(
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
        two_factor.confirm, RecoveryCodesOut, 200, request.caller.account.id, body.code, request.caller.source
    )


@routes.post(
    "/api/auth/two-factor/recovery-codes",
    SessionOnly(recent=True),
    summary="Make new recovery codes",
    gives=RecoveryCodesOut,
    fails=(_OFF,),
)
async def renew_recovery_codes(request: Request[Caller]) -> Response:
    """Replaces the recovery codes, used or not, by ten new ones and shows them this once."""
    return await request.once.hiding("recoveryCodes")(
        two_factor.renew_recovery_codes, RecoveryCodesOut, 200, request.caller.account.id, request.caller.source
    )


@routes.delete(
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
        200,
        request.caller.account.id,
        attempt,
        request.caller.source,
    )


def setup_shape(username: str, host: str) -> Callable[[str], TwoFactorSetupOut]:
    """Returns what shapes a new secret for the account `username` of the server `host`."""
    return lambda secret: TwoFactorSetupOut(secret, codes.enrolment_uri(secret, username, host))


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
