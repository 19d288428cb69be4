"""Hubs over HTTP."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.hubs import actions
from pressroom.domains.hubs.queries import list_joined
from pressroom.domains.hubs.schemas import CreateHub, HubList, HubOut, MemberOut, hub_shape
from pressroom.errors import Code, Conflict, FieldError, Invalid, NotFound
from pressroom.web.access import Anyone, SessionOnly
from pressroom.web.paging import read_paged
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes, Tag

TAG = Tag("Hubs", "Groups that accounts join and publish into.")
routes: Final = Routes[Caller](TAG)


_NO_HUB = NotFound("There is no such hub.")


@routes.get(
    "/api/hubs",
    SessionOnly(),
    summary="List your hubs",
    gives=HubList,
    paged=True,
    response_example=HubList([HubOut.example()], None),
)
async def list_hubs(request: Request[Caller]) -> Response:
    """The hubs that the account is a member of: those it can publish into. Newest hub first."""
    shown, cursor = await read_paged(request, lambda hub: hub.id, list_joined, request.caller.account.id)
    return json_response(HubList([hub_shape(hub, request.settings.base_url) for hub in shown], cursor))


@routes.post(
    "/api/hubs",
    SessionOnly(),
    summary="Make a hub",
    gives=HubOut,
    location="/api/hubs/{made}",
    fails=(
        Invalid([FieldError("slug", Code.INVALID_FORMAT, "A slug has 3 to 40 characters of a-z, 0-9 and -.")]),
        Conflict("The slug letterpress is taken."),
    ),
)
async def create_hub(request: Request[Caller], body: CreateHub) -> Response:
    """Makes a hub, whose first member the account is."""
    base_url = request.settings.base_url
    return await request.once(actions.create_hub, lambda hub: hub_shape(hub, base_url), request.caller, body.new_hub())


@routes.get("/api/hubs/{id}", Anyone(), summary="Show a hub", gives=HubOut, fails=(_NO_HUB,))
async def show_hub(request: Request[Caller]) -> Response:
    """One hub. Its posts are on its page, /hub/{slug}."""
    reader = request.who.account.id if request.who else ""
    hub = await request.db.read(actions.get_hub, request.parameters["id"], reader)
    return json_response(hub_shape(hub, request.settings.base_url))


@routes.post(
    "/api/hubs/{id}/membership",
    SessionOnly(),
    summary="Join a hub",
    gives=MemberOut,
    fails=(_NO_HUB,),
    response_example=MemberOut(True),
)
async def join_hub(request: Request[Caller]) -> Response:
    """From now on the account, and with it each of its keys, may publish into the hub. Joining once more changes
    nothing."""
    return await request.once(actions.join_hub, lambda _: MemberOut(True), request.caller, request.parameters["id"])


@routes.delete(
    "/api/hubs/{id}/membership",
    SessionOnly(),
    summary="Leave a hub",
    gives=MemberOut,
    fails=(_NO_HUB,),
    response_example=MemberOut(False),
)
async def leave_hub(request: Request[Caller]) -> Response:
    """The account publishes into the hub no more; what it published there stays."""
    return await request.once(actions.leave_hub, lambda _: MemberOut(False), request.caller, request.parameters["id"])
