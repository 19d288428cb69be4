"""A lock in PostgreSQL, whose holder knows whether it still holds it (docs/limits.md#one-process-counts)."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import Final

import asyncpg

from pressroom.db import DatabaseAway
from pressroom.db.dialect import LOCKS_OF_SCHEMA
from pressroom.db.postgres.connector import AWAY, PostgresConnection, Record

PATIENCE: Final = 3.0
"""Seconds to wait for PostgreSQL's answer, and for a holder that was just killed: it may take a moment to notice."""

PULSE_SECONDS: Final = 1.0
"""How often the holder asks whether the lock is still its own."""

LEASE_SECONDS: Final = 5.0
"""How long after it was last seen the lock counts as held. A successor waits longer than that before it acts."""

TAKE: Final = f"SELECT pg_try_advisory_lock({LOCKS_OF_SCHEMA} + $1)"

# Asked of the session itself: behind a pooler it may not be the one that took the lock.
_SEE: Final = f"""SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted
    AND pid = pg_backend_pid() AND objsubid = 1
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (classid::bigint << 32) + objid::bigint = {LOCKS_OF_SCHEMA} + $1"""  # noqa: S608  # of constants

_WHO: Final = "SELECT pid, backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()"

_END: Final = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start = $2::text::timestamptz"
)


def seconds_awake() -> float:
    """Seconds on a clock that nobody sets, and that goes on while the process, or the machine, is asleep."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class SessionLock:
    """The advisory lock `number` of the schema that `connect` connects to, by connections that keep their session."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[PostgresConnection]],
        number: int,
        clock: Callable[[], float] = seconds_awake,
    ) -> None:
        self._connect = connect
        self._number = number
        self._clock = clock
        self._connection: PostgresConnection | None = None
        self._session: Record | None = None
        self._seen_at = 0.0
        self._ended = asyncio.Event()

    async def take(self) -> bool:
        """Takes the lock. Returns False when another process holds it. Raises DatabaseAway."""
        await self.release()
        try:
            self._connection = connection = await self._connect()
            self._ended.clear()
            connection.add_termination_listener(lambda _: self._ended.set())
            if self._session is not None:
                # Our own earlier session may hold the lock still, at the end of a connection that leads nowhere.
                await connection.fetchrow(_END, *self._session, timeout=PATIENCE)
            taken = await self._take(connection)
            self._session = await connection.fetchrow(_WHO, timeout=PATIENCE)
        except (*AWAY, asyncpg.PostgresError) as error:
            await self.release()
            raise DatabaseAway("The database cannot be reached right now.") from error
        if not taken:
            await self.release()
        return taken

    def is_held(self) -> bool:
        """Returns whether the lock was seen to be held by this process within the lease."""
        # By the time, not by the connection: a process that was halted wakes with a connection that looks alive.
        return self._connection is not None and self._clock() - self._seen_at < LEASE_SECONDS

    async def lost(self) -> None:
        """Waits until the lock is no longer held, or PostgreSQL does not say that it is."""
        while self._connection is not None and await self._see(self._connection):
            with contextlib.suppress(TimeoutError):
                # The end of the connection is the end of the lock: no query is needed.
                await asyncio.wait_for(self._ended.wait(), PULSE_SECONDS)
                return

    async def release(self) -> None:
        """Releases the lock."""
        if self._connection is not None:
            with contextlib.suppress(OSError, asyncpg.InterfaceError):
                self._connection.terminate()
            self._connection = None

    async def _take(self, connection: PostgresConnection) -> bool:
        deadline = self._clock() + PATIENCE
        while True:
            # Of before the question: the lock was held at some moment after it, so counting from here never overstates.
            asked_at = self._clock()
            row = await connection.fetchrow(TAKE, self._number, timeout=PATIENCE)
            if row and row[0]:
                self._seen_at = asked_at
                return True
            if self._clock() > deadline:
                return False
            await asyncio.sleep(0.05)

    async def _see(self, connection: PostgresConnection) -> bool:
        asked_at = self._clock()
        try:
            row = await connection.fetchrow(_SEE, self._number, timeout=PATIENCE)
        except (*AWAY, asyncpg.PostgresError):
            return False
        if not row or not row[0]:
            return False
        self._seen_at = asked_at
        return True
