"""SQL of the job that makes the picks: pages of recent rows, each with a bound (docs/decisions/0022-explore.md).

A page limits the rows that it reads before it looks at their accounts: `counts` says which of them matter.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from pressroom.db import Query, Tx, sql
from pressroom.db.params import in_list, spread
from pressroom.domains.explore.queries import included_sql, listed_sql
from pressroom.domains.explore.scores import TagUse


class Like(msgspec.Struct):
    """A like of a post. `counts`: its account is not suspended. `created_at` is in milliseconds."""

    created_at: int
    post_id: str
    account_id: str
    counts: bool


class Bounce(msgspec.Struct):
    """A bounce or quote of a post. `counts`: its account is not suspended."""

    id: str
    post_id: str
    account_id: str
    counts: bool


class Publication(msgspec.Struct):
    """A post with its author. `counts`: it is PUBLIC, stands, and says something of its own."""

    id: str
    account_id: str
    counts: bool


class LikedPost(msgspec.Struct):
    """A post that may be a pick. `is_own`: its author liked it within the day."""

    id: str
    account_id: str
    is_own: bool


class FollowedAccount(msgspec.Struct):
    """An account that may be a pick."""

    id: str
    total_followers: int


class UseBefore(msgspec.Struct):
    """A use of a hashtag before the last day."""

    post_id: str
    account_id: str


_COUNTS: Final = "a.suspended_at IS NULL AS counts"
_POST_INCLUDED: Final = included_sql("'post'", "p.id")
_HUB_INCLUDED: Final = included_sql("'hub'", "h.id")

FIND_LIKED: Final = Query(
    LikedPost,
    "SELECT p.id, p.account_id, coalesce((SELECT l.created_at FROM likes l"
    " WHERE l.post_id = p.id AND l.account_id = p.account_id), 0) >= :since AS is_own"
    " FROM posts p JOIN accounts a ON a.id = p.account_id"
    f" WHERE p.id IN ({in_list('id')}) AND p.visibility = 'PUBLIC' AND p.deleted_at IS NULL AND p.type <> 'SHARE'"
    f" AND {listed_sql('a')} AND {_POST_INCLUDED}",
)

FIND_LISTED: Final = Query(
    FollowedAccount,
    f"SELECT a.id, a.total_followers FROM accounts a WHERE a.id IN ({in_list('id')}) AND {listed_sql('a')}",
)

FIND_EXCLUDED_TAGS: Final = Query(
    str, f"SELECT subject FROM explore_exclusions WHERE kind = 'tag' AND subject IN ({in_list('tag')})"
)


@sql.all(
    f"SELECT t.post_id, t.tag, t.account_id, {listed_sql('a')} AS counts"
    " FROM (SELECT post_id, tag, account_id FROM post_tags WHERE NOT hidden AND post_id >= :since"
    " AND (post_id, tag) < (:before, :tag) ORDER BY post_id DESC, tag DESC LIMIT :limit) AS t"
    " JOIN accounts a ON a.id = t.account_id ORDER BY t.post_id DESC, t.tag DESC"
)
async def list_tag_uses(tx: Tx, *, since: str, before: str, tag: str, limit: int) -> list[TagUse]:
    """Returns uses of hashtags in posts from `since` on, newest first, before the use of `tag` in the post `before`."""
    ...


@sql.all(
    "SELECT post_id, account_id FROM post_tags WHERE tag = :tag AND NOT hidden AND post_id >= :since"
    " AND post_id < :before ORDER BY post_id DESC LIMIT :limit"
)
async def list_uses_of(tx: Tx, tag: str, *, since: str, before: str, limit: int) -> list[UseBefore]:
    """Returns uses of a hashtag in posts from `since` on and before `before`, newest first."""
    ...


@sql.all(
    f"SELECT b.id, b.post_id, b.account_id, {_COUNTS} FROM (SELECT id, original_id AS post_id, account_id FROM posts"
    " WHERE original_id > '' AND deleted_at IS NULL AND id >= :since AND id < :before"
    " ORDER BY id DESC LIMIT :limit) AS b JOIN accounts a ON a.id = b.account_id ORDER BY b.id DESC"
)
async def list_bounces(tx: Tx, *, since: str, before: str, limit: int) -> list[Bounce]:
    """Returns bounces and quotes from `since` on and before `before`, newest first."""
    ...


@sql.all(
    f"SELECT l.created_at, l.post_id, l.account_id, {_COUNTS} FROM (SELECT created_at, post_id, account_id FROM likes"
    " WHERE created_at >= :since AND (created_at, post_id, account_id) < (:created_at, :post_id, :account_id)"
    " ORDER BY created_at DESC, post_id DESC, account_id DESC LIMIT :limit) AS l"
    " JOIN accounts a ON a.id = l.account_id ORDER BY l.created_at DESC, l.post_id DESC, l.account_id DESC"
)
async def list_likes(tx: Tx, *, since: int, created_at: int, post_id: str, account_id: str, limit: int) -> list[Like]:
    """Returns likes from `since` on, newest first, before the like of a post by an account at `created_at`
    (milliseconds)."""
    ...


@sql.all(
    "SELECT id, account_id, visibility = 'PUBLIC' AND deleted_at IS NULL AND type <> 'SHARE' AS counts FROM posts"
    " WHERE id < :before ORDER BY id DESC LIMIT :limit"
)
async def list_newest(tx: Tx, *, before: str, limit: int) -> list[Publication]:
    """Returns the newest posts before `before`."""
    ...


@sql.all(f"SELECT h.id FROM hubs h WHERE {_HUB_INCLUDED} ORDER BY h.members DESC, h.id DESC LIMIT :limit")
async def list_largest_hubs(tx: Tx, *, limit: int) -> list[str]:
    """Returns the ids of the hubs with the most members, those first."""
    ...


async def find_liked(tx: Tx, post_ids: Sequence[str], *, since: int) -> list[LikedPost]:
    """Returns those of the posts, at most BATCH, that may be picks, in no order. `since` (milliseconds) begins the
    day."""
    return await tx.all(FIND_LIKED, since=since, **spread("id", post_ids))


async def find_listed(tx: Tx, account_ids: Sequence[str]) -> list[FollowedAccount]:
    """Returns those of the accounts, at most BATCH, that may be picks, in no order."""
    return await tx.all(FIND_LISTED, **spread("id", account_ids))


async def find_excluded_tags(tx: Tx, tags: Sequence[str]) -> list[str]:
    """Returns those of the hashtags, at most BATCH, that are out of explore."""
    return await tx.all(FIND_EXCLUDED_TAGS, **spread("tag", tags))
