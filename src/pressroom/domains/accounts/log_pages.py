"""The page of the audit log (docs/web-app.md#account)."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.security_schemas import log_shape
from pressroom.domains.audit.actions import list_entries
from pressroom.ids import BEYOND
from pressroom.web.access import Page
from pressroom.web.paging import place_of
from pressroom.web.rendering import render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


LOG: Final = "/settings/log"
SHOWN: Final = 50
"""Entries on one page."""


@routes.get(LOG, Page(), summary="The audit log")
async def show_log(request: Request[Caller]) -> Response:
    """What was done to the account, by whom and from where, a page at a time."""
    before = place_of(request.query)
    found = await request.db.read(list_entries, request.caller.account.id, before or BEYOND, SHOWN + 1)
    shown = found[:SHOWN]
    values: dict[str, object] = {
        "entries": [log_shape(entry) for entry in shown],
        "next_page": f"{LOG}?before={shown[-1].id}" if len(found) > SHOWN else None,
        "first_page": LOG if before else None,
    }
    return await render(request, "accounts/log.html", values)
