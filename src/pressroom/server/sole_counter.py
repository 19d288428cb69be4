"""Lets one process alone count the rate limits of a database without Redis (docs/limits.md#one-process-counts)."""

import asyncio
import contextlib
import fcntl
import os
import secrets
from collections.abc import AsyncGenerator, Callable, Generator
from functools import lru_cache
from pathlib import Path
from typing import Final

from pressroom.db import DatabaseAway
from pressroom.db.postgres.lock import LEASE_SECONDS, SessionLock
from pressroom.domains.limits.memory import MemoryLimiter, find_holder
from pressroom.errors import PressroomError, SettingError
from pressroom.folders import make_folder
from pressroom.server.database import direct_connector
from pressroom.server.runtime import Runtime
from pressroom.settings import Settings

_STATE, _STARTED = 0, 19
"""Fields of /proc/PID/stat, counted after the command's name."""


@lru_cache(1)
def own_identity() -> str:
    """Returns this process's identity: the machine's boot, the PID namespace, the PID and the start time."""
    try:
        fields = _stat(os.getpid())
        return f"{_machine()}:{os.getpid()}:{fields[_STARTED]}"
    except OSError:
        return f"unknown:{secrets.token_hex(16)}"


def has_ended(identity: str) -> bool:
    """Returns whether the process has certainly ended; False when it lives or this machine cannot know."""
    try:
        machine, number, started = identity.rsplit(":", 2)
        # Another machine, or another container: its processes cannot be seen from here.
        if machine != _machine():
            return False
        process = Path(f"/proc/{int(number)}")
        fields = _stat(int(number)) if process.exists() else None
    except (OSError, ValueError):
        return False
    # The kernel gives numbers of processes out again, but never with the same start. A zombie runs no more.
    return fields is None or fields[_STARTED] != started or fields[_STATE] == "Z"


def _machine() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    return f"{boot}:{Path('/proc/self/ns/pid').readlink()}"


def _stat(number: int) -> list[str]:
    # The command's name is in parentheses and may contain spaces and parentheses.
    return Path(f"/proc/{number}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()


API_LOCK: Final = 7_238_002
RETRY_SECONDS: Final = 0.25

TAKE_OVER_SECONDS: Final = LEASE_SECONDS + 3.0
"""How long a successor with the lock waits, so that the previous process admits nothing more and has saved."""

SAVE_SECONDS: Final = 2.0
"""How long a process that lost the lock tries to save its counts."""

READY_SECONDS: Final = 2.0
"""How long a start waits to count before it listens. After that it listens without being ready."""

_NOT_YET: Final = "rate limits cannot be taken over yet; nothing is admitted until they can"

_ALONE: Final = (
    "Another Pressroom serves this database already. Rate limits would be counted twice:"
    " set PRESSROOM_REDIS_URL to run several."
)

_ALONE_ON_FILE: Final = _ALONE.replace("set PRESSROOM_REDIS_URL", "move to PostgreSQL and Redis")


@contextlib.contextmanager
def alone_on_file(settings: Settings, served: str = _ALONE_ON_FILE) -> Generator[None]:
    """Locks the file of a SQLite database, which one process alone serves.

    Raises SettingError, with `served` and the file in place of {file}, when another process has locked it.
    """
    if not settings.database_url.startswith("sqlite:///"):
        yield
        return
    file = Path(settings.database_url.removeprefix("sqlite:///"))
    with alone_with(file, served.format(file=file)):
        yield


@contextlib.contextmanager
def alone_with(database: Path, served: str) -> Generator[None]:
    """Locks a file of SQLite. Raises SettingError, with `served` when another process has locked it."""
    file = database.with_name(f"{database.name}.lock")
    try:
        make_folder(file.parent)
        lock = file.open("w")
    except OSError as error:
        raise SettingError(f"PRESSROOM_DATA_DIR: cannot write {file}: {error.strerror}.") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise SettingError(served) from None
        yield


@contextlib.asynccontextmanager
async def sole_counter(runtime: Runtime, stopping: asyncio.Event) -> AsyncGenerator[None]:
    """Makes this process the only one that counts, while the context lasts. Does nothing where Redis counts.

    On SQLite the file is locked already, and counting begins once it can be written. On PostgreSQL this takes a lock
    and watches it; while the database is away, no request is admitted. Raises SettingError when another process holds
    the lock. `stopping` is set when another process takes over.
    """
    limiter = runtime.limiter
    if not isinstance(limiter, MemoryLimiter):
        yield
        return
    if runtime.db.engine != "postgres":
        async with _counting_on_file(runtime, limiter):
            yield
        return
    lock = SessionLock(direct_connector(runtime.settings, "pressroom lock").connect, API_LOCK)
    # Not for None: while the database is away, the server starts and admits nothing.
    if await _take(lock) is False:
        raise SettingError(_ALONE)
    limiter.suspend()
    watch = _Watch(runtime, limiter, lock, stopping.set)
    watching = asyncio.create_task(watch.run())
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(watch.counting.wait(), READY_SECONDS)
    try:
        yield
    finally:
        # First: the watch would take the release below for a loss, and suspend the limiter before its last save.
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching
        try:
            async with asyncio.timeout(SAVE_SECONDS):
                await limiter.close()
        except (PressroomError, TimeoutError) as error:
            runtime.log.error("not saved at the stop", what="limits", error=str(error))
        await lock.release()


@contextlib.asynccontextmanager
async def _counting_on_file(runtime: Runtime, limiter: MemoryLimiter) -> AsyncGenerator[None]:
    """Begins to count as soon as the file can be written. Another program may lock it, or the disk may be full."""
    limiter.suspend()
    taking = asyncio.create_task(_take_over_file(runtime, limiter))
    done, _ = await asyncio.wait([taking], timeout=READY_SECONDS)
    for task in done:
        task.result()
    try:
        yield
    finally:
        taking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await taking


async def _take_over_file(runtime: Runtime, limiter: MemoryLimiter) -> None:
    warned = False
    while True:
        try:
            await limiter.take_over(own_identity())
        except PressroomError as error:
            if not warned:
                runtime.log.warning(_NOT_YET, error=error.message)
                warned = True
            await asyncio.sleep(RETRY_SECONDS)
        else:
            return


class _Watch:
    """Counts while the lock is held, and takes the lock again after losing it.

    In between no request is admitted, because another server may be counting. Calls `stop` when another one is.
    """

    def __init__(self, runtime: Runtime, limiter: MemoryLimiter, lock: SessionLock, stop: Callable[[], None]) -> None:
        self._db = runtime.db
        self._log = runtime.log
        self._limiter = limiter
        self._lock = lock
        self._stop = stop
        self._warned = False
        self.counting = asyncio.Event()

    async def run(self) -> None:
        while True:
            lost = asyncio.create_task(self._lock.lost())
            try:
                await self._count_until(lost)
            finally:
                lost.cancel()
            # Before anything is awaited: from here on a successor may hold the lock.
            self._limiter.suspend()
            self._log.error("the database is away; nothing is admitted until this server has its lock again")
            # As long as nobody has taken over, the rows are still this process's. A late save is refused by the
            # holder's row.
            await self._save()
            while (taken := await _take(self._lock)) is None:
                await asyncio.sleep(RETRY_SECONDS)
            if not taken:
                self._log.error("another server has taken over this database; stopping")
                self._stop()
                return

    async def _count_until(self, lost: asyncio.Task[None]) -> None:
        while not lost.done():
            try:
                await self._wait_for_predecessor(lost)
                if not lost.done():
                    await self._limiter.take_over(own_identity(), self._lock.is_held)
                    self.counting.set()
                    self._warned = False
                    await lost
            except PressroomError as error:
                if not self._warned:
                    self._log.warning(_NOT_YET, error=error.message)
                    self._warned = True
                await asyncio.sleep(RETRY_SECONDS)

    async def _wait_for_predecessor(self, lost: asyncio.Task[None]) -> None:
        """Waits until the previous process must know that it lost the lock, unless it stopped cleanly or has ended."""
        before = await self._db.read(find_holder)
        if before is None or before.clean or before.holder == own_identity() or has_ended(before.holder):
            return
        self._log.info("waiting until the previous server admits nothing more", seconds=TAKE_OVER_SECONDS)
        await asyncio.wait([lost], timeout=TAKE_OVER_SECONDS)

    async def _save(self) -> None:
        with contextlib.suppress(PressroomError, TimeoutError):
            async with asyncio.timeout(SAVE_SECONDS):
                await self._limiter.flush()


async def _take(lock: SessionLock) -> bool | None:
    """Tries to take the lock; returns whether it succeeded, or None while the database is away."""
    try:
        return await lock.take()
    except DatabaseAway:
        return None
