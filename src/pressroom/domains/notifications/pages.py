"""The page of the settings of notifications, and the page that stops their mail (docs/notifications.md).

Mail programs send the form of the second one by themselves (RFC 8058).
"""

from typing import Final

from pressroom.db import Tx
from pressroom.domains.accounts.models import Account, Caller, folded
from pressroom.domains.accounts.queries import find_account
from pressroom.domains.notifications import actions
from pressroom.domains.notifications.models import NotificationType, Way
from pressroom.domains.notifications.routes import save_settings
from pressroom.domains.notifications.schemas import EditNotificationSettings, Unsubscribe
from pressroom.domains.notifications.unsubscribing import account_of, is_genuine
from pressroom.errors import NotFound
from pressroom.web.access import Page, Visitor
from pressroom.web.page_forms import FormState
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


SETTINGS: Final = "/settings/notifications"


async def show_settings(request: Request[Caller], form: FormState) -> Response:
    """Returns the page with a choice for each type."""
    account, mail = request.caller.account, request.services.mail
    values: dict[str, object] = {
        "ways": await request.db.read(actions.read_settings, account.id),
        "sends_mail": mail.is_available,
        "is_confirmed": account.email_verified,
    }
    return await render(request, "notifications/settings.html", values, form=form)


@routes.form(SETTINGS, Page(), show=show_settings, summary="Settings of notifications")
async def edit_settings(request: Request[Caller], body: EditNotificationSettings) -> Response:
    """Saves the choices like PATCH /api/notifications/settings."""
    await save_settings(request, body)
    return redirect(SETTINGS, done="notification-settings-saved")


# The page that stops mail needs no session: the link's token names the account. Opening it changes nothing, for
# programs that scan mail open links. Only POST does, and answers without a redirection, which mail programs ignore.


async def show_unsubscribe(request: Request[Caller], form: FormState) -> Response:
    """Renders the choice between one type and everything."""
    return await _show(request, form, is_done=False)


@routes.form("/unsubscribe/{token}", Visitor(), show=show_unsubscribe, summary="Stop mail about notifications")
async def unsubscribe(request: Request[Caller], body: Unsubscribe) -> Response:
    """Has the account hear in the app alone of one type, or of everything."""
    secrets = request.services.mail_secret.verifying(request.clock.now())
    await request.db.transact(_stop, request.parameters["token"], secrets, body.only)
    return await _show(request, FormState(), is_done=True)


async def _show(request: Request[Caller], form: FormState, *, is_done: bool) -> Response:
    secrets = request.services.mail_secret.verifying(request.clock.now())
    account, mailed = await request.db.read(_list_mailed, request.parameters["token"], secrets)
    values: dict[str, object] = {"username": account.username, "mailed": mailed, "is_done": is_done}
    return await render(request, "notifications/unsubscribe.html", values, form=form)


async def _get_account(tx: Tx, token: str, secrets: list[str]) -> Account:
    """Returns the account of a token. Raises NotFound, also once it has another e-mail address."""
    account_id = account_of(token)
    account = await find_account(tx, account_id) if account_id is not None else None
    if account is None or not is_genuine(token, account.id, folded(account.email), secrets):
        raise NotFound("This link was not copied whole, or the account has another e-mail address now.")
    return account


async def _list_mailed(tx: Tx, token: str, secrets: list[str]) -> tuple[Account, list[NotificationType]]:
    """Returns the account of a token and the types that are mailed to it. Raises NotFound."""
    account = await _get_account(tx, token, secrets)
    ways = await actions.read_settings(tx, account.id)
    return account, [each for each, way in ways.items() if way == Way.MAIL]


async def _stop(tx: Tx, token: str, secrets: list[str], only: NotificationType | None) -> None:
    await actions.stop_mails(tx, (await _get_account(tx, token, secrets)).id, only)
