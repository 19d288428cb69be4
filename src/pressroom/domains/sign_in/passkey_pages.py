"""The pages that add and remove a passkey (docs/web-app.md#passkeys)."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.sign_in import passkeys
from pressroom.domains.sign_in.authenticators import site_of
from pressroom.domains.sign_in.queries.passkeys import list_passkeys
from pressroom.domains.sign_in.security_pages import RECENT, SECURITY
from pressroom.errors import NotFound
from pressroom.web.page_forms import FormState, NoFields
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()

_ONE: Final = f"{SECURITY}/passkeys/{{passkeyId}}"


@routes.get(f"{SECURITY}/passkeys/new", RECENT, summary="Add a passkey")
async def new_passkey(request: Request[Caller]) -> Response:
    """The name of a new passkey, which the page's script has the browser make."""
    values: dict[str, object] = {"is_offered": site_of(request.settings.base_url) is not None}
    return await render(request, "accounts/passkey.html", values, form=FormState())


async def ask_to_remove(request: Request[Caller], form: FormState) -> Response:
    """Returns the page that asks whether the passkey is to be removed. Raises NotFound."""
    found = await request.db.read(list_passkeys, request.caller.account.id)
    passkey = next((each for each in found if each.id == request.parameters["passkeyId"]), None)
    if passkey is None:
        raise NotFound("There is no such passkey.")
    return await render(request, "accounts/passkey_remove.html", {"passkey": passkey}, form=form)


@routes.form(f"{_ONE}/remove", RECENT, show=ask_to_remove, summary="Remove a passkey")
async def remove_passkey(request: Request[Caller], body: NoFields) -> Response:
    """Removes the passkey."""
    caller, passkey_id = request.caller, request.parameters["passkeyId"]
    await request.once(
        passkeys.remove_passkey, lambda _: {"id": passkey_id}, caller.account.id, passkey_id, caller.source
    )
    return redirect(SECURITY, done="passkey-removed")
