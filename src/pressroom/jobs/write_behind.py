"""Write-behind: changes are gathered in memory and written together (docs/architecture.md#write-behind)."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

V = TypeVar("V")


class WriteBehind(Generic[V]):
    """Holds values by key until `flush` hands them to `write`, which writes them in one transaction.

    merge: makes one value of an earlier and a later one of the same key; without it the later one replaces the
    earlier. most: keys that are held at once; values of further keys are dropped. repeatable: writing the same values
    twice does no harm, so those whose write was cancelled are written again; otherwise they count as written, because
    a transaction goes on when its caller is cancelled. monotonic: gives seconds.
    """

    def __init__(
        self,
        write: Callable[[dict[str, V]], Awaitable[object]],
        *,
        merge: Callable[[V, V], V] | None = None,
        most: int | None = None,
        repeatable: bool = True,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.pending: dict[str, V] = {}
        """Values that no write has been tried with, or whose write failed."""

        self.failed = False
        """Whether the last write failed. A cancelled one does not count."""

        self._write = write
        self._merge = merge
        self._most = most
        self._repeatable = repeatable
        self._monotonic = monotonic
        self._being_written: dict[str, V] | None = None
        self._pending_since: float | None = None
        self._written_since: float | None = None
        self._tried = asyncio.Event()

    def add(self, key: str, value: V) -> None:
        """Holds a value until the next flush."""
        if key in self.pending:
            self.pending[key] = value if self._merge is None else self._merge(self.pending[key], value)
        elif self._most is None or len(self.pending) < self._most:
            self.pending[key] = value
        if self._pending_since is None:
            self._pending_since = self._monotonic()

    @property
    def is_writing(self) -> bool:
        """Whether a write is under way."""
        return self._being_written is not None

    def age(self) -> float:
        """Returns for how many seconds the oldest value has not been written; 0 when all are."""
        since = self._written_since if self._written_since is not None else self._pending_since
        return 0.0 if since is None else self._monotonic() - since

    async def tried(self) -> None:
        """Returns once the next write has ended, well or badly."""
        await self._tried.wait()

    async def flush(self) -> None:
        """Writes the held values, unless a write is under way. Raises its errors; the values stay held then."""
        if self._being_written is not None or not self.pending:
            return
        # A new dictionary for additions from now on: those made during the write belong to the next one.
        values = self._being_written = self.pending
        self.pending = {}
        self._written_since, self._pending_since = self._pending_since, None
        try:
            await self._write(values)
            self.failed = False
        except BaseException as error:
            self.failed = isinstance(error, Exception)
            # A write that was cancelled may still commit. Counts written again would count twice, so only repeatable
            # values are held again.
            if self.failed or self._repeatable:
                self._hold_again(values)
            raise
        finally:
            self._being_written, self._written_since = None, None
            self._tried.set()
            self._tried.clear()

    def take(self) -> dict[str, V]:
        """Returns all that is not known to be written, and holds it no more, even if a write under way fails."""
        taken = {**(self._being_written or {}), **self.pending}
        self.pending = {}
        self._pending_since = None
        if self._being_written is not None:
            # No longer the same object as the write's values, which `_hold_again` takes as the sign that they were
            # taken.
            self._being_written = {}
        return taken

    def _hold_again(self, values: dict[str, V]) -> None:
        if self._being_written is not values:  # taken meanwhile
            return
        later, self.pending = self.pending, values
        self._pending_since = self._written_since
        for key, value in later.items():
            self.pending[key] = value if self._merge is None or key not in values else self._merge(values[key], value)
