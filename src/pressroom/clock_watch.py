"""Watches how far this machine's clock is from the database's, which counts (docs/architecture.md#time)."""

from typing import Final

from pressroom.clock import SECOND, Clock
from pressroom.db import Database
from pressroom.logs import Log

SKEW: Final = 2 * SECOND
"""Milliseconds beyond which the operator is told."""


def skew_notice(clock: Clock) -> str | None:
    """Returns what an operator should know of this machine's clock, if anything."""
    if abs(clock.skew) <= SKEW:
        return None
    how = "ahead of" if clock.skew > 0 else "behind"
    return (
        f"This machine's clock is {abs(clock.skew) / SECOND:.1f} s {how} the database server's, by which all goes:"
        " keep both by NTP."
    )


class ClockWatch:
    """Sets the clock by the database's, and logs a warning when the machine's begins to be wrong."""

    def __init__(self, db: Database, clock: Clock, log: Log) -> None:
        self._db = db
        self._clock = clock
        self._log = log
        self._warned = False

    async def run(self) -> None:
        """Sets the clock once. Raises Unavailable."""
        await self._db.follow_clock()
        notice = skew_notice(self._clock)
        if notice is not None and not self._warned:
            self._log.warning("clocks differ", notice=notice)
        self._warned = notice is not None
