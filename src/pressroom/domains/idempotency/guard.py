"""`request.once`: runs a route's write at most once per Idempotency-Key (docs/idempotency.md)."""

from collections.abc import Awaitable, Callable
from typing import Concatenate, Final, ParamSpec, TypeVar

import msgspec

from pressroom.db import Database, Tx
from pressroom.domains.idempotency import actions
from pressroom.web.asgi import HeaderList
from pressroom.web.once import Once
from pressroom.web.response import Response

R = TypeVar("R")
P = ParamSpec("P")

REPLAYED: Final = (b"idempotent-replayed", b"true")
BODY_DIFFERS: Final = (b"idempotent-body-differs", b"true")
_encoder = msgspec.json.Encoder()


class Replays(msgspec.Struct):
    """What became of the uses of one key in one request, whichever copy of `OncePerKey` carried them out."""

    body_differs: bool = False


class OncePerKey:
    """Runs the action of one request.

    Args:
        db: The database to write to.
        identity: The write's identity; None when the client sent no Idempotency-Key.
        body_hash: The hash of the request's body.
        hidden: Fields of the response that are shown once and never stored.
        lock: Runs first in the transaction; see `locking`.
        replays: Notes what was replayed.
    """

    def __init__(
        self,
        db: Database,
        identity: actions.WriteIdentity | None,
        body_hash: str = "",
        hidden: tuple[str, ...] = (),
        lock: Callable[[Tx], Awaitable[None]] | None = None,
        replays: Replays | None = None,
    ) -> None:
        self._db = db
        self._identity = identity
        self._body_hash = body_hash
        self._hidden = hidden
        self._lock = lock
        self._replays = replays or Replays()

    @property
    def body_differs(self) -> bool:
        """Whether it replayed the response to a request with another body."""
        return self._replays.body_differs

    def hiding(self, *fields: str) -> Once:
        """Returns a copy that stores null in place of `fields`."""
        return OncePerKey(self._db, self._identity, self._body_hash, fields, self._lock, self._replays)

    def locking(self, lock: Callable[[Tx], Awaitable[None]]) -> Once:
        """Returns a copy that takes `lock` before it claims the key.

        Claiming locks the account weakly. Two transactions that both hold that lock and want a stronger one would
        deadlock.
        """
        return OncePerKey(self._db, self._identity, self._body_hash, self._hidden, lock, self._replays)

    async def stored(self) -> Response | None:
        """Returns the stored response of an earlier write with this identity, or None."""
        if self._identity is None or not await self._db.read(actions.is_stored, self._identity):
            return None
        return await self._find(self._identity)

    async def __call__(
        self,
        action: Callable[Concatenate[Tx, P], Awaitable[R]],
        shape: Callable[[R], object],
        status: int,
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Response:
        """Claims the key, runs `action(tx, …)` and stores its response, in one transaction.

        Returns the response with `status`, or with 200 and the stored body when it is a replay.
        """

        async def effect(tx: Tx) -> bytes:
            return _encoder.encode(shape(await action(tx, *args, **kwargs)))

        async def write(tx: Tx) -> actions.WriteOutcome:
            if self._lock is not None:
                await self._lock(tx)
            return await actions.once(tx, self._identity, self._body_hash, effect, self._storable)

        while True:
            try:
                outcome = await self._db.transact(write)
            except actions.KeyTaken as taken:
                if (response := await self._find(taken.identity)) is not None:
                    return response
                continue  # It was purged at this very moment, and the next claim succeeds.
            return Response(status, outcome.body, holds_secret=bool(self._hidden))

    def _storable(self, body: bytes) -> bytes:
        if not self._hidden:
            return body
        return _encoder.encode(msgspec.json.decode(body, type=dict[str, object]) | dict.fromkeys(self._hidden))

    async def _find(self, identity: actions.WriteIdentity) -> Response | None:
        outcome = await self._db.transact(actions.replay, identity, self._body_hash)
        if outcome is None:
            return None
        self._replays.body_differs = self._replays.body_differs or outcome.body_differs
        headers: HeaderList = [REPLAYED]
        if outcome.body_differs:
            headers.append(BODY_DIFFERS)
        return Response(200, outcome.body, headers=headers, replayed=True)
