"""Sign-up, sign-in and the account itself over HTTP."""

from functools import partial

from pressroom.db import ConstraintViolated
from pressroom.domains.accounts import actions, attempts
from pressroom.domains.accounts.cookies import session_cookie
from pressroom.domains.accounts.models import Account, Caller, network_of
from pressroom.domains.accounts.passwords import Passwords
from pressroom.domains.accounts.schemas import (
    ACCOUNT_EXAMPLE,
    EDIT_PROFILE_EXAMPLE,
    SIGN_IN_EXAMPLE,
    SIGN_UP_EXAMPLE,
    AccountOut,
    EditProfile,
    MessageOut,
    SignIn,
    SignUp,
    account_shape,
)
from pressroom.errors import (
    AccountSuspended,
    Code,
    Conflict,
    Fault,
    Invalid,
    NotFound,
    TooManyAttempts,
    Unavailable,
    WrongCredentials,
)
from pressroom.web.access import Anyone, Keyed, SessionOnly
from pressroom.web.routing import Answer, Call, Route, Tag, declare, declare_with_body, json

TAG = Tag("Account", "Sign-up, sign-in, and the account that a key or a session stands for.")
NEW_SESSION = "The new session, for 30 days from its last use."

_NAME_TAKEN = Conflict("The user name mira_press is taken.")
_EMAIL_TAKEN = Conflict("There is already an account with this e-mail address.")
_CLOSED = NotFound("This server is not open for sign-up; ask its operator for an account.")
_BAD_SIGN_UP = Invalid(
    [
        Fault("password", Code.TOO_SHORT, "At least 10 characters."),
        Fault("email", Code.INVALID_FORMAT, "This is not an e-mail address such as name@example.org."),
    ]
)


def account_routes(passwords: Passwords) -> list[Route[Caller]]:
    """The routes of the accounts room."""

    @declare_with_body(
        "POST",
        "/api/auth/signup",
        Anyone(),
        summary="Sign up",
        takes=SignUp,
        gives=AccountOut,
        status=201,
        location="/api/auth/me",
        fails=(
            _BAD_SIGN_UP,
            _NAME_TAKEN,
            _EMAIL_TAKEN,
            _CLOSED,
            TooManyAttempts,
        ),
        tag=TAG,
        example=SIGN_UP_EXAMPLE,
        answer_example=ACCOUNT_EXAMPLE,
        cookie=NEW_SESSION,
    )
    async def sign_up(call: Call[Caller], body: SignUp) -> Answer:
        """Makes an account and signs it in: the answer sets the session's cookie. Where the operator has closed
        sign-up, it is a 404. Whatever becomes of them, sign-ups are counted by address; after too many within an hour,
        wait as long as the answer says."""
        settings = call.settings
        if not settings.signup:
            raise _CLOSED
        await call.db.read(attempts.check_sign_up, call.client, settings.signups_per_hour)
        attempted_at = await call.db.transact(attempts.attempt_sign_up, call.client, settings.signups_per_hour)
        await call.db.read(actions.check_not_taken, body.username, body.email)
        try:
            password_hash = await passwords.hash(body.password, network_of(call.client))
        except Unavailable:
            await call.db.transact(attempts.forgive_sign_up, call.client, attempted_at)
            raise
        new = actions.NewAccount(body.username, body.email, password_hash, body.display_name)
        account, token = await call.db.transact(actions.sign_up, new, call.client)
        return _signed_in(call, account, token, 201)

    @declare_with_body(
        "POST",
        "/api/auth/login",
        Anyone(),
        summary="Sign in",
        takes=SignIn,
        gives=AccountOut,
        fails=(WrongCredentials, AccountSuspended, TooManyAttempts),
        tag=TAG,
        example=SIGN_IN_EXAMPLE,
        answer_example=ACCOUNT_EXAMPLE,
        cookie=NEW_SESSION,
    )
    async def sign_in(call: Call[Caller], body: SignIn) -> Answer:
        """Begins a session: the answer sets its cookie. An unknown login and a wrong password get the same
        answer. Failures are counted per login and per address; after too many, wait as long as the answer says. An
        address from which the account was signed in to before has a count of its own."""
        settings = call.settings
        per_account, per_address = settings.sign_in_failures_per_account, settings.sign_in_failures_per_address
        await call.db.read(attempts.check_sign_in, body.login, call.client, per_account, per_address)
        attempt = await call.db.transact(attempts.attempt_sign_in, body.login, call.client, per_account, per_address)
        credentials = attempt.credentials
        password_hash = credentials.password_hash if credentials else None
        try:
            matches = await passwords.verify(body.password, password_hash, network_of(call.client))
        except Unavailable:
            await call.db.transact(attempts.forgive_sign_in, attempt)
            raise
        if not matches or credentials is None:
            raise WrongCredentials("The user name, e-mail address or password is wrong.")
        token = await call.db.transact(attempts.complete_sign_in, call.client, credentials.id, attempt)
        if token is None:
            raise AccountSuspended("This account is suspended. Ask the operator of this server.")
        return _signed_in(call, credentials, token, 200)

    return [sign_up, sign_in, sign_out, show_me, edit_me]


@declare(
    "POST",
    "/api/auth/logout",
    SessionOnly(is_limited=False),
    summary="Sign out",
    gives=MessageOut,
    idempotent=True,
    tag=TAG,
    answer_example=MessageOut("Signed out"),
    cookie="Takes the session's cookie away.",
)
async def sign_out(call: Call[Caller]) -> Answer:
    """Ends the session that the cookie stands for, also where the answer is a replay."""
    token = call.session_token or ""
    answer = await call.once(actions.end_session, lambda _: MessageOut("Signed out"), 200, token)
    await call.db.transact(actions.end_session, token)  # A replay must not leave signed in whoever sends it.
    answer.headers.append(session_cookie("", secure=_secure(call)))
    return answer


@declare(
    "GET",
    "/api/auth/me",
    Keyed(),
    summary="Who am I",
    gives=AccountOut,
    tag=TAG,
    answer_example=ACCOUNT_EXAMPLE,
)
async def show_me(call: Call[Caller]) -> Answer:
    """The account that the key is bound to, or that is signed in. A cheap way to try a key."""
    return json(account_shape(call.caller.account, call.settings.base_url))


@declare_with_body(
    "PATCH",
    "/api/auth/me",
    SessionOnly(),
    summary="Edit the profile",
    takes=EditProfile,
    gives=AccountOut,
    fails=(Invalid([Fault("bio", Code.TOO_LONG, "At most 500 characters; this has 612.")]), _NAME_TAKEN),
    idempotent=True,
    tag=TAG,
    example=EDIT_PROFILE_EXAMPLE,
    answer_example=ACCOUNT_EXAMPLE,
)
async def edit_me(call: Call[Caller], body: EditProfile) -> Answer:
    """Changes the fields that are given, and no others."""
    base_url = call.settings.base_url
    try:
        return await call.once.locking(partial(actions.lock_for_edit, account_id=call.caller.account.id))(
            actions.edit_profile, lambda account: account_shape(account, base_url), 200, call.caller, body.profile()
        )
    except ConstraintViolated:
        raise Conflict(f"The user name {body.username} was taken at this very moment.") from None


def _signed_in(call: Call[Caller], account: Account, token: str, status: int) -> Answer:
    answer = json(account_shape(account, call.settings.base_url), status)
    answer.headers.append(session_cookie(token, secure=_secure(call)))
    return answer


def _secure(call: Call[Caller]) -> bool:
    return call.settings.base_url.startswith("https://")
