"""The page of followers, followed accounts and pending requests (docs/web-app.md#lists)."""

from collections.abc import Awaitable, Callable
from typing import Final

from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.follows import actions
from pressroom.domains.follows.models import Person
from pressroom.domains.follows.queries import list_followed, list_followers, list_requests, list_sent
from pressroom.domains.follows.schemas import AcceptRequests, accepted_shape, follower_shape, waiting_shape
from pressroom.ids import BEYOND
from pressroom.web.access import Page
from pressroom.web.page_forms import FormState, NoFields
from pressroom.web.paging import place_of
from pressroom.web.query import parse_filled
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


FOLLOWS: Final = "/follows"
REQUESTS: Final = f"{FOLLOWS}?list=requests"
PEOPLE: Final = 50
"""Accounts on one page."""

List = Callable[[Tx, str, str, int], Awaitable[list[Person]]]
LISTS: Final[dict[str, List]] = {
    "following": list_followed,
    "followers": list_followers,
    "requests": list_requests,
    "sent": list_sent,
}
"""The lists of the page, by their name in the query; the first is shown when none is named."""


@routes.page(FOLLOWS, Page(), summary="Who follows whom")
async def show_list(request: Request[Caller], form: FormState) -> Response:
    """Returns a page of the list that the query names; after a form that was refused, of the requests."""
    given = parse_filled(request.query)
    name = "requests" if form.was_refused else given.get("list", "")
    name = name if name in LISTS else "following"
    before = place_of(request.query)
    account = request.caller.account
    found = await request.db.read(LISTS[name], account.id, before or BEYOND, PEOPLE + 1)
    people, here = found[:PEOPLE], f"{FOLLOWS}?list={name}"
    values: dict[str, object] = {
        "account": account,
        "list": name,
        "people": [waiting_shape(person, request.settings.base_url) for person in people],
        "newest": people[0].listed_as if people else None,
        "next_page": f"{here}&before={people[-1].listed_as}" if len(found) > PEOPLE else None,
        "first_page": here if before else None,
    }
    return await render(request, "follows/follows.html", values, form=form)


@routes.submit(f"{FOLLOWS}/accept", Page(), again=show_list, summary="Accept all follow requests")
async def accept_all(request: Request[Caller], body: AcceptRequests) -> Response:
    """Accepts as many as one transaction takes; the page shows when others still wait."""
    await request.once(actions.accept_all, accepted_shape, request.caller, body.up_to or BEYOND)
    return redirect(REQUESTS, done="requests-accepted")


@routes.submit(f"{FOLLOWS}/{{username}}/accept", Page(), again=show_list, summary="Accept a request")
async def accept(request: Request[Caller], body: NoFields) -> Response:
    """Accepts the request of an account."""
    await request.once(actions.accept_request, follower_shape, request.caller, request.parameters["username"])
    return redirect(REQUESTS, done="request-accepted")


@routes.submit(f"{FOLLOWS}/{{username}}/reject", Page(), again=show_list, summary="Reject a request")
async def reject(request: Request[Caller], body: NoFields) -> Response:
    """Rejects the request of an account, which gets no notification."""
    await request.once(actions.reject_request, follower_shape, request.caller, request.parameters["username"])
    return redirect(REQUESTS, done="request-rejected")


@routes.submit(f"{FOLLOWS}/{{username}}/remove", Page(), again=show_list, summary="Remove a follower")
async def remove(request: Request[Caller], body: NoFields) -> Response:
    """Ends the follow of an account, which gets no notification."""
    await request.once(actions.remove_follower, follower_shape, request.caller, request.parameters["username"])
    return redirect(f"{FOLLOWS}?list=followers", done="follower-removed")
