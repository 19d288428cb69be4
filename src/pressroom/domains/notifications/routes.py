"""Counts and marks notifications over HTTP. `home` lists them, as it may import the packages of their subjects."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.notifications import actions
from pressroom.domains.notifications.schemas import NotificationOut, ReadNotifications, UnreadOut
from pressroom.errors import Code, FieldError, Invalid, NotFound
from pressroom.web.access import SessionOnly
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes, Tag

TAG = Tag("Notifications", "What happened that concerns the signed-in account.")
routes: Final = Routes[Caller](TAG)


@routes.get(
    "/api/notifications/unread",
    SessionOnly(),
    summary="Count what is unread",
    gives=UnreadOut,
    response_example=UnreadOut(3),
)
async def unread_notifications(request: Request[Caller]) -> Response:
    """How many notifications are unread; 100 stands for more than 99."""
    return json_response(UnreadOut(await request.db.read(actions.read_unread, request.caller.account.id)))


@routes.post(
    "/api/notifications/read",
    SessionOnly(),
    summary="Mark notifications as read",
    gives=UnreadOut,
    fails=(Invalid([FieldError("upTo", Code.REQUIRED, "This field is required.")]),),
    example=ReadNotifications(up_to=NotificationOut.example().id),
    response_example=UnreadOut(0),
)
async def read_notifications(request: Request[Caller], body: ReadNotifications) -> Response:
    """Marks every notification up to `upTo` as read, at most 1,000 at once: `upTo` is the newest that was shown, so
    that what arrived meanwhile stays unread."""
    return await request.once(actions.mark_read, UnreadOut, 200, request.caller.account.id, body.up_to)


@routes.post(
    "/api/notifications/{notificationId}/read",
    SessionOnly(),
    summary="Mark a notification as read",
    gives=UnreadOut,
    fails=(NotFound("There is no such notification."),),
    response_example=UnreadOut(2),
)
async def read_notification(request: Request[Caller]) -> Response:
    """Marks one notification as read. Repeating changes nothing."""
    return await request.once(
        actions.mark_one, UnreadOut, 200, request.caller.account.id, request.parameters["notificationId"]
    )
