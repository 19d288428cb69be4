"""All endpoints of an account, statistics and sample messages over HTTP: for the signed-in owner alone."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.webhooks.actions import endpoints
from pressroom.domains.webhooks.actions.endpoints import get_statistics
from pressroom.domains.webhooks.examples import LISTED_WEBHOOK_EXAMPLE, SAMPLES_EXAMPLE
from pressroom.domains.webhooks.overview_schemas import (
    AllWebhooksOut,
    SamplesOut,
    StatisticsOut,
    overview_shape,
    statistics_shape,
)
from pressroom.domains.webhooks.routes import NONE, ONE, TAG, named
from pressroom.domains.webhooks.samples import read_samples
from pressroom.web.access import SessionOnly
from pressroom.web.paging import read_paged
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller](TAG)


@routes.get(
    "/api/auth/webhooks",
    SessionOnly(),
    summary="List the webhook endpoints of all keys",
    gives=AllWebhooksOut,
    paged=True,
    response_example=AllWebhooksOut([LISTED_WEBHOOK_EXAMPLE], None),
)
async def list_all_webhooks(request: Request[Caller]) -> Response:
    """The endpoints of all keys of the account, those of ended keys too, with their health, newest first."""
    account_id, now = request.caller.account.id, request.clock.now()
    shown, cursor = await read_paged(request, lambda each: each.webhook.id, endpoints.list_all, account_id)
    return json_response(AllWebhooksOut([overview_shape(each, now) for each in shown], cursor))


@routes.get(
    ONE + "/statistics",
    SessionOnly(),
    summary="Show how a webhook endpoint answered",
    gives=StatisticsOut,
    fails=(NONE,),
)
async def show_statistics(request: Request[Caller]) -> Response:
    """The attempts at the endpoint by hour and by day, by outcome, with percentiles of the receiver's time."""
    return json_response(statistics_shape(await request.db.read(get_statistics, *named(request))))


@routes.get(
    ONE + "/samples",
    SessionOnly(),
    summary="Show sample messages",
    gives=SamplesOut,
    fails=(NONE,),
    response_example=SAMPLES_EXAMPLE,
)
async def show_samples(request: Request[Caller]) -> Response:
    """A message of each kind of event with example data, signed now with the endpoint's secret. Nothing is sent: send
    one to your receiver yourself."""
    _, _, samples = await request.db.read(read_samples, *named(request))
    return json_response(SamplesOut(samples))
