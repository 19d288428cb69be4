"""SQL of the privacy package."""

from collections.abc import Sequence
from typing import Final

from pressroom.db import Query, Tx, sql
from pressroom.db.params import in_list, spread
from pressroom.domains.privacy.models import OwnedFilter, WordFilter

LIST_FOR_NOTIFICATIONS: Final = Query(
    OwnedFilter,
    "SELECT text, whole_word, timeline, notifications, account_id FROM word_filters"
    f" WHERE account_id IN ({in_list('id')}) AND notifications",
)


@sql.all(
    "SELECT text, whole_word, timeline, notifications FROM word_filters WHERE account_id = :account_id"
    " ORDER BY position"
)
async def list_filters(tx: Tx, account_id: str) -> list[WordFilter]:
    """Returns the filters of an account, in its own order."""
    ...


async def list_for_notifications(tx: Tx, account_ids: Sequence[str]) -> list[OwnedFilter]:
    """Returns the filters of at most BATCH accounts that apply to notifications, in no order."""
    return await tx.all(LIST_FOR_NOTIFICATIONS, **spread("id", account_ids))


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
