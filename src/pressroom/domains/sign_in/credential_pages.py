"""The pages of the password, the e-mail address and the sessions (docs/web-app.md#account)."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.sign_in import sessions
from pressroom.domains.sign_in.security_pages import SECURITY, show_security_form
from pressroom.domains.sign_in.security_routes import set_new_email, set_new_password
from pressroom.domains.sign_in.security_schemas import ChangeEmail, ChangePassword
from pressroom.web.access import Page
from pressroom.web.page_forms import FormFields, FormState, NoFields
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


RECENT: Final = Page(recent=True)


async def show_password_form(request: Request[Caller], form: FormState) -> Response:
    """Returns the page with the form of a new password."""
    return await render(request, "accounts/password.html", {}, form=form)


@routes.form(
    f"{SECURITY}/password",
    RECENT,
    fields=FormFields(secrets={"password"}),
    show=show_password_form,
    summary="Change the password",
)
async def change_password(request: Request[Caller], body: ChangePassword) -> Response:
    """Sets the password and ends every other session."""
    await set_new_password(request, body)
    return redirect(SECURITY, done="password-changed")


async def show_email_form(request: Request[Caller], form: FormState) -> Response:
    """Returns the page with the form of a new e-mail address."""
    account = request.caller.account
    values = {"account": account, "has_mail": request.services.mail.is_available}
    return await render(request, "accounts/email.html", values, form=form)


@routes.form(f"{SECURITY}/email", RECENT, show=show_email_form, summary="Change the e-mail address")
async def change_email(request: Request[Caller], body: ChangeEmail) -> Response:
    """Sets the address, which is confirmed by the link that is mailed there."""
    await set_new_email(request, body)
    mailed = request.services.mail.is_available and body.email != request.caller.account.email
    return redirect(SECURITY, done="email-changed" if mailed else "email-set")


@routes.submit(f"{SECURITY}/sessions/end-others", Page(), again=show_security_form, summary="End all other sessions")
async def end_other_sessions(request: Request[Caller], body: NoFields) -> Response:
    """Signs the account out everywhere but here."""
    caller, token = request.caller, request.session_token or ""
    await request.once(
        sessions.end_other_sessions, lambda ended: {"ended": ended}, 200, caller.account.id, token, caller.source
    )
    return redirect(SECURITY, done="sessions-ended")


@routes.submit(f"{SECURITY}/sessions/{{sessionId}}/end", Page(), again=show_security_form, summary="End a session")
async def end_session(request: Request[Caller], body: NoFields) -> Response:
    """Ends one session of the account."""
    caller, session_id = request.caller, request.parameters["sessionId"]
    await request.once(
        sessions.end_session, lambda _: {"id": session_id}, 200, caller.account.id, session_id, caller.source
    )
    return redirect(SECURITY, done="session-ended")
