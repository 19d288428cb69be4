"""The page of notifications and its forms (docs/web-app.md#lists)."""

import re
from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.home import actions
from pressroom.domains.notifications.actions import mark_one, mark_read
from pressroom.domains.notifications.schemas import ReadNotifications, UnreadOut
from pressroom.web.access import Page
from pressroom.web.page_forms import FormState, NoFields
from pressroom.web.paging import place_of
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


INBOX: Final = "/notifications"
_PLACE: Final = re.compile(r"[0-9A-Z]{26}|~")
"""An id, or the end of the unread notifications."""


async def show_notices(request: Request[Caller], form: FormState) -> Response:
    """Renders the unread notifications, then the read ones."""
    before, read = (place_of(request.query, name, _PLACE) for name in ("before", "read"))
    page = await request.db.read(actions.open_notices, request.caller.account.id, before, read)
    values: dict[str, object] = {
        "page": page,
        "next_page": f"?{page.next_page}" if page.next_page else None,
        "first_page": INBOX if before or read else None,
    }
    return await render(request, "home/notifications.html", values, form=form)


@routes.get(INBOX, Page(), summary="Your notifications")
async def notices(request: Request[Caller]) -> Response:
    """The notifications of the account: unread ones first."""
    return await show_notices(request, FormState())


@routes.submit(f"{INBOX}/read", Page(), again=show_notices, summary="Mark notifications as read")
async def read_notices(request: Request[Caller], body: ReadNotifications) -> Response:
    """Marks the shown notifications as read, like POST /api/notifications/read."""
    await request.once(mark_read, UnreadOut, 200, request.caller.account.id, body.up_to)
    return redirect(INBOX, done="notifications-read")


@routes.submit(f"{INBOX}/{{notificationId}}/read", Page(), again=show_notices, summary="Mark a notification as read")
async def read_notice(request: Request[Caller], body: NoFields) -> Response:
    """Marks one as read, like POST /api/notifications/{notificationId}/read."""
    await request.once(mark_one, UnreadOut, 200, request.caller.account.id, request.parameters["notificationId"])
    return redirect(INBOX, done="notifications-read")
