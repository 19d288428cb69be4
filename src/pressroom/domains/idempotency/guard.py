"""`once`: how a route carries out its write at most once per Idempotency-Key."""

from collections.abc import Awaitable, Callable
from typing import Concatenate, ParamSpec, TypeVar

import msgspec

from pressroom.db import Database, Tx
from pressroom.domains.idempotency import actions
from pressroom.web.routing import Answer

R = TypeVar("R")
P = ParamSpec("P")

REPLAYED = (b"idempotent-replayed", b"true")
_encoder = msgspec.json.Encoder()


class OncePerKey:
    """Runs one call's action. `request` is the write's identity, None when the client sent no Idempotency-Key."""

    def __init__(self, db: Database, request: actions.Request | None) -> None:
        self._db = db
        self._request = request

    async def stored(self) -> Answer | None:
        """The answer of an earlier write with this identity, if there is one."""
        body = None if self._request is None else await self._db.read(actions.find_stored, self._request)
        return None if body is None else Answer(200, body, headers=[REPLAYED])

    async def __call__(
        self,
        action: Callable[Concatenate[Tx, P], Awaitable[R]],
        shape: Callable[[R], object],
        status: int,
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Answer:
        """One transaction: claim, `action(tx, …)`, its answer stored. A replay answers 200 with the stored body."""

        async def effect(tx: Tx) -> bytes:
            return _encoder.encode(shape(await action(tx, *args, **kwargs)))

        outcome = await self._db.transact(actions.once, self._request, effect)
        if outcome.replayed:
            return Answer(200, outcome.body, headers=[REPLAYED])
        return Answer(status, outcome.body)
