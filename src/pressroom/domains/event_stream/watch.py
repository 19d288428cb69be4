"""Wakes readers when the account whose events they wait for has new ones (docs/events.md#order)."""

import asyncio
import contextlib
from collections.abc import Collection, Generator

from pressroom.clock import Clock
from pressroom.db import Database
from pressroom.db.params import batches
from pressroom.domains.events.queries import list_latest


class News:
    """A flag that one reader waits for. A reader that waits takes a tenth of the memory of an `asyncio.Event`."""

    __slots__ = ("_is_set", "_waiter")

    def __init__(self) -> None:
        self._is_set = False
        self._waiter: asyncio.Future[None] | None = None

    def set(self) -> None:
        """Raises the flag and wakes the reader."""
        self._is_set = True
        if self._waiter is not None:
            _wake(self._waiter)

    def clear(self) -> None:
        """Lowers the flag."""
        self._is_set = False

    async def wait(self, seconds: float) -> bool:
        """Waits until the flag is raised, `seconds` at most; returns whether it is."""
        if not self._is_set and seconds > 0:
            loop = asyncio.get_running_loop()
            self._waiter = loop.create_future()
            timer = loop.call_later(seconds, _wake, self._waiter)
            try:
                await self._waiter
            finally:
                timer.cancel()
                self._waiter = None
        return self._is_set


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


class EventWatch:
    """Readers of this process that wait for events, by account.

    A commit wakes those of its account, in every process. `look`, once a second, finds what no news reached.
    """

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._until: dict[News, int] = {}
        """When the keys of readers expire (milliseconds)."""
        self._waiting: dict[str, set[News]] = {}
        self._seen: dict[str, int] = {}
        """The number of the latest event of each watched account, as `look` found it."""
        self.is_closing = False
        """Whether readers are to come to an end, because the server stops."""

    @property
    def watched(self) -> Collection[str]:
        """The accounts whose events readers of this process wait for."""
        return self._waiting.keys()

    def listen(self) -> None:
        """Begins to hear of commits."""
        self._db.hear(self._hear)

    @contextlib.contextmanager
    def watching(self, account_id: str, until: int | None = None) -> Generator[News]:
        """Yields a flag that is raised when the account may have new events, and when its reader is to come to an end:
        at `until` (milliseconds), within a second, or when the server stops."""
        event = News()
        if until is not None:
            self._until[event] = until
        waiting = self._waiting.setdefault(account_id, set())
        waiting.add(event)
        try:
            yield event
        finally:
            waiting.discard(event)
            self._until.pop(event, None)
            if not waiting and self._waiting.get(account_id) is waiting:
                del self._waiting[account_id]
                self._seen.pop(account_id, None)

    async def look(self) -> None:
        """Wakes readers whose key has expired, and those of accounts with a newer event than at the last look."""
        now = self._clock.now()
        for event, until in self._until.items():
            if until <= now:
                event.set()
        for accounts in batches(list(self._waiting)):
            for found in await self._db.read(list_latest, accounts):
                if found.account_id in self._waiting and self._seen.get(found.account_id) != found.latest:
                    self._seen[found.account_id] = found.latest
                    self._hear(found.account_id)
            await asyncio.sleep(0)

    def close(self) -> None:
        """Has all readers come to an end."""
        self.is_closing = True
        self._hear(None)

    def _hear(self, account_id: str | None) -> None:
        accounts = list(self._waiting) if account_id is None else [account_id]
        for each in accounts:
            for event in self._waiting.get(each, ()):
                event.set()
