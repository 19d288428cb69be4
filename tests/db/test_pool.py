"""Connections to PostgreSQL: in whose turn they are given out, and in what state they come back."""

import asyncio
import itertools
import os
import re
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import asyncpg
import pytest

from pressroom.clock import SettableClock
from pressroom.db import Command, Database, DatabaseAway, Query, Tx, ahead_of_requests
from pressroom.db.postgres import pool
from pressroom.db.postgres.connector import PostgresOptions
from pressroom.db.postgres.database import PostgresDatabase, open_postgres
from pressroom.db.postgres.pool import Connections
from pressroom.errors import Conflict
from pressroom.turns import Turn, Turns
from tests.harness.statements import statements
from tests.services.postgres import PostgresServer

Run = Callable[[Coroutine[Any, Any, Any]], Any]

INSERT = Command("INSERT INTO things (name, size) VALUES (:name, :size)")
COUNT = Query(int, "SELECT count(*) FROM things")
SLEEP = Query(str, "SELECT CAST(pg_sleep(60) AS TEXT)")

_numbers = itertools.count()


class Line:
    """A connection that leads nowhere."""

    def __init__(self) -> None:
        self.closed = False
        self.amid_transaction = False

    def is_closed(self) -> bool:
        return self.closed

    def is_in_transaction(self) -> bool:
        return self.amid_transaction

    def terminate(self) -> None:
        self.closed = True

    async def close(self) -> None:
        self.closed = True


async def line() -> Line:
    return Line()


@pytest.fixture
def url(postgres_server: PostgresServer) -> str:
    """An empty database."""
    return postgres_server.create_database(f"pool_{os.getpid()}_{next(_numbers)}")


@pytest.fixture
def db(url: str, run: Run) -> Iterator[PostgresDatabase]:
    """A database with one connection, and the table `things`."""
    database = run(open_postgres(url, SettableClock(), options=PostgresOptions(connections=1)))
    run(database.script("CREATE TABLE things (name TEXT PRIMARY KEY, size BIGINT NOT NULL)"))
    yield database
    run(database.close())


def test_connections_are_given_out_in_turn(run: Run) -> None:
    async def work() -> None:
        connections, turns = Connections(line, 2), list[int]()

        async def use(number: int) -> None:
            connection = await connections.take()
            turns.append(number)
            await asyncio.sleep(0)
            connections.give_back(connection)

        await asyncio.gather(*(use(number) for number in range(20)))
        assert turns == list(range(20))

    run(work())


def test_connections_are_given_to_waiting_clients_in_turn(run: Run) -> None:
    async def work() -> None:
        connections, served = Connections(line, 1), list[str]()
        held = await connections.take()

        async def use(client: str) -> None:
            connection = await connections.take()
            served.append(client)
            connections.give_back(connection)

        async def request(client: str) -> None:
            await Turns().run(Turn(line=client), use(client))

        waiting = [asyncio.ensure_future(request(client)) for client in ("crowd", "crowd", "crowd", "other")]
        await asyncio.sleep(0)
        connections.give_back(held)
        await asyncio.gather(*waiting)
        assert served == ["crowd", "other", "crowd", "crowd"]

    run(work())


def test_requests_that_have_waited_before_go_before_new_ones(run: Run) -> None:
    """A server with one connection finishes begun requests, each of which takes two connections, before new ones."""

    async def work() -> None:
        connections, served = Connections(line, 1), list[str]()
        held = await connections.take()

        async def use(name: str) -> None:
            for _ in range(2):
                connection = await connections.take()
                served.append(name)
                await asyncio.sleep(0.001)
                connections.give_back(connection)

        waiting = [asyncio.ensure_future(Turns().run(Turn(line="crowd"), use(name))) for name in "abcd"]
        await asyncio.sleep(0.001)
        connections.give_back(held)
        await asyncio.gather(*waiting)
        assert served == ["a", "b", "a", "b", "c", "d", "c", "d"]

    run(work())


def test_leases_and_counts_go_before_requests_that_wait(run: Run) -> None:
    """Behind them for longer than a lease, work would be done twice, and unsaved counts refuse every request."""

    async def work() -> None:
        connections = Connections(line, 1)
        held = await connections.take()
        requests = [asyncio.ensure_future(connections.take()) for _ in range(3)]
        await asyncio.sleep(0)
        with ahead_of_requests():
            renewals = [asyncio.ensure_future(connections.take()) for _ in range(2)]
        await asyncio.sleep(0)
        for each in renewals:
            connections.give_back(held)
            assert await asyncio.wait_for(each, 1) is held
        assert not any(each.done() for each in requests)
        for each in requests:
            connections.give_back(held)
            assert await each is held

    run(work())


def test_a_busy_pool_is_waited_for_while_connections_come_back(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many writes to one account wait for its row, each for those before it: that is no reason for a 503."""
    monkeypatch.setattr(pool, "PATIENCE", 0.02)

    async def work() -> None:
        connections = Connections(line, 1)

        async def use() -> None:
            connection = await connections.take()
            await asyncio.sleep(0.005)
            connections.give_back(connection)

        await asyncio.gather(*(use() for _ in range(30)))

    run(work())


def test_a_pool_of_which_nothing_comes_back_is_not_waited_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "PATIENCE", 0.01)

    async def work() -> None:
        connections = Connections(line, 1)
        held = await connections.take()
        for _ in range(2):
            with pytest.raises(TimeoutError):
                await connections.take()
        connections.give_back(held)
        assert await connections.take() is held

    run(work())


def test_the_waits_of_a_request_have_one_bound(run: Run) -> None:
    async def work() -> None:
        connections = Connections(line, 1, 0.02)
        held = await connections.take()
        turn = Turn()

        async def request() -> None:
            with pytest.raises(TimeoutError, match="No connection"):
                await connections.take()
            assert turn.waited > 0
            connections._longest_wait = turn.waited = 1_000.0
            with pytest.raises(TimeoutError, match="No connection"):
                await connections.take()

        await Turns().run(turn, request())
        left_behind = asyncio.ensure_future(connections.take())
        await asyncio.sleep(0)
        connections.give_back(held)
        assert await left_behind is held

    run(work())


def test_waiters_time_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "PATIENCE", 0.01)

    async def work() -> None:
        connections = Connections(line, 2, 0.0)
        held = [await connections.take() for _ in range(2)]
        waiting = asyncio.ensure_future(connections.take())
        await asyncio.sleep(0)
        connections._returned += 1
        with pytest.raises(TimeoutError):
            await waiting
        for each in held:
            connections.give_back(each)

    run(work())


def test_leaving_the_queue_passes_the_turn_on(run: Run) -> None:
    async def work() -> None:
        connections = Connections(line, 1)
        held = await connections.take()
        first, second, third = (asyncio.ensure_future(connections.take()) for _ in range(3))
        await asyncio.sleep(0)
        second.cancel()
        connections.give_back(held)
        first.cancel()  # after it was given the connection, and before it knows
        assert await third is held

    run(work())


def test_leave_to_open_a_connection_is_passed_on(run: Run) -> None:
    async def work() -> None:
        connections = Connections(line, 1)
        lost = await connections.take()
        first, second = (asyncio.ensure_future(connections.take()) for _ in range(2))
        await asyncio.sleep(0)
        lost.closed = True
        connections.give_back(lost)
        first.cancel()  # after it was let open one, and before it knows
        assert await second is not lost

    run(work())


def test_stop_waits_for_connections_in_use(run: Run) -> None:
    async def work() -> None:
        connections = Connections(line, 2)
        busy, idle = await connections.take(), await connections.take()
        connections.give_back(idle)
        closing = asyncio.ensure_future(connections.close())
        await asyncio.sleep(0)
        assert not busy.closed
        connections.give_back(busy)
        await closing
        assert busy.closed
        assert idle.closed

    run(work())


def test_stop_cuts_off_connections_that_do_not_end(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "CLOSE_PATIENCE", 0.01)

    async def work() -> None:
        connections = Connections(line, 1)
        busy = await connections.take()
        await connections.close()
        assert busy.closed
        connections.give_back(busy)

    run(work())


def test_a_connection_that_is_made_after_a_stop_is_closed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "CLOSE_PATIENCE", 0.01)

    async def work() -> None:
        made, may_connect = Line(), asyncio.Event()

        async def connect() -> Line:
            await may_connect.wait()
            return made

        connections = Connections(connect, 1)
        taking = asyncio.ensure_future(connections.take())
        await asyncio.sleep(0)
        await connections.close()
        may_connect.set()
        with pytest.raises(ConnectionError):
            await taking
        assert made.closed

    run(work())


@pytest.mark.parametrize("fault", ["closed", "amid_transaction"])
def test_a_connection_that_cannot_be_used_again_is_replaced(run: Run, fault: str) -> None:
    async def work() -> None:
        connections = Connections(line, 1)
        broken = await connections.take()
        waiting = asyncio.ensure_future(connections.take())
        await asyncio.sleep(0)
        setattr(broken, fault, True)
        connections.give_back(broken)
        fresh = await waiting
        assert broken.closed
        assert fresh is not broken
        connections.give_back(fresh)
        fresh.closed = True
        assert await connections.take() is not fresh

    run(work())


def test_connection_unused_for_too_long_is_replaced(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "STALE", 0.0)

    async def work() -> None:
        connections = Connections(line, 1)
        unused = await connections.take()
        connections.give_back(unused)
        assert await connections.take() is not unused
        assert unused.closed

    run(work())


def test_failed_connection_reaches_every_waiter(run: Run) -> None:
    async def work() -> None:
        attempts = itertools.count()

        async def fail() -> Line:
            next(attempts)
            await asyncio.sleep(0)
            raise OSError("away")

        connections = Connections(fail, 1)
        outcomes = await asyncio.gather(*(connections.take() for _ in range(3)), return_exceptions=True)
        assert [type(each) for each in outcomes] == [OSError] * 3
        assert next(attempts) == 3

    run(work())


# What outlasts a transaction in its session. `SET LOCAL`, `pg_advisory_xact_lock` and UPDATE … SET do not.
_STATEFUL = re.compile(
    r"^\s*(SET(?! LOCAL)|RESET|LISTEN|UNLISTEN|PREPARE|EXECUTE|DEALLOCATE|DECLARE|DISCARD|LOAD|CREATE TEMP)\b"
    r"|pg_(try_)?advisory_lock|set_config",
    re.IGNORECASE,
)


def test_no_statement_changes_a_session() -> None:
    """So a connection needs no reset when it comes back. The lock that has a session of its own is not of the pool."""
    assert [name for name, command in statements("postgres").items() if _STATEFUL.search(command.numbered)] == []


async def _state(db: Database) -> list[tuple[Any, ...]]:
    """All that PostgreSQL keeps for the only connection of the pool, but its prepared statements."""
    assert isinstance(db, PostgresDatabase)
    connection: Any = await db.pool.take()
    rows = [
        tuple(row)
        for sql in (
            "SELECT name, setting FROM pg_settings ORDER BY name",
            "SELECT pg_listening_channels()",
            "SELECT name FROM pg_cursors WHERE name <> ''",
            "SELECT mode FROM pg_locks WHERE pid = pg_backend_pid() AND locktype NOT IN ('virtualxid', 'relation')",
            "SELECT relname FROM pg_class WHERE relpersistence = 't'",
            "SELECT pg_backend_pid()",
        )
        for row in await connection.fetch(sql)
    ]
    db.pool.give_back(connection)
    return rows


def test_a_connection_comes_back_as_it_was(db: PostgresDatabase, run: Run) -> None:
    """Whatever became of its transaction, and in the same session."""

    async def write(tx: Tx, name: str) -> None:
        await tx.run(INSERT, name=name, size=1)
        tx.signal()

    async def refuse(tx: Tx) -> None:
        await write(tx, "refused")
        raise Conflict("No.")

    async def count(tx: Tx) -> int | None:
        return await tx.one(COUNT)

    async def fail(tx: Tx) -> None:
        await tx.run(Command("INSERT INTO things (name, size) VALUES (:name, 1 / :size)"), name="zero", size=0)

    async def work() -> None:
        before = await _state(db)
        await db.transact(write, "one")
        assert await db.read(count) == 1
        for action in (refuse, fail):
            with pytest.raises((Conflict, asyncpg.PostgresError)):
                await db.transact(action)
        assert await db.one(COUNT) == 1
        assert await _state(db) == before

    run(work())


def test_a_read_that_is_given_up_leaves_its_connection_for_others(db: PostgresDatabase, url: str, run: Run) -> None:
    async def work() -> None:
        before = await _state(db)

        async def sleep(tx: Tx) -> None:
            await tx.one(SLEEP)

        for reading in (db.read(sleep), db.one(SLEEP)):
            task = asyncio.ensure_future(reading)
            watcher: Any = await asyncpg.connect(url)
            async with asyncio.timeout(60):
                while not await watcher.fetchval(_SLEEPING):
                    await asyncio.sleep(0.001)
            await watcher.close()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await db.one(COUNT) == 0
        assert await _state(db) == before

    run(work())


_SLEEPING = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"


@pytest.mark.parametrize("by_transaction", [False, True])
def test_a_statement_without_an_end_is_cut_off(db: PostgresDatabase, url: str, run: Run, by_transaction: bool) -> None:
    # The limit holds for the statements of a new connection as well, which take 50 ms on a busy machine.
    options = PostgresOptions(connections=1, statement_seconds=0.5, by_transaction=by_transaction)
    hasty = run(open_postgres(url, SettableClock(), options=options))

    async def sleep(tx: Tx) -> None:
        await tx.one(SLEEP)

    for action in (hasty.transact, hasty.read):
        with pytest.raises(DatabaseAway):
            run(action(sleep))
    with pytest.raises(DatabaseAway):
        run(hasty.one(SLEEP))
    run(hasty.close())
    assert run(db.one(COUNT)) == 0
