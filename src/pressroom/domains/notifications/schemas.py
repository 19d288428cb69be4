"""Wire shapes of the notifications package."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Self

import msgspec
from msgspec import Meta

from pressroom.clock import iso, iso_or_none
from pressroom.domains.accounts.schemas import AuthorOut, author_of
from pressroom.domains.notifications.models import Notification, NotificationType, Way, usual_way
from pressroom.errors import Code, FieldError
from pressroom.web.json_bodies import Body
from pressroom.web.paging import ID_PATTERN, shown_id_errors
from pressroom.web.wire import Id, NextCursor, Time


class NotificationOut(msgspec.Struct, rename="camel"):
    """A notification."""

    id: Id
    type: Annotated[
        NotificationType,
        Meta(
            description="mention: a post names the account. comment: on one of its posts. reply: to one of its "
            "comments. like, bounce: of one of its posts; one notification for all likes of a post, and one for all "
            "its bounces. quote: a post quotes one of its posts. follow: the actor follows it. "
            "follow.requested: the actor asks to, since the account is private. follow.accepted: the account's own "
            "request was accepted. webhook.disabled: a webhook endpoint failed five times in a row. key.revoked: the "
            "operator, or the service itself, took a key back. key.expiring: a key expires in seven days. moderation: "
            "an admin decided about something of the account's; GET /api/decisions has the reason. report.made: for "
            "admins, something waits for a decision. report.decided: an admin decided about something that the account "
            "reported. draft.refused: a scheduled post could not be published; the draft says why."
        ),
    ]
    created_at: Time
    read_at: Annotated[Time | None, Meta(description="Null: not read yet.")]
    post_id: Annotated[
        str | None,
        Meta(
            description="The post that it is about: of a mention or a quote the one that mentions or quotes, of a "
            "comment the one commented on, of a decision the one decided about. Null for other types, and when the "
            "account may not see the post any more."
        ),
    ]
    comment_id: Annotated[str | None, Meta(description="The comment or reply; null with `postId`.")]
    webhook_id: Annotated[str | None, Meta(description="The webhook endpoint that was disabled.")]
    key_id: Annotated[str | None, Meta(description="The key that was revoked, or expires.")]
    case_id: Annotated[str | None, Meta(description="Of report.made: the case that waits for a decision.")]
    draft_id: Annotated[str | None, Meta(description="Of draft.refused: the draft.")]
    actor: Annotated[
        AuthorOut | None, Meta(description="Who caused it; of likes and bounces, the last one. Null: the service.")
    ]
    others: Annotated[int, Meta(ge=0, description="Of likes and bounces: how many accounts did so beside the actor.")]

    @classmethod
    def example(cls) -> Self:
        return cls(
            id="01M7WVEA2V8M6PBR2DA7CYSJ9C",
            type=NotificationType.MENTION,
            created_at="2026-11-20T16:08:12.345Z",
            read_at=None,
            post_id="01M7WVE9SS0371E5H43QNHTMZJ",
            comment_id=None,
            webhook_id=None,
            key_id=None,
            case_id=None,
            draft_id=None,
            actor=AuthorOut.example(),
            others=0,
        )


class NotificationList(msgspec.Struct, rename="camel"):
    """A page of notifications, newest first."""

    notifications: list[NotificationOut]
    next_cursor: NextCursor


class ReadNotifications(Body):
    """The notifications to mark as read."""

    up_to: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=26,
            description="The id of the newest one that was shown: later ones stay unread.",
            extra_json_schema={"pattern": ID_PATTERN},
        ),
    ]

    def field_errors(self, now: int) -> Iterator[FieldError]:
        """Yields an error for a text that is no id."""
        yield from shown_id_errors("upTo", self.up_to)


class UnreadOut(msgspec.Struct):
    """The number of unread notifications."""

    unread: Annotated[int, Meta(ge=0, le=100, description="Unread notifications; 100 stands for more than 99.")]


class NotificationSettings(msgspec.Struct):
    """The way in which the account hears of each type: app (listed), mail (listed and mailed) or off."""

    mention: Way
    comment: Way
    reply: Way
    like: Way
    bounce: Way
    quote: Way
    follow: Way
    follow_requested: Way = msgspec.field(name="follow.requested")
    follow_accepted: Way = msgspec.field(name="follow.accepted")
    webhook_disabled: Way = msgspec.field(name="webhook.disabled")
    key_revoked: Way = msgspec.field(name="key.revoked")
    key_expiring: Way = msgspec.field(name="key.expiring")
    moderation: Way
    report_made: Way = msgspec.field(name="report.made")
    report_decided: Way = msgspec.field(name="report.decided")
    draft_refused: Way = msgspec.field(name="draft.refused")

    @classmethod
    def of(cls, ways: Mapping[NotificationType, Way]) -> Self:
        """Returns the settings with these ways."""
        return msgspec.convert({each.value: way for each, way in ways.items()}, cls)

    @classmethod
    def example(cls) -> Self:
        return cls.of({each: usual_way(each) for each in NotificationType})


class EditNotificationSettings(Body, rename=None):
    """Other ways for some types: at least one. Types that are not given stay as they are."""

    json_schema: ClassVar = {"minProperties": 1}

    mention: Way | msgspec.UnsetType = msgspec.UNSET
    comment: Way | msgspec.UnsetType = msgspec.UNSET
    reply: Way | msgspec.UnsetType = msgspec.UNSET
    like: Way | msgspec.UnsetType = msgspec.UNSET
    bounce: Way | msgspec.UnsetType = msgspec.UNSET
    quote: Way | msgspec.UnsetType = msgspec.UNSET
    follow: Way | msgspec.UnsetType = msgspec.UNSET
    follow_requested: Way | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="follow.requested")
    follow_accepted: Way | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="follow.accepted")
    webhook_disabled: Way | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="webhook.disabled")
    key_revoked: Way | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="key.revoked")
    key_expiring: Way | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="key.expiring")
    moderation: Way | msgspec.UnsetType = msgspec.UNSET
    report_made: Way | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="report.made")
    report_decided: Way | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="report.decided")
    draft_refused: Way | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="draft.refused")

    def field_errors(self, now: int) -> Iterator[FieldError]:
        if all(getattr(self, name) is msgspec.UNSET for name in self.__struct_fields__):
            yield FieldError("body", Code.REQUIRED, "Give at least one type of notification.")

    def changes(self) -> dict[NotificationType, Way]:
        """Returns the given ways."""
        return msgspec.convert(msgspec.to_builtins(self), dict[NotificationType, Way])

    @classmethod
    def example(cls) -> Self:
        return cls(like=Way.OFF, comment=Way.MAIL)


class Unsubscribe(Body):
    """The types to mail no longer. The request of a mail program (`List-Unsubscribe`, RFC 8058) means all."""

    only: Annotated[
        NotificationType | None, Meta(description="This type alone; null: everything about notifications.")
    ] = None
    one_click: Annotated[str, Meta(max_length=100)] | None = msgspec.field(default=None, name="List-Unsubscribe")


def notification_shape(notification: Notification, base_url: str) -> NotificationOut:
    """Returns the notification as its account sees it."""
    actor = None
    if notification.actor_id is not None:
        actor = author_of(notification.actor_id, notification, base_url)
    return NotificationOut(
        id=notification.id,
        type=notification.type,
        created_at=iso(notification.created_at),
        read_at=iso_or_none(notification.read_at),
        post_id=notification.post_id,
        comment_id=notification.comment_id,
        webhook_id=notification.webhook_id,
        key_id=notification.key_id,
        case_id=notification.case_id if notification.type == NotificationType.REPORT_MADE else None,
        draft_id=notification.draft_id,
        actor=actor,
        others=max(0, notification.others),
    )
