"""A lock in PostgreSQL that one process holds for as long as its connection lives."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol, cast

import asyncpg

from pressroom.db import DatabaseAway, Value

PATIENCE: Final = 3.0
"""Seconds to wait for a holder that was just killed: PostgreSQL may take a moment to notice."""


class _Connection(Protocol):
    async def fetchrow(self, sql: str, *values: Value) -> Sequence[Value] | None: ...
    def add_termination_listener(self, callback: Callable[[object], None]) -> None: ...
    def is_closed(self) -> bool: ...
    def terminate(self) -> None: ...


class SessionLock:
    """The advisory lock `number` of the database at `url`."""

    def __init__(self, url: str, number: int) -> None:
        self._url = url
        self._number = number
        self._connection: _Connection | None = None
        self._ended = asyncio.Event()

    async def take(self) -> bool:
        """Whether the lock is ours now; False when another process keeps it. Raises DatabaseAway."""
        await self.release()
        connect = cast("Callable[..., Awaitable[_Connection]]", asyncpg.connect)
        try:
            self._connection = await connect(self._url, timeout=PATIENCE, command_timeout=PATIENCE)
            self._ended.clear()
            self._connection.add_termination_listener(lambda _: self._ended.set())
            deadline = asyncio.get_running_loop().time() + PATIENCE
            while not await self._try(self._connection):
                if asyncio.get_running_loop().time() > deadline:
                    await self.release()
                    return False
                await asyncio.sleep(0.05)
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise DatabaseAway("The database cannot be reached right now.") from error
        return True

    async def lost(self) -> None:
        """Waits until the connection, and with it the lock, has gone."""
        await self._ended.wait()

    async def release(self) -> None:
        """Lets go."""
        if self._connection is not None:
            with contextlib.suppress(OSError, asyncpg.InterfaceError):
                self._connection.terminate()
            self._connection = None

    async def _try(self, connection: _Connection) -> bool:
        row = await connection.fetchrow("SELECT pg_try_advisory_lock($1)", self._number)
        return bool(row and row[0])
