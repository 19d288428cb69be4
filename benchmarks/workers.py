"""Measures deliveries by several workers on one PostgreSQL: `.venv/bin/python -m benchmarks.workers`.

How fast 1, 2 and 4 `pressroom worker` empty a queue of 20,100 deliveries to 300 endpoints; how long after its own time
an event arrives under a steady load with 4 of them, alone and while 30 of the 300 never answer.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

import uvloop
from tests.harness.queued import fill, publish_events
from tests.services.postgres import PostgresServer

from benchmarks.deliveries import Sink, gather, percentile
from benchmarks.processes import ROOT, load_average
from pressroom.clock import SystemClock
from pressroom.db import Database
from pressroom.db.migrate import migrate
from pressroom.db.postgres.database import open_postgres
from pressroom.domains.webhooks.actions.deliveries import fan_out

T = TypeVar("T")

ACCOUNTS: Final = 60
ENDPOINTS: Final = 5
EVENTS: Final = 67
HANGING: Final = 30
STEADY_ROUNDS: Final = 8
"""Rounds of a second; in each of them every account has one event."""


def on(url: str, work: Callable[[Database], Awaitable[T]]) -> T:
    """Returns the result of `work` on a database of PostgreSQL, opened for it."""

    async def run() -> T:
        db = await open_postgres(url, SystemClock(), [fan_out])
        try:
            return await work(db)
        finally:
            await db.close()

    return uvloop.run(run())


def make(server: PostgresServer, name: str, sink: Sink, hanging: int) -> str:
    """Makes a database with the accounts and endpoints, so many of them hanging; returns its URL."""
    url = server.create_database(name)
    paths = [f"/{'hang' if number < hanging else ''}{number}" for number in range(ACCOUNTS * ENDPOINTS)]
    urls = [f"http://127.0.0.1:{sink.port}{path}" for path in paths]
    on(url, migrate)
    on(url, lambda db: fill(db, [urls[number::ACCOUNTS] for number in range(ACCOUNTS)], 0))
    return url


@contextmanager
def working(url: str, folder: Path, count: int) -> Generator[None]:
    """So many workers, at work."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")}
    environment = {**kept, "PRESSROOM_DATABASE_URL": url, "PRESSROOM_DATA_DIR": str(folder), "PRESSROOM_DEV": "1"}
    log = folder / "workers.log"
    with log.open("wb") as errors:
        command = [sys.executable, "-m", "pressroom", "worker"]
        workers = [
            subprocess.Popen(command, env=environment, cwd=ROOT, stdin=subprocess.DEVNULL, stderr=errors)
            for _ in range(count)
        ]
    try:
        while log.read_bytes().count(b'"delivering"') < count:
            if any(worker.poll() is not None for worker in workers):
                raise RuntimeError(log.read_text("utf-8"))
            time.sleep(0.05)
        yield
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.wait(30)


def per_second(server: PostgresServer, sink: Sink, folder: Path, count: int) -> float:
    """Deliveries a second that so many workers make, from the first to the last of a queue."""
    url = make(server, f"queue{count}", sink, 0)
    sink.report()
    total = ACCOUNTS * ENDPOINTS * EVENTS
    on(url, lambda db: publish_events(db, EVENTS))
    with working(url, folder, count):
        arrived = gather(sink, total)
    return arrived.count / arrived.seconds


def lag(server: PostgresServer, sink: Sink, folder: Path, hanging: int) -> float:
    """The 99th percentile of milliseconds from an event's own time to its arrival where endpoints answer."""
    url = make(server, f"steady{hanging}", sink, hanging)
    answered = ACCOUNTS * ENDPOINTS - hanging

    async def publish(db: Database) -> None:
        for _ in range(STEADY_ROUNDS):
            began = time.monotonic()
            await publish_events(db, 1)
            await asyncio.sleep(max(0.0, began + 1 - time.monotonic()))

    with working(url, folder, 4):
        on(url, lambda db: publish_events(db, 1))
        gather(sink, answered)
        on(url, publish)
        delays = gather(sink, answered * STEADY_ROUNDS).delays
    time.sleep(1)
    sink.report()
    return percentile(delays, 99)


def main() -> None:
    """The command line. Ends with status 0 whatever was measured: speed is shown here, not tested."""
    print(f"\nSeveral workers. {load_average():.1f} processes wanted a core before it began.\n", flush=True)
    sink = Sink()
    with tempfile.TemporaryDirectory() as place, PostgresServer.start(Path(place) / "postgres") as server:
        folder = Path(place)
        alone = lag(server, sink, folder, 0)
        print(f"p99 from event to arrival, 4 workers: {alone:.0f} ms", flush=True)
        beside = lag(server, sink, folder, HANGING)
        ratio = f"{beside / alone:.2f} of that (≤ 1.2)"
        print(
            f"the same while {HANGING} of {ACCOUNTS * ENDPOINTS} endpoints hang: {beside:.0f} ms, {ratio}", flush=True
        )
        for count in (1, 2, 4):
            print(f"workers: {count}, deliveries/s: {per_second(server, sink, folder, count):,.0f}", flush=True)
    sink.stop()


if __name__ == "__main__":
    main()
