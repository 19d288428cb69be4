"""Password hashing: Argon2id, in a few threads of low priority, behind a queue that is fair to addresses."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Protocol, TypeVar

import argon2
import msgspec

from pressroom.errors import Unavailable
from pressroom.fair_queue import FairQueue
from pressroom.threads import lower_priority, run_to_end

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

    A flood of sign-ups keeps nobody from signing in, and a flood from one address keeps no other address waiting: of
    each address one password is worked on at a time. `patience` is in seconds.
    """

    def __init__(self, hasher: Hasher = ARGON2, patience: float = PATIENCE) -> None:
        self.hasher = hasher
        self.patience = patience
        at_work: set[str] = set()
        self._hashing = _ThreadQueue(1, at_work, self._start_waiting)
        self._verifying = _ThreadQueue(2, at_work, self._start_waiting)

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

    def _start_waiting(self) -> None:
        self._hashing.start_waiting()
        self._verifying.start_waiting()

    def _matches(self, password: str, password_hash: str) -> bool:
        try:
            return self.hasher.verify(password_hash, password)
        except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
            return False


class _Waiter(msgspec.Struct, eq=False):
    """A password that waits for a thread. `turn` is done when it has one."""

    address: str
    turn: asyncio.Future[None]


class _ThreadQueue:
    """Threads, and the fair queue of those who wait for one.

    Args:
        threads: How many threads it has.
        at_work: Addresses with a password in a thread, of this queue or another.
        ended: Called when a password is done, so that the next one of any queue may begin.
    """

    def __init__(self, threads: int, at_work: set[str], ended: Callable[[], None]) -> None:
        self.queue = FairQueue[_Waiter](PLACES)
        self._threads = ThreadPoolExecutor(threads, "password", initializer=lower_priority)
        self._free = threads
        self._at_work = at_work
        self._ended = ended

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def run(self, address: str, patience: float, work: Callable[[], T]) -> T:
        if self._free and address not in self._at_work:
            self._begin(address)
        else:
            await self._wait(address, patience)
        try:
            return await run_to_end(work, self._threads)
        finally:
            self._end(address)

    def start_waiting(self) -> None:
        """Gives free threads to those who wait, in turn."""
        while self._free and (waiter := self.queue.next(but=self._at_work)) is not None:
            if not waiter.turn.done():
                self._begin(waiter.address)
                waiter.turn.set_result(None)

    async def _wait(self, address: str, patience: float) -> None:
        waiter = _Waiter(address, asyncio.get_running_loop().create_future())
        turn = waiter.turn
        displaced = self.queue.join(address, waiter)
        if displaced is waiter:
            raise _too_many()
        if displaced is not None and not displaced.turn.done():  # its wait may have timed out at this very moment
            displaced.turn.set_exception(_too_many())
        try:
            async with asyncio.timeout(patience):
                await turn
        except BaseException as error:
            if not self.queue.leave(address, waiter) and turn.done() and not turn.cancelled() and not turn.exception():
                self._end(address)  # A thread became free at the very moment of leaving.
            if isinstance(error, TimeoutError):
                raise _too_many() from None
            raise

    def _begin(self, address: str) -> None:
        self._free -= 1
        self._at_work.add(address)

    def _end(self, address: str) -> None:
        self._free += 1
        self._at_work.discard(address)
        self._ended()


def _too_many() -> Unavailable:
    return Unavailable("Too many people are signing in right now; try again in 2 s.", 2)
