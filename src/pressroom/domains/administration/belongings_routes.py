"""The routes by which admins end one key or one endpoint of an account (docs/operations.md#admins)."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.administration import actions
from pressroom.domains.administration.examples import FACTS_EXAMPLE, REASON_EXAMPLE
from pressroom.domains.administration.routes import ONE, TAG, source_of
from pressroom.domains.administration.schemas import (
    AdminEndpointOut,
    AdminKeyOut,
    GiveReason,
    endpoint_shape,
    key_shape,
)
from pressroom.errors import Conflict, NotFound
from pressroom.web.access import AdminOnly
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller](TAG)


KEY: Final = f"{ONE}/keys/{{keyId}}"


@routes.post(
    f"{KEY}/revoke",
    AdminOnly(recent=True),
    summary="Revoke a key of an account",
    gives=AdminKeyOut,
    fails=(NotFound("There is no such key."), Conflict("The key is revoked already.")),
    example=REASON_EXAMPLE,
    response_example=FACTS_EXAMPLE.keys[0],
)
async def revoke_key_of(request: Request[Caller], body: GiveReason) -> Response:
    """Revokes one key for good: its endpoints are sent `apikey.revoked` with the reason, and its owner is notified."""
    return await revoke(request, body)


@routes.post(
    f"{KEY}/webhooks/{{webhookId}}/disable",
    AdminOnly(recent=True),
    summary="Disable a webhook endpoint of an account",
    gives=AdminEndpointOut,
    fails=(NotFound("There is no such webhook endpoint."), Conflict("The endpoint is disabled already.")),
    example=REASON_EXAMPLE,
    response_example=FACTS_EXAMPLE.webhooks[0],
)
async def disable_webhook_of(request: Request[Caller], body: GiveReason) -> Response:
    """Sends nothing more to one endpoint. Its owner is notified with the reason, and may remove it and add it again."""
    return await disable(request, body)


async def revoke(request: Request[Caller], body: GiveReason) -> Response:
    """Revokes the key that the path names, once."""
    now, path = request.clock.now(), request.parameters
    return await request.once(
        actions.revoke_key,
        lambda key: key_shape(key, now),
        200,
        source_of(request),
        path["username"],
        path["keyId"],
        body.reason,
    )


async def disable(request: Request[Caller], body: GiveReason) -> Response:
    """Disables the endpoint that the path names, once."""
    path = request.parameters
    return await request.once(
        actions.disable_webhook,
        endpoint_shape,
        200,
        source_of(request),
        path["username"],
        path["keyId"],
        path["webhookId"],
        body.reason,
    )
