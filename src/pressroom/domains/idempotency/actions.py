"""Runs a write once per idempotency key, and replays its response (docs/idempotency.md#replays)."""

import hmac
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import msgspec

from pressroom.clock import DAY
from pressroom.db import Tx
from pressroom.domains.idempotency import queries
from pressroom.errors import PressroomError

WINDOW: Final = DAY

BODY_HASHES: Final = "body hashes"
"""Names the secret of `BodyHashes`."""


class WriteIdentity(msgspec.Struct, frozen=True):
    """What makes two requests the same write: account, method, path and idempotency key, but not the body."""

    account_id: str
    method: str
    path: str
    idempotency_key: str


class WriteOutcome(msgspec.Struct, frozen=True):
    """The response body of a write. `replayed`: it was stored; `body_differs`: for a request with another body."""

    body: bytes
    replayed: bool = False
    body_differs: bool = False


class KeyTaken(PressroomError):
    """A write was answered already under its idempotency key, and is replayed."""

    def __init__(self, identity: WriteIdentity) -> None:
        super().__init__("This write was answered already.")
        self.identity = identity


class BodyHashes:
    """Makes what is stored to tell bodies apart: without the secret, no password in one can be guessed from it."""

    def __init__(self, secret: str) -> None:
        self._keyed = hmac.new(secret.encode(), digestmod="sha256")

    def of(self, fingerprint: str) -> str:
        """Returns the keyed hash of a body's fingerprint."""
        keyed = self._keyed.copy()  # a quarter cheaper than to begin with the secret each time
        keyed.update(fingerprint.encode())
        return keyed.hexdigest()


async def once(
    tx: Tx,
    identity: WriteIdentity | None,
    body_hash: str,
    effect: Callable[[Tx], Awaitable[bytes]],
    storable: Callable[[bytes], bytes],
) -> WriteOutcome:
    """Runs `effect` and stores the body that it returns.

    The effect and its stored response commit together or not at all. When `effect` raises, nothing is stored, so the
    client may send the request again with the same key. Without an `identity` the effect just runs. Raises KeyTaken
    when this write was answered within the last 24 hours, whatever else `effect` would refuse.

    Args:
        tx: The open transaction.
        identity: The write's identity; None when the client sent no Idempotency-Key.
        body_hash: The keyed hash of the request's body, which tells whether a replay came with another body.
        effect: Does the write; returns the response's body.
        storable: Removes from that body what must not be stored.
    """
    if identity is None:
        return WriteOutcome(await effect(tx))
    columns = msgspec.structs.asdict(identity)
    claim = queries.Claim(**columns, body_hash=body_hash, now=tx.now, expired=tx.now - WINDOW)
    await queries.insert_claim(tx, claim, partial(KeyTaken, identity))
    body = await effect(tx)
    await queries.store_answer(tx, claim, storable(body).decode())
    return WriteOutcome(body)


async def is_stored(tx: Tx, identity: WriteIdentity) -> bool:
    """Returns whether this write was answered within the last 24 hours."""
    return await queries.is_stored(tx, **msgspec.structs.asdict(identity), expired=tx.now - WINDOW)


async def replay(tx: Tx, identity: WriteIdentity, body_hash: str) -> WriteOutcome | None:
    """Returns the response to this write, or None when it was purged at this very moment.

    The row is locked, so the commit waits for the synchronous standby: no replay rests on what that lacks.
    """
    answer = await queries.lock_answer(tx, **msgspec.structs.asdict(identity))
    return None if answer is None else _replay(answer, body_hash)


def _replay(answer: queries.StoredAnswer, body_hash: str) -> WriteOutcome:
    differs = answer.body_hash not in ("", body_hash)
    return WriteOutcome(answer.body.encode(), replayed=True, body_differs=differs)


async def purge_answers(tx: Tx, batch: int) -> int:
    """Removes up to `batch` responses older than 24 hours; returns their number."""
    return await queries.purge_answers(tx, before=tx.now - WINDOW, batch=batch)
