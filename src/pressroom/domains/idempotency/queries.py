"""SQL of the idempotency package."""

from collections.abc import Callable
from typing import Final

import msgspec

from pressroom.db import Command, Tx, sql


class StoredAnswer(msgspec.Struct, frozen=True):
    """The body that answered a write, and the hash of the body that asked for it; empty: not known."""

    body: str
    body_hash: str


# The request that inserts the row owns the effect; a copy sent at the same time waits here for its commit.
# A row past its window is taken over as if it were not there.
CLAIM: Final = Command(
    "INSERT INTO idempotent_answers (account_id, method, path, idempotency_key, body, body_hash, created_at)"
    " VALUES (:account_id, :method, :path, :idempotency_key, :body, :body_hash, :now)"
    " ON CONFLICT (account_id, idempotency_key, method, path)"
    " DO UPDATE SET body = excluded.body, body_hash = excluded.body_hash, created_at = excluded.created_at"
    " WHERE idempotent_answers.created_at <= :expired"
)

_STORED: Final = (
    "FROM idempotent_answers WHERE account_id = :account_id AND idempotency_key = :idempotency_key"
    " AND method = :method AND path = :path"
)

STORE_ANSWER: Final = Command(
    "UPDATE idempotent_answers SET body = :body WHERE account_id = :account_id"
    " AND idempotency_key = :idempotency_key AND method = :method AND path = :path"
)


class Claim(msgspec.Struct, frozen=True):
    """A write's claim of its idempotency key. It replaces an answer stored at `expired` (milliseconds) or before."""

    account_id: str
    method: str
    path: str
    idempotency_key: str
    body_hash: str
    now: int
    expired: int


async def insert_claim(tx: Tx, claim: Claim, taken: Callable[[], Exception]) -> None:
    """Inserts a claim. Raises `taken()` when another write has used its key since `expired`."""
    await tx.require(CLAIM, taken, **msgspec.structs.asdict(claim), body="")


async def store_answer(tx: Tx, claim: Claim, body: str) -> None:
    """Stores the response's body for replays: it is inserted with the claim, if that has not been sent yet."""
    values = msgspec.structs.asdict(claim)
    if not await tx.revise(CLAIM, **values, body=body):
        await tx.later(STORE_ANSWER, **values, body=body)


@sql.one(f"SELECT TRUE AS stored {_STORED} AND created_at > :expired")
async def is_stored(tx: Tx, *, account_id: str, method: str, path: str, idempotency_key: str, expired: int) -> bool:
    """Returns whether an answer was stored after `expired` (milliseconds)."""
    ...


@sql.one(f"SELECT body, body_hash {_STORED}")
async def find_answer(tx: Tx, *, account_id: str, method: str, path: str, idempotency_key: str) -> StoredAnswer | None:
    """Returns the stored answer."""
    ...


@sql.run(
    "DELETE FROM idempotent_answers WHERE created_at <= :before AND (account_id, idempotency_key, method, path) IN"
    " (SELECT account_id, idempotency_key, method, path FROM idempotent_answers"
    " WHERE created_at <= :before ORDER BY created_at LIMIT :batch)"
)
async def purge_answers(tx: Tx, *, before: int, batch: int) -> int:
    """Removes answers stored before `before` (milliseconds), oldest first, and returns how many."""
    ...


@sql.run(
    "DELETE FROM idempotent_answers WHERE account_id = :account_id AND (idempotency_key, method, path) IN"
    " (SELECT idempotency_key, method, path FROM idempotent_answers WHERE account_id = :account_id LIMIT :batch)"
)
async def erase_answers(tx: Tx, account_id: str, batch: int) -> int:
    """Removes stored answers of an account, and returns how many."""
    ...
