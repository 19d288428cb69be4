"""Notifications and their types."""

from enum import StrEnum
from typing import Final

import msgspec

from pressroom.clock import DAY, MINUTE

RETENTION: Final = 90 * DAY
MAIL_PAUSE: Final = 15 * MINUTE
"""Time between two mails to one account, in milliseconds."""

MARKED: Final = 1_000
"""Notifications that are marked as read in one transaction."""

COUNTED: Final = 100
"""Unread notifications are counted up to so many: 99 and more than that."""


class NotificationType(StrEnum):
    """The type of a notification."""

    MENTION = "mention"
    COMMENT = "comment"
    REPLY = "reply"
    LIKE = "like"
    BOUNCE = "bounce"
    QUOTE = "quote"
    FOLLOW = "follow"
    FOLLOW_REQUESTED = "follow.requested"
    FOLLOW_ACCEPTED = "follow.accepted"
    WEBHOOK_DISABLED = "webhook.disabled"
    KEY_REVOKED = "key.revoked"
    KEY_EXPIRING = "key.expiring"
    MODERATION = "moderation"
    REPORT_MADE = "report.made"
    REPORT_DECIDED = "report.decided"
    DRAFT_REFUSED = "draft.refused"


class Way(StrEnum):
    """The way in which an account hears of a type of notification: APP lists it, MAIL mails it as well."""

    APP = "app"
    MAIL = "mail"
    OFF = "off"


BY_MAIL: Final = frozenset(
    {
        NotificationType.WEBHOOK_DISABLED,
        NotificationType.KEY_REVOKED,
        NotificationType.KEY_EXPIRING,
        NotificationType.DRAFT_REFUSED,
    }
)
"""The types that are mailed unless the account chooses otherwise."""


def usual_way(notification_type: NotificationType) -> Way:
    """Returns the way of a type for accounts that have not chosen another."""
    return Way.MAIL if notification_type in BY_MAIL else Way.APP


class Setting(msgspec.Struct):
    """A chosen way that is not the usual one."""

    type: NotificationType
    way: Way


class Subjects(msgspec.Struct, frozen=True):
    """The subjects of a notification, by their ids."""

    post_id: str | None = None
    comment_id: str | None = None
    webhook_id: str | None = None
    key_id: str | None = None
    case_id: str | None = None  # of a report
    draft_id: str | None = None


class Bundle(msgspec.Struct, frozen=True):
    """The notifications of one mail, by their ids, newest first. `has_more`: older ones are not listed in it."""

    ids: list[str]
    has_more: bool


class Notification(msgspec.Struct):
    """A notification with the account that caused it, if one did. Times are in milliseconds."""

    id: str
    type: NotificationType
    created_at: int
    read_at: int | None
    post_id: str | None
    comment_id: str | None
    webhook_id: str | None
    key_id: str | None
    case_id: str | None
    draft_id: str | None
    others: int  # further accounts that liked or bounced the post
    actor_id: str | None  # the account that caused it, with the next four fields
    username: str | None
    display_name: str | None
    avatar_token: str | None
    verified: bool
    hidden: bool  # not shown (`hidden_sql`)
