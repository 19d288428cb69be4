"""SQL of explore: a read of it, the exclusions of admins, and the job that makes the picks.

`reader` is an account's id, or empty for somebody signed out. The job reads pages of recent rows, each with a bound
(docs/decisions/0022-explore.md): a page limits the rows that it reads before it looks at their accounts; `counts` says
which of them matter.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx, Value, sql
from pressroom.db.params import in_list, spread
from pressroom.domains.explore.models import Exclusion, Pick, PickKind, SuggestedPerson
from pressroom.domains.explore.scores import TagUse
from pressroom.domains.follows.queries import blocks_sql, follows_sql, mutes_sql

NEAR: Final = 8
"""Followed accounts whose follows are looked at for people to follow: those with the newest accounts."""

FURTHER: Final = 10
"""Follows of each of them that are looked at."""

CANDIDATES: Final = 16
"""People of these, the most followed, that are looked at closely."""

_ACCOUNT: Final = "'account'"


def included_sql(kind: str, subject: str) -> str:
    """Returns the condition that no admin took a subject out of explore; the arguments are SQL."""
    return f"(SELECT 1 FROM explore_exclusions x WHERE x.kind = {kind} AND x.subject = {subject}) IS NULL"


def listed_sql(account: str) -> str:
    """Returns the condition that explore may list an account; `account` is the alias of its row."""
    return (
        f"({account}.discoverable AND NOT {account}.is_private AND {account}.suspended_at IS NULL"
        f" AND {included_sql(_ACCOUNT, f'{account}.id')})"
    )


def _met_sql(author: str) -> str:
    """Returns the condition that the reader neither mutes an account nor is kept from it by a block."""
    return f"NOT {blocks_sql(':reader', author)} AND NOT {mutes_sql(':reader', author)}"


def _unknown_sql(account: str) -> str:
    """Returns the condition that an account is neither the reader nor followed by the reader."""
    return f"{account} <> :reader AND NOT {follows_sql(':reader', account)}"


class ShownPick(msgspec.Struct):
    """A pick as a reader may see it, with the row of a hub."""

    kind: PickKind
    subject: str
    posts: int
    accounts: int
    name: str | None
    slug: str | None
    description: str | None
    members: int | None
    created_at: int | None
    is_member: bool


# A hashtag is shown while its page shows the reader a post, by the condition of that page.
_TAG_STANDS: Final = (
    "(SELECT t.post_id FROM post_tags t WHERE t.tag = k.subject AND NOT t.hidden"
    " AND (SELECT 1 FROM accounts a WHERE a.id = t.account_id AND NOT a.is_private AND a.suspended_at IS NULL)"
    f" IS NOT NULL AND NOT {blocks_sql(':reader', 't.account_id')} ORDER BY t.post_id DESC LIMIT 1) IS NOT NULL"
)
_POST_STANDS: Final = (
    "(SELECT 1 FROM posts p JOIN accounts a ON a.id = p.account_id WHERE p.id = k.subject"
    f" AND p.visibility = 'PUBLIC' AND p.deleted_at IS NULL AND {listed_sql('a')} AND {_met_sql('a.id')}) IS NOT NULL"
)

LIST_PICKS: Final = Query(
    ShownPick,
    "SELECT k.kind, k.subject, k.posts, k.accounts, h.name, h.slug, h.description, h.members, h.created_at,"
    " (SELECT 1 FROM memberships m WHERE m.account_id = :reader AND m.hub_id = h.id) IS NOT NULL AS is_member"
    f" FROM explore_picks k LEFT JOIN hubs h ON k.kind = 'hub' AND h.id = k.subject"
    f" WHERE {included_sql('k.kind', 'k.subject')} AND CASE k.kind WHEN 'tag' THEN {_TAG_STANDS}"
    f" WHEN 'post' THEN {_POST_STANDS} ELSE h.id IS NOT NULL END ORDER BY k.kind, k.rank",
)

# SQLite has no lateral joins: of each near account, the follow behind its newest FURTHER ones is found by OFFSET.
_NEAR: Final = (
    "SELECT f.followed_id AS account_id, coalesce((SELECT e.followed_id FROM follows e"
    " WHERE e.account_id = f.followed_id ORDER BY e.followed_id DESC LIMIT 1 OFFSET :further), '') AS behind"
    " FROM follows f WHERE f.account_id = :reader ORDER BY f.followed_id DESC LIMIT :near"
)
_BY_FOLLOWED: Final = (
    "SELECT g.followed_id AS account_id, count(*) AS followed_by, 0 AS place"
    f" FROM ({_NEAR}) AS n JOIN follows g ON g.account_id = n.account_id AND g.followed_id > n.behind"
    " WHERE (SELECT s.suspended_at FROM accounts s WHERE s.id = n.account_id) IS NULL"
    f" AND {_unknown_sql('g.followed_id')}"
    " GROUP BY g.followed_id ORDER BY followed_by DESC, g.followed_id DESC LIMIT :candidates"
)

SUGGEST_PEOPLE: Final = Query(
    SuggestedPerson,
    "SELECT a.id, a.username, a.display_name, a.bio, a.avatar_token, a.verified, a.total_followers, c.followed_by"
    " FROM (SELECT account_id, max(followed_by) AS followed_by, max(place) AS place FROM"
    f" (SELECT account_id, followed_by, place FROM ({_BY_FOLLOWED}) AS near"
    " UNION ALL SELECT k.subject, 0, k.rank FROM explore_picks k"
    f" WHERE k.kind = 'account' AND {_unknown_sql('k.subject')}) AS found GROUP BY account_id) AS c"
    f" JOIN accounts a ON a.id = c.account_id WHERE {listed_sql('a')} AND {_met_sql('a.id')}"
    " ORDER BY c.followed_by DESC, c.place, a.id DESC LIMIT :limit",
)

INSERT_PICK: Final = Command(
    "INSERT INTO explore_picks (kind, rank, subject, account_id, posts, accounts)"
    " VALUES (:kind, :rank, :subject, :account_id, :posts, :accounts)"
)


async def list_picks(tx: Tx, reader: str) -> list[ShownPick]:
    """Returns the picks that are not people and that the reader may see now, by kind, the best first."""
    return await tx.all(LIST_PICKS, reader=reader)


async def suggest_people(tx: Tx, reader: str, limit: int) -> list[SuggestedPerson]:
    """Returns accounts that the reader does not follow: first those that followed accounts follow, then picks."""
    return await tx.all(SUGGEST_PEOPLE, reader=reader, near=NEAR, further=FURTHER, candidates=CANDIDATES, limit=limit)


@sql.run("DELETE FROM explore_picks")
async def delete_picks(tx: Tx) -> None:
    """Deletes all picks, some hundred."""
    ...


async def insert_picks(tx: Tx, picks: Sequence[Pick]) -> None:
    """Inserts picks, those of each kind in the order of their ranks."""
    ranks: Counter[PickKind] = Counter()
    rows: list[dict[str, Value]] = []
    for pick in picks:
        rows.append({**msgspec.structs.asdict(pick), "rank": ranks[pick.kind]})
        ranks[pick.kind] += 1
    await tx.run_each(INSERT_PICK, rows)


_EXCLUSION = (
    "SELECT x.id, x.kind, x.subject, coalesce(CASE x.kind WHEN 'account' THEN s.username WHEN 'hub' THEN h.slug END,"
    " x.subject) AS name, x.reason, a.username AS admin, x.created_at FROM explore_exclusions x"
    " JOIN accounts a ON a.id = x.admin_id LEFT JOIN accounts s ON x.kind = 'account' AND s.id = x.subject"
    " LEFT JOIN hubs h ON x.kind = 'hub' AND h.id = x.subject"
)


@sql.run(
    "INSERT INTO explore_exclusions (id, kind, subject, account_id, reason, admin_id, created_at)"
    " VALUES (:exclusion_id, :kind, :subject, :account_id, :reason, :admin_id, :now) ON CONFLICT DO NOTHING"
)
async def insert_exclusion(
    tx: Tx, *, exclusion_id: str, kind: PickKind, subject: str, account_id: str | None, reason: str, admin_id: str
) -> bool:
    """Inserts an exclusion. Returns False when the subject is out of explore already."""
    ...


@sql.one(f"{_EXCLUSION} WHERE x.id = :exclusion_id")
async def find_exclusion(tx: Tx, exclusion_id: str) -> Exclusion | None:
    """Returns the exclusion with this id."""
    ...


@sql.all(f"{_EXCLUSION} WHERE x.id < :before ORDER BY x.id DESC LIMIT :limit")
async def list_exclusions(tx: Tx, before: str, limit: int) -> list[Exclusion]:
    """Returns exclusions with ids before `before`, newest first."""
    ...


@sql.one("DELETE FROM explore_exclusions WHERE id = :exclusion_id RETURNING coalesce(account_id, '')")
async def delete_exclusion(tx: Tx, exclusion_id: str) -> str | None:
    """Deletes an exclusion. Returns the id of its account, empty for none; None when there is no such exclusion."""
    ...


@sql.run(
    "DELETE FROM explore_exclusions WHERE account_id = :account_id AND id IN"
    " (SELECT id FROM explore_exclusions WHERE account_id = :account_id LIMIT :batch)"
)
async def erase_exclusions(tx: Tx, account_id: str, batch: int) -> int:
    """Deletes up to `batch` exclusions of an account and its posts, and returns how many."""
    ...


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
