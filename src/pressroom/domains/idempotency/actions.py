"""Doing a write once, and giving its answer again to whoever asks again."""

from collections.abc import Awaitable, Callable
from typing import Final

import msgspec

from pressroom.clock import DAY
from pressroom.db import Tx
from pressroom.domains.idempotency import queries

WINDOW: Final = DAY


class Request(msgspec.Struct, frozen=True):
    """The identity of a write: (account, method, path, key). Its body is not part of it."""

    account_id: str
    method: str
    path: str
    idempotency_key: str


class Outcome(msgspec.Struct, frozen=True):
    """The body that answers a write, and whether it is a stored one."""

    body: bytes
    replayed: bool


async def once(tx: Tx, request: Request | None, effect: Callable[[Tx], Awaitable[bytes]]) -> Outcome:
    """Runs `effect` and stores the body that it returns, or returns the stored one without running it.

    All of it happens in `tx`: effect and answer are kept both or neither. A refusal raised by `effect`
    leaves no trace, so the request may be tried again under its key. Without a `request` the effect just runs.
    """
    if request is None:
        return Outcome(await effect(tx), replayed=False)
    identity = msgspec.structs.asdict(request)
    if not await queries.claim(tx, **identity, expired=tx.now - WINDOW):
        body = await queries.find_answer(tx, **identity)
        return Outcome((body or "").encode(), replayed=True)
    body = await effect(tx)
    await queries.store_answer(tx, **identity, body=body.decode())
    return Outcome(body, replayed=False)


async def find_stored(tx: Tx, request: Request) -> bytes | None:
    """The body that answered this write within the last 24 hours."""
    body = await queries.find_stored(tx, **msgspec.structs.asdict(request), expired=tx.now - WINDOW)
    return None if body is None else body.encode()


async def purge_answers(tx: Tx, batch: int) -> int:
    """Removes up to `batch` answers whose 24 hours have passed; how many."""
    return await queries.purge_answers(tx, before=tx.now - WINDOW, batch=batch)
