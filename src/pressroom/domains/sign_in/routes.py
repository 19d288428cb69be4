"""The routes of signing in and out, of confirming the password, and of mailed links (docs/sign-in.md)."""

from typing import Final

from pressroom.domains.accounts.models import Account, Caller
from pressroom.domains.accounts.routes import TAG
from pressroom.domains.accounts.schemas import AccountOut, MessageOut, account_shape
from pressroom.domains.sign_in import attempts, hourly_attempts, links, sessions
from pressroom.domains.sign_in.cookies import set_session_cookie
from pressroom.domains.sign_in.schemas import Confirmation, ForgotPassword, ResetPassword, SignIn, UseLink
from pressroom.domains.sign_in.signing_in import (
    begin_session,
    check_own_password,
    check_password,
    end_session_before,
    hash_new_password,
    refused,
    source_of,
)
from pressroom.domains.sign_in.tokens import Purpose
from pressroom.errors import (
    AccountSuspended,
    NotFound,
    TooManyAttempts,
    Unprocessable,
    WrongCredentials,
)
from pressroom.web.access import Anyone, SessionOnly
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller](TAG)
link_routes: Final = Routes[Caller](TAG)

NEW_SESSION: Final = "The new session, for 30 days from its last use."
NO_MAIL: Final = "This server sends no mail. Ask its operator, who can make a link for you."
ASKED: Final = MessageOut(
    "If there is an account with this e-mail address, a link to set a new password is on its way."
)
RESET: Final = MessageOut("The password is set. Every session of the account has ended: sign in with the new password.")
VERIFIED: Final = MessageOut("Your e-mail address is confirmed.")
SENT: Final = MessageOut("A link to confirm your e-mail address is on its way.")


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
    response = await request.once(attempts.confirm_session, lambda _: MessageOut("Password confirmed"), token, attempt)
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
    response = await request.once(sessions.sign_out, lambda _: MessageOut("Signed out"), token, source)
    await request.db.transact(sessions.sign_out, token, source)  # A replay ends the session too.
    set_session_cookie(request, response, "")
    return response


async def signed_in(request: Request[Caller], account: Account, token: str, status: int) -> Response:
    """Returns the account with the cookie of its new session, and ends the session that the browser had."""
    await end_session_before(request)
    response = json_response(account_shape(account, request.settings.base_url), status)
    set_session_cookie(request, response, token)
    return response


@link_routes.post(
    "/api/auth/forgot",
    Anyone(),
    summary="Ask for a new password",
    gives=MessageOut,
    fails=(NotFound(NO_MAIL), TooManyAttempts),
    response_example=ASKED,
    idempotent=False,
)
async def forgot_password(request: Request[Caller], body: ForgotPassword) -> Response:
    """Mails a link to set a new password. The answer is the same whether there is such an account or not. Three mails
    an hour go to one address. Where the server sends no mail, it is a 404."""
    await ask_for_reset(request, body)
    return json_response(ASKED)


@link_routes.post(
    "/api/auth/reset",
    Anyone(),
    summary="Set a new password by link",
    gives=MessageOut,
    fails=(Unprocessable([links.SPENT]), TooManyAttempts),
    response_example=RESET,
    idempotent=False,
)
async def reset_password(request: Request[Caller], body: ResetPassword) -> Response:
    """Sets the password of the account that the link is for, ends all its sessions, and confirms the e-mail address
    that the link was sent to. A link is good once, for an hour."""
    await reset(request, body)
    return json_response(RESET)


@link_routes.post(
    "/api/auth/verify",
    Anyone(),
    summary="Confirm an e-mail address",
    gives=MessageOut,
    fails=(Unprocessable([links.SPENT]),),
    response_example=VERIFIED,
    idempotent=False,
)
async def verify_email(request: Request[Caller], body: UseLink) -> Response:
    """Confirms the e-mail address that the link was sent to. A link is good once, for 24 hours."""
    await request.db.transact(links.verify_email, body.token, source=source_of(request))
    return json_response(VERIFIED)


@link_routes.post(
    "/api/auth/verify/send",
    SessionOnly(),
    summary="Send the confirmation again",
    gives=MessageOut,
    fails=(NotFound(NO_MAIL), Unprocessable([links.VERIFIED_ALREADY]), TooManyAttempts),
    response_example=SENT,
)
async def send_verification(request: Request[Caller]) -> Response:
    """Mails another link to confirm the account's e-mail address: three an hour, the one at sign-up included."""
    return await ask_for_verification(request)


@link_routes.post(
    "/api/auth/login/link",
    Anyone(),
    summary="Sign in by link",
    gives=AccountOut,
    fails=(Unprocessable([links.SPENT]),),
    cookie=NEW_SESSION,
    idempotent=False,
)
async def sign_in_by_link(request: Request[Caller], body: UseLink) -> Response:
    """Begins a session by the link that the first start in development mode prints: good once, for an hour."""
    account, token = await request.db.transact(links.sign_in_by_link, body.token, source_of(request))
    return await signed_in(request, account, token, 200)


async def ask_for_reset(request: Request[Caller], body: ForgotPassword) -> None:
    """Has a link mailed to the account of an address, if there is one. Raises NotFound where no mail is sent, and
    TooManyAttempts."""
    if not request.services.mail.is_available:
        raise NotFound(NO_MAIL)
    per_address = request.settings.resets_per_hour
    await request.db.read(hourly_attempts.check_reset, body.email, request.client, per_address)
    await request.db.transact(links.request_reset, body.email, request.client, per_address)


async def reset(request: Request[Caller], body: ResetPassword) -> None:
    """Sets a new password by the token of a link. Raises Unprocessable and TooManyAttempts; then none was hashed."""
    account_id = await request.db.read(links.check_link, body.token, Purpose.RESET)
    password_hash = await hash_new_password(request, account_id, body.password)
    await request.db.transact(links.reset_password, body.token, password_hash, request.form_key, source_of(request))


async def ask_for_verification(request: Request[Caller]) -> Response:
    """Has a link mailed that verifies the caller's address. Raises NotFound, Unprocessable and TooManyAttempts."""
    if not request.services.mail.is_available:
        raise NotFound(NO_MAIL)
    account_id = request.caller.account.id
    return await request.once(links.request_verification_again, lambda _: SENT, account_id)
