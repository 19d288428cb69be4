"""The page that stops mail about notifications, for people and for mail programs (RFC 8058).

It needs no session: the link's token tells the account. Opening it changes nothing, since programs that scan mail open
links; only POST does, which answers without a redirection, as mail programs do not follow one.
"""

from typing import Final

from pressroom.db import Tx
from pressroom.domains.accounts.models import Account, Caller, folded
from pressroom.domains.accounts.queries import find_account
from pressroom.domains.notifications import actions
from pressroom.domains.notifications.models import NotificationType, Way
from pressroom.domains.notifications.schemas import Unsubscribe
from pressroom.domains.notifications.unsubscribing import account_of, is_genuine
from pressroom.errors import NotFound
from pressroom.web.access import Visitor
from pressroom.web.page_forms import FormState
from pressroom.web.rendering import render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


async def show_unsubscribe(request: Request[Caller], form: FormState) -> Response:
    """Renders the choice between one type and everything."""
    return await _show(request, form, is_done=False)


@routes.form("/unsubscribe/{token}", Visitor(), show=show_unsubscribe, summary="Stop mail about notifications")
async def unsubscribe(request: Request[Caller], body: Unsubscribe) -> Response:
    """Has the account hear in the app alone of one type, or of everything."""
    await request.db.transact(_stop, request.parameters["token"], request.services.mail_secret, body.only)
    return await _show(request, FormState(), is_done=True)


async def _show(request: Request[Caller], form: FormState, *, is_done: bool) -> Response:
    token, secret = request.parameters["token"], request.services.mail_secret
    account, mailed = await request.db.read(_list_mailed, token, secret)
    values: dict[str, object] = {"username": account.username, "mailed": mailed, "is_done": is_done}
    return await render(request, "notifications/unsubscribe.html", values, form=form)


async def _get_account(tx: Tx, token: str, secret: str) -> Account:
    """Returns the account of a token. Raises NotFound, also once it has another e-mail address."""
    account_id = account_of(token)
    account = await find_account(tx, account_id) if account_id is not None else None
    if account is None or not is_genuine(token, account.id, folded(account.email), secret):
        raise NotFound("This link was not copied whole, or the account has another e-mail address now.")
    return account


async def _list_mailed(tx: Tx, token: str, secret: str) -> tuple[Account, list[NotificationType]]:
    """Returns the account of a token and the types that are mailed to it. Raises NotFound."""
    account = await _get_account(tx, token, secret)
    ways = await actions.read_settings(tx, account.id)
    return account, [each for each, way in ways.items() if way == Way.MAIL]


async def _stop(tx: Tx, token: str, secret: str, only: NotificationType | None) -> None:
    await actions.stop_mails(tx, (await _get_account(tx, token, secret)).id, only)
