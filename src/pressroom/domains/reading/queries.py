"""SQL of feeds and sitemaps, each one read along an index."""

from collections.abc import Sequence
from typing import Final

import msgspec

from pressroom.db import Query, Tx, sql
from pressroom.db.params import in_list, spread

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


class PublicPost(msgspec.Struct):
    """A PUBLIC post, and when it changed last (milliseconds)."""

    id: str
    account_id: str
    changed_at: int


class FindableAccount(msgspec.Struct):
    """An account that search engines may find."""

    id: str
    username: str


@sql.one("SELECT number FROM indexed_posts ORDER BY number DESC LIMIT 1")
async def find_last_number(tx: Tx) -> int | None:
    """Returns the last number of the search index."""
    ...


# A narrowed or hidden post can still be in the index, so its own row decides.
LIST_PUBLIC: Final = Query(
    PublicPost,
    "SELECT id, account_id, coalesce(edited_at, created_at) AS changed_at FROM posts"
    f" WHERE id IN ({in_list('id')}) AND visibility = 'PUBLIC' AND deleted_at IS NULL ORDER BY id",
)

LIST_FINDABLE: Final = Query(
    FindableAccount,
    f"SELECT id, username FROM accounts WHERE id IN ({in_list('id')})"
    " AND discoverable AND NOT is_private AND suspended_at IS NULL",
)


@sql.all("SELECT post_id FROM indexed_posts WHERE number >= :first AND number < :end ORDER BY number")
async def list_indexed(tx: Tx, first: int, end: int) -> list[str]:
    """Returns the posts with these numbers of the search index."""
    ...


async def list_public(tx: Tx, post_ids: Sequence[str]) -> list[PublicPost]:
    """Returns those of at most BATCH posts that are PUBLIC and not deleted, oldest first."""
    return await tx.all(LIST_PUBLIC, **spread("id", post_ids))


async def list_findable(tx: Tx, account_ids: Sequence[str]) -> dict[str, str]:
    """Returns the user names of those of at most BATCH accounts that search engines may find, by their ids."""
    return {each.id: each.username for each in await tx.all(LIST_FINDABLE, **spread("id", account_ids))}


async def list_rows(tx: Tx, query: Query[FeedRow], name: str, before: str) -> list[FeedRow]:
    """Returns the entries before an id of the feed of an account, hub or hashtag of this name, newest first; with one
    more when there is a further page, whose link depends on it."""
    return await tx.all(query, name=name, before=before, limit=ENTRIES + 1)
