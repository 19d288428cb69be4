"""The address of an endpoint, looked up before the endpoint is added (docs/webhooks.md#add-an-endpoint)."""

from pressroom.domains.accounts.models import Caller
from pressroom.domains.webhooks.schemas import url_error
from pressroom.errors import Invalid
from pressroom.outbound import UrlRefused
from pressroom.web.request import Request


async def vet_address(request: Request[Caller], url: str) -> None:
    """Raises Invalid for an address that nothing may be sent to."""
    try:
        await request.services.outbound.vet(url, request.caller.account.id)
    except UrlRefused as refused:
        raise Invalid([url_error(refused.message)]) from None
