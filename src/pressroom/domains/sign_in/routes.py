"""The routes of signing in and out, and of the password given again (docs/sign-in.md)."""

from typing import Final

from pressroom.domains.accounts.models import Account, Caller
from pressroom.domains.accounts.routes import TAG
from pressroom.domains.accounts.schemas import AccountOut, MessageOut, account_shape
from pressroom.domains.sign_in import attempts, sessions
from pressroom.domains.sign_in.cookies import session_cookie
from pressroom.domains.sign_in.schemas import Confirmation, SignIn
from pressroom.domains.sign_in.signing_in import (
    begin_session,
    check_own_password,
    check_password,
    end_session_before,
    refused,
)
from pressroom.errors import (
    AccountSuspended,
    TooManyAttempts,
    WrongCredentials,
)
from pressroom.web.access import Anyone, SessionOnly
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller](TAG)

NEW_SESSION = "The new session, for 30 days from its last use."


@routes.post(
    "/api/auth/login",
    Anyone(),
    summary="Sign in",
    gives=AccountOut,
    fails=(WrongCredentials, AccountSuspended, TooManyAttempts),
    cookie=NEW_SESSION,
    idempotent=False,
)
async def sign_in(request: Request[Caller], body: SignIn) -> Response:
    """Begins a session: the answer sets its cookie. An unknown login, a wrong password, and a missing or wrong `code`
    of an account with two-factor sign-in get the same answer. Failures are counted per login and per address; after
    too many, wait as long as the answer says. An address from which the account was signed in to before has a count
    of its own."""
    attempt = await check_password(request, body.login, body.password, body.code)
    if attempt.lacks_code:
        raise await refused(request, attempt)
    account, token = await begin_session(request, attempt)
    return await signed_in(request, account, token, 200)


@routes.post(
    "/api/auth/confirm",
    SessionOnly(),
    summary="Confirm the password",
    gives=MessageOut,
    fails=(WrongCredentials, TooManyAttempts),
    response_example=MessageOut("Password confirmed"),
)
async def confirm_password(request: Request[Caller], body: Confirmation) -> Response:
    """Takes the password again in a session: for 30 minutes it may do what refuses older sessions with `Confirm your
    password first`. Failures are counted like those of signing in."""
    attempt = await check_own_password(request, body.password)
    token = request.session_token or ""
    response = await request.once(
        attempts.confirm_session, lambda _: MessageOut("Password confirmed"), 200, token, attempt
    )
    if response.replayed:  # The password was given again all the same.
        await request.db.transact(attempts.confirm_session, token, attempt)
    return response


@routes.post(
    "/api/auth/logout",
    SessionOnly(is_limited=False),
    summary="Sign out",
    gives=MessageOut,
    response_example=MessageOut("Signed out"),
    cookie="Takes the session's cookie away.",
)
async def sign_out(request: Request[Caller]) -> Response:
    """Ends the session of the cookie, also when the response is a replay."""
    token = request.session_token or ""
    source = request.caller.source
    response = await request.once(sessions.sign_out, lambda _: MessageOut("Signed out"), 200, token, source)
    await request.db.transact(sessions.sign_out, token, source)  # A replay ends the session too.
    response.headers.append(session_cookie("", secure=_secure(request)))
    return response


async def signed_in(request: Request[Caller], account: Account, token: str, status: int) -> Response:
    await end_session_before(request)
    response = json_response(account_shape(account, request.settings.base_url), status)
    response.headers.append(session_cookie(token, secure=_secure(request)))
    return response


def _secure(request: Request[Caller]) -> bool:
    return request.settings.base_url.startswith("https://")
