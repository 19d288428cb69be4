"""Posts as a reader sees them: `reader` is an account's id, or empty for somebody signed out."""

from collections.abc import Sequence
from typing import Final

import msgspec

from pressroom.db import Query, Tx, sql
from pressroom.db.params import in_list, spread
from pressroom.domains.follows.queries import blocks_sql, follows_sql, mutes_sql
from pressroom.domains.posts.models import POST_COLUMNS, SeenPost, Version
from pressroom.domains.posts.visibility import Visibility

# Subqueries for one value instead of EXISTS: PostgreSQL may answer EXISTS by reading a whole table beforehand.
_LISTED: Final = "(SELECT 1 FROM post_audiences l WHERE l.post_id = p.id AND l.account_id = :reader) IS NOT NULL"


def _not_suspended(author: str) -> str:
    """Returns the condition that the account whose id is the column `author` is not suspended."""
    return f"(SELECT s.suspended_at FROM accounts s WHERE s.id = {author}) IS NULL"


def _not_blocked(author: str) -> str:
    """Returns the condition that neither the reader nor the account with the id `author` blocks the other."""
    return f"NOT {blocks_sql(':reader', author)}"


_SEEN: Final = (
    ", ".join(f"p.{column}" for column in POST_COLUMNS)
    + ", p.edited_at, coalesce(p.deleted_at, a.deleted_at) AS deleted_at, p.likes, p.comments, p.shares,"
    " p.share_count, p.views, a.username, a.display_name, a.avatar_token, a.verified, k.label AS key_label,"
    " k.key_prefix, h.name AS hub_name, h.slug AS hub_slug,"
    " (SELECT 1 FROM likes i WHERE i.post_id = p.id AND i.account_id = :reader) IS NOT NULL AS liked,"
    " (SELECT 1 FROM saves s WHERE s.post_id = p.id AND s.account_id = :reader) IS NOT NULL AS saved,"
    " (SELECT 1 FROM posts b WHERE b.original_id = p.id AND b.account_id = :reader AND b.type = 'SHARE'"
    " AND b.deleted_at IS NULL) IS NOT NULL AS bounced,"
    f" p.account_id = :reader AS is_author, {follows_sql(':reader', 'p.account_id')} AS follows,"
    f" {follows_sql('p.account_id', ':reader')} AS followed_back, {_LISTED} AS listed,"
    f" {blocks_sql(':reader', 'p.account_id')} AS blocked, {mutes_sql(':reader', 'p.account_id')} AS muted,"
    " (a.suspended_at IS NOT NULL AND (a.deleted_at IS NULL OR a.deleted_at <> a.suspended_at)) AS suspended"
)

_JOINS: Final = (
    " JOIN accounts a ON a.id = p.account_id"
    " LEFT JOIN api_keys k ON k.id = p.key_id LEFT JOIN hubs h ON h.id = p.hub_id"
)

FIND_POST: Final = Query(SeenPost, f"SELECT {_SEEN} FROM posts p{_JOINS} WHERE p.id = :post_id")

FIND_POSTS: Final = Query(SeenPost, f"SELECT {_SEEN} FROM posts p{_JOINS} WHERE p.id IN ({in_list('id')})")


def _of_account(also: str) -> str:
    return (
        "SELECT id FROM posts WHERE account_id = :author AND visibility = :visibility AND deleted_at IS NULL"
        f"{also} AND id < :before ORDER BY id DESC LIMIT :limit"
    )


# A condition that a parameter turns off would keep planners from the index of posts with media.
LIST_OF_ACCOUNT: Final = Query(str, _of_account(""))
LIST_MEDIA_OF_ACCOUNT: Final = Query(str, _of_account(" AND has_media"))


_IN_HUB: Final = "hub_id = :hub_id AND deleted_at IS NULL AND id < :before"
_NEWEST: Final = "ORDER BY id DESC LIMIT :limit"

# PUBLIC posts, the reader's own, and those of allowlists with the reader, each by an index of its own.
LIST_OF_HUB: Final = Query(
    str,
    f"SELECT id FROM (SELECT id FROM posts WHERE {_IN_HUB} AND visibility = 'PUBLIC'"
    f" AND {_not_suspended('posts.account_id')} AND {_not_blocked('posts.account_id')} {_NEWEST}) AS shown"
    + "".join(
        f" UNION ALL SELECT id FROM (SELECT id FROM posts WHERE {_IN_HUB} AND account_id = :reader"
        f" AND visibility = '{visibility}' {_NEWEST}) AS {visibility.lower()}"
        for visibility in Visibility
        if visibility is not Visibility.PUBLIC
    )
    + " UNION ALL SELECT post_id FROM (SELECT post_id FROM post_audiences WHERE account_id = :reader AND live"
    " AND hub_id = :hub_id AND post_id < :before"
    f" AND {_not_suspended('post_audiences.author_id')} AND {_not_blocked('post_audiences.author_id')}"
    " ORDER BY post_id DESC LIMIT :limit) AS listed",
)

AUTHORS: Final = 25
"""Authors whose posts in a hub one statement lists."""


class HubAuthor(msgspec.Struct):
    """Somebody whom the reader follows, and their newest post of a visibility in a hub."""

    account_id: str
    visibility: Visibility
    newest: str


def _newest_of_followed(visibility: Visibility, also: str = "") -> str:
    return (
        f"SELECT f.followed_id AS account_id, '{visibility}' AS visibility,"
        f" (SELECT p.id FROM posts p WHERE p.hub_id = :hub_id"
        f" AND p.account_id = f.followed_id AND p.visibility = '{visibility}' AND p.deleted_at IS NULL"
        f" AND p.id < :before ORDER BY p.id DESC LIMIT 1) AS newest FROM follows f WHERE f.account_id = :reader"
        f" AND {_not_suspended('f.followed_id')}{also}"
    )


_MUTUAL: Final = f" AND {follows_sql('f.followed_id', ':reader')}"

# One look for each whom the reader follows, however many posts there are.
LIST_HUB_AUTHORS: Final = Query(
    HubAuthor,
    f"SELECT account_id, visibility, newest FROM ({_newest_of_followed(Visibility.FOLLOWERS)}"
    f" UNION ALL {_newest_of_followed(Visibility.CONNECTIONS, _MUTUAL)}) AS authors"
    " WHERE newest IS NOT NULL ORDER BY newest DESC LIMIT :limit",
)

LIST_OF_HUB_AUTHORS: Final = Query(
    str,
    " UNION ALL ".join(
        f"SELECT id FROM (SELECT id FROM posts WHERE {_IN_HUB} AND account_id = :author{place}"
        f" AND visibility = :visibility{place} {_NEWEST}) AS author{place}"
        for place in range(AUTHORS)
    ),
)

# A post is among the tags while it is PUBLIC and stands. `hidden` follows the account's status after a while, so
# that rows of private accounts are not walked through; the account's present state decides at once.
LIST_OF_TAG: Final = Query(
    str,
    "SELECT t.post_id FROM post_tags t WHERE t.tag = :tag AND NOT t.hidden AND t.post_id < :before"
    " AND (SELECT 1 FROM accounts a WHERE a.id = t.account_id AND NOT a.is_private AND a.suspended_at IS NULL)"
    f" IS NOT NULL AND {_not_blocked('t.account_id')} ORDER BY t.post_id DESC LIMIT :limit",
)


async def find_post(tx: Tx, post_id: str, *, reader: str) -> SeenPost | None:
    """Returns the post with this id, deleted or not, visible or not."""
    return await tx.one(FIND_POST, post_id=post_id, reader=reader)


async def find_posts(tx: Tx, post_ids: Sequence[str], *, reader: str) -> list[SeenPost]:
    """Returns the posts with these ids, at most BATCH, in no order."""
    return await tx.all(FIND_POSTS, reader=reader, **spread("id", post_ids))


async def list_of_account(
    tx: Tx, author: str, visibility: Visibility, *, before: str, limit: int, media: bool = False
) -> list[str]:
    """Returns the ids of an account's posts of one visibility, newest first, before `before`; `media`: of those with
    files."""
    query = LIST_MEDIA_OF_ACCOUNT if media else LIST_OF_ACCOUNT
    return await tx.all(query, author=author, visibility=visibility, before=before, limit=limit)


def _of_own(also: str) -> str:
    """Returns the text of the statement that reads each visibility by its own index."""
    return " UNION ALL ".join(
        f"SELECT id FROM (SELECT id FROM posts WHERE account_id = :author AND visibility = '{visibility}'"
        f" AND deleted_at IS NULL{also} AND id < :before ORDER BY id DESC LIMIT :limit) AS {visibility.lower()}"
        for visibility in Visibility
    )


LIST_OF_OWN: Final = Query(str, _of_own(""))
LIST_MEDIA_OF_OWN: Final = Query(str, _of_own(" AND has_media"))


async def list_of_own(tx: Tx, author: str, *, before: str, limit: int, media: bool = False) -> list[str]:
    """Returns the ids of an account's newest posts of each visibility, before `before`, in no order; `media`: of those
    with files."""
    return await tx.all(LIST_MEDIA_OF_OWN if media else LIST_OF_OWN, author=author, before=before, limit=limit)


# Lists yield identifiers alone, and the posts are read by those: a planner that is given all at once may walk through
# other posts instead of this index.
def _for_listed(also: str) -> str:
    return (
        "SELECT l.post_id FROM post_audiences l WHERE l.account_id = :reader AND l.author_id = :author AND l.live"
        f"{also} AND l.post_id < :before ORDER BY l.post_id DESC LIMIT :limit"
    )


LIST_FOR_LISTED: Final = Query(str, _for_listed(""))
LIST_MEDIA_FOR_LISTED: Final = Query(
    str,
    _for_listed(" AND (SELECT p.has_media FROM posts p WHERE p.account_id = l.author_id AND p.id = l.post_id)"),
)


async def list_for_listed(
    tx: Tx, author: str, *, reader: str, before: str, limit: int, media: bool = False
) -> list[str]:
    """Returns the ids of an account's posts whose allowlist names the reader, newest first, before `before`; `media`:
    of those with files."""
    query = LIST_MEDIA_FOR_LISTED if media else LIST_FOR_LISTED
    return await tx.all(query, author=author, reader=reader, before=before, limit=limit)


async def list_of_hub(tx: Tx, hub_id: str, *, reader: str, before: str, limit: int) -> list[str]:
    """Returns the ids of the newest posts in a hub, before `before`, that are PUBLIC, the reader's own, or name the
    reader in their allowlist: the newest of each kind, in no order."""
    return await tx.all(LIST_OF_HUB, hub_id=hub_id, reader=reader, before=before, limit=limit)


async def list_hub_authors(tx: Tx, hub_id: str, *, reader: str, before: str, limit: int) -> list[HubAuthor]:
    """Returns authors whom the reader follows, with a visibility: those with the newest such posts in a hub."""
    return await tx.all(LIST_HUB_AUTHORS, hub_id=hub_id, reader=reader, before=before, limit=limit)


async def list_of_hub_authors(
    tx: Tx, hub_id: str, authors: Sequence[HubAuthor], *, before: str, limit: int
) -> list[str]:
    """Returns the ids of the newest posts in a hub by these authors, at most AUTHORS, in no order."""
    values: dict[str, str] = {}
    for place in range(AUTHORS):
        author = authors[place] if place < len(authors) else None
        values[f"author{place}"] = author.account_id if author else ""
        values[f"visibility{place}"] = author.visibility if author else ""
    return await tx.all(LIST_OF_HUB_AUTHORS, hub_id=hub_id, before=before, limit=limit, **values)


async def list_of_tag(tx: Tx, tag: str, *, reader: str, before: str, limit: int) -> list[str]:
    """Returns the ids of the PUBLIC posts with a hashtag, newest first, before `before`."""
    return await tx.all(LIST_OF_TAG, tag=tag, reader=reader, before=before, limit=limit)


@sql.one(
    "SELECT count(*) FROM (SELECT 1 FROM post_audiences WHERE account_id = :reader AND author_id = :author AND live"
    " ORDER BY post_id DESC LIMIT :limit) AS listed"
)
async def count_listed(tx: Tx, author: str, *, reader: str, limit: int) -> int:
    """Returns how many posts of an account an allowlist shows the reader; `limit` at the most."""
    ...


@sql.all(
    "SELECT post_id FROM saves WHERE account_id = :account_id AND post_id < :before ORDER BY post_id DESC LIMIT :limit"
)
async def list_saved(tx: Tx, account_id: str, *, before: str, limit: int) -> list[str]:
    """Returns the ids of posts that the account saved, newest post first, before `before`."""
    ...


@sql.all(
    "SELECT content, visibility, written_at FROM post_versions WHERE account_id = :account_id AND post_id = :post_id"
    " ORDER BY id DESC LIMIT :limit"
)
async def list_versions(tx: Tx, account_id: str, post_id: str, limit: int) -> list[Version]:
    """Returns the versions before the last `limit` edits of a post, newest first."""
    ...
