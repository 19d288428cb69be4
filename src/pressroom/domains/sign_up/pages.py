"""Pages for signed-out people: sign-up, a forgotten password, links (docs/web-app.md#sign-up-and-links)."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.sign_in import links
from pressroom.domains.sign_in.attempts import forget_failures
from pressroom.domains.sign_in.cookies import set_session_cookie
from pressroom.domains.sign_in.pages import next_path, signed_in
from pressroom.domains.sign_in.routes import ask_for_reset, reset
from pressroom.domains.sign_in.schemas import ForgotPassword, NewPassword, ResetPassword
from pressroom.domains.sign_in.signing_in import (
    begin_session,
    check_account_password,
    check_password,
    source_of,
)
from pressroom.domains.sign_in.tokens import Purpose, find_form, find_token
from pressroom.domains.sign_up import actions, invitations
from pressroom.domains.sign_up.routes import make_account
from pressroom.domains.sign_up.schemas import SignUp, SignUpFields
from pressroom.domains.site_texts import actions as site_texts
from pressroom.domains.site_texts.models import TextName
from pressroom.errors import AccountSuspended, Conflict, TooManyAttempts, Unprocessable, WrongCredentials
from pressroom.settings.values import Signup
from pressroom.web.access import Visitor
from pressroom.web.page_forms import FormFields, FormState, NoFields
from pressroom.web.query import parse_query
from pressroom.web.rendering import hide_address, redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


PASSWORDS: Final = FormFields(secrets={"password"})

AGREED: Final = {TextName.TERMS: "the terms", TextName.PRIVACY: "the privacy policy"}
"""The texts of the server that an account accepts with its sign-up, and their words on the page."""


async def show_sign_up(request: Request[Caller], form: FormState) -> Response:
    """Renders the page of sign-up, or the one of an installation where it is closed."""
    if request.who is not None:
        return redirect(next_path(request), **({} if request.is_safe else {"done": "signed-in-already"}))
    invite = form.value("invite") or parse_query(request.query).get("invite", "")
    is_closed = request.settings.signup is Signup.CLOSED
    if request.settings.signup is Signup.INVITE:
        is_closed = not await request.db.read(invitations.holds, invite)
    if is_closed:
        values = {"by_invitation": request.settings.signup is Signup.INVITE, "was_invited": bool(invite)}
        return await render(request, "accounts/sign_up_closed.html", values, status=404)
    shown = invite if request.settings.signup is Signup.INVITE else ""
    texts = await request.db.read(site_texts.read_texts)
    values = {
        "next": next_path(request),
        "invite": shown,
        "rules": texts.get(TextName.RULES),
        "agreed": [(name.value, words) for name, words in AGREED.items() if name in texts],
    }
    response = await render(request, "accounts/sign_up.html", values, form=form)
    if invite:
        hide_address(response)
    return response


@routes.form("/signup", Visitor(), fields=PASSWORDS, show=show_sign_up, summary="Make an account and sign it in")
async def sign_up(request: Request[Caller], body: SignUp) -> Response:
    """Makes an account like POST /api/auth/signup. Sent again, it signs in to the account that it made."""
    if request.who is not None or request.settings.signup is Signup.CLOSED:
        return await show_sign_up(request, FormState())
    try:
        _, token = await make_account(request, body)
    except (Conflict, Unprocessable):
        # A second press of the button finds the name taken, by the account that the first one made.
        again = await sign_in_again(request, body)
        if again is None:
            raise
        token = again
    return await signed_in(request, token, "signed-up")


async def show_forgot(request: Request[Caller], form: FormState) -> Response:
    """Renders the page on which a link to set a new password is asked for; without mail, who can make one."""
    values = {"has_mail": request.services.mail.is_available, "is_dev": request.services.mail.kept is not None}
    can_be_sent = request.is_safe or request.services.mail.is_available
    return await render(
        request, "accounts/forgot.html", values, form=form if can_be_sent else None, status=200 if can_be_sent else 404
    )


@routes.form("/forgot", Visitor(), show=show_forgot, summary="Have a link mailed")
async def forgot(request: Request[Caller], body: ForgotPassword) -> Response:
    """Answers the same whether there is such an account or not."""
    if not request.services.mail.is_available:
        return await show_forgot(request, FormState())
    await ask_for_reset(request, body)
    return redirect("/forgot", done="reset-asked")


async def show_reset(request: Request[Caller], form: FormState) -> Response:
    """Renders the page on which a new password is set, or the one of a link that has ended."""
    return await _page_of_link(request, "accounts/reset.html", Purpose.RESET, form)


@routes.form("/reset/{token}", Visitor(), fields=PASSWORDS, show=show_reset, summary="Set it, and end all sessions")
async def reset_password(request: Request[Caller], body: NewPassword) -> Response:
    """Sets the password like POST /api/auth/reset, and leads to the sign-in."""
    token = request.parameters["token"]
    try:
        await reset(request, ResetPassword(token, body.password))
    except Unprocessable:
        # The link was used up, perhaps by this very form: then the account has the password that it holds.
        account = await request.db.read(links.find_reset_again, token, request.form_key)
        if account is None or not await _has_password(request, account.id, body.password):
            raise
    response = redirect("/login", done="password-set")
    # A reset ends all sessions, so that a cookie of this browser would only be refused.
    set_session_cookie(request, response, "")
    return response


async def show_verify(request: Request[Caller], form: FormState) -> Response:
    """Renders the page with the button that confirms an address."""
    return await _page_of_link(request, "accounts/verify.html", Purpose.VERIFY, form)


@routes.form("/verify/{token}", Visitor(), show=show_verify, summary="Confirm it")
async def verify(request: Request[Caller], body: NoFields) -> Response:
    """Confirms the address like POST /api/auth/verify."""
    token = request.parameters["token"]
    try:
        await request.db.transact(links.verify_email, token, request.form_key, source_of(request))
    except Unprocessable:
        # The form was sent twice, and the first one confirmed the address.
        if await request.db.read(find_form, token, request.form_key, Purpose.FORM) is None:
            raise
    return redirect("/", done="email-confirmed")


async def show_sign_in_link(request: Request[Caller], form: FormState) -> Response:
    """Renders the page with the button that signs in."""
    return await _page_of_link(request, "accounts/sign_in_link.html", Purpose.SIGN_IN, form)


@routes.form("/login/link/{token}", Visitor(), show=show_sign_in_link, summary="Sign in")
async def sign_in_by_link(request: Request[Caller], body: NoFields) -> Response:
    """Signs in like POST /api/auth/login/link."""
    link, key = request.parameters["token"], request.form_key
    try:
        _, token = await request.db.transact(links.sign_in_by_link, link, source_of(request), key)
    except Unprocessable:
        # The link works once, but the response with the cookie can get lost: the same form gets another session.
        token = await request.db.transact(links.sign_in_again, link, key, source_of(request))
    return await signed_in(request, token, "signed-in")


async def sign_in_again(request: Request[Caller], body: SignUpFields) -> str | None:
    """Returns the token of a session when a sign-up was sent again: its account was just made, with its password."""
    if not await request.db.read(actions.was_just_made, body.username, body.email):
        return None
    try:
        attempt = await check_password(request, body.username, body.password)
        return None if attempt.lacks_code else (await begin_session(request, attempt))[1]
    except (WrongCredentials, TooManyAttempts, AccountSuspended):
        # Somebody else has just taken the name, and the caller learns no more than that.
        return None


async def _has_password(request: Request[Caller], account_id: str, password: str) -> bool:
    """Returns whether an account has a password. Raises TooManyAttempts, Unavailable."""
    try:
        attempt = await check_account_password(request, account_id, password)
    except WrongCredentials:
        return False
    await request.db.transact(forget_failures, attempt)
    return True


async def _page_of_link(request: Request[Caller], template: str, purpose: Purpose, form: FormState) -> Response:
    """Renders the page of a link. When it does not hold, that is a 404, and a 422 when its form was sent."""
    holds = await request.db.read(find_token, request.parameters["token"], purpose) is not None
    values = {"holds": holds, "has_mail": request.services.mail.is_available}
    if holds:
        return await render(request, template, values, form=form)
    return await render(request, template, {**values, "form": form}, status=404 if request.is_safe else 422)
