"""Waiting lines, one for each address, served in turn. Pure."""

from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class FairQueue(Generic[T]):
    """Items that wait in at most `places` places: first come, first served within a line, and line by line in turn.

    However many wait from one address, an item from another is served after at most one of theirs.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self._lines: dict[str, deque[T]] = {}  # in the order in which they are served
        self._waiting = 0

    def __len__(self) -> int:
        return self._waiting

    def join(self, address: str, item: T) -> T | None:
        """Lets `item` wait in the line of `address`; who waits no more for want of a place, or None.

        That is the last of the longest line; `item` itself when its own line would be no shorter.
        """
        displaced = None
        if self._waiting >= self._places:
            longest = max(self._lines, key=lambda line: len(self._lines[line]))
            if len(self._lines[longest]) <= len(self._lines.get(address, ())) + 1:
                return item
            displaced = self._lines[longest].pop()
            self._waiting -= 1
        self._lines.setdefault(address, deque()).append(item)
        self._waiting += 1
        return displaced

    def leave(self, address: str, item: T) -> bool:
        """Takes `item` out of the line of `address`; whether it was there."""
        line = self._lines.get(address)
        if line is None or item not in line:
            return False
        line.remove(item)
        self._waiting -= 1
        if not line:
            del self._lines[address]
        return True

    def next(self) -> T | None:
        """Takes out whose turn it is; None when nobody waits."""
        if not self._lines:
            return None
        address = next(iter(self._lines))
        line = self._lines.pop(address)
        item = line.popleft()
        self._waiting -= 1
        if line:
            self._lines[address] = line  # behind all others
        return item
