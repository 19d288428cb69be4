"""Adding and replacing endpoints, as routes and pages share it: the address is looked up
before the transaction (docs/webhooks.md#add-an-endpoint). Both return a response that holds the endpoint's secret.
"""

from pressroom.domains.accounts.models import Caller
from pressroom.domains.webhooks.actions import endpoints
from pressroom.domains.webhooks.schemas import CreateWebhook, created_webhook_shape, replaced_webhook_shape, url_error
from pressroom.errors import Invalid, NotFound
from pressroom.outbound import UrlRefused
from pressroom.web.idempotency import Once
from pressroom.web.request import Request
from pressroom.web.response import Response


async def add_endpoint(request: Request[Caller], once: Once, body: CreateWebhook) -> Response:
    """Adds an endpoint to the key in the path, at most once."""
    if (stored := await once.stored()) is not None:
        return _secret(stored)
    account_id, key_id = request.caller.account.id, request.parameters["keyId"]
    await request.db.read(endpoints.check_key, account_id, key_id)  # No address is looked up for an unknown key.
    await _vet(request, body.url)
    now = request.clock.now()
    return _secret(
        await once(
            endpoints.add_webhook,
            lambda added: created_webhook_shape(*added, now),
            account_id,
            key_id,
            body.new_webhook(),
            request.caller.source,
        )
    )


async def replace_endpoint(request: Request[Caller], once: Once, body: CreateWebhook) -> Response:
    """Puts an endpoint in the place of the one in the path, at most once."""
    named = request.caller.account.id, request.parameters["keyId"], request.parameters["webhookId"]
    try:
        await request.db.read(endpoints.get_webhook, *named)
    except NotFound:
        # A copy of this request may have replaced it at any moment, and then the answer is stored.
        if (stored := await once.stored()) is None:
            raise
    else:
        stored = await once.stored()
    if stored is not None:
        return _secret(stored)
    await _vet(request, body.url)
    now = request.clock.now()
    return _secret(
        await once(
            endpoints.replace_webhook,
            lambda replaced: replaced_webhook_shape(replaced, now),
            *named,
            body.new_webhook(),
            request.caller.source,
        )
    )


async def _vet(request: Request[Caller], url: str) -> None:
    """Raises Invalid for an address that nothing may be sent to."""
    try:
        await request.services.outbound.vet(url, request.caller.account.id)
    except UrlRefused as refused:
        raise Invalid([url_error(refused.message)]) from None


def _secret(response: Response) -> Response:
    response.holds_secret = True
    return response
