"""The servers the other tests rely on: they answer, fail and come back on demand, leave nothing behind."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest
import redis

from . import account, postgres, seaweed
from .kinds import ServerClass, ask, both_kinds, needs_postgres, needs_redis, query
from .postgres import PostgresServer
from .process import ServerFailedError, answers, runs
from .redis import RedisServer
from .seaweed import SeaweedServer
from .session import run_folder, session_server


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    with session_server(run_folder(tmp_path_factory.getbasetemp()), "postgres") as server:
        yield server


@both_kinds
def test_answers_and_leaves_nothing(server_class: ServerClass, tmp_path: Path) -> None:
    with server_class.start(tmp_path) as server:
        assert ask(server)
        pid = server.pid
        home = getattr(server, "_home", None)
    assert not runs(pid)
    assert home is None or not home.exists()
    assert not answers(server.port)
    server.stop()


@both_kinds
def test_comes_back_on_the_same_port(server_class: ServerClass, tmp_path: Path) -> None:
    with server_class.start(tmp_path) as server:
        url, first = server.url, server.pid
        server.kill()
        assert not runs(first)
        server.restart()
        second = server.pid
        server.restart()
        assert not runs(second)
        assert server.url == url
        assert ask(server)


@both_kinds
def test_two_servers_are_apart(server_class: ServerClass, tmp_path: Path) -> None:
    with server_class.start(tmp_path / "one") as one, server_class.start(tmp_path / "two") as two:
        assert one.port != two.port
        one.kill()
        assert ask(two)


@both_kinds
def test_takes_another_port_if_its_own_is_taken(
    server_class: ServerClass, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server_class.start(tmp_path / "one") as one:
        free = iter([one.port, one.port, one.port + 1, one.port + 2, one.port + 3])
        monkeypatch.setattr("tests.services.server.free_port", lambda: next(free))
        with server_class.start(tmp_path / "two") as two:
            assert two.port > one.port
            assert ask(two)


@both_kinds
def test_outlives_the_thread_that_restarted_it(server_class: ServerClass, tmp_path: Path) -> None:
    with server_class.start(tmp_path) as server:
        thread = threading.Thread(target=server.restart)
        thread.start()
        thread.join()
        assert ask(server)


@pytest.mark.skipif(seaweed.available() is not None, reason=str(seaweed.available()))
def test_two_stores_of_two_runs_are_apart(tmp_path: Path) -> None:
    with SeaweedServer.start(tmp_path / "one") as one, SeaweedServer.start(tmp_path / "two") as two:
        assert one.port != two.port
        for each in (one, two):
            each.create_bucket("bucket")


@needs_redis
def test_flush_empties_redis(tmp_path: Path) -> None:
    with RedisServer.start(tmp_path) as server, redis.Redis.from_url(server.url) as client:
        client.set("key", "value")
        server.flush()
        assert client.dbsize() == 0


@needs_postgres
def test_databases_are_apart(database: PostgresServer) -> None:
    names = [f'{word} "{os.getpid()}' for word in ("one", "two", "three")]
    one = database.create_database(names[0])
    query(one, "CREATE TABLE note (id int)")
    two = database.create_database(names[1])
    three = database.create_database(names[2], template=names[0])
    assert query(two, "SELECT to_regclass('note')::text") is None
    assert query(three, "SELECT to_regclass('note')::text") == "note"
    for name in names:
        database.drop_database(name)
        database.drop_database(name)
    with pytest.raises(asyncpg.InvalidCatalogNameError):
        query(one, "SELECT 1")
    with pytest.raises(ServerFailedError, match="does not exist"):
        database.create_database("copy", template="missing")


@needs_postgres
def test_is_release_18_in_utf8(database: PostgresServer) -> None:
    version = query(database.url, "SELECT current_setting('server_version_num')::int")
    assert isinstance(version, int)
    assert 180_000 <= version < 190_000
    assert query(database.url, "SELECT lower('ÄÉ') || current_setting('server_encoding')") == "äéUTF8"


@needs_postgres
def test_settings_and_data_outlive_a_kill(tmp_path: Path) -> None:
    settings = {"work_mem": "3MB"}
    with PostgresServer.start(tmp_path, fsync=True, max_connections=17, settings=settings) as server:
        query(server.url, "CREATE TABLE note AS SELECT 7 AS id")
        server.kill()
        server.restart()
        assert query(server.url, "SELECT id FROM note") == 7
        shown = [query(server.url, f"SHOW {name}") for name in ("fsync", "max_connections", "work_mem")]
        assert shown == ["on", "17", "3MB"]


@needs_postgres
@pytest.mark.skipif(not account.is_root(), reason="only as root does the server run as another account")
def test_runs_from_packages_only_root_can_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "within_reach", lambda installation: False)
    with PostgresServer.start(tmp_path) as server:
        assert server._home in server._binaries.parents
        assert ask(server)


@needs_postgres
def test_failed_start_reports_its_reason(tmp_path: Path) -> None:
    with pytest.raises(ServerFailedError, match="no_such_setting"):
        PostgresServer.start(tmp_path, settings={"no_such_setting": "1"})
