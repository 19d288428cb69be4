"""SQL of the search: the index of posts; accounts, hubs and hashtags by the beginnings of their names.

A statement that differs between the engines has a text for each, by the engine's name. SQLite has the words in a table
of FTS5, PostgreSQL in a column with an index of GIN. Names are in alphabetical order.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx, Value, sql
from pressroom.db.params import in_list, spread
from pressroom.domains.follows.queries import blocks_sql, follows_sql, mutes_sql
from pressroom.domains.hubs.models import Hub
from pressroom.domains.hubs.queries import HUB_COLUMNS
from pressroom.domains.search.models import Phrase, fts5_query, tsquery, tsvector

TAGGED: Final = 100
"""How many of a hashtag's newest posts are looked at; the hashtag is listed when one of them is visible."""


class FoundPerson(msgspec.Struct):
    """An account by a word of its names. `is_hidden`: it is suspended, blocked or muted. `is_listed`: lists may show it
    to the reader, not only to those who give its whole user name."""

    word: str
    id: str
    username: str
    display_name: str
    avatar_token: str | None
    verified: bool
    is_hidden: bool
    is_listed: bool


class FoundHub(Hub):
    """A hub by a word of its names."""

    word: str = ""


class FoundTag(msgspec.Struct):
    """A hashtag, its `word`. `is_shown`: a post that the reader may see has it."""

    word: str
    id: str
    is_shown: bool


def listed_sql(account: str) -> str:
    """Returns the condition that lists show an account to the reader: to everybody, or because they follow it.

    `account` is a column with an account's id, with its table, which is not `open`.
    """
    return (
        f"({account} = :reader OR {follows_sql(':reader', account)} OR (SELECT 1 FROM accounts open"
        f" WHERE open.id = {account} AND open.discoverable AND NOT open.is_private) IS NOT NULL)"
    )


_PERSON: Final = (
    "a.id, a.username, a.display_name, a.avatar_token, a.verified, (a.suspended_at IS NOT NULL"
    f" OR {blocks_sql(':reader', 'a.id')} OR {mutes_sql(':reader', 'a.id')}) AS is_hidden,"
    f" {listed_sql('a.id')} AS is_listed"
)

FIND_PERSON: Final = Query(
    FoundPerson, f"SELECT a.username_key AS word, {_PERSON} FROM accounts a WHERE a.username_key = :name"
)

FIND_PEOPLE: Final = Query(
    FoundPerson,
    f"SELECT w.word, {_PERSON} FROM (SELECT word, account_id FROM account_words"
    " WHERE word < :beyond AND (word, account_id) > (:word, :after) ORDER BY word, account_id LIMIT :limit) AS w"
    " CROSS JOIN accounts a WHERE a.id = w.account_id",
)

FIND_HUBS: Final = Query(
    FoundHub,
    f"SELECT {HUB_COLUMNS}, w.word FROM (SELECT word, hub_id FROM hub_words"
    " WHERE word < :beyond AND (word, hub_id) > (:word, :after) ORDER BY word, hub_id LIMIT :limit) AS w"
    " CROSS JOIN hubs h WHERE h.id = w.hub_id",
)

# A step along the index for each hashtag, however many posts it has. Of two lower bounds SQLite would use one, and walk
# from there to the other.
_NEXT: Final = (
    "(SELECT t.tag FROM post_tags t WHERE NOT t.hidden AND t.tag {bound} AND t.tag < :beyond ORDER BY t.tag LIMIT 1)"
)
FIND_TAGS: Final = Query(
    FoundTag,
    f"WITH RECURSIVE found (tag, place) AS (SELECT {_NEXT.format(bound='>= :first')}, 1 UNION ALL"
    f" SELECT {_NEXT.format(bound='> found.tag')}, place + 1 FROM found WHERE found.tag IS NOT NULL AND place < :limit)"
    " SELECT found.tag AS word, '' AS id,"
    " (SELECT 1 FROM (SELECT p.account_id FROM post_tags p WHERE NOT p.hidden AND p.tag = found.tag"
    f" ORDER BY p.post_id DESC LIMIT {TAGGED}) AS newest CROSS JOIN accounts a WHERE a.id = newest.account_id"
    f" AND NOT a.is_private AND a.suspended_at IS NULL AND NOT {blocks_sql(':reader', 'a.id')} LIMIT 1) IS NOT NULL"
    " AS is_shown FROM found WHERE found.tag IS NOT NULL",
)


async def find_person(tx: Tx, name: str, *, reader: str) -> FoundPerson | None:
    """Returns the account with this folded user name."""
    return await tx.one(FIND_PERSON, name=name, reader=reader)


async def find_people(tx: Tx, prefix: str, *, reader: str, place: tuple[str, str], limit: int) -> list[FoundPerson]:
    """Returns accounts by words that begin with `prefix`, behind the `place`: a word and an account's id."""
    found = await tx.all(FIND_PEOPLE, word=place[0], after=place[1], beyond=_beyond(prefix), reader=reader, limit=limit)
    return sorted(found, key=lambda each: (each.word, each.id))


async def find_hubs(tx: Tx, prefix: str, *, reader: str, place: tuple[str, str], limit: int) -> list[FoundHub]:
    """Returns hubs by words that begin with `prefix`, behind the `place`: a word and a hub's id."""
    found = await tx.all(FIND_HUBS, word=place[0], after=place[1], beyond=_beyond(prefix), reader=reader, limit=limit)
    return sorted(found, key=lambda each: (each.word, each.id))


async def find_tags(tx: Tx, prefix: str, *, reader: str, after: str, limit: int) -> list[FoundTag]:
    """Returns hashtags that begin with `prefix`, behind the hashtag `after`, in alphabetical order."""
    first = max(prefix, f"{after}\x01")  # no hashtag lies between, as none holds a control character
    return await tx.all(FIND_TAGS, first=first, beyond=_beyond(prefix), reader=reader, limit=limit)


def _beyond(prefix: str) -> str:
    """Returns a text behind all that begin with `prefix`."""
    return f"{prefix}\U0010ffff"


class Match(msgspec.Struct):
    """A post with the words of a search. `is_hidden`: lists do not show its author to the reader, who may mute it."""

    number: int
    post_id: str
    is_hidden: bool


class Indexed(msgspec.Struct):
    """A post of the index."""

    number: int
    post_id: str


_MATCH: Final = (
    f"SELECT i.number, i.post_id, ({mutes_sql(':reader', 'i.account_id')} OR NOT {listed_sql('i.account_id')})"
    " AS is_hidden"
)
_OF_A_SPAN: Final = (
    f"{_MATCH} FROM (SELECT rowid AS number FROM indexed_words WHERE indexed_words MATCH :phrases"
    " AND rowid < :before AND rowid >= :oldest ORDER BY rowid{order} LIMIT :limit) AS m"
    " CROSS JOIN indexed_posts i WHERE i.number = m.number"
)

FEW: Final = 32
"""Matches of a span that are read oldest first, in which FTS5 skips posts that lack one of the words: with a common
word and a seldom one that takes a third of the time. More matches are read newest first, until enough were found."""

# SQLite has no LATERAL: its statements look at one span, whose word is in the query.
FIND_OLDEST: Final = Query(Match, _OF_A_SPAN.format(order=""))
FIND_NEWEST: Final = Query(Match, _OF_A_SPAN.format(order=" DESC"))

# The words of PostgreSQL are found by GIN alone: OFFSET keeps the planner from walking along the primary key instead,
# in the order that is wanted, and `number + 0` from that key as a second index. Spans are looked at newest first, and
# only until the limit.
FIND_IN_SPANS: Final = Query(
    Match,
    f"{_MATCH} FROM (SELECT m.number, m.post_id, m.account_id"
    " FROM generate_series(CAST(:newest_span AS BIGINT), CAST(:oldest_span AS BIGINT), -1) AS s (span)"
    " CROSS JOIN LATERAL (SELECT f.number, f.post_id, f.account_id FROM"
    " (SELECT number, post_id, account_id FROM indexed_posts"
    " WHERE words @@ CAST(CAST(:phrases AS TEXT) || '''~' || s.span || '''' AS TSQUERY)"
    " AND number + 0 < :before AND number + 0 >= :oldest OFFSET 0) AS f"
    " ORDER BY f.number DESC LIMIT :limit) AS m LIMIT :limit) AS i",
)

DELETE_WORDS: Final = Command("DELETE FROM indexed_words WHERE rowid = :number")

INSERT_WORDS: Final = Command("INSERT INTO indexed_words (rowid, words) VALUES (:number, :words)")

EMPTY_WORDS: Final = Command("INSERT INTO indexed_words (indexed_words) VALUES ('delete-all')")

EMPTY_INDEX: Final = Command("DELETE FROM indexed_posts")

DELETE_INDEXED: Final = Command("DELETE FROM indexed_posts WHERE number = :number")

INSERT_INDEXED: Final = {
    "sqlite": Command(
        "INSERT INTO indexed_posts (number, post_id, account_id) VALUES (:number, :post_id, :account_id)"
    ),
    "postgres": Command(
        "INSERT INTO indexed_posts (number, post_id, account_id, words)"
        " VALUES (:number, :post_id, :account_id, CAST(CAST(:words AS TEXT) AS TSVECTOR))"
        " ON CONFLICT (number) DO UPDATE SET words = excluded.words"
    ),
}

_NUMBER: Final = attrgetter("number")

LIST_INDEXED: Final = Query(Indexed, f"SELECT number, post_id FROM indexed_posts WHERE post_id IN ({in_list('id')})")


@sql.one(
    "SELECT p.id FROM posts p WHERE p.account_id = :account_id AND p.imported_as IS NOT NULL AND p.deleted_at IS NULL"
    " AND NOT EXISTS (SELECT 1 FROM indexed_posts i WHERE i.post_id = p.id)"
    " AND NOT EXISTS (SELECT 1 FROM unindexed_posts u WHERE u.post_id = p.id) LIMIT 1"
)
async def find_left_out(tx: Tx, account_id: str) -> str | None:
    """Returns a post that the account imported and that is neither indexed nor to be indexed."""
    ...


async def empty_index(tx: Tx) -> None:
    """Removes all posts and words."""
    if tx.engine == "sqlite":
        await tx.run(EMPTY_WORDS)
    await tx.run(EMPTY_INDEX)


@sql.one("SELECT number FROM indexed_posts ORDER BY number DESC LIMIT 1")
async def find_newest(tx: Tx) -> int | None:
    """Returns the number of the post that was indexed last."""
    ...


@sql.one("SELECT number, post_id FROM indexed_posts WHERE post_id <= :post_id ORDER BY post_id DESC LIMIT 1")
async def find_up_to(tx: Tx, post_id: str) -> Indexed | None:
    """Returns the indexed post with this id, or the one before it."""
    ...


@sql.one("SELECT number, post_id FROM indexed_posts WHERE post_id >= :post_id ORDER BY post_id LIMIT 1")
async def find_from(tx: Tx, post_id: str) -> Indexed | None:
    """Returns the indexed post with this id, or the one after it."""
    ...


@sql.one("SELECT number, post_id FROM indexed_posts WHERE number < :number ORDER BY number DESC LIMIT 1")
async def find_below(tx: Tx, number: int) -> Indexed | None:
    """Returns the indexed post with the greatest number below this one."""
    ...


async def list_indexed(tx: Tx, post_ids: Sequence[str]) -> dict[str, int]:
    """Returns the numbers of those posts, of at most BATCH, that are in the index, by id."""
    return {each.post_id: each.number for each in await tx.all(LIST_INDEXED, **spread("id", post_ids))}


async def find_matches(
    tx: Tx,
    wanted: Sequence[Phrase],
    unwanted: Sequence[Phrase],
    *,
    reader: str,
    spans: range,
    before: int,
    oldest: int,
    limit: int,
) -> list[Match]:
    """Returns the newest posts that match, newest first.

    Args:
        tx: A transaction.
        wanted: Phrases that posts must have.
        unwanted: Phrases that they must not have.
        reader: The id of the account that searches.
        spans: The spans to look at, newest first.
        before: Numbers must be below.
        oldest: Numbers must not be below.
        limit: How many to return at most.
    """
    values: dict[str, Value] = {"reader": reader, "before": before, "oldest": oldest}
    if tx.engine == "sqlite":
        found: list[Match] = []
        for span in spans:
            values["phrases"] = fts5_query(wanted, unwanted, span)
            matches = await tx.all(FIND_OLDEST, limit=FEW, **values)
            if len(matches) == FEW:
                matches = await tx.all(FIND_NEWEST, limit=limit - len(found), **values)
            found += sorted(matches, key=_NUMBER, reverse=True)[: limit - len(found)]
            if len(found) == limit:
                break
        return found
    phrases = tsquery(wanted, unwanted)
    values |= {"phrases": f"{phrases} & " if phrases else "", "limit": limit}
    found = await tx.all(FIND_IN_SPANS, newest_span=spans[0], oldest_span=spans[-1], **values)
    return sorted(found, key=_NUMBER, reverse=True)


async def put_post(tx: Tx, *, number: int, is_new: bool, post_id: str, account_id: str, words: Sequence[str]) -> None:
    """Indexes a post under a number, in place of its earlier words."""
    if tx.engine != "sqlite":
        values: dict[str, Value] = {"number": number, "post_id": post_id, "account_id": account_id}
        await tx.later(INSERT_INDEXED[tx.engine], words=tsvector(words), **values)
        return
    if is_new:
        await tx.run(INSERT_INDEXED[tx.engine], number=number, post_id=post_id, account_id=account_id)
    else:
        await tx.run(DELETE_WORDS, number=number)
    await tx.run(INSERT_WORDS, number=number, words=" ".join(words))


async def remove_post(tx: Tx, number: int) -> None:
    """Takes a post out of the index."""
    if tx.engine == "sqlite":
        await tx.run(DELETE_WORDS, number=number)
    await tx.run(DELETE_INDEXED, number=number)
