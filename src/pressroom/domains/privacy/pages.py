"""The page of blocked and muted accounts and of word filters (docs/privacy.md)."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.follows.queries import list_blocked, list_muted
from pressroom.domains.follows.schemas import person_shape
from pressroom.domains.privacy import actions, queries
from pressroom.domains.privacy.schemas import FilterIn, RemoveFilter, filters_shape
from pressroom.ids import BEYOND
from pressroom.web.access import Page
from pressroom.web.page_forms import FormFields, FormState
from pressroom.web.paging import place_of
from pressroom.web.query import parse_filled
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()

PRIVACY: Final = "/settings/privacy"
FILTERS: Final = f"{PRIVACY}?list=filters"
PEOPLE: Final = 50
"""Accounts on one page."""

LISTS: Final = {"blocks": list_blocked, "mutes": list_muted}


@routes.page(PRIVACY, Page(), summary="Blocks, mutes and word filters")
async def show_list(request: Request[Caller], form: FormState) -> Response:
    """Renders the list that the query names; after a form that was refused, the filters."""
    name = "filters" if form.was_refused else parse_filled(request.query).get("list", "blocks")
    if name not in LISTS:
        filters = await request.db.read(queries.list_filters, request.caller.account.id)
        return await render(request, "privacy/privacy.html", {"list": "filters", "filters": filters}, form=form)
    before, here = place_of(request.query), f"{PRIVACY}?list={name}"
    found = await request.db.read(LISTS[name], request.caller.account.id, before or BEYOND, PEOPLE + 1)
    people = found[:PEOPLE]
    values: dict[str, object] = {
        "list": name,
        "here": here,
        "people": [person_shape(person, request.settings.base_url) for person in people],
        "next_page": f"{here}&before={people[-1].listed_as}" if len(found) > PEOPLE else None,
        "first_page": here if before else None,
    }
    return await render(request, "privacy/privacy.html", values, form=form)


@routes.submit(
    f"{PRIVACY}/filters",
    Page(),
    again=show_list,
    fields=FormFields(lists={"places"}, empty_clears={"wholeWord"}),
    summary="Add a word filter",
)
async def add_filter(request: Request[Caller], body: FilterIn) -> Response:
    """Adds a filter to those of the account."""
    await request.once(actions.add_filter, filters_shape, request.caller, body.word_filter())
    return redirect(FILTERS, done="filter-added")


@routes.submit(f"{PRIVACY}/filters/remove", Page(), again=show_list, summary="Remove a word filter")
async def remove_filter(request: Request[Caller], body: RemoveFilter) -> Response:
    """Removes the filter with this text."""
    await request.once(actions.remove_filter, filters_shape, request.caller, body.text)
    return redirect(FILTERS, done="filter-removed")
