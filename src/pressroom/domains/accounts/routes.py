"""The routes of sign-up, sign-in and the caller's account."""

from functools import partial
from typing import Final

from msgspec import UNSET

from pressroom.db import ConstraintViolated
from pressroom.domains.accounts import actions, attempts, hourly_attempts, invitations, links
from pressroom.domains.accounts.cookies import session_cookie
from pressroom.domains.accounts.models import Account, Caller, network_of
from pressroom.domains.accounts.reserved_usernames import check_username
from pressroom.domains.accounts.schemas import (
    ACCOUNT_EXAMPLE,
    CONFIRMATION_EXAMPLE,
    EDIT_PROFILE_EXAMPLE,
    SIGN_IN_EXAMPLE,
    SIGN_UP_EXAMPLE,
    AccountOut,
    Confirmation,
    EditProfile,
    MessageOut,
    SignIn,
    SignUp,
    account_shape,
)
from pressroom.domains.accounts.signing_in import (
    begin_session,
    check_own_password,
    check_password,
    end_session_before,
    refused,
    source_of,
)
from pressroom.errors import (
    AccountSuspended,
    Code,
    Conflict,
    FieldError,
    Invalid,
    NotFound,
    TooManyAttempts,
    Unavailable,
    Unprocessable,
    WrongCredentials,
)
from pressroom.settings.values import Signup
from pressroom.web.access import Anyone, Keyed, SessionOnly
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes, Tag

TAG = Tag("Account", "Sign-up, sign-in, and the account of a key or session.")
routes: Final = Routes[Caller](TAG)

NEW_SESSION = "The new session, for 30 days from its last use."

_NAME_TAKEN = Conflict("The user name mira_press is taken.")
_EMAIL_TAKEN = Conflict("There is already an account with this e-mail address.")
CLOSED: Final = "This server is not open for sign-up; ask its operator for an account."
_BAD_SIGN_UP = Invalid(
    [
        FieldError("password", Code.TOO_SHORT, "At least 10 characters."),
        FieldError("email", Code.INVALID_FORMAT, "This is not an e-mail address such as name@example.org."),
    ]
)


@routes.post(
    "/api/auth/signup",
    Anyone(),
    summary="Sign up",
    gives=AccountOut,
    location="/api/auth/me",
    fails=(
        _BAD_SIGN_UP,
        _NAME_TAKEN,
        _EMAIL_TAKEN,
        NotFound(CLOSED),
        Unprocessable([invitations.SPENT]),
        TooManyAttempts,
    ),
    example=SIGN_UP_EXAMPLE,
    response_example=ACCOUNT_EXAMPLE,
    cookie=NEW_SESSION,
    idempotent=False,
)
async def sign_up(request: Request[Caller], body: SignUp) -> Response:
    """Makes an account and signs it in: the answer sets the session's cookie, and a mail with a link confirms the
    e-mail address. Where the operator has closed
    sign-up, it is a 404. Whatever becomes of them, sign-ups are counted by address; after too many within an hour,
    wait as long as the answer says."""
    account, token = await make_account(request, body)
    return await _signed_in(request, account, token, 201)


@routes.post(
    "/api/auth/login",
    Anyone(),
    summary="Sign in",
    gives=AccountOut,
    fails=(WrongCredentials, AccountSuspended, TooManyAttempts),
    example=SIGN_IN_EXAMPLE,
    response_example=ACCOUNT_EXAMPLE,
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
    return await _signed_in(request, account, token, 200)


@routes.post(
    "/api/auth/confirm",
    SessionOnly(),
    summary="Confirm the password",
    gives=MessageOut,
    fails=(WrongCredentials, TooManyAttempts),
    example=CONFIRMATION_EXAMPLE,
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
    response = await request.once(actions.end_session, lambda _: MessageOut("Signed out"), 200, token, source)
    await request.db.transact(actions.end_session, token, source)  # A replay ends the session too.
    response.headers.append(session_cookie("", secure=_secure(request)))
    return response


@routes.get("/api/auth/me", Keyed(), summary="Who am I", gives=AccountOut, response_example=ACCOUNT_EXAMPLE)
async def show_me(request: Request[Caller]) -> Response:
    """The account that the key is bound to, or that is signed in. A cheap way to try a key."""
    return json_response(account_shape(request.caller.account, request.settings.base_url))


@routes.patch(
    "/api/auth/me",
    SessionOnly(),
    summary="Edit the profile",
    gives=AccountOut,
    fails=(Invalid([FieldError("bio", Code.TOO_LONG, "At most 500 characters; this has 612.")]), _NAME_TAKEN),
    example=EDIT_PROFILE_EXAMPLE,
    response_example=ACCOUNT_EXAMPLE,
)
async def edit_me(request: Request[Caller], body: EditProfile) -> Response:
    """Changes the fields that are given, and no others."""
    return await save_profile(request, body)


async def save_profile(request: Request[Caller], body: EditProfile) -> Response:
    """Changes the caller's profile, once. Raises Invalid for a reserved user name, and Conflict."""
    base_url = request.settings.base_url
    if body.username is not UNSET:
        check_username(body.username, request.settings.reserved_usernames, own=request.caller.account.username)
    try:
        return await request.once.locking(partial(actions.lock_for_edit, account_id=request.caller.account.id))(
            actions.edit_profile, lambda account: account_shape(account, base_url), 200, request.caller, body.profile()
        )
    except ConstraintViolated:
        raise Conflict(f"The user name {body.username} was taken at this very moment.") from None


async def make_account(request: Request[Caller], body: SignUp) -> tuple[Account, str]:
    """Makes an account with a session; returns both the account and the session's token. Raises Invalid for a reserved
    user name, Conflict, TooManyAttempts, NotFound where sign-up is closed, and Unavailable."""
    settings = request.settings
    if settings.signup is Signup.CLOSED:
        raise NotFound(CLOSED)
    check_username(body.username, settings.reserved_usernames)
    by_invitation = settings.signup is Signup.INVITE
    await request.db.read(hourly_attempts.check_sign_up, request.client, settings.signups_per_hour)
    attempted_at = await request.db.transact(hourly_attempts.attempt_sign_up, request.client, settings.signups_per_hour)
    if by_invitation:
        await request.db.read(invitations.check, body.invite)
    await request.db.read(links.precheck_sign_up, body.username, body.email)
    try:
        password_hash = await request.services.passwords.hash(body.password, network_of(request.client))
    except Unavailable:
        await request.db.transact(hourly_attempts.forgive_sign_up, request.client, attempted_at)
        raise
    new = actions.NewAccount(body.username, body.email, password_hash, body.display_name)
    return await request.db.transact(
        links.sign_up,
        new,
        source_of(request),
        verify=request.services.mail.is_available,
        invite=body.invite if by_invitation else None,
    )


async def _signed_in(request: Request[Caller], account: Account, token: str, status: int) -> Response:
    await end_session_before(request)
    response = json_response(account_shape(account, request.settings.base_url), status)
    response.headers.append(session_cookie(token, secure=_secure(request)))
    return response


def _secure(request: Request[Caller]) -> bool:
    return request.settings.base_url.startswith("https://")
