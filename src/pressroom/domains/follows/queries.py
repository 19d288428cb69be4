"""The follows room's SQL."""

from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx

INSERT_FOLLOW: Final = Command(
    "INSERT INTO follows (account_id, followed_id, created_at) VALUES (:account_id, :followed_id, :now)"
    " ON CONFLICT DO NOTHING"
)

DELETE_FOLLOW: Final = Command("DELETE FROM follows WHERE account_id = :account_id AND followed_id = :followed_id")

ADD_FOLLOWERS: Final = Command("UPDATE accounts SET total_followers = total_followers + :count WHERE id = :account_id")

ADD_FOLLOWING: Final = Command("UPDATE accounts SET total_following = total_following + :count WHERE id = :account_id")


class Between(msgspec.Struct):
    """Which of two accounts follows the other."""

    follows: bool
    followed_back: bool


FIND_BETWEEN: Final = Query(
    Between,
    "SELECT EXISTS (SELECT 1 FROM follows WHERE account_id = :account_id AND followed_id = :other_id),"
    " EXISTS (SELECT 1 FROM follows WHERE account_id = :other_id AND followed_id = :account_id)",
)


async def insert_follow(tx: Tx, *, account_id: str, followed_id: str) -> bool:
    """Whether the account did not follow the other one yet, and now does."""
    return bool(await tx.run(INSERT_FOLLOW, account_id=account_id, followed_id=followed_id, now=tx.now))


async def delete_follow(tx: Tx, *, account_id: str, followed_id: str) -> bool:
    """Whether the account followed the other one, and no longer does."""
    return bool(await tx.run(DELETE_FOLLOW, account_id=account_id, followed_id=followed_id))


async def count_follow(tx: Tx, *, account_id: str, followed_id: str, count: int) -> None:
    """Moves the counters of both accounts by `count`, always in the same order, so that no two wait in a circle."""
    for changed, counter in sorted(((account_id, ADD_FOLLOWING), (followed_id, ADD_FOLLOWERS)), key=lambda it: it[0]):
        await tx.run(counter, account_id=changed, count=count)


async def find_between(tx: Tx, *, account_id: str, other_id: str) -> Between:
    """Which of the two follows the other."""
    return await tx.one(FIND_BETWEEN, account_id=account_id, other_id=other_id) or Between(False, False)
