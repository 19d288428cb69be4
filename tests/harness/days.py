"""Days and minutes of the machine's own clock, for tests of what is counted by them. In seconds."""

import time
from datetime import UTC, datetime, timedelta

from tests.harness.process import ServerProcess
from tests.harness.records import rows

DAY = 86_400.0
MINUTE = 60.0
MARGIN = 120.0
"""Seconds that a test of one day may take."""


def stay_within_a_day() -> None:
    """Waits for midnight if it is so near that the test would run into it."""
    while seconds_to_midnight() < MARGIN:
        time.sleep(min(1.0, seconds_to_midnight()))


def seconds_to_midnight() -> float:
    """Until the UTC day ends."""
    return DAY - time.time() % DAY


def bring_forward(server: ServerProcess, moment: datetime) -> None:
    """Makes drafts that are scheduled from a moment on due from now on, however long it took to schedule all."""
    wait = (moment - datetime.now(UTC)) // timedelta(milliseconds=1)
    for table, due in (("drafts", "publish_at"), ("jobs", "due_at"), ("job_queues", "due_at")):
        rows(server, f"UPDATE {table} SET {due} = {due} - {wait} WHERE {due} > {wait}")  # noqa: S608  # the test's own


def most_in_a_minute(moments: list[float]) -> int:
    """The most moments that lie within any 60 seconds."""
    return max(sum(0 <= moment - first < MINUTE for moment in moments) for first in moments)
