"""The words by whose beginning an account is found."""

from collections.abc import Sequence
from typing import Final

from pressroom.db import Command, Tx, sql
from pressroom.db.params import batches, in_rows, spread

INSERT_WORDS: Final = Command(
    "INSERT INTO account_words (account_id, word)"
    f" SELECT :account_id, column1 FROM (VALUES {in_rows('word')}) AS words WHERE column1 <> '' ON CONFLICT DO NOTHING"
)


async def insert_words(tx: Tx, account_id: str, words: Sequence[str]) -> None:
    """Has an account be found by these words."""
    for batch in batches(words):
        await tx.later(INSERT_WORDS, account_id=account_id, **spread("word", batch))


@sql.run("DELETE FROM account_words WHERE account_id = :account_id")
async def delete_words(tx: Tx, account_id: str) -> None:
    """Removes all words by which an account is found."""
    ...
