"""The follows package's SQL."""

from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx, sql
from pressroom.domains.follows.models import ListedPerson, Person, Relation


class Between(msgspec.Struct):
    """The follows between two accounts, and whether one of them blocks the other."""

    follows: bool
    followed_back: bool
    blocked: bool


def follows_sql(account: str, other: str) -> str:
    """Returns the condition that one account follows another, for the statements of every package.

    `account` and `other` are parameters, or columns with the name of their table, which is not `edge`. It is a
    subquery for one value, not EXISTS, because PostgreSQL may answer EXISTS by reading the whole table beforehand.
    """
    return f"(SELECT 1 FROM follows edge WHERE edge.account_id = {account} AND edge.followed_id = {other}) IS NOT NULL"


def blocks_sql(account: str, other: str) -> str:
    """Returns the condition that one of two accounts blocks the other; the arguments are those of `follows_sql`.

    It counts because PostgreSQL estimates that a subquery IS NULL for one row in 200, and would sort a whole list
    instead of reading its beginning along an index.
    """
    return f"((SELECT count(*) FROM blocks wall WHERE wall.account_id = {account} AND wall.other_id = {other}) > 0)"


def mutes_sql(account: str, other: str) -> str:
    """Returns the condition that one account mutes another; the arguments are those of `follows_sql`."""
    return f"(SELECT 1 FROM mutes hush WHERE hush.account_id = {account} AND hush.muted_id = {other}) IS NOT NULL"


FIND_BETWEEN: Final = Query(
    Between,
    f"SELECT {follows_sql(':account_id', ':other_id')} AS follows,"
    f" {follows_sql(':other_id', ':account_id')} AS followed_back,"
    f" {blocks_sql(':account_id', ':other_id')} AS blocked",
)

FIND_RELATION: Final = Query(
    Relation,
    f"SELECT {follows_sql(':account_id', ':other_id')} AS following,"
    " (SELECT 1 FROM follow_requests r WHERE r.account_id = :account_id AND r.followed_id = :other_id) IS NOT NULL"
    " AS requested,"
    " (SELECT 1 FROM blocks b WHERE b.account_id = :account_id AND b.other_id = :other_id AND b.is_own) IS NOT NULL"
    " AS blocked,"
    f" {mutes_sql(':account_id', ':other_id')} AS muted,"
    " (SELECT 1 FROM blocks b WHERE b.account_id = :other_id AND b.other_id = :account_id AND b.is_own) IS NOT NULL"
    " AS blocked_by",
)

_PERSON: Final = "a.id, a.username, a.display_name, a.avatar_token, a.verified"


# Only the first `looked_at` follows are read: the cost has a bound however many accounts one account follows.
SUGGEST_FOLLOWED: Final = Query(
    Person,
    f"SELECT f.followed_id AS listed_as, {_PERSON}, f.created_at"
    " FROM (SELECT followed_id, created_at FROM follows WHERE account_id = :account_id ORDER BY followed_id"
    " LIMIT :looked_at) AS f JOIN accounts a ON a.id = f.followed_id"
    " WHERE a.suspended_at IS NULL AND a.username_key >= :first AND a.username_key < :beyond"
    " ORDER BY a.username_key LIMIT :limit",
)


@sql.run(
    "INSERT INTO follows (account_id, followed_id, created_at) VALUES (:account_id, :followed_id, :now)"
    " ON CONFLICT DO NOTHING"
)
async def insert_follow(tx: Tx, *, account_id: str, followed_id: str) -> bool:
    """Inserts a follow. Returns False when there is one already."""
    ...


@sql.run("DELETE FROM follows WHERE account_id = :account_id AND followed_id = :followed_id")
async def delete_follow(tx: Tx, *, account_id: str, followed_id: str) -> bool:
    """Deletes a follow. Returns whether there was one."""
    ...


@sql.run(
    "INSERT INTO follow_requests (id, account_id, followed_id, created_at)"
    " VALUES (:request_id, :account_id, :followed_id, :now) ON CONFLICT DO NOTHING"
)
async def insert_request(tx: Tx, *, request_id: str, account_id: str, followed_id: str) -> bool:
    """Inserts a request to follow. Returns False when there is one already."""
    ...


@sql.run("DELETE FROM follow_requests WHERE account_id = :account_id AND followed_id = :followed_id")
async def delete_request(tx: Tx, *, account_id: str, followed_id: str) -> bool:
    """Deletes a request to follow. Returns whether there was one."""
    ...


async def get_between(tx: Tx, *, account_id: str, other_id: str) -> Between:
    """Returns which of the two follows or blocks the other."""
    return await tx.one(FIND_BETWEEN, account_id=account_id, other_id=other_id) or Between(False, False, False)


async def get_relation(tx: Tx, *, account_id: str, other_id: str) -> Relation:
    """Returns the account's settings towards the other one, and whether that one blocks it."""
    return await tx.one(FIND_RELATION, account_id=account_id, other_id=other_id) or Relation(False)


@sql.all(
    f"SELECT f.account_id AS listed_as, {_PERSON}, f.created_at FROM follows f JOIN accounts a ON a.id = f.account_id"
    " WHERE f.followed_id = :account_id AND f.account_id < :before AND a.suspended_at IS NULL"
    " ORDER BY f.account_id DESC LIMIT :limit"
)
async def list_followers(tx: Tx, account_id: str, before: str, limit: int) -> list[Person]:
    """Returns the followers of the account, newest account first, before `before`."""
    ...


@sql.all(
    f"SELECT f.followed_id AS listed_as, {_PERSON}, f.created_at FROM follows f JOIN accounts a ON a.id = f.followed_id"
    " WHERE f.account_id = :account_id AND f.followed_id < :before AND a.suspended_at IS NULL"
    " ORDER BY f.followed_id DESC LIMIT :limit"
)
async def list_followed(tx: Tx, account_id: str, before: str, limit: int) -> list[Person]:
    """Returns the accounts that the account follows, newest account first, before `before`."""
    ...


# Whom the reader may see in lists of another account. Rows that are left out are returned too, so that a page looks at
# no more than `limit` follows.
_SHOWN: Final = (
    "a.suspended_at IS NULL AND ((a.discoverable AND NOT a.is_private) OR a.id = :reader)"
    f" AND NOT {blocks_sql(':reader', 'a.id')} AS shown"
)


@sql.all(
    f"SELECT f.account_id AS listed_as, {_PERSON}, f.created_at, {_SHOWN} FROM follows f"
    " JOIN accounts a ON a.id = f.account_id WHERE f.followed_id = :account_id AND f.account_id < :before"
    " ORDER BY f.account_id DESC LIMIT :limit"
)
async def list_followers_for(tx: Tx, account_id: str, reader: str, before: str, limit: int) -> list[ListedPerson]:
    """Returns the followers of an account for another reader, newest account first, before `before`."""
    ...


@sql.all(
    f"SELECT f.followed_id AS listed_as, {_PERSON}, f.created_at, {_SHOWN} FROM follows f"
    " JOIN accounts a ON a.id = f.followed_id WHERE f.account_id = :account_id AND f.followed_id < :before"
    " ORDER BY f.followed_id DESC LIMIT :limit"
)
async def list_followed_for(tx: Tx, account_id: str, reader: str, before: str, limit: int) -> list[ListedPerson]:
    """Returns the accounts that an account follows for another reader, newest account first, before `before`."""
    ...


@sql.all(
    f"SELECT r.id AS listed_as, {_PERSON}, r.created_at FROM follow_requests r JOIN accounts a ON a.id = r.account_id"
    " WHERE r.followed_id = :account_id AND r.id < :before AND a.suspended_at IS NULL"
    " ORDER BY r.id DESC LIMIT :limit"
)
async def list_requests(tx: Tx, account_id: str, before: str, limit: int) -> list[Person]:
    """Returns the pending requests to follow the account, latest first, before `before`."""
    ...


@sql.all(
    f"SELECT r.followed_id AS listed_as, {_PERSON}, r.created_at FROM follow_requests r"
    " JOIN accounts a ON a.id = r.followed_id"
    " WHERE r.account_id = :account_id AND r.followed_id < :before AND a.suspended_at IS NULL"
    " ORDER BY r.followed_id DESC LIMIT :limit"
)
async def list_sent(tx: Tx, account_id: str, before: str, limit: int) -> list[Person]:
    """Returns the accounts that the account has asked to follow, newest account first, before `before`."""
    ...


@sql.all("SELECT account_id FROM follow_requests WHERE followed_id = :followed_id ORDER BY id LIMIT :limit")
async def list_waiting(tx: Tx, followed_id: str, limit: int) -> list[str]:
    """Returns the accounts of the oldest requests to follow an account."""
    ...


@sql.all(
    "SELECT r.account_id FROM follow_requests r JOIN accounts a ON a.id = r.account_id"
    " WHERE r.followed_id = :followed_id AND r.id <= :up_to AND a.suspended_at IS NULL ORDER BY r.id LIMIT :limit"
)
async def list_shown(tx: Tx, followed_id: str, *, up_to: str, limit: int) -> list[str]:
    """Returns the accounts of the oldest requests up to `up_to`, without suspended ones."""
    ...


@sql.all(
    "SELECT followed_id FROM (SELECT followed_id FROM follows WHERE account_id = :account_id LIMIT :limit) AS followed"
    " UNION SELECT account_id FROM (SELECT account_id FROM follows WHERE followed_id = :account_id LIMIT :limit)"
    " AS following LIMIT :limit"
)
async def list_pairs(tx: Tx, account_id: str, *, limit: int) -> list[str]:
    """Returns the ids of accounts that follow the account or that it follows, in no order."""
    ...


@sql.run(
    "DELETE FROM follow_requests WHERE (account_id, followed_id) IN (SELECT account_id, followed_id FROM"
    " follow_requests WHERE account_id = :account_id OR followed_id = :account_id LIMIT :batch)"
)
async def erase_requests(tx: Tx, account_id: str, batch: int) -> int:
    """Removes requests that an account made or received, and returns how many."""
    ...


INSERT_BLOCK: Final = Command(
    "INSERT INTO blocks (account_id, other_id, is_own, created_at) VALUES (:account_id, :other_id, TRUE, :now)"
    " ON CONFLICT (account_id, other_id) DO UPDATE SET is_own = TRUE"
)

INSERT_BLOCKED: Final = Command(
    "INSERT INTO blocks (account_id, other_id, is_own, created_at) VALUES (:other_id, :account_id, FALSE, :now)"
    " ON CONFLICT DO NOTHING"
)

DELETE_BLOCK: Final = Command(
    "DELETE FROM blocks WHERE ((account_id = :account_id AND other_id = :other_id)"
    " OR (account_id = :other_id AND other_id = :account_id)) AND (SELECT count(*) FROM blocks back"
    " WHERE back.account_id = :other_id AND back.other_id = :account_id AND back.is_own) = 0"
)

DISOWN_BLOCK: Final = Command(
    "UPDATE blocks SET is_own = FALSE WHERE account_id = :account_id AND other_id = :other_id"
)


async def insert_block(tx: Tx, *, account_id: str, other_id: str) -> None:
    """Makes an account block another one. The caller has locked both."""
    await tx.run(INSERT_BLOCK, account_id=account_id, other_id=other_id, now=tx.now)
    await tx.run(INSERT_BLOCKED, account_id=account_id, other_id=other_id, now=tx.now)


async def delete_block(tx: Tx, *, account_id: str, other_id: str) -> None:
    """Takes back that an account blocks another one, which may block it still. The caller has locked both."""
    if not await tx.run(DELETE_BLOCK, account_id=account_id, other_id=other_id):
        await tx.run(DISOWN_BLOCK, account_id=account_id, other_id=other_id)


@sql.run(
    "INSERT INTO mutes (account_id, muted_id, created_at) VALUES (:account_id, :muted_id, :now) ON CONFLICT DO NOTHING"
)
async def insert_mute(tx: Tx, *, account_id: str, muted_id: str) -> bool:
    """Inserts a mute. Returns False when there is one already."""
    ...


@sql.run("DELETE FROM mutes WHERE account_id = :account_id AND muted_id = :muted_id")
async def delete_mute(tx: Tx, *, account_id: str, muted_id: str) -> bool:
    """Deletes a mute. Returns whether there was one."""
    ...


@sql.all(
    f"SELECT b.other_id AS listed_as, {_PERSON}, b.created_at FROM blocks b JOIN accounts a ON a.id = b.other_id"
    " WHERE b.account_id = :account_id AND b.is_own AND b.other_id < :before AND a.suspended_at IS NULL"
    " ORDER BY b.other_id DESC LIMIT :limit"
)
async def list_blocked(tx: Tx, account_id: str, before: str, limit: int) -> list[Person]:
    """Returns the accounts that the account blocks, newest account first, before `before`."""
    ...


@sql.all(
    f"SELECT m.muted_id AS listed_as, {_PERSON}, m.created_at FROM mutes m JOIN accounts a ON a.id = m.muted_id"
    " WHERE m.account_id = :account_id AND m.muted_id < :before AND a.suspended_at IS NULL"
    " ORDER BY m.muted_id DESC LIMIT :limit"
)
async def list_muted(tx: Tx, account_id: str, before: str, limit: int) -> list[Person]:
    """Returns the accounts that the account mutes, newest account first, before `before`."""
    ...


@sql.run(
    "DELETE FROM blocks WHERE (account_id, other_id) IN (SELECT account_id, other_id FROM blocks"
    " WHERE account_id = :account_id OR other_id = :account_id LIMIT :batch)"
)
async def erase_blocks(tx: Tx, account_id: str, batch: int) -> int:
    """Removes blocks by an account and of it, and returns how many."""
    ...


@sql.run(
    "DELETE FROM mutes WHERE (account_id, muted_id) IN (SELECT account_id, muted_id FROM mutes"
    " WHERE account_id = :account_id OR muted_id = :account_id LIMIT :batch)"
)
async def erase_mutes(tx: Tx, account_id: str, batch: int) -> int:
    """Removes mutes by an account and of it, and returns how many."""
    ...


async def suggest_followed(tx: Tx, account_id: str, prefix: str, *, looked_at: int, limit: int) -> list[Person]:
    """Returns followed accounts with a folded user name that begins with `prefix`, in alphabetical order.

    Reads at most `looked_at` follows.
    """
    return await tx.all(
        SUGGEST_FOLLOWED,
        account_id=account_id,
        first=prefix,
        beyond=f"{prefix}\U0010ffff",
        looked_at=looked_at,
        limit=limit,
    )
