"""Connections to PostgreSQL, given out to clients in turn; work of the server itself goes first, then begun requests.

A connection is not reset when it comes back: nothing of a session's state is changed outside a transaction, and a
transaction's end undoes settings that were changed inside (docs/architecture.md#the-database).

asyncpg's own pool does not do: it serves waiters in the order of their arrival, so that many requests of one client
hold up all others, and resets each connection by a round trip when it comes back.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, Generic, Protocol, TypeVar

from pressroom import metrics
from pressroom.db import goes_first
from pressroom.fair_queue import FairQueue
from pressroom.turns import current_turn

PATIENCE: Final = 5.0
"""Seconds to wait for a connection while none comes back: the database does nothing."""

LONGEST_WAIT: Final = 30.0
"""Seconds to wait for a connection in any case, unless the settings say otherwise."""

QUEUE: Final = 65_536
"""Waits for a connection that may be under way. One more ends the last one of the client that has most."""

CLOSE_PATIENCE: Final = 1.0
"""Seconds to wait at a stop for connections to end in order."""

STALE: Final = 300.0
"""Seconds after which an unused connection is not used again: something between may have forgotten it."""


class PooledConnection(Protocol):
    """The methods of asyncpg's connections that the pool uses."""

    def is_closed(self) -> bool: ...
    def is_in_transaction(self) -> bool: ...
    def terminate(self) -> None: ...
    async def close(self) -> None: ...


C = TypeVar("C", bound=PooledConnection)


class Connections(Generic[C]):
    """At most `most` connections, each made by `connect` when it is first needed.

    Args:
        connect: Makes one.
        most: How many may be open.
        longest_wait: Seconds to wait for one while others come back and are taken by those who waited longer. A request
            that takes several, one after the other, waits no longer for all of them.
    """

    def __init__(self, connect: Callable[[], Awaitable[C]], most: int, longest_wait: float = LONGEST_WAIT) -> None:
        self._connect = connect
        self._most = most
        self._longest_wait = longest_wait
        self._open: set[C] = set()
        self._opening = 0
        self._idle: list[tuple[C, float]] = []
        self._first: deque[asyncio.Future[C | None]] = deque()
        self._begun: deque[asyncio.Future[C | None]] = deque()
        self._waiting = FairQueue[asyncio.Future[C | None]](QUEUE)
        self._returned = 0
        self._came_back = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    async def take(self) -> C:
        """Returns a connection that nobody else has. Raises TimeoutError, and what `connect` raises."""
        recorder = metrics.recorder
        if recorder is None:
            return await self._take()
        began = self._loop.time()
        try:
            return await self._take()
        finally:
            recorder.pool_waited(self._loop.time() - began)

    async def _take(self) -> C:
        while self._idle and not self._first and not self._begun and not self._waiting:
            # The last one that came back: the others grow stale and are closed, when fewer are needed.
            connection, since = self._idle.pop()
            if not connection.is_closed() and self._loop.time() - since < STALE:
                return connection
            self._discard(connection)
        if len(self._open) + self._opening >= self._most:
            given = await self._wait()
            if given is not None:
                return given
        else:
            # Counted before the first await, so that two callers do not both open the last connection.
            self._opening += 1
        return await self._make()

    def give_back(self, connection: C) -> None:
        """Takes a connection back and hands it to the next waiter. One that was left amid a transaction is closed."""
        self._returned += 1
        self._came_back.set()
        # Amid a transaction it would hold its locks, and the next client would write into a transaction of another one.
        if connection not in self._open or connection.is_closed() or connection.is_in_transaction():
            self._discard(connection)
            self._let_open()
            return
        while (waiter := self._next()) is not None:
            if not waiter.done():
                waiter.set_result(connection)
                return
        self._idle.append((connection, self._loop.time()))

    async def close(self) -> None:
        """Waits a moment for connections in use, closes in order, and cuts off the rest."""
        self._most = 0
        with contextlib.suppress(Exception):  # a connection that does not end in order is cut off
            async with asyncio.timeout(CLOSE_PATIENCE):
                while len(self._open) + self._opening > len(self._idle):
                    self._came_back.clear()
                    await self._came_back.wait()
                await asyncio.gather(*(connection.close() for connection, _ in self._idle))
        for connection in self._open:
            connection.terminate()
        self._open.clear()

    async def _make(self) -> C:
        """Opens a connection for which `_opening` has been counted up."""
        try:
            connection = await self._connect()
        except BaseException:
            self._opening -= 1
            self._let_open()
            raise
        self._opening -= 1
        # `close` ran meanwhile, and has not seen this connection.
        if not self._most:
            connection.terminate()
            raise ConnectionError("The connections to the database were closed.")
        self._open.add(connection)
        return connection

    async def _wait(self) -> C | None:
        """Returns a connection that came back, or None: one may be opened, and is counted as such."""
        waiter: asyncio.Future[C | None] = self._loop.create_future()
        turn = current_turn()
        line = turn.line if turn else ""
        if goes_first.get():
            # Behind waiting requests a lease would run out, and its work be done twice; and while counts of limits are
            # not saved, every request is refused.
            self._first.append(waiter)
        elif turn is not None and turn.waited:
            # It has waited in its client's line before. Behind all new requests, those of a busy server would use up
            # their time between two of their connections: all would be begun, and hardly one finished.
            self._begun.append(waiter)
        elif (displaced := self._waiting.join(line, waiter)) is not None and not displaced.done():
            displaced.set_exception(TimeoutError("Too many wait for a connection to the database."))
        began = self._loop.time()
        end = began + self._longest_wait - (turn.waited if turn else 0.0)  # All waits of a request have one bound.
        try:
            while True:
                # Waiting goes on while connections come back: the database is busy. If none does, it is stuck.
                returned = self._returned
                await asyncio.wait({waiter}, timeout=min(PATIENCE, max(0.0, end - self._loop.time())))
                if waiter.done():
                    return waiter.result()
                if self._returned == returned or self._loop.time() >= end:
                    raise TimeoutError("No connection to the database became free.")
        except BaseException:
            self._leave(line, waiter)
            raise
        finally:
            if turn is not None:
                turn.waited += self._loop.time() - began

    def _leave(self, line: str, waiter: "asyncio.Future[C | None]") -> None:
        """Passes on the connection of a waiter that no longer waits."""
        if not waiter.done():
            waiter.cancel()
            if not self._waiting.leave(line, waiter):
                (self._first if waiter in self._first else self._begun).remove(waiter)
            return
        # Displaced: it was given nothing that could be passed on.
        if waiter.exception() is not None:
            return
        # Given a connection just when it was cancelled. Without this the connection would be lost to the pool for good.
        given = waiter.result()
        if given is not None:
            self.give_back(given)
        else:
            self._opening -= 1
            self._let_open()

    def _let_open(self) -> None:
        """Lets the next that waits open a connection, since there is one less."""
        if len(self._open) + self._opening >= self._most:
            return
        while (waiter := self._next()) is not None:
            if not waiter.done():
                self._opening += 1
                waiter.set_result(None)
                return

    def _next(self) -> "asyncio.Future[C | None] | None":
        ahead = self._first or self._begun
        return ahead.popleft() if ahead else self._waiting.next()

    def _discard(self, connection: C) -> None:
        self._open.discard(connection)
        connection.terminate()
