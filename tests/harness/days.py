"""Days and minutes of the machine's own clock, for tests of what is counted by them. In seconds."""

import time

DAY = 86_400.0
MINUTE = 60.0
MARGIN = 45.0
"""Seconds that a test of one day may take."""


def stay_within_a_day() -> None:
    """Waits for midnight if it is so near that the test would run into it."""
    while seconds_to_midnight() < MARGIN:
        time.sleep(min(1.0, seconds_to_midnight()))


def seconds_to_midnight() -> float:
    """Until the UTC day ends."""
    return DAY - time.time() % DAY


def most_in_a_minute(moments: list[float]) -> int:
    """The most moments that lie within any 60 seconds."""
    return max(sum(0 <= moment - first < MINUTE for moment in moments) for first in moments)
