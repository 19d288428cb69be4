"""The page of the account's hubs, and the form of a new hub (docs/web-app.md#lists)."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.hubs import actions
from pressroom.domains.hubs.queries import list_joined
from pressroom.domains.hubs.schemas import CreateHub, hub_shape
from pressroom.ids import BEYOND
from pressroom.web.access import Page
from pressroom.web.page_forms import FormState
from pressroom.web.paging import place_of
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


HUBS: Final = "/hubs"
SHOWN: Final = 50
"""Hubs on one page."""


@routes.get(HUBS, Page(), summary="Your hubs")
async def show_hubs(request: Request[Caller]) -> Response:
    """The hubs that the account is a member of, each with the id that programs publish into it by."""
    before = place_of(request.query)
    found = await request.db.read(list_joined, request.caller.account.id, before or BEYOND, SHOWN + 1)
    shown = found[:SHOWN]
    values: dict[str, object] = {
        "hubs": [hub_shape(hub, request.settings.base_url) for hub in shown],
        "next_page": f"{HUBS}?before={shown[-1].id}" if len(found) > SHOWN else None,
        "first_page": HUBS if before else None,
    }
    return await render(request, "hubs/list.html", values)


async def show_new_hub(request: Request[Caller], form: FormState) -> Response:
    """Returns the page with the form."""
    return await render(request, "hubs/new.html", {}, form=form)


@routes.form(f"{HUBS}/new", Page(), show=show_new_hub, summary="Make a hub")
async def make_hub(request: Request[Caller], body: CreateHub) -> Response:
    """Makes the hub, whose first member the account is."""
    base_url = request.settings.base_url
    await request.once(actions.create_hub, lambda hub: hub_shape(hub, base_url), request.caller, body.new_hub())
    return redirect(HUBS, done="hub-made")
