"""Signals between processes through PostgreSQL: a transaction that commits wakes listeners."""

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import islice
from typing import Final

import asyncpg

from pressroom.db import Hearer
from pressroom.db.postgres.connector import AWAY, PostgresConnection
from pressroom.errors import Unavailable

INTERVAL: Final = 0.05
"""Seconds between two signals of one process to the others. A NOTIFY takes a lock on all commits of the cluster."""

PATIENCE: Final = 3.0
"""Seconds to wait for a connection or an answer on it, and between tries to connect."""

PAUSE: Final = 0.2
"""Seconds between the loss of a connection and the next one."""

LAST_SECONDS: Final = 1.0
"""Seconds that a stop waits for the last signal to be sent. Without it the others find the work when they look."""

MOST: Final = 200
"""Subjects that one NOTIFY names: it takes less than 8,000 bytes."""

WORK: Final = "work"
"""The payload of a NOTIFY about new work."""

PULSE: Final = 30.0
"""Seconds after which a silent connection is asked whether it is still there."""


class Signals:
    """Signals to and from other processes.

    It listens on a connection of its own, from the first `listen` on, and connects again when that is lost.

    Args:
        connect: Makes a connection that keeps its session.
        notify: Runs a NOTIFY by itself. Raises Unavailable.
        channel: The channel of the installation.
    """

    def __init__(
        self,
        connect: Callable[[], Awaitable[PostgresConnection]],
        notify: Callable[[str], Awaitable[None]],
        channel: str,
    ) -> None:
        self._connect = connect
        self._notify = notify
        self._channel = channel
        self._name = secrets.token_hex(8)
        self._listening: list[asyncio.Event] = []
        self._hearers: list[Hearer] = []
        self._task: asyncio.Task[None] | None = None
        self._sender: asyncio.Task[None] | None = None
        self._unsent: dict[str, None] = {}
        """The words for other processes: WORK, and subjects, in their order."""
        self._closing = asyncio.Event()

    def listen(self) -> asyncio.Event:
        """Returns an event that is set by every signal."""
        event = asyncio.Event()
        self._listening.append(event)
        self._connect_once()
        return event

    def hear(self, hearer: Hearer) -> None:
        """Has `hearer` called with every subject; with None after a connection was lost."""
        self._hearers.append(hearer)
        self._connect_once()

    def _connect_once(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._stay_connected(), name="signals")

    def send(self, *, work: bool = True, subjects: Sequence[str] = ()) -> None:
        """Wakes listeners and tells hearers: in this process at once, in others by a NOTIFY after the commit.

        When a process ends between the two, the others find the work when they look without a signal.
        """
        words = dict.fromkeys((*((WORK,) if work else ()), *subjects))
        # At once in this process: its own worker need not wait for a round trip, and works while PostgreSQL cannot be
        # reached for a NOTIFY.
        self._tell(words)
        self._unsent.update(words)
        if self._sender is None:
            self._sender = asyncio.create_task(self._send(), name="signals to other processes")

    async def _send(self) -> None:
        # Signals that come while one is sent share the next one. A NOTIFY for each commit would serialise all commits.
        while self._unsent:
            words = list(islice(self._unsent, MOST))
            for word in words:
                del self._unsent[word]
            with contextlib.suppress(Unavailable, asyncpg.PostgresError):
                await self._notify(f"NOTIFY {self._channel}, '{' '.join((self._name, *words))}'")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(INTERVAL):
                    await self._closing.wait()
        self._sender = None

    def _hear(self, payload: str) -> None:
        """Passes a signal on, unless it is this process's own, which it has passed on already."""
        name, *words = payload.split(" ")
        if name != self._name:
            self._tell(words)

    def _tell(self, words: Iterable[str]) -> None:
        for word in words:
            if word == WORK:
                self._wake()
            else:
                for hearer in self._hearers:
                    hearer(word)

    async def close(self) -> None:
        """Sends waiting signals, if that takes no longer than LAST_SECONDS, and stops listening."""
        self._closing.set()
        if self._sender is not None:
            await asyncio.wait([self._sender], timeout=LAST_SECONDS)
        for task in (self._sender, self._task):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    async def _stay_connected(self) -> None:
        while True:
            try:
                connection = await self._connect()
            except (*AWAY, asyncpg.PostgresError):
                await asyncio.sleep(PATIENCE)
                continue
            try:
                await self._listen_on(connection)
            except (*AWAY, asyncpg.PostgresError):
                pass
            finally:
                connection.terminate()
            await asyncio.sleep(PAUSE)

    async def _listen_on(self, connection: PostgresConnection) -> None:
        """Listens until the connection is lost, also when PostgreSQL does not report the loss."""
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        async with asyncio.timeout(PATIENCE):
            await connection.add_listener(self._channel, lambda *signal: self._hear(str(signal[3])))
        self._wake()  # A signal of before is not repeated.
        for hearer in self._hearers:
            hearer(None)
        while not lost.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PULSE):
                    await lost.wait()
            async with asyncio.timeout(PATIENCE):
                # A peer that vanished without a packet, as with a lost network, shows only when it is asked.
                await connection.execute("SELECT 1")

    def _wake(self) -> None:
        for event in self._listening:
            event.set()
