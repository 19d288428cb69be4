"""Password hashing: Argon2id, in a few threads, behind a queue that is fair to addresses."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Protocol, TypeVar

import argon2

from pressroom.errors import Unavailable
from pressroom.fair_queue import FairQueue

T = TypeVar("T")

PLACES: Final = 64
"""How many passwords may wait for a thread. One more displaces the last of the longest line, or is refused."""

PATIENCE: Final = 5.0
"""Seconds that a password may wait for a thread."""


class Hasher(Protocol):
    """Hashes and verifies passwords. Each call takes tens of milliseconds of a processor, on purpose."""

    def hash(self, password: str, /) -> str:
        """Returns the hash to store."""
        ...

    def verify(self, password_hash: str, password: str, /) -> bool:
        """Returns True when the password matches. Raises VerificationError or InvalidHashError when it does not."""
        ...


ARGON2: Final = argon2.PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
_NOBODY: Final = (
    f"$argon2id$v=19$m={ARGON2.memory_cost},t={ARGON2.time_cost},p={ARGON2.parallelism}${'A' * 22}${'A' * 43}"
)
"""A hash that no password has, of the usual cost. To make a real one would cost every start of a command as much."""


class Passwords:
    """Hashes and verifies passwords off the event loop (docs/limits.md#passwords).

    A flood of sign-ups keeps nobody from signing in, and a flood from one address keeps no other address waiting.
    `patience` is in seconds.
    """

    def __init__(self, hasher: Hasher = ARGON2, patience: float = PATIENCE) -> None:
        self.hasher = hasher
        self.patience = patience
        self._hashing = _ThreadQueue(1)
        self._verifying = _ThreadQueue(2)

    @property
    def waiting(self) -> int:
        """Returns how many passwords wait for a thread."""
        return len(self._hashing.queue) + len(self._verifying.queue)

    async def hash(self, password: str, address: str = "") -> str:
        """Returns the hash to store of a password that came from `address`. Raises Unavailable when too many wait."""
        return await self._hashing.run(address, self.patience, lambda: self.hasher.hash(password))

    async def verify(self, password: str, password_hash: str | None, address: str = "") -> bool:
        """Returns whether the password matches; without a hash, False after the same time. Raises Unavailable."""
        matches = await self._verifying.run(
            address, self.patience, lambda: self._matches(password, password_hash or _NOBODY)
        )
        return matches and password_hash is not None

    def close(self) -> None:
        """Stops the threads."""
        self._hashing.close()
        self._verifying.close()

    def _matches(self, password: str, password_hash: str) -> bool:
        try:
            return self.hasher.verify(password_hash, password)
        except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
            return False


class _ThreadQueue:
    """Threads, and the fair queue of those who wait for one."""

    def __init__(self, threads: int) -> None:
        self.queue = FairQueue[asyncio.Future[None]](PLACES)
        self._threads = ThreadPoolExecutor(threads, "password")
        self._free = threads

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def run(self, address: str, patience: float, work: Callable[[], T]) -> T:
        if self._free:
            self._free -= 1
        else:
            await self._wait(address, patience)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._release()

    async def _wait(self, address: str, patience: float) -> None:
        waiter = asyncio.get_running_loop().create_future()
        displaced = self.queue.join(address, waiter)
        if displaced is waiter:
            raise _too_many()
        if displaced is not None and not displaced.done():  # its wait may have timed out at this very moment
            displaced.set_exception(_too_many())
        try:
            async with asyncio.timeout(patience):
                await waiter
        except BaseException as error:
            if (
                not self.queue.leave(address, waiter)
                and waiter.done()
                and not waiter.cancelled()
                and not waiter.exception()
            ):
                self._release()  # A thread became free at the very moment of leaving.
            if isinstance(error, TimeoutError):
                raise _too_many() from None
            raise

    def _release(self) -> None:
        """Gives the freed thread to the next waiter, or counts it as free."""
        while (waiter := self.queue.next()) is not None:
            if not waiter.done():
                waiter.set_result(None)
                return
        self._free += 1


def _too_many() -> Unavailable:
    return Unavailable("Too many people are signing in right now; try again in 2 s.", 2)
