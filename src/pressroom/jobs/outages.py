"""Outages: how long jobs wait for an unavailable resource, and how few are begun (docs/media.md#outages)."""

from typing import Final

import msgspec

from pressroom.clock import MINUTE, SECOND, Clock
from pressroom.logs import Log

FIRST: Final = 5 * SECOND
LONGEST_DEFERRAL: Final = 5 * MINUTE
LONGEST_PAUSE: Final = 60 * SECOND
MOST_REASONS: Final = 5
"""Reasons that are logged in one outage."""


def deferral(deferrals: int) -> int:
    """Returns for how many milliseconds a job waits that was deferred `deferrals` times before."""
    return _grown(deferrals, LONGEST_DEFERRAL)


class _Outage(msgspec.Struct):
    times: int = 0
    next_probe_at: int = 0
    logged: set[str] = msgspec.field(default_factory=set[str])


class Outages:
    """Knows for which kinds of job something is away. Of such a kind one job at a time is begun, ever more seldom.

    So an outage neither spends the tries of jobs nor fills the log: each reason is logged once, and the end.
    """

    def __init__(self, clock: Clock, log: Log) -> None:
        self._clock = clock
        self._log = log
        self._outages: dict[str, _Outage] = {}

    def free(self, kind: str, together: int, busy: int) -> int:
        """Returns how many more jobs of a kind may be begun: at most `together` run at once, and `busy` do now."""
        outage = self._outages.get(kind)
        if outage is None:
            return together - busy
        # A single probe: if it fails, it alone has cost a time-out, and not every job that waits.
        return 1 if busy == 0 and outage.next_probe_at <= self._clock.now() else 0

    def began(self, kind: str, reason: str) -> None:
        """Notes that a job of the kind lacked something."""
        outage, now = self._outages.setdefault(kind, _Outage()), self._clock.now()
        if outage.next_probe_at <= now:  # jobs begun before the outage was known add nothing
            outage.next_probe_at = now + _grown(outage.times, LONGEST_PAUSE)
            outage.times += 1
        if reason not in outage.logged and len(outage.logged) < MOST_REASONS:
            outage.logged.add(reason)
            self._log.warning("jobs wait for an unavailable resource", kind=kind, error=reason)

    def ended(self, kind: str) -> None:
        """Notes that a job of the kind had its resources."""
        outage = self._outages.pop(kind, None)
        if outage is not None:
            self._log.info("jobs go on", kind=kind, probes=outage.times)


def _grown(times: int, longest: int) -> int:
    return min(FIRST << min(times, 16), longest)
