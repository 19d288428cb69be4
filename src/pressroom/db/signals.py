"""Signals between processes through PostgreSQL: a transaction that commits wakes whoever listens."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Final, Protocol, cast

import asyncpg

CHANNEL: Final = "pressroom"
SIGNAL: Final = f"NOTIFY {CHANNEL}"
"""Sent inside a transaction; PostgreSQL delivers it at the commit, once however often it was sent."""

PATIENCE: Final = 3.0
"""Seconds to wait for a connection or an answer on it, and between tries to connect."""

PAUSE: Final = 0.2
"""Seconds between the loss of a connection and the next one."""

PULSE: Final = 30.0
"""Seconds after which a silent connection is asked whether it is still there."""


class _ListeningConnection(Protocol):
    async def execute(self, sql: str) -> str: ...
    async def add_listener(self, channel: str, callback: Callable[..., None]) -> None: ...
    def add_termination_listener(self, callback: Callable[[object], None]) -> None: ...
    def terminate(self) -> None: ...


class Signals:
    """Listens on a connection of its own, from the first `listen` on, and connects again when it is lost."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._listening: list[asyncio.Event] = []
        self._task: asyncio.Task[None] | None = None

    def listen(self) -> asyncio.Event:
        """Returns an event that is set by every signal."""
        event = asyncio.Event()
        self._listening.append(event)
        if self._task is None:
            self._task = asyncio.create_task(self._stay_connected(), name="signals")
        return event

    async def close(self) -> None:
        """Stops listening."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _stay_connected(self) -> None:
        connect = cast("Callable[..., Awaitable[_ListeningConnection]]", asyncpg.connect)
        while True:
            try:
                connection = await connect(self._url, timeout=PATIENCE)
            except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
                await asyncio.sleep(PATIENCE)
                continue
            try:
                await self._listen_on(connection)
            except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
                pass
            finally:
                connection.terminate()
            await asyncio.sleep(PAUSE)

    async def _listen_on(self, connection: _ListeningConnection) -> None:
        """Listens until the connection is lost, also when PostgreSQL does not say so."""
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        async with asyncio.timeout(PATIENCE):
            await connection.add_listener(CHANNEL, lambda *_: self._wake())
        self._wake()  # A signal of before is not repeated.
        while not lost.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PULSE):
                    await lost.wait()
            async with asyncio.timeout(PATIENCE):
                await connection.execute("SELECT 1")

    def _wake(self) -> None:
        for event in self._listening:
            event.set()
