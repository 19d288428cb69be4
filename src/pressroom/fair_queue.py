"""A queue that is fair to addresses: one line for each, served round robin. Pure."""

from collections import deque
from collections.abc import Container
from typing import Generic, TypeVar

T = TypeVar("T")


class FairQueue(Generic[T]):
    """At most `places` waiting items: first in, first out within an address, and one address after the other.

    However many items of one address wait, an item of another is served after at most one of them.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self._lines: dict[str, deque[T]] = {}  # in the order in which they are served
        self._waiting = 0

    def __len__(self) -> int:
        return self._waiting

    def join(self, address: str, item: T) -> T | None:
        """Adds `item` to the line of `address`. Returns the item that must leave because the queue is full, or None.

        That is the last item of the longest line, or `item` itself when its own line would be as long.
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
        """Removes `item` from the line of `address`; returns whether it was there."""
        line = self._lines.get(address)
        if line is None or item not in line:
            return False
        line.remove(item)
        self._waiting -= 1
        if not line:
            del self._lines[address]
        return True

    def next(self, but: Container[str] = ()) -> T | None:
        """Removes and returns the next item, or None when nothing waits of an address that is not in `but`."""
        address = next((each for each in self._lines if each not in but), None)
        if address is None:
            return None
        line = self._lines.pop(address)
        item = line.popleft()
        self._waiting -= 1
        if line:
            self._lines[address] = line  # behind all others
        return item
