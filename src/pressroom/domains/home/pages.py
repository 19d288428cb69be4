"""The front page (docs/web-app.md#the-front-page)."""

from typing import Final

from pressroom.domains.accounts.link_routes import ask_for_verification
from pressroom.domains.accounts.models import Caller
from pressroom.domains.home.queries import FIND_FIRST_STEPS
from pressroom.web.access import Page, Visitor
from pressroom.web.page_forms import FormState, NoFields
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import declare, declare_form


async def show_home(request: Request[Caller], form: FormState) -> Response:
    """Renders what to do next, or for people who are not signed in what this server is."""
    mail = request.services.mail
    common = {"is_open": request.settings.signup, "is_dev": mail.kept is not None}
    if request.who is None:
        return await render(request, "home/front.html", common, script=False)
    account = request.who.account
    steps = await request.db.one(FIND_FIRST_STEPS, account_id=account.id)
    values = {"steps": steps, "account": account, "asks": mail.is_available and not account.email_verified}
    return await render(request, "home/start.html", {**common, **values}, form=form)


@declare("GET", "/", Visitor(), summary="The front page")
async def home(request: Request[Caller]) -> Response:
    """What this server is, and where to begin."""
    return await show_home(request, FormState())


@declare_form("/verify/send", Page(), takes=NoFields, again=show_home, summary="Send the confirmation again")
async def send_verification(request: Request[Caller], body: NoFields) -> Response:
    """Mails another link to confirm the e-mail address like POST /api/auth/verify/send."""
    await ask_for_verification(request)
    return redirect("/", done="verification-sent")


ROUTES: Final = (home, send_verification)
