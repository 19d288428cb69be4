"""SQL of a read of explore. `reader` is an account's id, or empty for somebody signed out."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx, Value, sql
from pressroom.domains.explore.models import Pick, PickKind, SuggestedPerson
from pressroom.domains.follows.queries import blocks_sql, follows_sql, mutes_sql

NEAR: Final = 12
"""Followed accounts whose follows are looked at for people to follow: those with the newest accounts."""

FURTHER: Final = 12
"""Follows of each of them that are looked at."""

CANDIDATES: Final = 24
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
