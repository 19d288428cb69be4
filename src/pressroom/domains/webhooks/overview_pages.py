"""Pages of all endpoints of an account, and of sample messages (docs/web-app.md#endpoints)."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.webhooks.actions import endpoints
from pressroom.domains.webhooks.delivery_schemas import curl_of
from pressroom.domains.webhooks.events import EVENT_DATA
from pressroom.domains.webhooks.overview_schemas import overview_shape
from pressroom.domains.webhooks.routes import named
from pressroom.domains.webhooks.samples import read_samples
from pressroom.ids import BEYOND
from pressroom.web.access import Page
from pressroom.web.page_forms import FormState
from pressroom.web.paging import place_of
from pressroom.web.query import parse_query
from pressroom.web.rendering import render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()

ALL: Final = "/settings/webhooks"
SHOWN: Final = 25
"""Endpoints on one page: as many as five active keys can have."""


@routes.get(ALL, Page(), summary="The webhook endpoints of all keys")
async def show_all(request: Request[Caller]) -> Response:
    """The endpoints of all keys with their health, newest first; `edit` names the one whose form is open."""
    before, now = place_of(request.query), request.clock.now()
    found = await request.db.read(endpoints.list_all, request.caller.account.id, before or BEYOND, SHOWN + 1)
    values: dict[str, object] = {
        "endpoints": [overview_shape(each, now) for each in found[:SHOWN]],
        "edited": parse_query(request.query).get("edit", ""),
        "next_page": f"{ALL}?before={found[SHOWN - 1].webhook.id}" if len(found) > SHOWN else None,
        "first_page": ALL if before else None,
    }
    return await render(request, "webhooks/all.html", values, form=FormState())


@routes.get("/settings/keys/{keyId}/webhooks/{webhookId}/samples", Page(), summary="Sample messages of an endpoint")
async def show_samples(request: Request[Caller]) -> Response:
    """A message of the chosen kind of event, as the endpoint would receive it."""
    key, webhook, samples = await request.db.read(read_samples, *named(request))
    wanted = parse_query(request.query).get("event", "")
    sample = next((each for each in samples if each.event == wanted), samples[0])
    values: dict[str, object] = {
        "key": key,
        "endpoint": webhook,
        "sample": sample,
        "curl": curl_of(webhook.url, sample.headers, sample.body),
        "kinds": [data.event for data in EVENT_DATA],
    }
    return await render(request, "webhooks/samples.html", values, form=FormState(typed={"event": [sample.event]}))
