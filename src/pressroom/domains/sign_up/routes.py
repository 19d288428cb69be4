"""The route of sign-up (docs/sign-in.md#invitations)."""

from typing import Final

from pressroom.domains.accounts.actions import NewAccount
from pressroom.domains.accounts.models import Account, Caller, network_of
from pressroom.domains.accounts.reserved_usernames import check_username
from pressroom.domains.accounts.routes import TAG
from pressroom.domains.accounts.schemas import AccountOut
from pressroom.domains.sign_in import hourly_attempts
from pressroom.domains.sign_in.routes import NEW_SESSION, signed_in
from pressroom.domains.sign_in.signing_in import source_of
from pressroom.domains.sign_up import actions, invitations
from pressroom.domains.sign_up.schemas import SignUp
from pressroom.errors import (
    Code,
    Conflict,
    FieldError,
    Invalid,
    NotFound,
    TooManyAttempts,
    Unavailable,
    Unprocessable,
)
from pressroom.settings.values import Signup
from pressroom.web.access import Anyone
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller](TAG)

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
    cookie=NEW_SESSION,
    idempotent=False,
)
async def sign_up(request: Request[Caller], body: SignUp) -> Response:
    """Makes an account and signs it in: the answer sets the session's cookie, and a mail with a link confirms the
    e-mail address. Where the operator has closed
    sign-up, it is a 404. Whatever becomes of them, sign-ups are counted by address; after too many within an hour,
    wait as long as the answer says."""
    account, token = await make_account(request, body)
    return await signed_in(request, account, token, 201)


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
    await request.db.read(actions.precheck_sign_up, body.username, body.email, request.client)
    try:
        password_hash = await request.services.passwords.hash(body.password, network_of(request.client))
    except Unavailable:
        await request.db.transact(hourly_attempts.forgive_sign_up, request.client, attempted_at)
        raise
    new = NewAccount(body.username, body.email, password_hash, body.display_name)
    return await request.db.transact(
        actions.sign_up,
        new,
        source_of(request),
        verify=request.services.mail.is_available,
        invite=body.invite if by_invitation else None,
    )
