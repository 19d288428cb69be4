"""How few jobs are begun while their resource is away, and the lines in the log."""

import io
import json

from pressroom.clock import SECOND, SettableClock
from pressroom.jobs.outages import FIRST, LONGEST_PAUSE, MOST_REASONS, Outages
from pressroom.logs import Log


def test_one_job_at_a_time_looks_ever_more_seldom_whether_it_is_back() -> None:
    clock = SettableClock()
    outages = Outages(clock, Log(requests=False, stream=io.StringIO()))
    assert outages.free("media", 2, 1) == 1

    pauses: list[int] = []
    for _ in range(6):
        outages.began("media", "The store is away.")
        pause = 0
        while outages.free("media", 2, 0) == 0:
            clock.advance(SECOND)
            pause += SECOND
        pauses.append(pause)
        assert outages.free("media", 2, 1) == 0, "one that looks already is enough"
    assert pauses == [FIRST, 2 * FIRST, 4 * FIRST, 8 * FIRST, LONGEST_PAUSE, LONGEST_PAUSE]

    assert outages.free("cards", 3, 0) == 3, "other kinds are begun as ever"
    outages.ended("media")
    assert outages.free("media", 2, 0) == 2


def test_jobs_that_fail_together_make_one_pause_and_few_lines() -> None:
    clock, lines = SettableClock(), io.StringIO()
    log = Log(requests=False, stream=lines)
    outages = Outages(clock, log)
    for number in range(3 * MOST_REASONS):
        outages.began("media", f"reason {number}")
        outages.began("media", f"reason {number}")
    clock.advance(FIRST)
    assert outages.free("media", 2, 0) == 1, "the pause is that of one failure"
    outages.ended("media")
    outages.ended("media")
    log.close()

    logged = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert [line.get("error") for line in logged] == [*(f"reason {n}" for n in range(MOST_REASONS)), None]
    assert logged[-1]["probes"] == 1
