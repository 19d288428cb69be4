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


JUMP: Final = MINUTE * 1_000_000
"""Nanoseconds; a clock that is set ahead by more is not followed at once."""

STANDS: Final = HOUR * 1_000_000
"""Nanoseconds after which a clock that was set ahead is followed all the same."""

_AWAKE: Final[int] = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

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

    def steady(self) -> int:
        """Returns a time in milliseconds that ignores changes of the clock; `now()` at the first call."""
        ...

    def start_after(self, newest: int) -> None:
        """Has the time begin after that (milliseconds) of the newest record in the database, unless a day is between.

        A record that is older than JUMP leaves open whether the machine was off or its clock was set ahead.
        """
        ...

    @property
    def skew(self) -> int:
        """Returns how far the machine's clock is ahead of the one that is followed, in milliseconds."""
        ...

    @property
    def held(self) -> int:
        """Returns how far ahead the machine's clock was set, in milliseconds, while it is not followed; else 0."""
        ...

    @property
    def is_settled(self) -> bool:
        """Returns whether the time has run without a jump for STANDS, so that expired rows may be removed."""
        ...


class SystemClock:
    """The machine's clock, or the database's once that is followed (docs/operations.md#clocks).

    It never runs backwards: after a clock was set back, the time runs at half speed until the clock has caught up.
    A machine's clock that is set ahead by more than a minute is followed once it has stood there for an hour, so that
    nothing expires by mistake. Machines share leases by the database's time: it is read every so often and followed at
    once, and in between it runs by a clock of the machine that nobody sets.
    """

    def __init__(self) -> None:
        self._time, self._awake = time.time_ns(), nanoseconds_awake()
        self._followed: int | None = None
        self._skew = 0
        self._held = 0
        self._held_since = 0
        self._settled_at = 0
        self._steady: int | None = None

    def now(self) -> int:
        """Returns the time in milliseconds since 1970, UTC."""
        wall, awake = self._read(), nanoseconds_awake()
        passed = awake - self._awake
        # Running backwards would sort new posts before old ones; to follow a jump would expire sessions and leases.
        if wall - self._time - passed > JUMP:
            now = self._after_jump(wall, passed, awake)
        else:
            # Half speed: the time never stands still, and a clock that was set back catches up.
            now, self._held = self._time + passed // 2, 0
            if wall > now:
                now = wall
        self._time, self._awake = now, awake
        return now // 1_000_000

    def wall(self) -> int:
        """Returns the time in milliseconds, at once right after the clock was set back."""
        return self._read() // 1_000_000

    def follow(self, now: int) -> None:
        """Takes the time of the database, in milliseconds, for the right one from now on."""
        awake = nanoseconds_awake()
        if self._followed is None:
            self._time, self._awake = now * 1_000_000, awake  # Nothing was written yet by the machine's time.
        # As a difference to the clock that nobody sets, so that the time runs on between two readings.
        self._followed = now * 1_000_000 - awake
        self._skew = time.time_ns() // 1_000_000 - now

    def steady(self) -> int:
        """Returns a time in milliseconds that ignores changes of the clock."""
        if self._steady is None:
            self._steady = self.now() * 1_000_000 - nanoseconds_awake()
        return (self._steady + nanoseconds_awake()) // 1_000_000

    def start_after(self, newest: int) -> None:
        """Has the time begin after that (milliseconds) of the newest record in the database, unless a day is between.

        A record that is older than JUMP leaves open whether the machine was off or its clock was set ahead.
        """
        ahead = (newest + 1) * 1_000_000 - self._read()
        # The database has records of the future: this machine's clock was set back while the server was down. Ids and
        # times must not begin before them.
        if 0 < ahead <= DAY * 1_000_000:
            self._time, self._awake = max(self._time, (newest + 1) * 1_000_000), nanoseconds_awake()
        # The newest record is old: the machine was off, or its clock is ahead. Until one is known, nothing expired is
        # removed.
        elif -ahead > JUMP:
            self._settled_at = nanoseconds_awake() + STANDS

    @property
    def skew(self) -> int:
        """Returns how far the machine's clock was ahead of the database's, in milliseconds; 0 if none is followed."""
        return self._skew

    @property
    def held(self) -> int:
        """Returns how far ahead the machine's clock was set, in milliseconds, while it is not followed; else 0."""
        ahead = self.wall() - self.now()
        return ahead if ahead * 1_000_000 > JUMP else 0

    @property
    def is_settled(self) -> bool:
        """Returns whether the time has run without a jump for STANDS, so that expired rows may be removed."""
        return self.held == 0 and nanoseconds_awake() >= self._settled_at

    def _read(self) -> int:
        return time.time_ns() if self._followed is None else self._followed + nanoseconds_awake()

    def _after_jump(self, wall: int, passed: int, awake: int) -> int:
        """Returns the time after the clock was set ahead. A database's is followed at once, as by all machines."""
        if self._followed is not None:
            # All machines must go by one time, or two would hold one lease. Only the removal of rows and files waits.
            self._settled_at = awake + STANDS
            return wall
        held = wall - awake  # the same for as long as the clock is not set once more
        if abs(held - self._held) > JUMP:
            self._held, self._held_since = held, awake
        return wall if awake - self._held_since >= STANDS else self._time + passed


def nanoseconds_awake() -> int:
    """Returns a time that cannot be set, and that runs on while the process or the machine sleeps."""
    return time.clock_gettime_ns(_AWAKE)


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
        """Does nothing: the test sets the time."""

    def steady(self) -> int:
        """Returns the time that was set."""
        return self.time

    def start_after(self, newest: int) -> None:
        """Does nothing: the test sets the time."""

    @property
    def skew(self) -> int:
        """Returns 0."""
        return 0

    @property
    def held(self) -> int:
        """Returns 0."""
        return 0

    @property
    def is_settled(self) -> bool:
        """Returns True."""
        return True

    def advance(self, milliseconds: int) -> None:
        """Moves the time forward."""
        self.time += milliseconds


@lru_cache(1024)  # a request formats the same time several times
def iso(at: int) -> str:
    """Returns a time as `2026-11-20T16:08:12.345Z`, the only form in which times are sent."""
    seconds, milliseconds = divmod(at, SECOND)
    return f"{_to_the_second(seconds)}.{milliseconds:03d}Z"


def iso_or_none(at: int | None) -> str | None:
    """Returns a time like `iso`; None for None."""
    return None if at is None else iso(at)


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
