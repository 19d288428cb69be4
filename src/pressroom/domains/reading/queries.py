"""SQL of the feeds: the version of a feed, in one read along an index."""

from typing import Final

import msgspec

from pressroom.db import Query, Tx

ENTRIES: Final = 20
"""Posts on a page of a feed."""


class FeedRow(msgspec.Struct):
    """The columns on which a post's entry in a feed depends. Times are in milliseconds."""

    id: str
    edited_at: int | None
    username: str
    display_name: str
    original_edited_at: int | None
    original_is_shown: bool


_ROW: Final = (
    "SELECT p.id, p.edited_at, a.username, a.display_name, o.edited_at AS original_edited_at,"
    " (o.id IS NOT NULL AND o.deleted_at IS NULL AND o.visibility = 'PUBLIC'"
    " AND b.suspended_at IS NULL) AS original_is_shown"
)
_WITH: Final = (
    "JOIN accounts a ON a.id = p.account_id"
    " LEFT JOIN posts o ON o.id = p.original_id LEFT JOIN accounts b ON b.id = o.account_id"
)
_SHOWN: Final = "p.id < :before AND p.visibility = 'PUBLIC' AND p.deleted_at IS NULL AND a.suspended_at IS NULL"

OF_ACCOUNT: Final = Query(
    FeedRow,
    f"{_ROW} FROM posts p {_WITH} WHERE p.account_id = (SELECT id FROM accounts WHERE username_key = :name"
    f" AND NOT is_private) AND {_SHOWN} ORDER BY p.id DESC LIMIT :limit",
)

OF_HUB: Final = Query(
    FeedRow,
    f"{_ROW} FROM posts p {_WITH} WHERE p.hub_id = (SELECT id FROM hubs WHERE slug = :name)"
    f" AND {_SHOWN} ORDER BY p.id DESC LIMIT :limit",
)

OF_TAG: Final = Query(
    FeedRow,
    f"{_ROW} FROM post_tags t JOIN posts p ON p.id = t.post_id {_WITH} WHERE t.tag = :name AND NOT t.hidden"
    " AND t.post_id < :before"
    f" AND NOT a.is_private AND {_SHOWN} ORDER BY t.post_id DESC LIMIT :limit",
)


async def list_rows(tx: Tx, query: Query[FeedRow], name: str, before: str) -> list[FeedRow]:
    """Returns the entries before an id of the feed of an account, hub or hashtag of this name, newest first; with one
    more when there is a further page, whose link depends on it."""
    return await tx.all(query, name=name, before=before, limit=ENTRIES + 1)
