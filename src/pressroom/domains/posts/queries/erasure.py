"""SQL that erases a deleted account's posts and takes back its reactions."""

from typing import Final

import msgspec

from pressroom.db import Command, Tx, sql

# The row that stays tells that there was a post and its visibility; the allowlist is erased.
ERASE_POST: Final = Command(
    "UPDATE posts SET content = NULL, location_name = NULL, latitude = NULL, longitude = NULL, preview_url = NULL,"
    " key_id = NULL, deleted_by_key = NULL, edited_at = NULL, has_poll = FALSE,"
    " visibility = CASE WHEN visibility = 'CUSTOM' THEN 'PRIVATE' ELSE visibility END"
    " WHERE account_id = :account_id AND id = :post_id"
)

ERASE_VERSIONS: Final = Command("DELETE FROM post_versions WHERE account_id = :account_id AND post_id = :post_id")

ERASE_POLL: Final = Command("UPDATE polls SET question = NULL WHERE post_id = :post_id")

ERASE_MENTIONED: Final = Command("DELETE FROM post_mentions WHERE post_id = :post_id")

ERASE_OPTIONS: Final = Command("UPDATE poll_options SET label = '' WHERE post_id = :post_id")


class Ballot(msgspec.Struct):
    """The votes of an account in a poll: positions, separated by spaces."""

    post_id: str
    choices: str


DELETE_VOTE: Final = Command("DELETE FROM poll_votes WHERE post_id = :post_id AND account_id = :account_id")

UNCOUNT_VOTER: Final = Command("UPDATE polls SET total_votes = total_votes - 1 WHERE post_id = :post_id")

UNCOUNT_VOTE: Final = Command(
    "UPDATE poll_options SET votes = votes - 1 WHERE post_id = :post_id AND position = :position"
)


# Tombstones that say nothing any more are passed over.
@sql.all(
    "SELECT id FROM posts WHERE account_id = :account_id AND id < :before AND (deleted_at IS NULL"
    " OR content IS NOT NULL OR location_name IS NOT NULL OR preview_url IS NOT NULL OR key_id IS NOT NULL"
    " OR deleted_by_key IS NOT NULL OR edited_at IS NOT NULL OR has_poll OR visibility = 'CUSTOM')"
    " ORDER BY id DESC LIMIT :limit"
)
async def list_unerased(tx: Tx, account_id: str, *, before: str, limit: int) -> list[str]:
    """Returns the ids of an account's posts before `before` that still say something, newest first."""
    ...


async def erase_post(tx: Tx, account_id: str, post_id: str) -> None:
    """Erases the content of a deleted post in every version, its poll and its mentions."""
    await tx.run(ERASE_POST, account_id=account_id, post_id=post_id)
    await tx.run(ERASE_VERSIONS, account_id=account_id, post_id=post_id)
    await tx.run(ERASE_POLL, post_id=post_id)
    await tx.run(ERASE_OPTIONS, post_id=post_id)
    await tx.run(ERASE_MENTIONED, post_id=post_id)


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
    """Removes up to `batch` notes that an account was told of being mentioned, and returns how many."""
    ...
