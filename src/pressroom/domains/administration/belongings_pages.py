"""The pages on which admins end one key or one endpoint of an account (docs/operations.md#admins)."""

from typing import Final
from urllib.parse import quote

from pressroom.domains.accounts.models import Caller
from pressroom.domains.administration import actions
from pressroom.domains.administration.belongings_routes import disable, revoke
from pressroom.domains.administration.pages import ACCOUNTS, ONE
from pressroom.domains.administration.schemas import GiveReason, endpoint_shape, key_shape
from pressroom.domains.moderation.schemas import record_shape
from pressroom.web.access import AdminPage
from pressroom.web.page_forms import FormState
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


KEY: Final = f"{ONE}/keys/{{keyId}}"
ENDPOINT: Final = f"{KEY}/webhooks/{{webhookId}}"


async def show_revocation(request: Request[Caller], form: FormState) -> Response:
    """Renders the effects of revoking a key, with the form."""
    path = request.parameters
    record, key = await request.db.read(actions.get_owned_key, path["username"], path["keyId"])
    values = {"account": record_shape(record), "key": key_shape(key, request.clock.now())}
    return await render(request, "administration/revoke_key.html", values, form=form)


async def show_disabling(request: Request[Caller], form: FormState) -> Response:
    """Renders the effects of disabling an endpoint, with the form."""
    path = request.parameters
    record, webhook = await request.db.read(
        actions.get_owned_webhook, path["username"], path["keyId"], path["webhookId"]
    )
    values = {"account": record_shape(record), "endpoint": endpoint_shape(webhook)}
    return await render(request, "administration/disable_endpoint.html", values, form=form)


@routes.form(f"{KEY}/revoke", AdminPage(recent=True), show=show_revocation, summary="Revoke it")
async def revoke_key(request: Request[Caller], body: GiveReason) -> Response:
    """Revokes the key like POST /api/admin/accounts/{username}/keys/{keyId}/revoke."""
    await revoke(request, body)
    return _done(request, "key-of-account-revoked")


@routes.form(f"{ENDPOINT}/disable", AdminPage(recent=True), show=show_disabling, summary="Disable it")
async def disable_endpoint(request: Request[Caller], body: GiveReason) -> Response:
    """Disables the endpoint like POST /api/admin/accounts/{username}/keys/{keyId}/webhooks/{webhookId}/disable."""
    await disable(request, body)
    return _done(request, "endpoint-of-account-disabled")


def _done(request: Request[Caller], code: str) -> Response:
    return redirect(f"{ACCOUNTS}/{quote(request.parameters['username'], safe='')}", done=code)
