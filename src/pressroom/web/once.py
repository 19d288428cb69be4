"""The interface by which a route carries out a write at most once per Idempotency-Key."""

from collections.abc import Awaitable, Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from pressroom.db import Tx
from pressroom.web.response import Response

P = ParamSpec("P")
R = TypeVar("R")


class Once(Protocol):
    """Runs a write in one transaction, at most once per Idempotency-Key (docs/idempotency.md)."""

    @property
    def body_differs(self) -> bool:
        """Whether it replayed the response to a request with another body."""
        ...

    def hiding(self, *fields: str) -> "Once":
        """Returns the same, but stored responses have null in place of `fields`, which are shown only once."""
        ...

    def locking(self, lock: Callable[[Tx], Awaitable[None]]) -> "Once":
        """Returns the same, but `lock` is awaited first in the transaction, before the Idempotency-Key is claimed."""
        ...

    async def stored(self) -> Response | None:
        """Returns the response to an earlier request with this key: for routes that would do costly work first."""
        ...

    async def __call__(
        self,
        action: Callable[Concatenate[Tx, P], Awaitable[R]],
        shape: Callable[[R], object],
        status: int,
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Response:
        """Runs `action(tx, *args)`. Returns `shape(result)` as JSON with `status`, or the stored response."""
        ...
