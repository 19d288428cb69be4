"""What else used the machine's cores during a run, which makes its figures doubtful."""

import resource
import time
from typing import Final

import psutil

QUIET: Final = 0.15
"""Cores used by others above which a run deserves a warning."""

LOOK_SECONDS: Final = 1.0


class OtherLoad:
    """The cores that other programs used while this was open. Counts children of this process once they have ended."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._busy = _busy_seconds()
        self._ours = _our_seconds()

    def cores(self) -> float:
        """Returns how many cores other programs used on average so far. Children must have ended."""
        others = _busy_seconds() - self._busy - (_our_seconds() - self._ours)
        return max(0.0, others / max(0.001, time.monotonic() - self._began))


def cores_in_use() -> float:
    """Returns how many cores are in use before anything is measured: one look, of a second."""
    before = OtherLoad()
    time.sleep(LOOK_SECONDS)
    return before.cores()


def warning(before: float, during: float) -> str:
    """Returns the warning that a run deserves, empty when it was the only load.

    Args:
        before: Cores in use before the run.
        during: Cores that others used during the run.
    """
    if max(before, during) <= QUIET:
        return ""
    return (
        f"This was not the only load: others used {before:.1f} cores before it began and {during:.1f} during it."
        " Believe CPU times rather than rates, and differences only when the two were measured in turn (--pair)."
    )


def _busy_seconds() -> float:
    times = psutil.cpu_times()
    return sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0)


def _our_seconds() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
