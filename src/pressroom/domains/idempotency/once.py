"""`request.once`: runs a route's write at most once per Idempotency-Key (docs/idempotency.md)."""

import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Concatenate, Final, ParamSpec, TypeVar

import msgspec

from pressroom.clock import DAY
from pressroom.db import Database, Tx
from pressroom.domains.idempotency import queries
from pressroom.errors import PressroomError
from pressroom.web.asgi import HeaderList
from pressroom.web.idempotency import Once
from pressroom.web.response import Response

R = TypeVar("R")
P = ParamSpec("P")

WINDOW: Final = DAY

REPLAYED: Final = (b"idempotent-replayed", b"true")
BODY_DIFFERS: Final = (b"idempotent-body-differs", b"true")
_encoder = msgspec.json.Encoder()


class WriteIdentity(msgspec.Struct, frozen=True):
    """The identity of a write: account, method, path and idempotency key, but not the body."""

    account_id: str
    method: str
    path: str
    idempotency_key: str


class KeyTaken(PressroomError):
    """A write was answered already under its idempotency key, and is replayed."""

    def __init__(self) -> None:
        super().__init__("This write was answered already.")


class BodyHashes:
    """Hashes bodies for comparison, keyed: without the secret, a password in a body cannot be guessed from its hash."""

    def __init__(self, secret: str) -> None:
        self._keyed = hmac.new(secret.encode(), digestmod="sha256")

    def of(self, fingerprint: str) -> str:
        """Returns the keyed hash of a body's fingerprint."""
        keyed = self._keyed.copy()  # a quarter cheaper than to begin with the secret each time
        keyed.update(fingerprint.encode())
        return keyed.hexdigest()


class Replays(msgspec.Struct):
    """The outcome of one key in one request, shared by the copies of `OncePerKey`."""

    body_differs: bool = False


@dataclass(slots=True)
class OncePerKey:
    """Runs the action of one request: claims the key, runs the action and stores its response, in one transaction.

    Attributes:
        db: The database to write to.
        status: The status of the response to a first request; a replay has 200.
        identity: The write's identity; None when the client sent no Idempotency-Key.
        body_hash: The keyed hash of the request's body, by which a replay with another body is recognised.
        hidden: Fields of the response that are shown once and never stored.
        lock: Runs first in the transaction; see `locking`.
        replays: Notes replays, also those of copies.
    """

    db: Database
    status: int
    identity: WriteIdentity | None
    body_hash: str = ""
    hidden: tuple[str, ...] = ()
    lock: Callable[[Tx], Awaitable[None]] | None = None
    replays: Replays = field(default_factory=Replays)

    @property
    def body_differs(self) -> bool:
        """Whether it replayed the response to a request with another body."""
        return self.replays.body_differs

    def hiding(self, *fields: str) -> Once:
        """Returns a copy that stores null in place of `fields`."""
        return replace(self, hidden=fields)

    def locking(self, lock: Callable[[Tx], Awaitable[None]]) -> Once:
        """Returns a copy that takes `lock` before it claims the key.

        Claiming locks the account weakly. Two transactions that both hold that lock and want a stronger one would
        deadlock.
        """
        return replace(self, lock=lock)

    async def stored(self) -> Response | None:
        """Returns the stored response of an earlier write with this identity, or None."""
        if self.identity is None or not await self.db.read(_is_stored, self.identity):
            return None
        return await self._find(self.identity)

    async def __call__(
        self,
        action: Callable[Concatenate[Tx, P], Awaitable[R]],
        shape: Callable[[R], object],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Response:
        """Runs `action(tx, …)`, at most once per key. Returns its response, or the stored one with 200.

        When the action raises, nothing is stored, so the client may send the request again with the same key. A stored
        response is replayed for 24 hours, even if the action would be refused by then.
        """

        async def write(tx: Tx) -> bytes:
            # A claim locks the account's row weakly, by its foreign key. Taken afterwards, the stronger lock would meet
            # that of another transaction in the same state, and both would wait for ever.
            if self.lock is not None:
                await self.lock(tx)
            # The claim comes before the effect: a copy of the request waits at it, and then replays this answer.
            claim = await self._claim(tx)
            body = _encoder.encode(shape(await action(tx, *args, **kwargs)))
            # In the same transaction as the effect: a crash leaves both or neither.
            if claim is not None:
                await queries.store_answer(tx, claim, self._storable(body).decode())
            return body

        while True:
            try:
                body = await self.db.transact(write)
            # Another transaction committed under this key, perhaps a moment ago. This one was rolled back without an
            # effect.
            except KeyTaken:
                if self.identity is not None and (response := await self._find(self.identity)) is not None:
                    return response
                continue  # It was purged at this very moment, and the next claim succeeds.
            return Response(self.status, body, holds_secret=bool(self.hidden))

    async def _claim(self, tx: Tx) -> queries.Claim | None:
        """Claims the key, if there is one. Raises KeyTaken, now or by a later statement of the transaction."""
        if self.identity is None:
            return None
        columns = msgspec.structs.asdict(self.identity)
        claim = queries.Claim(**columns, body_hash=self.body_hash, now=tx.now, expired=tx.now - WINDOW)
        await queries.insert_claim(tx, claim, KeyTaken)
        return claim

    def _storable(self, body: bytes) -> bytes:
        if not self.hidden:
            return body
        return _encoder.encode(msgspec.json.decode(body, type=dict[str, object]) | dict.fromkeys(self.hidden))

    async def _find(self, identity: WriteIdentity) -> Response | None:
        """Returns the stored response, or None when it was purged at this very moment."""
        # `transact` waits for the synchronous standby although nothing is written. A plain read could return the answer
        # of a write that a fail-over then loses: the client would hold a 200 for it.
        answer = await self.db.transact(partial(queries.find_answer, **msgspec.structs.asdict(identity)))
        if answer is None:
            return None
        headers: HeaderList = [REPLAYED]
        # Empty in answers that were stored without a hash: nothing is known of their bodies.
        if answer.body_hash not in ("", self.body_hash):
            self.replays.body_differs = True
            headers.append(BODY_DIFFERS)
        return Response(200, answer.body.encode(), headers=headers, replayed=True)


async def _is_stored(tx: Tx, identity: WriteIdentity) -> bool:
    return await queries.is_stored(tx, **msgspec.structs.asdict(identity), expired=tx.now - WINDOW)


async def purge_answers(tx: Tx, batch: int) -> int:
    """Removes up to `batch` responses older than 24 hours; returns their number."""
    return await queries.purge_answers(tx, before=tx.now - WINDOW, batch=batch)
