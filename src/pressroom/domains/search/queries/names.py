"""Accounts, hubs and hashtags by the beginnings of their names, in alphabetical order."""

from typing import Final

import msgspec

from pressroom.db import Query, Tx
from pressroom.domains.follows.queries import blocks_sql, follows_sql, mutes_sql
from pressroom.domains.hubs.models import Hub
from pressroom.domains.hubs.queries import HUB_COLUMNS

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
