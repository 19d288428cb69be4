"""Clocks, which tests replace, and times. Every time in the program is whole milliseconds since 1970, UTC."""

import re
import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final, Protocol

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_FIRST: Final = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // timedelta(milliseconds=1)
_LAST: Final = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // timedelta(milliseconds=1)

_ISO: Final = re.compile(
    r"[0-9]{4}-?[0-9]{2}-?[0-9]{2}T[0-9]{2}:?[0-9]{2}(:?[0-9]{2}([.][0-9]{1,6})?)?(Z|[+-][0-9]{2}:?[0-9]{2})"
)


class Clock(Protocol):
    """The source of the time."""

    def now(self) -> int:
        """Returns the time in milliseconds since 1970, UTC. It never runs backwards."""
        ...

    def wall(self) -> int:
        """Returns the time in milliseconds, for comparison with other machines'. It may run backwards."""
        ...

    def follow(self, now: int) -> None:
        """Takes a time in milliseconds, read a moment ago from the database's clock, for the right one."""
        ...

    @property
    def skew(self) -> int:
        """Returns how far the machine's clock is ahead of the one that is followed, in milliseconds."""
        ...


class SystemClock:
    """The machine's clock, or the database's once that is followed, except that it never runs backwards.

    A clock that is set back would let rolling windows admit too much and sort new posts before old ones. So after that
    the time runs at half speed until the clock has caught up. Machines share leases by the database's time: it is read
    every so often, and in between it runs by a clock of the machine that nobody sets.
    """

    def __init__(self) -> None:
        self._time, self._monotonic = time.time_ns(), time.monotonic_ns()
        self._followed: int | None = None
        self._skew = 0

    def now(self) -> int:
        """Returns the time in milliseconds since 1970, UTC."""
        now = time.time_ns() if self._followed is None else self._read()
        monotonic = time.monotonic_ns()
        at_least = self._time + (monotonic - self._monotonic) // 2
        if at_least > now:
            now = at_least
        self._time, self._monotonic = now, monotonic
        return now // 1_000_000

    def wall(self) -> int:
        """Returns the time in milliseconds, at once right after the clock was set back."""
        return self._read() // 1_000_000

    def follow(self, now: int) -> None:
        """Takes the time of the database, in milliseconds, for the right one from now on."""
        if self._followed is None:
            self._time = now * 1_000_000  # Nothing was written yet by the machine's time.
        self._followed = now * 1_000_000 - nanoseconds_awake()
        self._skew = time.time_ns() // 1_000_000 - now

    @property
    def skew(self) -> int:
        """Returns how far the machine's clock was ahead of the database's, in milliseconds; 0 if none is followed."""
        return self._skew

    def _read(self) -> int:
        return time.time_ns() if self._followed is None else self._followed + nanoseconds_awake()


def nanoseconds_awake() -> int:
    """Returns a time that nobody sets, and that goes on while the process, or the machine, is asleep."""
    return time.clock_gettime_ns(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class SettableClock:
    """A clock that does not move until a test sets or advances it."""

    def __init__(self, now: int = 1_800_000_000_000) -> None:
        self.time = now

    def now(self) -> int:
        """Returns the time that was set."""
        return self.time

    def wall(self) -> int:
        """Returns the time that was set."""
        return self.time

    def follow(self, now: int) -> None:
        """Does nothing: the test says what the time is."""

    @property
    def skew(self) -> int:
        """Returns 0."""
        return 0

    def advance(self, milliseconds: int) -> None:
        """Moves the time forward."""
        self.time += milliseconds


@lru_cache(1024)  # a request says a time of its own several times
def iso(at: int) -> str:
    """Returns a time as `2026-11-20T16:08:12.345Z`, the only form in which times are sent."""
    seconds, milliseconds = divmod(at, SECOND)
    return f"{_to_the_second(seconds)}.{milliseconds:03d}Z"


@lru_cache(1024)  # a busy second is formatted once
def _to_the_second(seconds: int) -> str:
    return (_EPOCH + timedelta(seconds=seconds)).isoformat()[:19]


def parse_iso(text: str) -> int:
    """Returns an ISO 8601 time in milliseconds. Raises ValueError for one without a zone or outside years 1 to 9999."""
    if not _ISO.fullmatch(text):
        raise ValueError("not an ISO 8601 time with a zone")
    # timestamp() returns a float, which is sometimes off by a millisecond.
    at = (datetime.fromisoformat(text) - _EPOCH) // timedelta(milliseconds=1)
    if not _FIRST <= at <= _LAST:  # Its zone carries it out of what iso() can write.
        raise ValueError("not a time of the years 1 to 9999 in UTC")
    return at


def next_midnight(now: int) -> int:
    """Returns the first UTC midnight after `now`. Both are in milliseconds."""
    return (now // DAY + 1) * DAY


def seconds_until(later: int, now: int) -> int:
    """Returns the whole seconds from `now` to `later` (milliseconds), rounded up, at least 1."""
    return max(1, -((now - later) // SECOND))
