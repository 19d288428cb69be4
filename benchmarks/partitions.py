"""Measures retention by partitions on PostgreSQL: how long a month's rows take to drop, and the cost for creates.

    .venv/bin/python -m benchmarks.partitions [--rows 2000000] [--cycles 3] [--per-second 50]

Four weeks that are past their time are filled with so many events and deliveries, some of them pending. Then
creates are sent at a steady rate, for a while alone and then while partitions are dropped as the clean-up of a server
does it. The whole application answers in this process, without sockets.
"""

import argparse
import asyncio
import io
import tempfile
import time
from pathlib import Path
from typing import Final

import msgspec
import uvloop
from tests.services.postgres import PostgresServer

from benchmarks.postgres import seed
from benchmarks.processes import RAISED, load_average
from benchmarks.retention import Creates, latencies
from pressroom.clock import HOUR, MINUTE, SystemClock
from pressroom.db import Query, Tx
from pressroom.db.postgres.database import open_postgres
from pressroom.db.postgres.partitions import WEEK, Week, list_ended, make_ahead
from pressroom.domains.webhooks.models import RETENTION
from pressroom.ids import first_id
from pressroom.jobs.schedule import Every, Schedule
from pressroom.logs import Log
from pressroom.operations.retention import rotate_partitions
from pressroom.server.app import create_app
from pressroom.server.runtime import Runtime, open_runtime
from pressroom.settings import Settings

WEEKS: Final = 4
ALONE_SECONDS: Final = 10.0

PENDING: Final = 200
"""Deliveries of each week that are pending, and move."""

STAMPS: Final = 1_000
"""Times of a week that events have."""

SIZE: Final = Query(
    int,
    "SELECT CAST(sum(pg_total_relation_size(i.inhrelid)) AS BIGINT) FROM pg_inherits i"
    " JOIN pg_class c ON c.oid = i.inhparent WHERE c.relname IN ('events', 'deliveries') AND c.relkind = 'p'",
)

_IDS: Final = """SELECT account.id AS account_id, n <= {pending} AS pending,
    stamp || lpad(upper(to_hex({first} + n)), 13, '0') || right(account.id, 3) AS id
    FROM (SELECT min(id) AS id FROM accounts) AS account,
    (SELECT n, (ARRAY[{stamps}])[n % {count} + 1] AS stamp FROM generate_series(1, {rows}) AS n) AS numbers"""

_EVENTS: Final = """INSERT INTO events (id, account_id, type, data, created_at)
    SELECT id, account_id, 'post.created', '{{"content": "' || repeat('x', 480) || '"}}', 0 FROM ({ids}) AS ids"""

_DELIVERIES: Final = """INSERT INTO deliveries (account_id, webhook_id, event_id, envelope_id, event_type, state, code,
    redelivery, tries, attempts, due_at, finished_at) SELECT account_id, account_id, id, 'evt_' || gen_random_uuid(),
    'post.created', CASE WHEN pending THEN 'pending' ELSE 'delivered' END, '2xx', FALSE, 1,
    '[{{"at": 1800000000000, "status": 200, "ms": 12}}]', 0, CASE WHEN NOT pending THEN {end} END FROM ({ids}) AS ids"""


class Found(msgspec.Struct):
    """The result of a cycle: bytes before and after, seconds of the drops, latencies of creates (milliseconds)."""

    filled: int
    left: int
    seconds: float
    alone: list[float]
    beside: list[float]
    refused: int


async def fill(runtime: Runtime, week: Week, rows: int, first: int) -> None:
    """Fills a week with so many events and their deliveries, numbered from `first`."""
    stamps = ", ".join(f"'{first_id(week.start + number * WEEK // STAMPS)[:10]}'" for number in range(STAMPS))
    ids = _IDS.format(pending=PENDING, stamps=stamps, count=STAMPS, rows=rows, first=first)
    await runtime.db.script(_EVENTS.format(ids=ids))
    await runtime.db.script(_DELIVERIES.format(ids=ids, end=week.start + WEEK - MINUTE))


async def cycle(runtime: Runtime, key: str, number: int, rows: int, per_second: int) -> Found:
    """Fills four weeks and drops them."""
    now = SystemClock().now()
    await make_ahead(runtime.db, since=now - RETENTION - (WEEKS + 1) * WEEK, most=None)
    expired = await runtime.db.read(expired_weeks)
    for week in expired[-WEEKS:]:
        await fill(runtime, week, rows // WEEKS, number * rows)
    await runtime.db.script("ANALYZE events, deliveries")
    filled = await runtime.db.one(SIZE) or 0
    app = create_app(runtime)
    alone, beside = Creates(app, key, per_second), Creates(app, key, per_second)
    async with alone.running():
        await asyncio.sleep(ALONE_SECONDS)
    async with beside.running():
        began = time.perf_counter()
        while await runtime.db.read(expired_weeks):
            await rotate_partitions(runtime.db, runtime.log)
        seconds = time.perf_counter() - began
        await asyncio.sleep(max(0.0, ALONE_SECONDS - seconds))
    left = await runtime.db.one(SIZE) or 0
    return Found(filled, left, seconds, alone.latencies, beside.latencies, alone.refused + beside.refused)


async def expired_weeks(tx: Tx) -> list[Week]:
    """Returns the weeks of events that are past their time."""
    return await list_ended(tx, "events", tx.now - RETENTION - HOUR)


async def run(folder: Path, database_url: str, given: argparse.Namespace) -> list[Found]:
    """Measures the cycles."""
    db = await open_postgres(database_url, SystemClock())
    key = (await seed(db))[0].secret
    await db.close()
    values = {"DATA_DIR": folder, "DATABASE_URL": database_url, **RAISED}
    settings = Settings({f"PRESSROOM_{name}": str(value) for name, value in values.items()})
    runtime = await open_runtime(settings, Log(requests=False, stream=io.StringIO()))
    try:
        await runtime.schedule.stop()  # which would rotate at moments of its own
        runtime.schedule = Schedule([Every(0.5, "limits", runtime.limiter.flush)], runtime.log)
        return [await cycle(runtime, key, number, given.rows, given.per_second) for number in range(given.cycles)]
    finally:
        await runtime.close()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.partitions", description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000, help="events, and deliveries, of the month")
    parser.add_argument("--cycles", type=int, default=3)
    parser.add_argument("--per-second", type=int, default=50, help="creates a second")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, PostgresServer.start(Path(name) / "server", fsync=True) as server:
        found = uvloop.run(run(Path(name), server.create_database("measured"), given))
    print(f"{given.rows:,} events and deliveries; creates at {given.per_second}/s; load average {load_average():.1f}")
    print(
        f"{'MB full':>8} {'left':>8} {'seconds':>8} {'p99 alone':>10} {'beside':>8} {'ratio':>6} {'longest':>8} refused"
    )
    for each in found:
        sizes = f"{each.filled / 1e6:>8,.0f} {each.left / 1e6:>8,.1f} {each.seconds:>8.2f}"
        print(f"{sizes} {latencies(each.alone, each.beside)} {max(each.beside):>8.1f} {each.refused}")


if __name__ == "__main__":
    main()
