"""Passwords: Argon2id, in threads, a few at a time, with a queue that has an end."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

import argon2

from pressroom.errors import Unavailable

T = TypeVar("T")

QUEUE: Final = 64
"""Passwords that may wait for a thread; whoever comes on top hears 503 instead of waiting without end."""

_hasher: Final = argon2.PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
_NOBODY: Final = _hasher.hash("no account has this password")


class Passwords:
    """Hashes and verifies passwords off the event loop. A flood of sign-ups keeps nobody from signing in."""

    def __init__(self) -> None:
        self._hashing = _Queue(1)
        self._verifying = _Queue(2)

    async def hash(self, password: str) -> str:
        """The hash to keep of a password. Raises Unavailable when too many wait."""
        return await self._hashing.run(lambda: _hasher.hash(password))

    async def verify(self, password: str, password_hash: str | None) -> bool:
        """Whether the password matches. Without a hash it takes as long, and does not."""
        matches = await self._verifying.run(lambda: _matches(password, password_hash or _NOBODY))
        return matches and password_hash is not None

    def close(self) -> None:
        """Lets the threads go."""
        self._hashing.close()
        self._verifying.close()


class _Queue:
    """Some threads, and those who wait for them."""

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, "password")
        self._waiting = 0

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def run(self, work: Callable[[], T]) -> T:
        if self._waiting >= QUEUE:
            raise Unavailable("Too many people are signing in right now.", 2)
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._waiting -= 1


def _matches(password: str, password_hash: str) -> bool:
    try:
        return _hasher.verify(password_hash, password)
    except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
        return False
