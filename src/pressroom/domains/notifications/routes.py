"""Notifications over HTTP: their number, marking them as read, and their settings.

`home` lists them, as it may import the packages of their subjects.
"""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.notifications import actions
from pressroom.domains.notifications.schemas import (
    EditNotificationSettings,
    NotificationOut,
    NotificationSettings,
    ReadNotifications,
    UnreadOut,
)
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
    return await request.once(actions.mark_read, UnreadOut, request.caller.account.id, body.up_to)


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
        actions.mark_one, UnreadOut, request.caller.account.id, request.parameters["notificationId"]
    )


@routes.get(
    "/api/notifications/settings",
    SessionOnly(),
    summary="Read the settings of notifications",
    gives=NotificationSettings,
)
async def notification_settings(request: Request[Caller]) -> Response:
    """The way in which the account hears of each type. By mail from the start: webhook.disabled and key.revoked;
    everything else in the app."""
    ways = await request.db.read(actions.read_settings, request.caller.account.id)
    return json_response(NotificationSettings.of(ways))


@routes.patch(
    "/api/notifications/settings",
    SessionOnly(),
    summary="Change the settings of notifications",
    gives=NotificationSettings,
    fails=(Invalid([FieldError("like", Code.INVALID_CHOICE, "Must be one of app, mail, off.")]),),
)
async def edit_notification_settings(request: Request[Caller], body: EditNotificationSettings) -> Response:
    """Changes the way of some types. It counts from the next notification on; mail goes to a confirmed e-mail address
    alone."""
    return await save_settings(request, body)


async def save_settings(request: Request[Caller], body: EditNotificationSettings) -> Response:
    """Saves the settings once, for the route and for the page."""
    return await request.once(
        actions.change_settings, NotificationSettings.of, request.caller.account.id, body.changes()
    )
