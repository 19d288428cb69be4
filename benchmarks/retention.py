"""Measures retention: how fast each rule removes rows while a loaded server creates, and the cost for the creates.

    .venv/bin/python -m benchmarks.retention [--rows 20000] [--per-second 200]

The whole application answers in this process, without sockets, so a purge and the creates share one event loop as in a
server. For each rule its table is filled, and creates are sent at a steady rate, for a while without a purge and then
while the rule removes its rows. A create adds a row each to `idempotent_answers` and `events`.
"""

import argparse
import asyncio
import io
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
import uvloop
from tests.services.postgres import PostgresServer

from benchmarks.drift import create
from benchmarks.expired import FILLINGS, fill
from benchmarks.postgres import seed as seed_postgres
from benchmarks.processes import RAISED, load_average
from benchmarks.seed import seed
from pressroom.clock import SystemClock
from pressroom.db.postgres.database import open_postgres
from pressroom.ids import new_id
from pressroom.jobs.schedule import Every, Schedule
from pressroom.jobs.sweeps import run_batches
from pressroom.logs import Log
from pressroom.operations.retention import PURGES
from pressroom.server.app import create_app
from pressroom.server.runtime import Runtime, open_runtime
from pressroom.settings import Settings

FILL: Final = 5_000
"""Rows that are made in one transaction."""

ALONE_SECONDS: Final = 3.0
"""How long creates are measured without a purge, for each rule."""

RULES: Final[dict[str, tuple[str, ...]]] = {
    "attempts to sign in and up": ("sign_in_attempts", "sign_up_attempts", "known_addresses"),
    "limits of yesterday": ("rate_windows", "content_quotas"),
    "usage of keys of last month": ("api_key_usage", "api_key_refusals"),
    "reserved user names": ("reserved_usernames",),
    "one-time tokens": ("one_time_tokens",),
    "idempotent answers": ("idempotent_answers",),
    "audit log": ("audit_entries",),
    "decided reports": ("report_cases",),
    "link cards": ("link_cards",),
    "dead jobs": ("jobs",),
}
"""The tables of a rule, where they have another name."""


class Found(msgspec.Struct):
    """A rule: rows removed per second, and latencies of creates in milliseconds without and beside it."""

    rule: str
    per_second: float
    alone: list[float]
    beside: list[float]
    refused: int


class Creates:
    """Creates at a steady rate, until they are stopped, whose latencies are kept in milliseconds."""

    def __init__(self, app: Any, key: str, per_second: int) -> None:
        self.latencies: list[float] = []
        self._app = app
        self._key = key
        self._every = 1 / per_second
        self.refused = 0

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Sends them while the context lasts."""
        over = asyncio.Event()
        sending = asyncio.create_task(self._send(over))
        yield
        over.set()
        await sending

    async def _send(self, over: asyncio.Event) -> None:
        began, number = time.perf_counter(), 0
        async with asyncio.TaskGroup() as group:
            while not over.is_set():
                number += 1
                group.create_task(self._create(began + number * self._every))
                await asyncio.sleep(max(0.0, began + number * self._every - time.perf_counter()))

    async def _create(self, due: float) -> None:
        # From when it was due: the delay by a busy loop is measured too.
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        status = await create(self._app, self._key, new_id(SystemClock().now()).encode())
        self.latencies.append((time.perf_counter() - due) * 1_000)
        self.refused += status != 201


async def measure(runtime: Runtime, key: str, rows: int, per_second: int) -> list[Found]:
    """Measures every rule that is about time."""
    app, found = create_app(runtime), list[Found]()
    for rule, purge in PURGES:
        tables = RULES.get(rule, (rule.replace(" ", "_"),))
        if not set(tables) <= FILLINGS.keys():
            continue
        for table in tables:
            for first in range(1, rows, FILL):
                await fill(runtime.db, table, min(FILL, rows - first + 1), first)
        alone, beside = Creates(app, key, per_second), Creates(app, key, per_second)
        async with alone.running():
            await asyncio.sleep(ALONE_SECONDS)
        async with beside.running():
            began = time.perf_counter()
            await run_batches(runtime.db, purge)
            seconds = time.perf_counter() - began
        found.append(
            Found(rule, rows * len(tables) / seconds, alone.latencies, beside.latencies, alone.refused + beside.refused)
        )
    return found


async def run(folder: Path, database_url: str, rows: int, per_second: int) -> list[Found]:
    """Measures one engine."""
    if database_url:
        db = await open_postgres(database_url, SystemClock())
        key = (await seed_postgres(db))[0].secret
        await db.close()
    else:
        key = (await seed(folder / "pressroom.db"))[0]
    given = {"DATA_DIR": folder, "DATABASE_URL": database_url, **RAISED}
    settings = Settings({f"PRESSROOM_{name}": str(value) for name, value in given.items()})
    runtime = await open_runtime(settings, Log(requests=False, stream=io.StringIO()))
    try:
        await runtime.schedule.stop()  # which would purge at moments of its own
        runtime.schedule = Schedule([Every(0.5, "limits", runtime.limiter.flush)], runtime.log)
        return await measure(runtime, key, rows, per_second)
    finally:
        await runtime.close()


def report(engine: str, found: list[Found], per_second: int) -> None:
    """Prints a table."""
    print(f"\n{engine}: creates at {per_second}/s; load average {load_average():.1f}")
    print(f"{'rule':<30} {'rows/s':>9} {'times creates':>14} {'p99 alone':>10} {'beside':>8} {'ratio':>6}")
    for each in found:
        speed = f"{each.per_second:>9,.0f} {each.per_second / per_second:>14.0f}"
        print(f"{each.rule:<30} {speed} {latencies(each.alone, each.beside)}")
    alone = [latency for each in found for latency in each.alone]
    beside = [latency for each in found for latency in each.beside]
    print(f"{'all':<30} {'':>9} {'':>14} {latencies(alone, beside)}")
    if refused := sum(each.refused for each in found):
        print(f"{refused} creates were refused: this machine is too busy for so many a second.")


def latencies(alone: list[float], beside: list[float]) -> str:
    """Returns the ends of a row: both p99 in milliseconds, and the second divided by the first."""
    return f"{p99(alone):>10.1f} {p99(beside):>8.1f} {p99(beside) / p99(alone):>6.2f}"


def p99(latencies: list[float]) -> float:
    """Returns the time that one in a hundred exceeds."""
    return statistics.quantiles(latencies, n=100)[98]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.retention", description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000, help="rows of each table")
    parser.add_argument("--per-second", type=int, default=200, help="creates a second")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sqlite").mkdir()
        (folder / "postgres").mkdir()
        found = uvloop.run(run(folder / "sqlite", "", given.rows, given.per_second))
        report("SQLite", found, given.per_second)
        with PostgresServer.start(folder / "server", fsync=True) as server:
            url = server.create_database("measured")
            found = uvloop.run(run(folder / "postgres", url, given.rows, given.per_second))
            report("PostgreSQL", found, given.per_second)


if __name__ == "__main__":
    main()
