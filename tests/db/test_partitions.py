"""Partitions by time on PostgreSQL: the place of rows, and the cost of a change for writers beside it."""

import asyncio
import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

import asyncpg
import pytest

from pressroom.clock import DAY, SettableClock
from pressroom.db import Command, LockedElsewhere, Query, Tx
from pressroom.db.migrate import migrate
from pressroom.db.postgres.database import PostgresDatabase, open_postgres
from pressroom.db.postgres.partitions import (
    AHEAD,
    WEEK,
    Reach,
    drop,
    list_ended,
    list_reaches,
    make_ahead,
)
from pressroom.ids import first_id, new_id
from tests.db.conftest import Run
from tests.services.postgres import PostgresServer

_numbers = itertools.count()

MONDAY: Final = 1_799_625_600_000
"""11 January 2027, 00:00 UTC."""

NOW: Final = MONDAY + 2 * DAY

ADD: Final = Command(
    "INSERT INTO events (id, account_id, type, data, created_at) VALUES (:id, :account_id, 'x', '{}', :at)"
)
DELIVER: Final = Command(
    "INSERT INTO deliveries (account_id, webhook_id, event_id, envelope_id, event_type, state, redelivery, tries,"
    " attempts, due_at, code) VALUES (:account_id, 'w', :id, :id, 'x', 'pending', FALSE, 0, '[]', 0, '')"
)
IDS: Final = Query(str, "SELECT id FROM events ORDER BY id")
DELIVERED: Final = Query(str, "SELECT event_id FROM deliveries ORDER BY event_id")
FIND: Final = Query(int, "SELECT 1 FROM events WHERE account_id = :account_id AND id = :id")
SLEEPS: Final = Query(
    int, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
)
PLACE: Final = Query(str, "SELECT CAST(CAST(tableoid AS regclass) AS TEXT) FROM events ORDER BY id")
END: Final = Query(
    int,
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
    " WHERE wait_event = 'PgSleep' AND datname = current_database()",
)


@pytest.fixture
def url(postgres_server: PostgresServer) -> str:
    """An empty database."""
    return postgres_server.create_database(f"partitions_{os.getpid()}_{next(_numbers)}")


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(NOW)


@pytest.fixture
def db(url: str, run: Run, clock: SettableClock) -> Iterator[PostgresDatabase]:
    """A migrated database."""
    database = run(open_postgres(url, clock))
    run(migrate(database))
    yield database
    run(database.close())


async def add(tx: Tx, at: int, account_id: str = "a") -> str:
    """Adds an event of this time, and its delivery; the event's id."""
    event_id = new_id(at)
    await tx.run(ADD, id=event_id, account_id=account_id, at=at)
    await tx.run(DELIVER, id=event_id, account_id=account_id)
    return event_id


async def all_of(tx: Tx, query: Query[str]) -> list[str]:
    return await tx.all(query)


async def forget_week(db: PostgresDatabase, at: int) -> None:
    """Drops the partitions of events and deliveries of a week; their rows go into the rest."""
    for table in ("deliveries", "events"):
        for week in await db.read(list_ended, table, at + 2 * WEEK):
            if week.start <= at < week.start + WEEK:
                await drop(db, week, "TRUE")


def test_partitions_of_this_week_and_the_next_four_are_made_by_migrate(db: PostgresDatabase, run: Run) -> None:
    weeks = run(db.read(list_ended, "events", NOW + 2 * AHEAD))
    assert [week.partition.name for week in weeks] == [
        "events_p20270111",
        "events_p20270118",
        "events_p20270125",
        "events_p20270201",
        "events_p20270208",
    ]
    ahead = MONDAY + 5 * WEEK - NOW
    assert run(db.read(list_reaches)) == [Reach("deliveries", ahead, 0), Reach("events", ahead, 0)]
    assert run(make_ahead(db)) == 0


@pytest.mark.parametrize(
    ("at", "place"),
    [
        (MONDAY - 1, "events_rest"),
        (MONDAY, "events_p20270111"),
        (MONDAY + WEEK - 1, "events_p20270111"),
        (MONDAY + WEEK, "events_p20270118"),
        (MONDAY + 5 * WEEK, "events_rest"),
        (0, "events_rest"),
    ],
)
def test_row_goes_into_the_partition_of_its_week(db: PostgresDatabase, run: Run, at: int, place: str) -> None:
    run(db.transact(add, at))
    assert run(db.read(all_of, PLACE)) == [place]


def test_write_succeeds_when_no_partition_is_ahead_and_its_row_moves_when_one_is(
    db: PostgresDatabase, run: Run, clock: SettableClock
) -> None:
    clock.advance(20 * WEEK)
    added = run(db.transact(add, clock.now()))
    reach = run(db.read(list_reaches))
    assert [each.ahead for each in reach] == [0, 0]
    assert all(each.rest_bytes > 0 for each in reach)
    assert run(make_ahead(db)) == 10
    assert run(db.read(all_of, PLACE)) == ["events_p20270531"]
    assert run(db.one(FIND, account_id="a", id=added)) == 1
    assert run(db.read(all_of, DELIVERED)) == [added]


def test_table_with_a_large_rest_is_left_to_migrate(db: PostgresDatabase, run: Run, clock: SettableClock) -> None:
    clock.advance(20 * WEEK)
    run(db.transact(add, clock.now()))
    assert run(make_ahead(db, most=0)) == 0
    run(migrate(db))
    assert run(db.read(all_of, PLACE)) == ["events_p20270531"]


def test_dropped_partition_leaves_the_rows_that_stay(db: PostgresDatabase, run: Run) -> None:
    ids = [run(db.transact(add, MONDAY + number)) for number in range(10)]
    (week,) = run(db.read(list_ended, "events", MONDAY + WEEK))
    run(drop(db, week, f"id >= '{ids[7]}'"))
    assert run(db.read(all_of, IDS)) == ids[7:]
    assert run(db.read(all_of, PLACE)) == ["events_rest"] * 3
    assert run(db.read(list_ended, "events", MONDAY + WEEK)) == []
    run(drop(db, week, "TRUE"))  # of another process, which had listed it before


def test_dropped_partition_that_is_made_again_gets_its_rows_back(db: PostgresDatabase, run: Run) -> None:
    ids = [run(db.transact(add, MONDAY + number)) for number in range(10)]
    run(forget_week(db, MONDAY))
    assert run(make_ahead(db)) == 2
    assert run(db.read(all_of, IDS)) == run(db.read(all_of, DELIVERED)) == ids
    assert run(db.read(all_of, PLACE)) == ["events_p20270111"] * 10


def test_change_waits_briefly_for_a_table_that_others_read(db: PostgresDatabase, url: str, run: Run) -> None:
    async def story() -> None:
        (week,) = await db.read(list_ended, "events", MONDAY + WEEK)
        reader: Any = await cast("Any", asyncpg).connect(url)
        await reader.execute("BEGIN; SELECT * FROM events")
        with pytest.raises(LockedElsewhere):
            await drop(db, week, "TRUE")
        assert await db.read(list_ended, "events", MONDAY + WEEK) == [week]
        await reader.close()
        await drop(db, week, "TRUE")
        assert await db.read(list_ended, "events", MONDAY + WEEK) == []

    run(story())


def test_two_processes_make_partitions_at_once(db: PostgresDatabase, url: str, run: Run, clock: SettableClock) -> None:
    async def story() -> None:
        clock.advance(20 * WEEK)
        added = [await db.transact(add, clock.now()) for _ in range(100)]
        other = await open_postgres(url, clock)
        try:
            await asyncio.gather(*(migrate(each, pause=0.01) for each in (db, other, db, other)))
        finally:
            await other.close()
        assert await db.read(all_of, IDS) == added
        assert [each.ahead // WEEK for each in await db.read(list_reaches)] == [4, 4]

    run(story())


def test_writers_beside_changes_lose_and_double_nothing(
    db: PostgresDatabase, url: str, run: Run, clock: SettableClock
) -> None:
    async def story() -> None:
        rotating = await open_postgres(url, clock)
        written: list[str] = []
        over = asyncio.Event()

        async def write(account: str) -> None:
            while not over.is_set():
                added = await db.transact(add, clock.now(), account)
                written.append(added)
                assert await db.one(FIND, account_id=account, id=added) == 1

        writers = [asyncio.create_task(write(f"account {number}")) for number in range(8)]
        try:
            for _ in range(8):
                await until_unlocked(lambda: forget_week(rotating, NOW))
                await until_unlocked(lambda: make_ahead(rotating))
        finally:
            over.set()
            await asyncio.gather(*writers)
            await rotating.close()
        assert len(written) > 8
        assert await db.read(all_of, IDS) == await db.read(all_of, DELIVERED) == sorted(written)

    run(story())


async def until_unlocked(change: Callable[[], Any]) -> None:
    """Tries a change until others let it at its tables, as sweeps do."""
    while True:
        try:
            await change()
        except LockedElsewhere:
            continue
        return


KILLED: Final = """
import asyncio, sys
from pressroom.clock import SettableClock
from pressroom.db.postgres.database import open_postgres
from pressroom.db.postgres.partitions import WEEK, drop, list_ended

async def main():
    db = await open_postgres(sys.argv[1], SettableClock())
    (week,) = await db.read(list_ended, "events", int(sys.argv[2]) + WEEK)
    await drop(db, week, "pg_sleep(600) IS NULL")

asyncio.run(main())
"""


def test_process_killed_between_the_steps_of_a_change_leaves_all_rows(db: PostgresDatabase, url: str, run: Run) -> None:
    ids = [run(db.transact(add, MONDAY + number)) for number in range(10)]
    process = subprocess.Popen([sys.executable, "-c", KILLED, url, str(MONDAY)])
    try:
        while not run(db.one(SLEEPS)):
            assert process.poll() is None
    finally:
        process.kill()
        process.wait()
    assert run(db.one(END)) == 1, "PostgreSQL notices by its keepalives, later"
    assert run(db.read(all_of, IDS)) == ids
    assert run(db.read(all_of, PLACE)) == ["events_p20270111"] * 10


def test_partitions_since_an_earlier_week_are_made_for_a_transfer(db: PostgresDatabase, run: Run) -> None:
    assert run(make_ahead(db, since=MONDAY - 1)) == 2
    run(db.transact(add, MONDAY - 1))
    assert run(db.read(all_of, PLACE)) == ["events_p20270104"]


def test_partitioned_table_of_an_operator_is_left_alone(db: PostgresDatabase, run: Run) -> None:
    run(
        db.script(
            "CREATE TABLE logs (id TEXT) PARTITION BY RANGE (id); CREATE TABLE logs_all PARTITION OF logs DEFAULT;"
            f"CREATE TABLE events_mine PARTITION OF events FOR VALUES FROM ('0') TO ('{first_id(1)}')"
        )
    )
    assert run(make_ahead(db)) == 0
    assert {each.table_name for each in run(db.read(list_reaches))} == {"deliveries", "events"}
