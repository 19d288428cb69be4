"""UTC days, for tests of what is counted by the day on the machine's own clock."""

import time

DAY = 86_400.0
MARGIN = 45.0
"""Seconds that a test of one day may take."""


def stay_within_a_day() -> None:
    """Waits for midnight if it is so near that the test would run into it."""
    while seconds_to_midnight() < MARGIN:
        time.sleep(min(1.0, seconds_to_midnight()))


def seconds_to_midnight() -> float:
    """Until the UTC day ends."""
    return DAY - time.time() % DAY
