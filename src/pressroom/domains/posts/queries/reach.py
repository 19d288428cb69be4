"""The reach of a post: its hashtags, its mentions, and the allowlist of a CUSTOM post."""

from collections.abc import Sequence
from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx, sql
from pressroom.db.params import batches, in_list, in_rows, spread
from pressroom.domains.follows.queries import blocks_sql, follows_sql

INSERT_TAGS: Final = Command(
    "INSERT INTO post_tags (account_id, post_id, tag, hidden)"
    " SELECT :account_id, :post_id, column1,"
    " (SELECT a.is_private OR a.suspended_at IS NOT NULL FROM accounts a WHERE a.id = :account_id)"
    f" FROM (VALUES {in_rows('tag')}) AS tags WHERE column1 <> '' ON CONFLICT DO NOTHING"
)


LIST_TAGGED: Final = Query(
    str,
    "SELECT post_id FROM post_tags WHERE account_id = :account_id AND post_id > :after ORDER BY post_id LIMIT :limit",
)

MOVE_TAGS: Final = Command(
    "UPDATE post_tags SET hidden = :hidden"
    " WHERE account_id = :account_id AND post_id > :after AND post_id <= :last AND hidden <> :hidden"
)


class Mentioned(msgspec.Struct):
    """An account that a post names, its relation to the author, and whether it was notified of the post before."""

    id: str
    username_key: str
    follows: bool
    followed_back: bool
    listed: bool
    was_notified: bool


FIND_MENTIONED: Final = Query(
    Mentioned,
    "SELECT a.id, a.username_key,"
    f" {follows_sql('a.id', ':author')} AS follows, {follows_sql(':author', 'a.id')} AS followed_back,"
    " EXISTS (SELECT 1 FROM post_audiences l WHERE l.post_id = :post_id AND l.account_id = a.id) AS listed,"
    " EXISTS (SELECT 1 FROM post_mentions m WHERE m.post_id = :post_id AND m.account_id = a.id) AS was_notified"
    f" FROM accounts a WHERE a.username_key IN ({in_list('name')}) AND a.suspended_at IS NULL"
    f" AND NOT {blocks_sql(':author', 'a.id')}",
)


class Named(msgspec.Struct):
    """An account by its folded user name."""

    id: str
    username_key: str


FIND_NAMED: Final = Query(
    Named,
    f"SELECT id, username_key FROM accounts WHERE username_key IN ({in_list('name')}) AND suspended_at IS NULL",
)


DELETE_AUDIENCE: Final = Command("DELETE FROM post_audiences WHERE post_id = :post_id")

INSERT_AUDIENCE: Final = Command(
    "INSERT INTO post_audiences (post_id, account_id, author_id, hub_id, live)"
    " SELECT p.id, column1, p.account_id, p.hub_id, p.visibility = 'CUSTOM'"
    f" FROM posts p, (VALUES {in_rows('id')}) AS ids"
    " WHERE p.id = :post_id AND p.account_id = :author AND column1 <> ''"
)


async def insert_tags(tx: Tx, *, account_id: str, post_id: str, tags: Sequence[str]) -> None:
    """Inserts the hashtags of a post."""
    for batch in batches(tags):
        await tx.run(INSERT_TAGS, account_id=account_id, post_id=post_id, **spread("tag", batch))


@sql.run("DELETE FROM post_tags WHERE account_id = :account_id AND post_id = :post_id")
async def delete_tags(tx: Tx, *, account_id: str, post_id: str) -> None:
    """Deletes the hashtags of a post."""
    ...


async def move_tags(tx: Tx, account_id: str, *, after: str, limit: int, hidden: bool) -> str | None:
    """Hides or shows the hashtags of an account's next posts after `after`, of some `limit` rows; the last of these
    posts, None when there are no more."""
    tagged = await tx.all(LIST_TAGGED, account_id=account_id, after=after, limit=limit)
    if not tagged:
        return None
    await tx.run(MOVE_TAGS, account_id=account_id, after=after, last=tagged[-1], hidden=hidden)
    return tagged[-1]


async def find_mentioned(tx: Tx, names: Sequence[str], *, author: str, post_id: str) -> list[Mentioned]:
    """Returns the accounts with these folded names, at most BATCH, in no order; none that block the author or that the
    author blocks."""
    return await tx.all(FIND_MENTIONED, author=author, post_id=post_id, **spread("name", names))


@sql.one("SELECT count(*) FROM post_mentions WHERE post_id = :post_id")
async def count_told(tx: Tx, post_id: str) -> int:
    """Returns how many accounts were notified of the post."""
    ...


@sql.run("INSERT INTO post_mentions (post_id, account_id) VALUES (:post_id, :account_id)")
async def insert_mention(tx: Tx, post_id: str, account_id: str) -> None:
    """Writes down that the account was notified of the post."""
    ...


async def find_named(tx: Tx, names: Sequence[str]) -> dict[str, str]:
    """Returns the ids of the accounts with these folded names, by name."""
    rows = [row for batch in batches(names) for row in await tx.all(FIND_NAMED, **spread("name", batch))]
    return {row.username_key: row.id for row in rows}


@sql.all("SELECT account_id FROM post_audiences WHERE post_id = :post_id")
async def list_audience(tx: Tx, post_id: str) -> list[str]:
    """Returns the accounts on the allowlist of a post."""
    ...


# Those who can see the post by it: suspended and deleted accounts see nothing.
@sql.all(
    "SELECT a.username FROM post_audiences l JOIN accounts a ON a.id = l.account_id"
    " WHERE l.post_id = :post_id AND a.suspended_at IS NULL ORDER BY a.username_key"
)
async def list_audience_names(tx: Tx, post_id: str) -> list[str]:
    """Returns the user names on the allowlist of a post, in the order of the alphabet."""
    ...


async def replace_audience(tx: Tx, *, post_id: str, author: str, account_ids: Sequence[str]) -> None:
    """Makes these accounts, and no others, the allowlist of a post."""
    await tx.run(DELETE_AUDIENCE, post_id=post_id)
    for batch in batches(account_ids):
        await tx.run(INSERT_AUDIENCE, post_id=post_id, author=author, **spread("id", batch))


@sql.run("UPDATE post_audiences SET live = :live WHERE post_id = :post_id AND live <> :live")
async def set_audience_live(tx: Tx, post_id: str, *, live: bool) -> None:
    """Writes down whether the allowlist of a post is in force: while the post is CUSTOM and not deleted."""
    ...


@sql.run(
    "DELETE FROM post_audiences WHERE account_id = :account_id AND post_id IN"
    " (SELECT post_id FROM post_audiences WHERE account_id = :account_id LIMIT :batch)"
)
async def erase_listed(tx: Tx, account_id: str, batch: int) -> int:
    """Takes an account off up to `batch` allowlists, in force or not, and returns off how many."""
    ...


@sql.run(
    "DELETE FROM post_mentions WHERE account_id = :account_id AND post_id IN"
    " (SELECT post_id FROM post_mentions WHERE account_id = :account_id LIMIT :batch)"
)
async def erase_mentions(tx: Tx, account_id: str, batch: int) -> int:
    """Removes up to `batch` rows of mentions of an account, and returns how many."""
    ...
