"""The pages of signing in and out, and of giving the password again (docs/web-app.md#signing-in)."""

from typing import Annotated, Final
from urllib.parse import quote

from msgspec import Meta

from pressroom.domains.accounts.models import Caller
from pressroom.domains.sign_in import attempts, sessions
from pressroom.domains.sign_in.authenticators import site_of
from pressroom.domains.sign_in.confirmation import confirm, show_question
from pressroom.domains.sign_in.cookies import CODE_COOKIE, set_code_cookie, set_session_cookie
from pressroom.domains.sign_in.schemas import Confirmation, SignIn
from pressroom.domains.sign_in.signing_in import (
    SUSPENDED,
    begin_session,
    check_own_code,
    check_password,
    end_session_before,
    refused,
    source_of,
)
from pressroom.domains.sign_in.tokens import Purpose, find_token
from pressroom.domains.sign_in.two_factor import LONGEST_CODE
from pressroom.errors import AccountSuspended, WrongCredentials
from pressroom.settings.values import Signup
from pressroom.web.access import Page, Visitor
from pressroom.web.headers import cookie_value
from pressroom.web.json_bodies import Body
from pressroom.web.page_forms import FormFields, FormState, NoFields
from pressroom.web.query import parse_query
from pressroom.web.rendering import own_path, redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


PASSWORDS: Final = FormFields(secrets={"password"})
CODES: Final = FormFields(secrets={"code"})
WRONG_LOGIN: Final = (
    "The user name, e-mail address or password is wrong. After several failures, even the right ones are refused for up"
    " to 15 minutes."
)
WRONG_CODE: Final = "This code is wrong, or it was used already. The app shows another one soon."


class SignInCode(Body):
    """The code of a sign-in whose password was right."""

    code: Annotated[str, Meta(min_length=1, max_length=LONGEST_CODE)]


async def show_sign_in(request: Request[Caller], form: FormState) -> Response:
    """Returns the page of signing in."""
    values: dict[str, object] = {
        "next": next_path(request),
        "is_open": request.settings.signup is Signup.OPEN,
        "sends_mail": request.services.mail.is_available,
        "offers_passkeys": site_of(request.settings.base_url) is not None,
    }
    return await render(request, "accounts/login.html", values, form=form)


@routes.get("/login", Visitor(), summary="Sign in")
async def ask_to_sign_in(request: Request[Caller]) -> Response:
    """The form; signed in, a redirection."""
    if request.who is not None:
        return redirect(next_path(request))
    return await show_sign_in(request, FormState())


@routes.submit("/login", Visitor(), fields=PASSWORDS, again=show_sign_in, summary="Sign in")
async def sign_in(request: Request[Caller], body: SignIn) -> Response:
    """Begins a session, or asks for the code first where the account has two-factor sign-in."""
    try:
        attempt = await check_password(request, body.login, body.password, body.code)
        if attempt.lacks_code and body.code is None:
            return await _ask_for_code(request, attempt)
        if attempt.lacks_code:
            raise await refused(request, attempt)
        _, token = await begin_session(request, attempt)
    except WrongCredentials:
        raise WrongCredentials(WRONG_LOGIN) from None
    except AccountSuspended as error:
        return await show_sign_in(request, FormState(typed={"login": [body.login]}, message=error.message, status=403))
    return await signed_in(request, token)


async def show_code(request: Request[Caller], form: FormState) -> Response:
    """Returns the page that asks for the code; where none is awaited, begins anew."""
    if await _waiting(request) is None:
        return _begin_anew(request)
    return await render(request, "accounts/code.html", {"next": next_path(request)}, form=form)


@routes.get("/login/code", Visitor(), summary="The code of a sign-in")
async def ask_for_code(request: Request[Caller]) -> Response:
    """The form, after the right password within the last ten minutes."""
    if request.who is not None:
        return redirect(next_path(request))
    return await show_code(request, FormState())


@routes.submit("/login/code", Visitor(), fields=CODES, again=show_code, summary="Sign in with a code")
async def sign_in_with_code(request: Request[Caller], body: SignInCode) -> Response:
    """Begins the session with a code of the authenticator app, or with a recovery code."""
    account_id = await _waiting(request)
    if account_id is None:
        return _begin_anew(request)
    attempt = await check_own_code(request, account_id, body.code)
    if attempt.lacks_code:
        await refused(request, attempt)
        raise WrongCredentials(WRONG_CODE)
    token = await request.db.transact(attempts.complete_pending, source_of(request), _code_token(request), attempt)
    if token is None:
        raise AccountSuspended(SUSPENDED)
    response = await signed_in(request, token)
    set_code_cookie(request, response, "")
    return response


async def _after_sign_out(request: Request[Caller], form: FormState) -> Response:
    return redirect("/")


@routes.submit("/logout", Page(is_limited=False), again=_after_sign_out, summary="Sign out")
async def sign_out(request: Request[Caller], body: NoFields) -> Response:
    """Ends the session of this browser."""
    await request.db.transact(sessions.sign_out, request.session_token or "", request.caller.source)
    response = redirect("/", done="signed-out")
    set_session_cookie(request, response, "")
    return response


async def show_confirmation(request: Request[Caller], form: FormState) -> Response:
    """Returns the page that asks for the password and leads to another page."""
    return await show_question(request, form, next_path(request))


@routes.get("/login/confirm", Page(), summary="Confirm the password")
async def ask_to_confirm(request: Request[Caller]) -> Response:
    """The question; answered a short while ago, a redirection."""
    if request.caller.is_recent(request.clock.now()):
        return redirect(next_path(request))
    return await show_confirmation(request, FormState())


@routes.submit("/login/confirm", Page(), fields=PASSWORDS, again=show_confirmation, summary="Confirm the password")
async def confirm_password(request: Request[Caller], body: Confirmation) -> Response:
    """Records that the password was given again, and leads to the page that asked for it."""
    await confirm(request, body.password)
    return redirect(next_path(request))


def next_path(request: Request[Caller]) -> str:
    """Returns the next page: the query's `next` if that is a path of our own, otherwise the front page."""
    return own_path(parse_query(request.query).get("next"))


async def _ask_for_code(request: Request[Caller], attempt: attempts.SignInAttempt) -> Response:
    account = attempt.credentials
    token = await request.db.transact(attempts.await_code, account.id if account else "", attempt)
    if token is None:
        raise AccountSuspended(SUSPENDED)
    response = redirect(_with_next(request, "/login/code"))
    set_code_cookie(request, response, token)
    return response


def _begin_anew(request: Request[Caller]) -> Response:
    response = redirect(_with_next(request, "/login"), done="code-too-late")
    set_code_cookie(request, response, "")
    return response


def _with_next(request: Request[Caller], path: str) -> str:
    goes_on = next_path(request)
    return path if goes_on == "/" else f"{path}?next={quote(goes_on)}"


async def _waiting(request: Request[Caller]) -> str | None:
    """Returns the account, by its id, whose sign-in in this browser waits for a code."""
    return await request.db.read(find_token, _code_token(request), Purpose.SIGN_IN_CODE)


def _code_token(request: Request[Caller]) -> str:
    return cookie_value(request.headers.cookie, CODE_COOKIE) or ""


async def signed_in(request: Request[Caller], token: str, done: str | None = None) -> Response:
    """Returns the redirection to the next page with the cookie of a new session, and ends the one before.

    `done` is the code of the line that the page shows.
    """
    await end_session_before(request)
    response = redirect(next_path(request), done=done)
    set_session_cookie(request, response, token)
    return response
