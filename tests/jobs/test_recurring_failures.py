"""Failures of background work: said once with their cause, then counted."""

import asyncio
import io
import json
from typing import Any

from pressroom.errors import Unavailable
from pressroom.jobs.schedule import Every, Schedule
from pressroom.logs import KINDS, Log


def said(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_failure_that_comes_again_is_counted() -> None:
    stream = io.StringIO()
    log = Log(requests=True, stream=stream)
    failed = Unavailable("The database is away.")
    failed.__cause__ = OSError("connection refused")

    for _ in range(2_500):
        log.recurring("scheduled work failed", failed, work="views")
    log.recurring("scheduled work failed", failed, work="limits")
    for number in range(2 * KINDS):
        log.recurring("other", ValueError(str(number)))
    log.close()

    views = [line for line in said(stream) if line.get("work") == "views"]
    assert [line["times"] for line in views] == [1, 10, 100, 1_000]
    assert {line["level"] for line in views} == {"error"}
    assert views[0]["error"] == "Unavailable: The database is away."
    assert views[0]["cause"] == "OSError: connection refused"
    assert [line["times"] for line in said(stream) if line.get("work") == "limits"] == [1]
    assert len(log._recurring) <= KINDS


def test_schedule_whose_work_fails_goes_on_and_logs_it_once() -> None:
    stream, turns = io.StringIO(), 0
    log = Log(requests=True, stream=stream)

    async def run() -> None:
        nonlocal turns
        enough = asyncio.Event()

        async def fail() -> None:
            nonlocal turns
            turns += 1
            if turns == 9:
                enough.set()
            raise OSError("disk full")

        schedule = Schedule([Every(0, "views", fail)], log)
        await enough.wait()
        await schedule.stop()

    asyncio.run(run())
    log.close()

    assert [line["error"] for line in said(stream)] == ["OSError: disk full"]


def test_every_line_has_its_level() -> None:
    stream = io.StringIO()
    log = Log(requests=True, stream=stream)

    log.info("listening")
    log.warning("worker is slow")
    log.error("job failed")
    log.request(0, "id", "GET", "/", 200, 1, "127.0.0.1")
    log.close()

    assert [line["level"] for line in said(stream)] == ["info", "warning", "error", "info"]
