"""Notifications as their page shows them."""

from typing import Final

import msgspec

NOTICES: Final = 20
"""Notifications on a page."""


class Notice(msgspec.Struct):
    """A notification, with the names of its subjects. Times are in milliseconds.

    `username` to `display_name`: who caused it. `key_label`: the key that was revoked. `url`, `webhook_key_id`: the
    endpoint that was disabled and its key. None where there is no such thing, or not any more. `hidden`: who caused it
    is suspended, so it is not shown.
    """

    id: str
    type: str
    created_at: int
    read_at: int | None
    post_id: str | None
    webhook_id: str | None
    key_id: str | None
    username: str | None
    display_name: str | None
    key_label: str | None
    url: str | None
    webhook_key_id: str | None
    hidden: bool


class ShownNotice(msgspec.Struct):
    """A notification and, of a mention, the beginning of the post: None when the reader cannot see that any more."""

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
