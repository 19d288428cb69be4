"""Watches how far this machine's clock is from the database's, which counts, and from the newest records.

The rules stand in docs/operations.md#clocks.
"""

import contextlib
from typing import Final

from pressroom.clock import SECOND, Clock
from pressroom.db import Database, Query
from pressroom.ids import time_of
from pressroom.logs import Log

SKEW: Final = 2 * SECOND
"""Milliseconds beyond which a difference is logged."""


FIND_NEWEST: Final = Query(
    str,
    "SELECT coalesce(max(newest.id), '') FROM (SELECT max(id) AS id FROM accounts UNION ALL SELECT max(id) FROM posts"
    " UNION ALL SELECT max(id) FROM comments UNION ALL SELECT max(id) FROM clips UNION ALL SELECT max(id) FROM media"
    " UNION ALL SELECT max(id) FROM events UNION ALL SELECT max(id) FROM notifications"
    " UNION ALL SELECT max(id) FROM audit_entries UNION ALL SELECT max(id) FROM jobs) AS newest",
)
"""Finds the newest id, which names the time that the database has come to."""


async def start_clock(db: Database, clock: Clock) -> None:
    """Has the time begin after that of the newest record, so that no id sorts before one that was made earlier."""
    newest = await db.one(FIND_NEWEST)
    with contextlib.suppress(ValueError):  # there is no record, or one of another program
        clock.start_after(time_of(newest or ""))


def skew_notice(clock: Clock) -> str | None:
    """Returns the notice for an operator about this machine's clock; None when it is right."""
    if clock.held:
        return (
            f"This machine's clock was set {round(clock.held / SECOND):,} s ahead. The time runs on without that, and"
            " nothing is removed, until the clock has stood there for an hour. If it is right, restart the server."
        )
    if (ahead := clock.now() - clock.wall()) > SKEW:
        return (
            f"The clock is {ahead // SECOND:,} s behind the newest records: it was set back, or had been ahead."
            " The time runs at half speed until the clock has caught up."
        )
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
