"""A queue that is fair to clients: one line for each, served round robin. Pure."""

from collections import deque
from collections.abc import Container
from typing import Generic, TypeVar

T = TypeVar("T")


class _Line(Generic[T]):
    """The waiting items of one client; those that have been served before go first."""

    __slots__ = ("again", "first")

    def __init__(self) -> None:
        self.first = deque[T]()
        self.again = deque[T]()


class FairQueue(Generic[T]):
    """Items in lines: first in, first out within a line, and one line after the other.

    However many items of one line wait, an item of another is served after at most one of them. At most `places` items
    wait, `places_of_one` in one line; items that come back to the queue (`rejoin`) need no place.
    """

    def __init__(self, places: int, places_of_one: int | None = None) -> None:
        self._places = places
        self._places_of_one = places if places_of_one is None else places_of_one
        self._lines: dict[str, _Line[T]] = {}  # in the order in which they are served
        self._taken = 0
        self._again = 0

    def __len__(self) -> int:
        return self._taken + self._again

    @property
    def sole_line(self) -> str | None:
        """Returns the line of all items when they are in one line, otherwise None."""
        return next(iter(self._lines)) if len(self._lines) == 1 else None

    def join(self, line: str, item: T) -> T | None:
        """Adds an item to a line. Returns the item that is displaced because the queue is full, or None.

        That is the last item of the longest line, or `item` itself when its own line would be as long.
        """
        own = self._lines.get(line)
        length = len(own.first) if own else 0
        if length >= self._places_of_one:
            return item
        displaced = None
        if self._taken >= self._places:
            longest = max(self._lines, key=lambda name: len(self._lines[name].first))
            # Otherwise two lines of the same length would displace each other's items, and both wait for nothing.
            if len(self._lines[longest].first) <= length + 1:
                return item
            # The last one, which has waited for the shortest time.
            displaced = self._lines[longest].first.pop()
            self._taken -= 1
        if own is None:
            own = self._lines[line] = _Line()
        own.first.append(item)
        self._taken += 1
        return displaced

    def rejoin(self, line: str, item: T) -> None:
        """Adds an item that has been served before. It goes ahead of those of its line that have not, and is never
        displaced."""
        own = self._lines.get(line)
        if own is None:
            own = self._lines[line] = _Line()
        own.again.append(item)
        self._again += 1

    def leave(self, line: str, item: T) -> bool:
        """Removes `item` from its line; returns whether it was there."""
        own = self._lines.get(line)
        if own is None:
            return False
        if item in own.first:
            own.first.remove(item)
            self._taken -= 1
        elif item in own.again:
            own.again.remove(item)
            self._again -= 1
        else:
            return False
        if not own.first and not own.again:
            del self._lines[line]
        return True

    def next(self, but: Container[str] = ()) -> T | None:
        """Removes and returns the next item, or None when nothing waits in a line that is not in `but`."""
        line = next((each for each in self._lines if each not in but), None)
        if line is None:
            return None
        own = self._lines.pop(line)
        if own.again:
            item = own.again.popleft()
            self._again -= 1
        else:
            item = own.first.popleft()
            self._taken -= 1
        if own.first or own.again:
            self._lines[line] = own  # behind all others
        return item
