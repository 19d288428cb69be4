"""SQL of the privacy package."""

from pressroom.db import Tx, sql
from pressroom.domains.privacy.models import WordFilter


@sql.all(
    "SELECT text, whole_word, timeline, notifications FROM word_filters WHERE account_id = :account_id"
    " ORDER BY position"
)
async def list_filters(tx: Tx, account_id: str) -> list[WordFilter]:
    """Returns the filters of an account, in its own order."""
    ...


@sql.run(
    "INSERT INTO word_filters (account_id, position, text, whole_word, timeline, notifications)"
    " VALUES (:account_id, :position, :text, :whole_word, :timeline, :notifications)"
)
async def insert_filter(
    tx: Tx, *, account_id: str, position: int, text: str, whole_word: bool, timeline: bool, notifications: bool
) -> None:
    """Inserts a filter."""
    ...


@sql.run("DELETE FROM word_filters WHERE account_id = :account_id")
async def delete_filters(tx: Tx, account_id: str) -> None:
    """Deletes the filters of an account."""
    ...
