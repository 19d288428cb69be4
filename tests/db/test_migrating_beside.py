"""A migration on PostgreSQL lets others go on who use its tables, and builds indexes beside them."""

import asyncio
import itertools
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import asyncpg
import pytest

from pressroom.clock import SettableClock
from pressroom.db import Query, Tx, migrate
from pressroom.db.migrate import Migration
from pressroom.db.postgres.database import PostgresDatabase, open_postgres
from pressroom.errors import SettingError
from tests.services.postgres import PostgresServer

Run = Callable[[Any], Any]

_numbers = itertools.count()

THINGS = Migration(101, "things", "CREATE TABLE things (name TEXT PRIMARY KEY); INSERT INTO things VALUES ('a');")
OTHERS = Migration(101, "others", f"{THINGS.sql} CREATE TABLE others (name TEXT PRIMARY KEY);")
COLUMN = Migration(102, "column", "ALTER TABLE things ADD COLUMN size BIGINT;")
BOTH = Migration(102, "both", f"ALTER TABLE others ADD COLUMN size BIGINT; {COLUMN.sql}")
INDEX = Migration(103, "index", "CREATE INDEX things_name ON things (name);  -- for lists")

NAMES = Query(str, "SELECT name FROM things")
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
ADVISORY = """SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database
    WHERE locktype = 'advisory' AND datname = current_database()"""
BROKEN = "SELECT count(*) FROM pg_index WHERE NOT indisvalid"


async def names(tx: Tx) -> list[str]:
    """The reads of a request."""
    return await tx.all(NAMES)


async def ask(db: PostgresDatabase, statement: str) -> int:
    """A number that PostgreSQL knows."""
    return await db.one(Query(int, statement)) or 0


async def wait_for_lock(db: PostgresDatabase, doing: asyncio.Task[Any]) -> None:
    """Returns once somebody waits for a lock, while `doing` is not over."""
    while not await ask(db, WAITING):
        assert not doing.done()


@asynccontextmanager
async def database(url: str, monkeypatch: pytest.MonkeyPatch, *known: Migration) -> AsyncGenerator[PostgresDatabase]:
    """A database that holds the first of the migrations that are known."""
    monkeypatch.setattr(migrate, "all_migrations", lambda: list(known))
    db = await open_postgres(url, SettableClock())
    try:
        await migrate.migrate(db, upto=known[0].version)
        yield db
    finally:
        await db.close()


@pytest.fixture
def url(postgres_server: PostgresServer) -> str:
    """An empty database."""
    return postgres_server.create_database(f"beside_{os.getpid()}_{next(_numbers)}")


def test_requests_go_on_while_a_transaction_keeps_a_migration_from_its_table(
    url: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        async with database(url, monkeypatch, THINGS, COLUMN) as db:
            holder: Any = await cast("Any", asyncpg).connect(url)
            transaction = holder.transaction()
            await transaction.start()
            await holder.fetch("SELECT * FROM things")
            migrating = asyncio.create_task(migrate.migrate(db, pause=0.01))
            for _ in range(2):  # it is tried again
                await wait_for_lock(db, migrating)
                assert await db.read(names) == ["a"], "a reader that queues behind the migration is answered"
            await transaction.rollback()
            assert await migrating == [COLUMN]
            await holder.close()

    run(story())


def test_a_migration_that_never_gets_at_its_table_ends_in_one_line_and_can_be_run_again(
    url: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        async with database(url, monkeypatch, THINGS, COLUMN) as db:
            holder: Any = await cast("Any", asyncpg).connect(url)
            async with holder.transaction():
                await holder.fetch("SELECT * FROM things")
                with pytest.raises(SettingError, match=r"^Migration 0102 was kept from .* migrate again\.$"):
                    await migrate.migrate(db, patience=0, pause=0)
                assert await migrate.applied_version(db) == 101
            await holder.close()
            assert await migrate.migrate(db) == [COLUMN]

    run(story())


def test_a_migration_that_collides_with_a_transaction_is_tried_again(
    url: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        async with database(url, monkeypatch, OTHERS, BOTH) as db:
            holder: Any = await cast("Any", asyncpg).connect(url, server_settings={"deadlock_timeout": "1h"})
            async with holder.transaction():
                await holder.fetch("SELECT * FROM things")
                migrating = asyncio.create_task(migrate.migrate(db, pause=0.01))
                await wait_for_lock(db, migrating)
                await holder.fetch("SELECT * FROM others")
            assert await migrating == [BOTH]
            await holder.close()

    run(story())


@pytest.mark.parametrize("way", ["read", "one"])
def test_a_read_that_collides_with_a_migration_is_run_again(
    url: str, run: Run, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    both = Query(int, "SELECT count(*) FROM things, others")

    async def story() -> None:
        async with database(url, monkeypatch, OTHERS) as db:
            migrating: Any = await cast("Any", asyncpg).connect(url, server_settings={"deadlock_timeout": "1h"})
            async with migrating.transaction():
                await migrating.execute("LOCK TABLE others")
                count = db.read(lambda tx: tx.one(both)) if way == "read" else db.one(both)
                reading = asyncio.create_task(count)
                await wait_for_lock(db, reading)
                await migrating.execute("LOCK TABLE things")
            assert await reading == 0
            await migrating.close()

    run(story())


def test_an_index_is_built_beside_writes_and_anew_if_it_was_cut_off(
    url: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        async with database(url, monkeypatch, THINGS, INDEX) as db:
            holder: Any = await cast("Any", asyncpg).connect(url)
            async with holder.transaction():
                await holder.execute("INSERT INTO things VALUES ('b')")
                building = asyncio.create_task(migrate.migrate(db))
                await wait_for_lock(db, building)
                await db.script("INSERT INTO things VALUES ('c')")
                building.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await building
                assert await migrate.applied_version(db) == 101
            while await ask(db, ADVISORY):
                pass
            assert await migrate.migrate(db) == [INDEX]
            assert await ask(db, BROKEN) == 0
            assert await ask(db, "SELECT count(*) FROM pg_indexes WHERE indexname = 'things_name'") == 1
            await holder.close()

    run(story())


def test_several_processes_build_an_index_once(url: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        async with database(url, monkeypatch, THINGS, COLUMN, INDEX) as db:
            others = [await open_postgres(url, SettableClock()) for _ in range(3)]
            done = await asyncio.gather(*(migrate.migrate(each, pause=0.01) for each in (db, *others)))
            assert sorted(each.version for applied in done for each in applied) == [102, 103]
            for each in others:
                await each.close()

    run(story())
