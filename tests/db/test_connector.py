"""Connections to one of several hosts: the one that takes writes, also after another took its place."""

import asyncio
import socket
import struct
from collections.abc import Coroutine, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import coroutine
from typing import Any

import pytest
import uvloop

from pressroom.clock import SettableClock
from pressroom.db import Command, Database, DatabaseAway, Query, Tx
from pressroom.db.migrate import migrate
from pressroom.db.postgres.connector import AWAY, Connector, PostgresOptions, addresses_of
from pressroom.db.postgres.database import open_postgres
from pressroom.errors import SettingError
from pressroom.operations.transfer.target import open_target
from tests.db.conftest import Run
from tests.harness.proxy import Proxy
from tests.services import postgres
from tests.services.kinds import query
from tests.services.postgres_cluster import PostgresCluster, several_hosts
from tests.services.process import wait_until
from tests.services.session import run_folder

INSERT = Command("INSERT INTO things (name, size) VALUES (:name, 1)")
NAMES = Query(str, "SELECT name FROM things ORDER BY name")
HERE = Query(int, "SELECT CAST(current_setting('port') AS BIGINT)")


@pytest.mark.parametrize(
    ("url", "each"),
    [
        ("postgresql://u:p%40@h/db", ["postgresql://u:p%40@h/db"]),
        ("postgresql:///db", ["postgresql:///db"]),
        (
            "postgresql://u@h1:1,h2,[::1]:3/db?sslmode=disable",
            [f"postgresql://u@{host}/db?sslmode=disable" for host in ("h1:1", "h2", "[::1]:3")],
        ),
    ],
)
def test_each_host_has_an_address(url: str, each: list[str]) -> None:
    assert addresses_of(url) == each


@pytest.fixture
def cluster(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresCluster]:
    """A primary with the table `things`, and a standby that no COMMIT waits for."""
    if reason := postgres.available():
        pytest.skip(reason)
    cache = run_folder(tmp_path_factory.getbasetemp())
    with PostgresCluster.start(tmp_path, standbys=1, synchronous=False, cache=cache) as cluster:
        query(cluster.primary.url, "CREATE TABLE things (name TEXT PRIMARY KEY, size BIGINT NOT NULL)")
        standby = cluster.standbys[0].url
        assert wait_until(lambda: query(standby, "SELECT to_regclass('things') IS NOT NULL") is True)
        yield cluster


async def insert(tx: Tx, name: str) -> None:
    await tx.run(INSERT, name=name)


async def insert_once_it_can(db: Database, name: str) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                return await db.transact(insert, name)
            except DatabaseAway:
                await asyncio.sleep(0.01)


async def names(tx: Tx) -> list[str]:
    return await tx.all(NAMES)


def test_the_one_that_takes_writes_is_followed(cluster: PostgresCluster, run: Run) -> None:
    first, second = cluster.nodes
    db = run(open_postgres(cluster.url(), SettableClock()))
    run(db.transact(insert, "one"))
    assert run(db.one(HERE)) == first.port

    first.crash()
    with pytest.raises(DatabaseAway):
        run(db.transact(insert, "lost"))
    cluster.fail_over()
    run(insert_once_it_can(db, "two"))
    assert run(db.one(HERE)) == second.port

    first.start_again()  # It takes writes as well, and comes first in the address.
    for each in (db, run(open_postgres(cluster.url(), SettableClock()))):
        run(at_once(each, 8))
        run(each.close())
    assert query(first.url, "SELECT count(*) FROM things WHERE name <> 'one'") == 0


async def at_once(db: Database, number: int) -> None:
    """Writes on more connections than there were."""
    await asyncio.gather(*(db.transact(insert, f"{id(db)} {n}") for n in range(number)))


def test_connections_to_an_earlier_primary_end_when_there_is_a_later(cluster: PostgresCluster, run: Run) -> None:
    connector = Connector(cluster.url())

    async def work() -> None:
        earlier = await connector.connect()
        cluster.standbys[0].promote()
        async with asyncio.timeout(60):
            while not earlier.is_closed():
                later = await connector.connect()
                later.terminate()
        latest = await connector.connect()
        row = await latest.fetchrow(HERE.numbered)
        latest.terminate()
        assert row is not None
        assert row[0] == cluster.nodes[1].port

    run(work())


def test_silent_host_does_not_delay_the_other_host(cluster: PostgresCluster, run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hosts = f"127.0.0.1:{silent.getsockname()[1]},127.0.0.1:{cluster.primary.port}"
        options = PostgresOptions(connect_seconds=60)
        db = run(open_postgres(f"postgresql://postgres@{hosts}/postgres", SettableClock(), options=options))
        run(db.transact(insert, "one"))
        run(db.close())


@pytest.mark.parametrize("url", ["postgresql://u@127.0.0.1:1,h:p/db", "postgresql://u:se,cret/1@127.0.0.1:1/db"])
def test_an_address_with_a_host_that_is_none_is_refused_beside_one_that_is_away(url: str, run: Run) -> None:
    with pytest.raises(SettingError, match=r"^PRESSROOM_DATABASE_URL is no address of a database; is its password"):
        run(open_postgres(url, SettableClock()))


def test_a_standby_alone_is_a_database_that_is_away(cluster: PostgresCluster, run: Run) -> None:
    standby = cluster.standbys[0]
    connector = Connector(f"postgresql://postgres@127.0.0.1:{standby.port},127.0.0.1:1/postgres")
    each = rf"127.0.0.1:{standby.port}: it only reads; 127.0.0.1:1: .*Connect call failed"
    with pytest.raises(OSError, match=rf"No host of the database's address takes writes: {each}"):
        run(connector.connect())


def test_a_transfer_fills_the_host_that_takes_writes(cluster: PostgresCluster, run: Run) -> None:
    primary, standby = cluster.nodes
    primary.create_database("target")
    url = several_hosts([standby.port, primary.port], "target")

    async def prepare() -> None:
        db = await open_postgres(url, SettableClock())
        await migrate(db)
        await db.close()

    async def begin() -> None:
        async with open_target(url, PostgresOptions(connections=1)) as target:
            await target.begin("an id", [])

    run(prepare())
    written = primary.query("SELECT pg_current_wal_flush_lsn()")
    assert wait_until(lambda: standby.query(f"SELECT pg_last_wal_replay_lsn() >= '{written}'::pg_lsn") == "t")
    run(begin())


def test_a_connection_whose_server_only_reads_is_given_up(cluster: PostgresCluster, run: Run) -> None:
    primary, standby = cluster.nodes
    proxy = Proxy(standby.port)
    url = f"postgresql://postgres@127.0.0.1:{proxy.port}/postgres"
    db = run(open_postgres(url, SettableClock(), options=PostgresOptions(connections=1)))
    with pytest.raises(DatabaseAway):
        run(db.transact(insert, "refused"))
    proxy.point_at(primary.port)
    run(db.transact(insert, "taken"))
    assert run(db.read(names)) == ["taken"]
    run(db.close())
    proxy.close()


def test_a_process_that_was_frozen_amid_a_transaction_goes_on(cluster: PostgresCluster, run: Run) -> None:
    url = cluster.primary.url
    open_sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pressroom'"

    async def freeze(tx: Tx) -> None:
        await tx.run(INSERT, name="frozen")
        with ThreadPoolExecutor() as pool:
            assert pool.submit(wait_until, lambda: query(url, open_sessions) == 0).result()

    db = run(open_postgres(url, SettableClock(), options=PostgresOptions(idle_seconds=0.05)))
    with pytest.raises(DatabaseAway):
        run(db.transact(freeze))
    run(insert_once_it_can(db, "after"))
    assert query(url, "SELECT string_agg(name, ' ') FROM things") == "after"
    run(db.close())


@coroutine
def _late(work: Coroutine[Any, Any, Any]) -> Generator[Any, None, Any]:
    """Runs each step of `work` some rounds of the loop late, as requests do that wait for their turn."""
    try:
        while True:
            yield work.send(None)
            yield from asyncio.sleep(0.01).__await__()
    except StopIteration as done:
        return done.value


@pytest.mark.parametrize("reset", [False, True])
def test_server_that_hangs_up_while_a_connection_is_made_is_away(reset: bool) -> None:
    def serve(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(8)  # It asks for TLS.
            if reset:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall(b"N")

    async def work(port: int) -> None:
        connector = Connector(f"postgresql://anyone@127.0.0.1:{port}/any?sslmode=prefer")
        with pytest.raises(AWAY):
            await _late(connector.connect())

    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(1) as pool:
        serving = pool.submit(serve, listening)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(work(listening.getsockname()[1]))
        serving.result(120)
