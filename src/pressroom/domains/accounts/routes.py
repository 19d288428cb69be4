"""Sign-up, sign-in and the account itself over HTTP."""

from pressroom.domains.accounts import actions
from pressroom.domains.accounts.guard import session_cookie
from pressroom.domains.accounts.models import Account, Caller
from pressroom.domains.accounts.passwords import Passwords
from pressroom.domains.accounts.schemas import (
    AccountOut,
    EditProfile,
    MessageOut,
    SignIn,
    SignUp,
    account_shape,
)
from pressroom.errors import Conflict, NotFound, TooManyAttempts, WrongCredentials
from pressroom.web.access import Anyone, Keyed, SessionOnly
from pressroom.web.routing import Answer, Call, Route, declare, declare_with_body, json

TAG = "Account"


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
        fails=(Conflict, NotFound),
        tag=TAG,
    )
    async def sign_up(call: Call[Caller], body: SignUp) -> Answer:
        """Makes an account and signs it in: the answer sets the session cookie. 404 where sign-up is closed."""
        if not call.settings.signup:
            raise NotFound("This server is not open for sign-up; ask its operator for an account.")
        password_hash = await passwords.hash(body.password)
        new = actions.NewAccount(body.username, body.email, password_hash, body.display_name)
        account, token = await call.db.transact(actions.sign_up, new)
        return _signed_in(call, account, token, 201)

    @declare_with_body(
        "POST",
        "/api/auth/login",
        Anyone(),
        summary="Sign in",
        takes=SignIn,
        gives=AccountOut,
        fails=(WrongCredentials, TooManyAttempts),
        tag=TAG,
    )
    async def sign_in(call: Call[Caller], body: SignIn) -> Answer:
        """Begins a session: the answer sets its cookie. Failures are counted per login and per address."""
        settings = call.settings
        credentials = await call.db.transact(
            actions.attempt_sign_in,
            body.login,
            call.client,
            settings.sign_in_failures_per_account,
            settings.sign_in_failures_per_address,
        )
        password_hash = credentials.password_hash if credentials else None
        if not await passwords.verify(body.password, password_hash) or credentials is None:
            raise WrongCredentials("The user name, e-mail address or password is wrong.")
        token = await call.db.transact(actions.complete_sign_in, body.login, call.client, credentials.id)
        return _signed_in(call, credentials, token, 200)

    return [sign_up, sign_in, sign_out, show_me, edit_me]


@declare("POST", "/api/auth/logout", SessionOnly(), summary="Sign out", gives=MessageOut, tag=TAG)
async def sign_out(call: Call[Caller]) -> Answer:
    """Ends the session that the cookie stands for."""
    await call.db.transact(actions.end_session, call.session_token or "")
    answer = json(MessageOut("Signed out"))
    answer.headers.append(session_cookie("", secure=_secure(call)))
    return answer


@declare("GET", "/api/auth/me", Keyed(), summary="Who am I", gives=AccountOut, tag=TAG)
async def show_me(call: Call[Caller]) -> Answer:
    """The account that the key is bound to, or that is signed in. Needs no scope."""
    return json(account_shape(call.caller.account, call.settings.base_url))


@declare_with_body(
    "PATCH",
    "/api/auth/me",
    SessionOnly(),
    summary="Edit the profile",
    takes=EditProfile,
    gives=AccountOut,
    fails=(Conflict,),
    tag=TAG,
)
async def edit_me(call: Call[Caller], body: EditProfile) -> Answer:
    """Changes the fields that are given, and no others."""
    account = await call.db.transact(actions.edit_profile, call.caller, body.profile())
    return json(account_shape(account, call.settings.base_url))


def _signed_in(call: Call[Caller], account: Account, token: str, status: int) -> Answer:
    answer = json(account_shape(account, call.settings.base_url), status)
    answer.headers.append(session_cookie(token, secure=_secure(call)))
    return answer


def _secure(call: Call[Caller]) -> bool:
    return call.settings.base_url.startswith("https://")
