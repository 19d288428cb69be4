"""Retention on PostgreSQL drops partitions, and keeps the rows that are needed; the doctor tells what is ahead."""

import asyncio
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from pressroom.clock import DAY, HOUR, SettableClock, SystemClock
from pressroom.db import Command, Database, Query, Tx
from pressroom.db.migrate import migrate
from pressroom.db.postgres.database import PostgresDatabase, open_postgres
from pressroom.db.postgres.partitions import WEEK, drop, list_ended
from pressroom.domains.webhooks.actions.retention import MOST_LASTING
from pressroom.domains.webhooks.models import RETENTION
from pressroom.ids import new_id
from pressroom.jobs.sweeps import run_batches
from pressroom.logs import Log
from pressroom.operations.doctor import examine
from pressroom.operations.retention import purges_of, rotate_partitions
from tests.harness.databases import in_database, settings_of
from tests.services.postgres import PostgresServer

_numbers = itertools.count()

Run = Callable[[Any], Any]

MONDAY: Final = 1_799_625_600_000
"""11 January 2027, 00:00 UTC."""

ADD: Final = Command(
    "INSERT INTO events (id, account_id, type, data, created_at) VALUES (:id, 'a', 'post.created', '{}', :at)"
)
DELIVER: Final = Command(
    "INSERT INTO deliveries (account_id, webhook_id, event_id, envelope_id, event_type, state, redelivery, tries,"
    " attempts, due_at, code, finished_at) VALUES ('a', 'w', :id, :id, 'post.created', :state, FALSE, 0, '[]', 0, '',"
    " :finished_at)"
)
EVENTS: Final = Query(str, "SELECT id FROM events ORDER BY id")
DELIVERIES: Final = Query(str, "SELECT event_id FROM deliveries ORDER BY event_id")


@pytest.fixture
def run() -> Iterator[Run]:
    """Runs a coroutine to its end."""
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(MONDAY)


@pytest.fixture
def db(postgres_server: PostgresServer, run: Run, clock: SettableClock) -> Iterator[PostgresDatabase]:
    """A migrated database."""
    url = postgres_server.create_database(f"rotation_{os.getpid()}_{next(_numbers)}")
    database = run(open_postgres(url, clock))
    run(migrate(database))
    yield database
    run(database.close())


@pytest.fixture
def rotate(db: PostgresDatabase, run: Run) -> Iterator[Callable[[], None]]:
    """Runs the first step of a server's clean-up."""
    log = Log(requests=False)
    yield lambda: run(rotate_partitions(db, log))
    log.close()


async def add(tx: Tx, at: int, state: str = "delivered", took: int = 0) -> str:
    """Adds an event of this time and its delivery, which ended so many milliseconds later; the event's id."""
    event_id = new_id(at)
    await tx.run(ADD, id=event_id, at=at)
    await tx.run(DELIVER, id=event_id, state=state, finished_at=None if state == "pending" else at + took)
    return event_id


async def add_many(tx: Tx, count: int, at: int, state: str) -> None:
    for _ in range(count):
        await add(tx, at, state)


async def all_of(tx: Tx, query: Query[str]) -> list[str]:
    return await tx.all(query)


async def weeks_with_partitions(db: Database) -> dict[str, set[int]]:
    """The weeks of each table, numbered from that of the first Monday."""
    return {
        table: {(week.start - MONDAY) // WEEK for week in await db.read(list_ended, table, 2**45)}
        for table in ("events", "deliveries")
    }


def test_retention_drops_a_month_of_partitions_and_keeps_stragglers(
    db: PostgresDatabase, run: Run, clock: SettableClock, rotate: Callable[[], None]
) -> None:
    added = [run(db.transact(add, MONDAY + number * DAY)) for number in range(28)]
    waits = run(db.transact(add, MONDAY + DAY, "pending"))
    clock.time = MONDAY + 4 * WEEK + RETENTION
    late = run(db.transact(add, MONDAY + 4 * WEEK - 1, "delivered", 2 * HOUR))
    rotate()
    assert run(weeks_with_partitions(db)) == {
        "events": {3, 4, 8, 9, 10, 11, 12},
        "deliveries": {3, 4, 8, 9, 10, 11, 12},
    }

    clock.advance(HOUR)
    rotate()

    assert run(weeks_with_partitions(db)) == {"events": {4, 8, 9, 10, 11, 12}, "deliveries": {4, 8, 9, 10, 11, 12}}
    assert run(db.read(all_of, EVENTS)) == [waits]
    assert run(db.read(all_of, DELIVERIES)) == sorted([waits, late])
    assert not {*added} & {waits, late}


def test_partition_is_kept_until_its_last_row_is_past_its_time(
    db: PostgresDatabase, run: Run, clock: SettableClock, rotate: Callable[[], None]
) -> None:
    added = run(db.transact(add, MONDAY))
    clock.time = MONDAY + WEEK + RETENTION + HOUR - 1
    rotate()
    for _, purge in purges_of("postgres"):
        run(run_batches(db, purge))
    assert run(db.read(all_of, EVENTS)) == run(db.read(all_of, DELIVERIES)) == [added]
    clock.advance(1)
    rotate()
    assert run(db.read(all_of, EVENTS)) == run(db.read(all_of, DELIVERIES)) == []


def test_partition_of_which_too_much_is_needed_is_emptied_in_batches(
    db: PostgresDatabase, run: Run, clock: SettableClock, rotate: Callable[[], None]
) -> None:
    run(db.transact(add_many, MOST_LASTING, MONDAY, "pending"))
    finished = run(db.transact(add, MONDAY))
    clock.time = MONDAY + WEEK + RETENTION + HOUR
    rotate()
    assert finished in run(db.read(all_of, DELIVERIES))

    clock.advance(DAY)
    for _, purge in purges_of("postgres"):
        run(run_batches(db, purge))

    deliveries = run(db.read(all_of, DELIVERIES))
    assert (len(deliveries), finished in deliveries) == (MOST_LASTING, False)


def test_sqlite_has_no_partitions(tmp_path: Path) -> None:
    async def rotate(db: Database) -> list[bool]:
        log = Log(requests=False)
        await rotate_partitions(db, log)
        log.close()
        return [
            str(purge) == str(beside)
            for (_, purge), (_, beside) in zip(purges_of("sqlite"), purges_of("postgres"), strict=True)
        ]

    unchanged = in_database(settings_of({"DATA_DIR": tmp_path}), rotate)
    assert unchanged.count(False) == 2, "the rules for events and deliveries"


def test_doctor_reports_how_far_partitions_reach(engine_settings: dict[str, object], tmp_path: Path) -> None:
    settings = settings_of({"DATA_DIR": tmp_path, **engine_settings})

    def findings() -> list[tuple[bool, str]]:
        return [(each.good, each.message) for each in asyncio.run(examine(settings)) if each.subject == "partitions"]

    if not engine_settings:
        assert findings() == []
        return
    ((good, says),) = findings()
    assert good
    assert "events: made for" in says

    async def end_early(db: Database) -> None:
        for week in await db.read(list_ended, "events", SystemClock().now() + 3 * WEEK):
            await drop(db, week, "TRUE")

    in_database(settings, end_early)
    ((good, says),) = findings()
    assert not good
    assert "events: made for 0 days ahead" in says
    assert "pressroom migrate" in says

    in_database(settings, migrate)
    ((good, _),) = findings()
    assert good
