"""SQL of the timeline: how it is found without reading every followed account (docs/decisions/0023-timeline.md)."""

from collections.abc import Sequence
from typing import Final

import msgspec

from pressroom.db import Query, Tx, Value, sql
from pressroom.domains.follows.queries import follows_sql, mutes_sql
from pressroom.domains.timeline.models import Author, Hub

FOLLOWED: Final = 100_000
"""How many follows of a reader one look for the newest authors reads."""

SLOTS: Final = 12
"""Sources that one statement lists."""


def _newest(table: str) -> str:
    """Returns the id of an account's newest row of a table below `before`; NULL when it has no newer entry."""
    return (
        f"CASE WHEN b.last >= :before THEN coalesce((SELECT n.id FROM {table} n WHERE n.account_id = b.id"
        " AND n.id < :before ORDER BY n.id DESC LIMIT 1), '') END"
    )


# One look for each followed account, and two more for those with an entry since the page's beginning. It is a subquery
# for one value: a join would read all accounts, on PostgreSQL. The first LIMIT keeps SQLite from asking several times.
LIST_AUTHORS: Final = Query(
    Author,
    "SELECT s.id, s.newest, coalesce((SELECT c.account_id FROM clips c WHERE c.account_id >= s.id"
    " ORDER BY c.account_id, c.id LIMIT 1), '') = s.id AS has_clips,"
    f" (s.id = :reader OR {follows_sql('s.id', ':reader')}) AS followed_back, {mutes_sql(':reader', 's.id')} AS muted"
    " FROM (SELECT d.id,"
    " CASE WHEN d.post IS NULL THEN d.last WHEN d.post < d.clip THEN d.clip ELSE d.post END AS newest"
    f" FROM (SELECT b.id, b.last, {_newest('posts')} AS post, {_newest('clips')} AS clip FROM (SELECT e.id,"
    " (SELECT a.last_entry_id FROM accounts a WHERE a.id = e.id AND a.suspended_at IS NULL) AS last"
    " FROM (SELECT f.followed_id AS id FROM follows f WHERE f.account_id = :reader"
    " UNION ALL SELECT own.id FROM accounts own WHERE own.id = :reader) AS e LIMIT :looked_at) AS b"
    " WHERE b.last > '') AS d ORDER BY newest DESC LIMIT :limit) AS s"
    " WHERE s.newest <> '' ORDER BY s.newest DESC",
)


def _first(number: int, table: str, condition: str, column: str = "id") -> str:
    """Returns the part of a UNION with the newest ids below `before`, read along an index."""
    return (
        f"SELECT id FROM (SELECT {column} AS id FROM {table} WHERE {condition} AND {column} < :before"
        f" ORDER BY {column} DESC LIMIT :limit) AS part{number}"
    )


def _of_authors(table: str) -> list[str]:
    """Returns the conditions for posts of SLOTS authors: those that followers see, and the reader's own.

    The visibilities are no parameters: each has a part of the index of its own.
    """
    parts: list[str] = []
    for slot in range(SLOTS):
        for visibility, author in (("PUBLIC", "author"), ("FOLLOWERS", "author"), ("CONNECTIONS", "friend")):
            parts.append(f"account_id = :{author}{slot} AND visibility = '{visibility}' AND deleted_at IS NULL")
    parts += [f"account_id = :own AND visibility = '{each}' AND deleted_at IS NULL" for each in ("PRIVATE", "CUSTOM")]
    return [_first(number, table, condition) for number, condition in enumerate(parts)]


_LISTED: Final = [
    _first(
        1000 + slot, "post_audiences", f"account_id = :reader AND author_id = :author{slot} AND live", column="post_id"
    )
    for slot in range(SLOTS)
]

LIST_POSTS_OF_AUTHORS: Final = Query(str, " UNION ALL ".join([*_of_authors("posts"), *_LISTED]))
LIST_CLIPS_OF_AUTHORS: Final = Query(str, " UNION ALL ".join(_of_authors("clips")))

_IN_HUB: Final = "hub_id = m.hub_id AND visibility = 'PUBLIC' AND deleted_at IS NULL AND id < :before"


def _newest_in_hub(table: str) -> str:
    return f"coalesce((SELECT id FROM {table} WHERE {_IN_HUB} ORDER BY id DESC LIMIT 1), '')"


_NEWEST_LISTED: Final = (
    "coalesce((SELECT post_id FROM post_audiences WHERE account_id = :reader AND hub_id = m.hub_id AND live"
    " AND post_id < :before ORDER BY post_id DESC LIMIT 1), '')"
)

LIST_HUBS: Final = Query(
    Hub,
    "SELECT id, newest FROM (SELECT id, CASE WHEN listed > post AND listed > clip THEN listed"
    " WHEN post < clip THEN clip ELSE post END AS newest"
    f" FROM (SELECT m.hub_id AS id, {_newest_in_hub('posts')} AS post, {_newest_in_hub('clips')} AS clip,"
    f" {_NEWEST_LISTED} AS listed FROM memberships m WHERE m.account_id = :reader) AS joined) AS hubs"
    " WHERE newest <> '' ORDER BY newest DESC LIMIT :limit",
)

_PUBLIC_IN_HUB: Final = "hub_id = :hub{} AND visibility = 'PUBLIC' AND deleted_at IS NULL"

_LISTED_IN_HUB: Final = "account_id = :reader AND hub_id = :hub{} AND live"

LIST_OF_HUBS: Final = Query(
    str,
    " UNION ALL ".join(
        part
        for slot in range(SLOTS)
        for part in (
            _first(slot, "posts", _PUBLIC_IN_HUB.format(slot)),
            _first(2000 + slot, "clips", _PUBLIC_IN_HUB.format(slot)),
            _first(1000 + slot, "post_audiences", _LISTED_IN_HUB.format(slot), column="post_id"),
        )
    ),
)


async def list_authors(tx: Tx, reader: str, *, before: str, limit: int) -> list[Author]:
    """Returns the reader and those of the accounts that they follow which have the newest entries below `before`,
    newest first."""
    return await tx.all(LIST_AUTHORS, reader=reader, before=before, looked_at=FOLLOWED, limit=limit)


async def list_hubs(tx: Tx, reader: str, *, before: str, limit: int) -> list[Hub]:
    """Returns those of the hubs that the reader joined which have the newest entries below `before`."""
    return await tx.all(LIST_HUBS, reader=reader, before=before, limit=limit)


async def list_of_authors(tx: Tx, reader: str, authors: Sequence[Author], *, before: str, limit: int) -> list[str]:
    """Returns the newest ids of each visibility of posts and clips of at most SLOTS authors, in no order."""
    values: dict[str, Value] = {"own": reader if any(each.id == reader for each in authors) else "", "before": before}
    for slot in range(SLOTS):
        author = authors[slot] if slot < len(authors) else None
        values[f"author{slot}"] = author.id if author else ""
        values[f"friend{slot}"] = author.id if author and author.followed_back else ""
    found = await tx.all(LIST_POSTS_OF_AUTHORS, reader=reader, limit=limit, **values)
    if any(each.has_clips for each in authors):
        found += await tx.all(LIST_CLIPS_OF_AUTHORS, limit=limit, **values)
    return found


async def list_of_hubs(tx: Tx, reader: str, hubs: Sequence[Hub], *, before: str, limit: int) -> list[str]:
    """Returns the newest ids of posts and clips in at most SLOTS hubs, in no order: of PUBLIC ones, and of those whose
    allowlist names the reader."""
    values = {f"hub{slot}": hubs[slot].id if slot < len(hubs) else "" for slot in range(SLOTS)}
    return await tx.all(LIST_OF_HUBS, reader=reader, before=before, limit=limit, **values)


# The limit of each part keeps PostgreSQL from sorting whole tables.
_NEWEST: Final = " UNION ALL ".join(
    f"SELECT id, account_id FROM (SELECT id, account_id FROM {table} WHERE {{0}} ORDER BY id DESC LIMIT :looked_at)"
    f" AS {table[0]}"
    for table in ("posts", "clips")
)
_NEWEST_FIRST: Final = "ORDER BY id DESC LIMIT :looked_at"
_OF_SOURCE: Final = f"(newest.account_id = :reader OR {follows_sql(':reader', 'newest.account_id')})"


@sql.all(f"SELECT id FROM ({_NEWEST.format('id < :before')} {_NEWEST_FIRST}) AS newest WHERE {_OF_SOURCE} LIMIT :limit")
async def walk_newest(tx: Tx, reader: str, *, before: str, looked_at: int, limit: int) -> list[str]:
    """Returns the newest ids of posts and clips by the reader and followed accounts, visible or not, among the newest
    `looked_at` of all below `before`."""
    ...


class Recent(msgspec.Struct):
    """How many of the newest posts and clips of all were looked at, the newest id, and how many are of the reader's
    sources."""

    looked_at: int
    newest: str
    found: int


FIND_RECENT: Final = Query(
    Recent,
    "SELECT count(*) AS looked_at, coalesce(max(id), :after) AS newest,"
    f" count(CASE WHEN {_OF_SOURCE} THEN 1 END) AS found FROM ({_NEWEST.format('id > :after')} {_NEWEST_FIRST})"
    " AS newest",
)
