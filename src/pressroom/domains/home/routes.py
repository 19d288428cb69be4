"""The list of notifications over HTTP."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.home import actions
from pressroom.domains.notifications.routes import TAG
from pressroom.domains.notifications.schemas import NotificationList, NotificationOut, notification_shape
from pressroom.web.access import SessionOnly
from pressroom.web.paging import read_page
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller](TAG)


@routes.get(
    "/api/notifications",
    SessionOnly(),
    summary="List notifications",
    gives=NotificationList,
    paged=True,
    response_example=NotificationList([NotificationOut.example()], None),
)
async def list_notifications(request: Request[Caller]) -> Response:
    """The account's notifications, newest first, stored for 90 days. Left out are those that a suspended, blocked or
    muted account caused, and those of deleted posts and comments: where there are many of them, a page holds fewer than
    `limit` although `nextCursor` leads on."""
    page = read_page(request.query)
    shown, cursor = await request.db.read(
        actions.list_seen_notifications, request.caller.account.id, page.before, page.limit
    )
    base_url = request.settings.base_url
    return json_response(NotificationList([notification_shape(each, base_url) for each in shown], cursor))
