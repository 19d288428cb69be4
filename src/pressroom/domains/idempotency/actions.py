"""Doing a write once, and giving its answer again to whoever asks again."""

from collections.abc import Awaitable, Callable
from typing import Final

import msgspec

from pressroom.clock import DAY
from pressroom.db import Tx
from pressroom.domains.idempotency import queries

WINDOW: Final = DAY


class WriteIdentity(msgspec.Struct, frozen=True):
    """The identity of a write: (account, method, path, key). Its body is not part of it."""

    account_id: str
    method: str
    path: str
    idempotency_key: str


class Outcome(msgspec.Struct, frozen=True):
    """The body that answers a write. `replayed`: it is a stored one; `body_differs`: asked for with another body."""

    body: bytes
    replayed: bool = False
    body_differs: bool = False


async def once(
    tx: Tx,
    identity: WriteIdentity | None,
    body_hash: str,
    effect: Callable[[Tx], Awaitable[bytes]],
    storable: Callable[[bytes], bytes],
) -> Outcome:
    """Runs `effect` and stores the body that it returns, or returns the stored one without running it.

    All of it happens in `tx`: effect and answer are kept both or neither. A refusal raised by `effect`
    leaves no trace, so the request may be tried again under its key. Without an `identity` the effect just runs.

    Args:
        tx: The open transaction.
        identity: The write's identity; None where the client named no key.
        body_hash: The fingerprint of the request's body, to tell a replay that came with another one.
        effect: Does the write; returns the answer's body.
        storable: Takes out of that body what must not be stored.
    """
    if identity is None:
        return Outcome(await effect(tx))
    columns = msgspec.structs.asdict(identity)
    while not await queries.claim(tx, **columns, body_hash=body_hash, expired=tx.now - WINDOW):
        answer = await queries.find_answer(tx, **columns)
        if answer is not None:  # Else it was swept away at this very moment, and the next claim is the first.
            return _replay(answer, body_hash)
    body = await effect(tx)
    await queries.store_answer(tx, **columns, body=storable(body).decode())
    return Outcome(body)


async def find_stored(tx: Tx, identity: WriteIdentity, body_hash: str) -> Outcome | None:
    """The answer to this write within the last 24 hours."""
    answer = await queries.find_stored(tx, **msgspec.structs.asdict(identity), expired=tx.now - WINDOW)
    return None if answer is None else _replay(answer, body_hash)


def _replay(answer: queries.StoredAnswer, body_hash: str) -> Outcome:
    differs = answer.body_hash not in ("", body_hash)
    return Outcome(answer.body.encode(), replayed=True, body_differs=differs)


async def purge_answers(tx: Tx, batch: int) -> int:
    """Removes up to `batch` answers whose 24 hours have passed; how many."""
    return await queries.purge_answers(tx, before=tx.now - WINDOW, batch=batch)
