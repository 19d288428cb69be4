"""Password hashing: Argon2id, in a few threads of low priority, behind a queue that is fair to addresses."""

from typing import Final, Protocol

import argon2

from pressroom.errors import Unavailable
from pressroom.fair_threads import FairThreads

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
        self._hashing, self._verifying = (
            FairThreads(threads, "password", PLACES, _too_many, at_work=at_work, ended=self._start_waiting)
            for threads in (1, 2)
        )

    @property
    def waiting(self) -> int:
        """Returns how many passwords wait for a thread."""
        return self._hashing.waiting + self._verifying.waiting

    async def hash(self, password: str, address: str = "") -> str:
        """Returns the hash to store of a password that came from `address`. Raises Unavailable when too many wait."""
        return await self._hashing.run(address, lambda: self.hasher.hash(password), self.patience)

    async def verify(self, password: str, password_hash: str | None, address: str = "") -> bool:
        """Returns whether the password matches; without a hash, False after the same time. Raises Unavailable."""
        matches = await self._verifying.run(
            address, lambda: self._matches(password, password_hash or _NOBODY), self.patience
        )
        return matches and password_hash is not None

    def close(self) -> None:
        """Stops the threads."""
        self._hashing.close(wait=False)
        self._verifying.close(wait=False)

    def _start_waiting(self) -> None:
        self._hashing.start_waiting()
        self._verifying.start_waiting()

    def _matches(self, password: str, password_hash: str) -> bool:
        try:
            return self.hasher.verify(password_hash, password)
        except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
            return False


def _too_many() -> Unavailable:
    return Unavailable("Too many people are signing in right now; try again in 2 s.", 2)
