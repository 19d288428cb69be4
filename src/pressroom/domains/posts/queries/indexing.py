"""Posts whose search words are out of date, and what their words are made of."""

from collections.abc import Sequence
from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx, sql
from pressroom.db.params import in_list, spread


class IndexedText(msgspec.Struct):
    """The columns of a post that the index of the search is made of."""

    id: str
    account_id: str
    content: str | None
    has_media: bool
    has_poll: bool
    preview_url: str | None
    deleted_at: int | None


INSERT_UNINDEXED: Final = Command("INSERT INTO unindexed_posts (post_id) VALUES (:post_id)")

# An edit locks a row that is there already. Otherwise its commit could come between the reading of the text before and
# the removal of the row, and the new text would not be indexed.
NOTE_UNINDEXED: Final = Command(
    "INSERT INTO unindexed_posts (post_id) VALUES (:post_id) ON CONFLICT (post_id) DO UPDATE SET post_id = :post_id"
)

NOTE_ALL: Final = Command(
    "INSERT INTO unindexed_posts (post_id) SELECT id FROM posts"
    " WHERE type <> 'SHARE' AND deleted_at IS NULL ON CONFLICT DO NOTHING"
)
"""Has a server index the words of all posts."""

FIND_TEXTS: Final = Query(
    IndexedText,
    "SELECT id, account_id, content, has_media, has_poll, preview_url, deleted_at FROM posts"
    f" WHERE id IN ({in_list('id')})",
)

DELETE_UNINDEXED: Final = Command(f"DELETE FROM unindexed_posts WHERE post_id IN ({in_list('id')})")

LIST_UNINDEXED: Final = Query(str, f"SELECT post_id FROM unindexed_posts WHERE post_id IN ({in_list('id')})")

FIND_UNINDEXED: Final = Query(str, "SELECT post_id FROM unindexed_posts LIMIT 1")


async def insert_unindexed(tx: Tx, post_id: str) -> None:
    """Notes that a new post is to be indexed."""
    await tx.later(INSERT_UNINDEXED, post_id=post_id)


async def note_unindexed(tx: Tx, post_id: str) -> None:
    """Notes that the search words of a post are out of date: no search finds it until it is indexed."""
    await tx.later(NOTE_UNINDEXED, post_id=post_id)


async def note_all(tx: Tx) -> None:
    """Notes that all posts are to be indexed."""
    await tx.run(NOTE_ALL)


@sql.all("SELECT post_id FROM unindexed_posts ORDER BY post_id LIMIT :limit FOR UPDATE SKIP LOCKED")
async def claim_unindexed(tx: Tx, limit: int) -> list[str]:
    """Returns posts whose search words are out of date, oldest first. Edits of them wait for the transaction's end."""
    ...


async def list_unindexed(tx: Tx, post_ids: Sequence[str]) -> list[str]:
    """Returns those posts, of at most BATCH, whose search words are out of date, in no order."""
    return await tx.all(LIST_UNINDEXED, **spread("id", post_ids))


async def find_texts(tx: Tx, post_ids: Sequence[str]) -> list[IndexedText]:
    """Returns the indexed columns of the posts with these ids, at most BATCH, deleted or not, in no order."""
    return await tx.all(FIND_TEXTS, **spread("id", post_ids))


async def delete_unindexed(tx: Tx, post_ids: Sequence[str]) -> None:
    """Removes the notes of posts, at most BATCH, whose search words are up to date."""
    await tx.run(DELETE_UNINDEXED, **spread("id", post_ids))
