"""Signals that a transaction sends when it commits, and statements that travel together."""

import asyncio
import itertools
import os
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, cast

import asyncpg
import pytest

from pressroom.clock import SettableClock
from pressroom.db import Command, ConstraintViolated, Database, Query, Tx
from pressroom.db.postgres import signals
from pressroom.db.postgres.connector import Connector, PostgresConnection, PostgresOptions
from pressroom.db.postgres.database import open_postgres
from pressroom.db.postgres.signals import Signals
from tests.services import pgbouncer
from tests.services.pgbouncer import PgBouncer
from tests.services.postgres import PostgresServer

Run = Callable[[Coroutine[Any, Any, Any]], Any]

INSERT = Command("INSERT INTO things (name, size) VALUES (:name, :size)")
INSERT_PART = Command("INSERT INTO parts (name, thing) VALUES (:name, :thing)")
GROW = Command("UPDATE things SET size = size + :size WHERE name = :name")
COUNT = Query(int, "SELECT count(*) FROM things")
COUNT_PARTS = Query(int, "SELECT count(*) FROM parts")
SIZE = Query(int, "SELECT size FROM things WHERE name = :name")
CHANNEL = PostgresOptions().channel
LISTENERS = "FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"

_numbers = itertools.count()


async def signal(tx: Tx, name: str = "") -> None:
    if name:
        await tx.run(INSERT, name=name, size=1)
    tx.signal()


async def listen(db: Database) -> asyncio.Event:
    """An event that listens by now: when PostgreSQL's does, it is set for all that went before."""
    event = db.listen()
    if db.engine == "postgres":
        await heard(event)
    assert not event.is_set()
    return event


async def heard(event: asyncio.Event) -> None:
    """Waits for a signal, and for the next from now on."""
    async with asyncio.timeout(60):
        await event.wait()
    event.clear()


def test_a_stop_waits_for_no_signal_that_cannot_be_sent() -> None:
    begun = asyncio.Event()

    async def connect() -> PostgresConnection:
        raise ConnectionError

    async def notify(sql: str) -> None:
        begun.set()
        await asyncio.Event().wait()

    async def stop() -> None:
        sender = Signals(connect, notify, "pressroom")
        sender.send()
        await begun.wait()
        async with asyncio.timeout(60):
            await sender.close()

    asyncio.run(stop())


@pytest.fixture
def url(postgres_server: PostgresServer) -> str:
    """An empty database with the table `things`."""
    return postgres_server.create_database(f"signals_{os.getpid()}_{next(_numbers)}")


@pytest.fixture
def two(url: str, run: Run) -> Iterator[tuple[Database, Database]]:
    """The same database, open twice."""
    first, second = (run(open_postgres(url, SettableClock())) for _ in range(2))
    run(first.script("CREATE TABLE things (name TEXT PRIMARY KEY, size BIGINT NOT NULL)"))
    yield first, second
    run(first.close())
    run(second.close())


def test_a_commit_that_signals_wakes_everybody(db: Database, run: Run) -> None:
    async def work() -> None:
        events = [await listen(db), db.listen(), db.listen()]
        await db.transact(signal)
        for event in events:
            await heard(event)

    run(work())


def test_woken_listener_sees_the_commit(db: Database, run: Run) -> None:
    async def work() -> None:
        event = await listen(db)

        async def write(tx: Tx, name: str) -> None:
            tx.signal()
            await tx.run(INSERT, name=name, size=1)
            assert not event.is_set(), "not before the commit"

        for name in ("a", "b", "c"):
            writing = asyncio.create_task(db.transact(write, name))
            await heard(event)
            assert await db.one(SIZE, name=name) == 1
            await writing

    run(work())


def test_failed_commit_writes_nothing_and_sends_no_signal(db: Database, run: Run) -> None:
    run(
        db.script(
            "CREATE TABLE parts (name TEXT PRIMARY KEY,"
            " thing TEXT NOT NULL REFERENCES things (name) DEFERRABLE INITIALLY DEFERRED)"
        )
    )

    async def refer_to_nothing(tx: Tx) -> None:
        await tx.run(INSERT_PART, name="part", thing="missing")  # refused by the COMMIT, not by the statement
        tx.signal()

    async def work() -> None:
        event = await listen(db)
        with pytest.raises(ConstraintViolated):
            await db.transact(refer_to_nothing)
        assert not event.is_set()
        await db.transact(signal, "afterwards")
        await heard(event)
        assert await db.one(COUNT_PARTS) == 0

    run(work())


def test_signals_go_past_a_pooler_by_transaction(
    url: str, postgres_server: PostgresServer, tmp_path: Path, run: Run
) -> None:
    if reason := pgbouncer.available():
        pytest.skip(reason)

    async def work(by_pooler: str) -> None:
        options = PostgresOptions(by_transaction=True)
        first, second = [
            await open_postgres(by_pooler, SettableClock(), options=options, direct=Connector(url)) for _ in range(2)
        ]
        event = await listen(first)
        await second.transact(signal)
        await heard(event)
        await first.close()
        await second.close()

    with PgBouncer.start(tmp_path / "pgbouncer", postgres_server.port, mode="transaction") as bouncer:
        run(work(url.replace(f":{postgres_server.port}/", f":{bouncer.port}/")))


@pytest.mark.parametrize("db", ["sqlite"], indirect=True)
def test_rolled_back_transaction_wakes_no_listener(db: Database, run: Run) -> None:
    async def work() -> None:
        event = await listen(db)
        for action in (signal_and_fail, write_silently):
            await asyncio.gather(db.transact(action, "a"), return_exceptions=True)
            await asyncio.sleep(0)
            assert not event.is_set()
        # In one group with another that commits, each still speaks for itself.
        await asyncio.gather(
            db.transact(signal_and_fail, "b"), db.transact(write_silently, "b"), return_exceptions=True
        )
        await asyncio.sleep(0)
        assert not event.is_set()
        await asyncio.gather(db.transact(signal_and_fail, "c"), db.transact(signal), return_exceptions=True)
        await heard(event)

    run(work())


def test_rolled_back_or_silent_transaction_sends_no_notification(
    two: tuple[Database, Database], url: str, run: Run
) -> None:
    async def work() -> None:
        channels: asyncio.Queue[str] = asyncio.Queue()
        spy = await connect(url)
        # One connection hears everything in the order of the commits: the mark comes after what could have been.
        for channel in (CHANNEL, "mark"):
            await spy.add_listener(channel, lambda _connection, _pid, channel, _payload: channels.put_nowait(channel))
        for action in (signal_and_fail, write_silently):
            await asyncio.gather(two[0].transact(action, "a"), return_exceptions=True)
        await two[0].script("NOTIFY mark")
        async with asyncio.timeout(60):
            assert await channels.get() == "mark"
        await two[0].transact(signal_twice)
        async with asyncio.timeout(60):
            assert await channels.get() == CHANNEL
        await two[0].script("NOTIFY mark")
        async with asyncio.timeout(60):
            assert await channels.get() == "mark"
        await spy.close()

    run(work())


def test_signals_of_an_installation_are_heard_in_its_own_schema_alone(url: str, run: Run) -> None:
    async def work() -> None:
        shop, club = [
            await open_postgres(url, SettableClock(), options=PostgresOptions(schema="public", channel=channel))
            for channel in ("pressroom_shop", "pressroom_club")
        ]
        of_shop, of_club = await listen(shop), await listen(club)
        await shop.transact(signal)
        await club.transact(signal)
        await heard(of_club)
        await shop.transact(signal)
        await heard(of_shop)
        # Signals arrive in the order of their commits, so one of the other channel would have come by now.
        await asyncio.gather(shop.transact(signal), heard(of_shop))
        assert not of_club.is_set()
        await shop.close()
        await club.close()

    run(work())


def test_a_burst_of_commits_sends_few_signals_and_the_last_is_not_forgotten(
    url: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signals, "INTERVAL", 600.0)

    async def work() -> None:
        channels: asyncio.Queue[str] = asyncio.Queue()
        spy = await connect(url)
        for channel in (CHANNEL, "mark"):
            await spy.add_listener(channel, lambda _connection, _pid, channel, _payload: channels.put_nowait(channel))
        db = await open_postgres(url, SettableClock())
        await db.transact(signal)
        async with asyncio.timeout(60):
            assert await channels.get() == CHANNEL
        await asyncio.gather(*(db.transact(signal) for _ in range(20)))
        await db.close()
        await spy.execute("NOTIFY mark")
        async with asyncio.timeout(60):
            assert [await channels.get() for _ in range(2)] == [CHANNEL, "mark"]
        await spy.close()

    run(work())


def test_signals_go_from_one_process_to_another(two: tuple[Database, Database], run: Run) -> None:
    async def work() -> None:
        events = [await listen(db) for db in two]
        for speaker in two:
            await speaker.transact(signal)
            for event in events:
                await heard(event)

    run(work())


def test_lost_listening_connection_is_replaced_and_wakes_listeners(
    two: tuple[Database, Database], url: str, run: Run
) -> None:
    async def work() -> None:
        event = await listen(two[0])
        killer = await connect(url)
        for name in ("a", "b"):
            assert await killer.fetchval(f"SELECT count(pg_terminate_backend(pid)) {LISTENERS}") == 1
            await heard(event)
            await two[1].transact(signal, name)
            await heard(event)
        await killer.close()

    run(work())


def test_closing_ends_the_connection_that_listens(url: str, run: Run) -> None:
    async def work() -> None:
        spy = await connect(url)
        for _ in range(3):
            db = await open_postgres(url, SettableClock())
            await listen(db)
            assert await spy.fetchval(f"SELECT count(*) {LISTENERS}") == 1
            await db.close()
            async with asyncio.timeout(60):
                while await spy.fetchval(f"SELECT count(*) {LISTENERS}"):  # a backend takes a moment to end
                    await asyncio.sleep(0.005)
        await spy.close()

    run(work())


def test_statements_travel_together(db: Database, run: Run) -> None:
    async def write(tx: Tx) -> None:
        await tx.run_each(INSERT, [{"name": f"n{number}", "size": number} for number in range(100)])
        # Each row by its names, whatever else it holds and in whatever order.
        await tx.run_each(GROW, [{"size": 5, "more": None, "name": "n7"}, {"name": "n7", "size": 1}])
        await tx.run_each(GROW, [])

    run(db.transact(write))
    assert run(db.one(COUNT)) == 100
    assert run(db.one(SIZE, name="n7")) == 13


def test_statements_sent_together_all_count_or_none(db: Database, run: Run) -> None:
    async def write(tx: Tx) -> None:
        await tx.run_each(INSERT, [{"name": name, "size": 1} for name in ("a", "b", "a", "c")])

    with pytest.raises(ConstraintViolated):
        run(db.transact(write))
    assert run(db.one(COUNT)) == 0


async def signal_and_fail(tx: Tx, name: str) -> None:
    await signal(tx, name)
    raise LookupError(name)


async def signal_twice(tx: Tx) -> None:
    tx.signal()
    tx.signal()


async def write_silently(tx: Tx, name: str) -> None:
    await tx.run(INSERT, name=name, size=1)


async def connect(url: str) -> Any:
    """A connection of the test's own."""
    opened = cast("Callable[[str], Awaitable[Any]]", asyncpg.connect)
    return await opened(url)
