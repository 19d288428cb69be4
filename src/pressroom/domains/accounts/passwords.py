"""Passwords: Argon2id, in threads, a few at a time; who waits for one stands in a line of their address."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Protocol, TypeVar

import argon2

from pressroom.domains.accounts.fair_queue import FairQueue
from pressroom.errors import Unavailable

T = TypeVar("T")

PLACES: Final = 64
"""Passwords that may wait for a thread; whoever comes on top has the last of the longest line leave, or leaves."""

PATIENCE: Final = 5.0
"""Seconds that a password may wait for a thread."""


class Hasher(Protocol):
    """What turns passwords into hashes. Each call takes tens of milliseconds of a processor, on purpose."""

    def hash(self, password: str, /) -> str:
        """The hash to keep."""
        ...

    def verify(self, password_hash: str, password: str, /) -> bool:
        """Whether the password matches. Raises VerificationError or InvalidHashError when it does not."""
        ...


ARGON2: Final = argon2.PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
_NOBODY: Final = ARGON2.hash("no account has this password")


class Passwords:
    """Hashes and verifies passwords off the event loop (docs/limits.md#passwords).

    A flood of sign-ups keeps nobody from signing in, and a flood from one address keeps no other address waiting.
    `patience` is in seconds.
    """

    def __init__(self, hasher: Hasher = ARGON2, patience: float = PATIENCE) -> None:
        self.hasher = hasher
        self.patience = patience
        self._hashing = _Queue(1)
        self._verifying = _Queue(2)

    @property
    def waiting(self) -> int:
        """Passwords that wait for a thread."""
        return len(self._hashing.lines) + len(self._verifying.lines)

    async def hash(self, password: str, address: str = "") -> str:
        """The hash to keep of a password that came from `address`. Raises Unavailable when too many wait."""
        return await self._hashing.run(address, self.patience, lambda: self.hasher.hash(password))

    async def verify(self, password: str, password_hash: str | None, address: str = "") -> bool:
        """Whether the password matches. Without a hash it takes as long, and does not. Raises Unavailable."""
        matches = await self._verifying.run(
            address, self.patience, lambda: self._matches(password, password_hash or _NOBODY)
        )
        return matches and password_hash is not None

    def close(self) -> None:
        """Lets the threads go."""
        self._hashing.close()
        self._verifying.close()

    def _matches(self, password: str, password_hash: str) -> bool:
        try:
            return self.hasher.verify(password_hash, password)
        except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
            return False


class _Queue:
    """Some threads, and those who wait for them."""

    def __init__(self, threads: int) -> None:
        self.lines = FairQueue[asyncio.Future[None]](PLACES)
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
            self._hand_on()

    async def _wait(self, address: str, patience: float) -> None:
        turn = asyncio.get_running_loop().create_future()
        displaced = self.lines.join(address, turn)
        if displaced is turn:
            raise _too_many()
        if displaced is not None and not displaced.done():  # its patience may have ended at this very moment
            displaced.set_exception(_too_many())
        try:
            async with asyncio.timeout(patience):
                await turn
        except BaseException as error:
            if not self.lines.leave(address, turn) and turn.done() and not turn.cancelled() and not turn.exception():
                self._hand_on()  # The turn came at the very moment of leaving.
            if isinstance(error, TimeoutError):
                raise _too_many() from None
            raise

    def _hand_on(self) -> None:
        """The thread is free for whoever is next."""
        while (turn := self.lines.next()) is not None:
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


def _too_many() -> Unavailable:
    return Unavailable("Too many people are signing in right now; try again in 2 s.", 2)
