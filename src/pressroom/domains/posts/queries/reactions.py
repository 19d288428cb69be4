"""Likes, saves, polls and votes."""

from collections.abc import Sequence
from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx, sql
from pressroom.db.params import in_list, spread
from pressroom.domains.follows.queries import blocks_sql, mutes_sql


@sql.run(
    "INSERT INTO likes (post_id, account_id, created_at) VALUES (:post_id, :account_id, :now) ON CONFLICT DO NOTHING"
)
async def insert_like(tx: Tx, post_id: str, account_id: str) -> bool:
    """Inserts a like. Returns False when there is one already."""
    ...


@sql.run("DELETE FROM likes WHERE post_id = :post_id AND account_id = :account_id")
async def delete_like(tx: Tx, post_id: str, account_id: str) -> bool:
    """Deletes a like. Returns whether there was one."""
    ...


@sql.run("UPDATE posts SET likes = likes + :count WHERE id = :post_id AND deleted_at IS NULL")
async def count_like(tx: Tx, post_id: str, count: int) -> bool:
    """Adds to the post's likes. Returns False when it is deleted."""
    ...


LOOKED_AT: Final = 50
"""Accounts that liked or bounced a post among which another one is looked for."""


def _one_heard_of(reacted: str) -> str:
    """Returns the statement that finds an account in `reacted` whose act may notify the author of a post."""
    return (
        f"SELECT r.account_id FROM posts p CROSS JOIN ({reacted} ORDER BY account_id DESC LIMIT {LOOKED_AT}) r"
        " JOIN accounts a ON a.id = r.account_id WHERE p.id = :post_id AND r.account_id <> p.account_id"
        f" AND a.suspended_at IS NULL AND NOT {blocks_sql('p.account_id', 'r.account_id')}"
        f" AND NOT {mutes_sql('p.account_id', 'r.account_id')} LIMIT 1"
    )


FIND_LIKER: Final = Query(str, _one_heard_of("SELECT account_id FROM likes WHERE post_id = :post_id"))

FIND_BOUNCER: Final = Query(
    str,
    _one_heard_of(
        "SELECT account_id FROM posts WHERE original_id = :post_id AND type = 'SHARE' AND deleted_at IS NULL"
    ),
)


async def find_liker(tx: Tx, post_id: str) -> str | None:
    """Returns an account that likes a post and that its author hears of; None: none of LOOKED_AT."""
    return await tx.one(FIND_LIKER, post_id=post_id)


async def find_bouncer(tx: Tx, post_id: str) -> str | None:
    """Returns an account that plainly bounces a post and that its author hears of; None: none of LOOKED_AT."""
    return await tx.one(FIND_BOUNCER, post_id=post_id)


@sql.run(
    "INSERT INTO saves (post_id, account_id, created_at) VALUES (:post_id, :account_id, :now) ON CONFLICT DO NOTHING"
)
async def insert_save(tx: Tx, post_id: str, account_id: str) -> None:
    """Inserts a save, if there is none yet."""
    ...


@sql.run("DELETE FROM saves WHERE post_id = :post_id AND account_id = :account_id")
async def delete_save(tx: Tx, post_id: str, account_id: str) -> None:
    """Deletes a save, if there is one."""
    ...


class OptionRow(msgspec.Struct):
    """One option with the poll that it belongs to; `choices` are the reader's votes, if any."""

    post_id: str
    question: str | None
    multiple: bool
    closes_at: int
    total_votes: int
    label: str
    votes: int
    choices: str | None


LIST_OPTIONS: Final = Query(
    OptionRow,
    "SELECT p.post_id, p.question, p.multiple, p.closes_at, p.total_votes, o.label, o.votes, v.choices"
    " FROM polls p JOIN poll_options o ON o.post_id = p.post_id"
    " LEFT JOIN poll_votes v ON v.post_id = p.post_id AND v.account_id = :reader"
    f" WHERE p.post_id IN ({in_list('id')}) ORDER BY p.post_id, o.position",
)


COUNT_VOTER: Final = Command("UPDATE polls SET total_votes = total_votes + 1 WHERE post_id = :post_id")

COUNT_VOTE: Final = Command(
    "UPDATE poll_options SET votes = votes + 1 WHERE post_id = :post_id AND position = :position"
)


@sql.run(
    "INSERT INTO polls (post_id, question, multiple, closes_at, total_votes)"
    " VALUES (:post_id, :question, :multiple, :closes_at, 0)"
)
async def insert_poll(tx: Tx, *, post_id: str, question: str | None, multiple: bool, closes_at: int) -> None:
    """Inserts a new poll."""
    ...


@sql.run("INSERT INTO poll_options (post_id, position, label, votes) VALUES (:post_id, :position, :label, 0)")
async def insert_option(tx: Tx, post_id: str, position: int, label: str) -> None:
    """Inserts an option of a new poll."""
    ...


async def list_options(tx: Tx, post_ids: Sequence[str], *, reader: str) -> list[OptionRow]:
    """Returns the options of the polls of these posts, at most BATCH, each poll's in order."""
    return await tx.all(LIST_OPTIONS, reader=reader, **spread("id", post_ids))


@sql.run(
    "INSERT INTO poll_votes (post_id, account_id, choices, created_at)"
    " VALUES (:post_id, :account_id, :choices, :now) ON CONFLICT DO NOTHING"
)
async def insert_vote(tx: Tx, *, post_id: str, account_id: str, choices: str) -> bool:
    """Inserts an account's vote. Returns False when it has voted already."""
    ...


async def count_vote(tx: Tx, post_id: str, positions: Sequence[int]) -> None:
    """Counts one more account, and its choices."""
    await tx.run(COUNT_VOTER, post_id=post_id)
    for position in positions:
        await tx.run(COUNT_VOTE, post_id=post_id, position=position)


class Ballot(msgspec.Struct):
    """The votes of an account in a poll: positions, separated by spaces."""

    post_id: str
    choices: str


DELETE_VOTE: Final = Command("DELETE FROM poll_votes WHERE post_id = :post_id AND account_id = :account_id")

UNCOUNT_VOTER: Final = Command("UPDATE polls SET total_votes = total_votes - 1 WHERE post_id = :post_id")

UNCOUNT_VOTE: Final = Command(
    "UPDATE poll_options SET votes = votes - 1 WHERE post_id = :post_id AND position = :position"
)


@sql.all("SELECT post_id FROM likes WHERE account_id = :account_id ORDER BY post_id DESC LIMIT :limit")
async def list_liked(tx: Tx, account_id: str, *, limit: int) -> list[str]:
    """Returns the ids of posts that an account likes, newest first."""
    ...


@sql.run("UPDATE posts SET likes = likes - 1 WHERE id = :post_id")
async def uncount_like(tx: Tx, post_id: str) -> None:
    """Takes one like out of a post's counter, deleted or not."""
    ...


@sql.run(
    "DELETE FROM saves WHERE account_id = :account_id AND post_id IN"
    " (SELECT post_id FROM saves WHERE account_id = :account_id LIMIT :batch)"
)
async def erase_saves(tx: Tx, account_id: str, batch: int) -> int:
    """Removes up to `batch` saves of an account, and returns how many."""
    ...


@sql.all("SELECT post_id, choices FROM poll_votes WHERE account_id = :account_id ORDER BY post_id DESC LIMIT :limit")
async def list_ballots(tx: Tx, account_id: str, *, limit: int) -> list[Ballot]:
    """Returns the votes of an account, newest post first."""
    ...


async def take_vote_back(tx: Tx, account_id: str, ballot: Ballot) -> None:
    """Removes a vote and takes it out of the counters."""
    if not await tx.run(DELETE_VOTE, post_id=ballot.post_id, account_id=account_id):
        return
    await tx.run(UNCOUNT_VOTER, post_id=ballot.post_id)
    for position in ballot.choices.split():
        await tx.run(UNCOUNT_VOTE, post_id=ballot.post_id, position=int(position))
