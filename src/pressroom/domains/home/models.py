"""Notifications as their page shows them."""

from typing import Final

import msgspec

NOTICES: Final = 20
"""Notifications on a page."""

MAILED: Final = 50
"""Notifications in a mail."""


class Notice(msgspec.Struct):
    """A notification, with the names of its subjects. Times are in milliseconds.

    A field is None where the notification has no such subject, or the subject is gone.
    """

    id: str
    type: str
    created_at: int
    read_at: int | None
    post_id: str | None
    comment_id: str | None
    webhook_id: str | None
    key_id: str | None
    case_id: str | None
    draft_id: str | None
    others: int  # further accounts that liked or bounced the post
    actor_id: str | None  # this and the next three: the account that caused it
    username: str | None
    display_name: str | None
    avatar_token: str | None
    comment: str | None  # this and the next: the comment's text, and the comment at the top of its thread
    thread_id: str | None
    key_label: str | None  # this and the next: the key that was revoked, or expires
    key_expires_at: int | None
    url: str | None  # of the endpoint that was disabled
    webhook_key_id: str | None  # that endpoint's key
    hidden: bool  # not shown (docs/notifications.md#hidden)


class ShownNotice(msgspec.Struct):
    """A notification, and the beginning of its post or comment: None when the reader cannot see that any more."""

    notice: Notice
    words: str | None


class NoticePage(msgspec.Struct):
    """A page of notifications: unread ones, then read ones. `next_page` is the query of the next; None on the last."""

    unread: list[ShownNotice]
    read: list[ShownNotice]
    next_page: str | None

    @property
    def newest(self) -> str | None:
        """Returns the id of the newest unread one that is shown; None without any."""
        return max((each.notice.id for each in self.unread), default=None)
