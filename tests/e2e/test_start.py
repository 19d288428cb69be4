"""Starts while something is away, and starts at the same moment."""

import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.processes import serves
from tests.harness.beside import worker
from tests.harness.process import DEADLINE, ServerProcess
from tests.harness.records import count
from tests.harness.wire import Request, ask
from tests.services.postgres import PostgresServer
from tests.services.process import wait_until
from tests.services.redis import RedisServer, available

MakeProcess = Callable[..., ServerProcess]

WAITING = "waiting for the database"


@pytest.fixture
def mortal_redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis of the test's own."""
    if reason := available():
        pytest.skip(reason)
    with RedisServer.start(tmp_path / "redis") as server:
        yield server


def test_workers_that_share_a_port_wait_for_the_database(
    roomy_server: MakeProcess, mortal_postgres: PostgresServer, redis_server: RedisServer
) -> None:
    server = roomy_server(DATABASE_URL=mortal_postgres.create_database("away"), REDIS_URL=redis_server.url)
    mortal_postgres.kill()
    server.launch("--workers", "2")
    assert wait_until(lambda: server.output().count(WAITING) == 2)
    assert not serves(server)

    mortal_postgres.restart()
    assert wait_until(lambda: serves(server))
    assert not server.ended
    assert server.output().count(WAITING) == 2
    assert server.stop() == 0


def test_workers_stop_while_they_wait(
    roomy_server: MakeProcess, mortal_postgres: PostgresServer, redis_server: RedisServer
) -> None:
    server = roomy_server(DATABASE_URL=mortal_postgres.create_database("away"), REDIS_URL=redis_server.url)
    mortal_postgres.kill()
    server.launch("--workers", "2")
    assert wait_until(lambda: server.output().count(WAITING) == 2)
    assert server.stop() == 0


@pytest.mark.parametrize("arguments", [(), ("--only", "api"), ("--only", "worker")], ids=["serve", "api", "worker"])
def test_one_process_waits_for_the_database(
    roomy_server: MakeProcess, mortal_postgres: PostgresServer, arguments: tuple[str, ...]
) -> None:
    server = roomy_server(DATABASE_URL=mortal_postgres.create_database("away"))
    mortal_postgres.kill()
    server.launch(*arguments)
    assert wait_until(lambda: WAITING in server.output() or server.ended)
    assert not serves(server)

    mortal_postgres.restart()
    working = "delivering" if "worker" in arguments else "listening"
    assert wait_until(lambda: f'"{working}"' in server.output())
    assert "worker" in arguments or wait_until(lambda: serves(server))
    assert server.output().count(WAITING) == 1
    assert server.stop() == 0


@pytest.fixture
def mute() -> Iterator[socket.socket]:
    """Somebody who takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@pytest.mark.parametrize("arguments", [(), ("--only", "api"), ("--only", "worker")], ids=["serve", "api", "worker"])
def test_a_stop_does_not_wait_for_an_answer_of_the_database(
    process_server: MakeProcess, mute: socket.socket, arguments: tuple[str, ...]
) -> None:
    url = f"postgresql://press@127.0.0.1:{mute.getsockname()[1]}/press?sslmode=disable"
    server = process_server(DATABASE_URL=url)
    server.launch(*arguments)
    mute.settimeout(DEADLINE)
    asked, _ = mute.accept()
    with asked:
        assert server.stop() == 0
    assert WAITING not in server.output(), "it was waited until the database's time was up"


def test_a_stop_does_not_wait_for_an_answer_of_the_media_store(
    process_server: MakeProcess, mute: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    url = f"s3://media?endpoint=http://127.0.0.1:{mute.getsockname()[1]}&region=none"
    server = process_server(BLOBS_URL=url, BLOBS_TIMEOUT_SECONDS=300)
    server.launch()
    mute.settimeout(DEADLINE)
    asked, _ = mute.accept()
    with asked:
        assert server.stop() == 0


@pytest.mark.parametrize("command", ["serve", "serve --only api", "serve --workers 2", "worker"])
@pytest.mark.parametrize(
    ("user", "database", "reason"), [("nobody:hunter2", "postgres", "nobody"), ("postgres", "nowhere", "nowhere")]
)
def test_refusal_of_the_database_is_reported_with_its_reason(
    process_server: MakeProcess,
    postgres_server: PostgresServer,
    redis_server: RedisServer,
    command: str,
    user: str,
    database: str,
    reason: str,
) -> None:
    url = f"postgresql://{user}@127.0.0.1:{postgres_server.port}/{database}"
    done = process_server(DATABASE_URL=url, REDIS_URL=redis_server.url).command(*command.split(), check=False)
    assert done.returncode == 2
    assert f'"{reason}" does not exist' in done.stderr
    assert "hunter2" not in done.stderr
    assert WAITING not in done.stderr


def test_a_worker_waits_for_the_database(roomy_server: MakeProcess, mortal_postgres: PostgresServer) -> None:
    sender = worker(roomy_server(DATABASE_URL=mortal_postgres.create_database("away")))
    mortal_postgres.kill()
    sender.launch()
    assert wait_until(lambda: WAITING in sender.output())
    mortal_postgres.restart()
    sender.wait_for('"delivering"')
    assert sender.output().count(WAITING) == 1
    assert sender.stop() == 0


def test_a_redis_that_is_away_is_said_without_its_password(
    roomy_server: MakeProcess, postgres_server: PostgresServer, mortal_redis: RedisServer
) -> None:
    url = mortal_redis.url.replace("redis://", "redis://:hunter2@")
    port = mortal_redis.port
    mortal_redis.kill()
    server = roomy_server(DATABASE_URL=postgres_server.create_database("redis_away"), REDIS_URL=url)
    server.launch()
    assert wait_until(lambda: "Redis does not answer" in server.output())
    assert f'"redis": "127.0.0.1:{port}"' in server.output()
    assert "hunter2" not in server.output()
    assert wait_until(lambda: "listening" in server.output())
    assert warning(server) == "Redis does not answer: requests with a key are 503 until it does, nothing else."


def test_redis_counts_when_it_comes(
    roomy_server: MakeProcess, postgres_server: PostgresServer, mortal_redis: RedisServer
) -> None:
    mortal_redis.kill()
    server = roomy_server(DATABASE_URL=postgres_server.create_database("redis_comes"), REDIS_URL=mortal_redis.url)
    server.launch()
    assert wait_until(lambda: "Redis does not answer" in server.output())
    mortal_redis.restart()
    assert wait_until(lambda: serves(server) and warning(server) is None)
    assert server.output().count("Redis does not answer") == 1


def together(servers: list[ServerProcess]) -> None:
    """Starts servers at once and waits until each serves or has ended."""
    for server in servers:
        server.launch()
    assert wait_until(lambda: all(server.ended or serves(server) for server in servers))


@pytest.mark.parametrize("attempt", range(3))
def test_development_servers_that_start_at_once_make_one_account(
    process_server: MakeProcess, postgres_server: PostgresServer, redis_server: RedisServer, attempt: int
) -> None:
    url = postgres_server.create_database(f"twins_{attempt}")
    servers = [process_server(DEV=1, DATABASE_URL=url, REDIS_URL=redis_server.url) for _ in range(3)]
    migrate_at_once(servers)
    together(servers)
    assert [server.ended for server in servers] == [False] * 3, "\n".join(server.output() for server in servers)
    assert (count(servers[0], "accounts"), count(servers[0], "api_keys")) == (1, 1)
    assert sum("(shown this once)" in server.output() for server in servers) == 1


def test_without_redis_the_second_is_refused_in_one_line(
    process_server: MakeProcess, postgres_server: PostgresServer
) -> None:
    url = postgres_server.create_database("lone_twins")
    servers = [process_server(DEV=1, DATABASE_URL=url) for _ in range(2)]
    migrate_at_once(servers)
    together(servers)
    (refused,) = [server for server in servers if server.ended]
    assert refused.wait() == 2
    assert "Another Pressroom serves this database already" in refused.output()
    assert "Traceback" not in refused.output()
    (serving,) = [server for server in servers if server is not refused]
    assert (count(serving, "accounts"), count(serving, "api_keys")) == (1, 1)


def migrate_at_once(servers: list[ServerProcess]) -> None:
    """Migrates the database of the servers once for each of them, all at the same time."""
    for server in servers:
        server.folder.mkdir(parents=True, exist_ok=True)
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "pressroom", "migrate"],
            cwd=server.folder,
            env=server.environment,
            stdout=-1,
            stderr=-1,
        )
        for server in servers
    ]
    ended = [(process.communicate(timeout=60), process.returncode) for process in running]
    assert [status for _, status in ended] == [0] * len(servers), ended


def warning(server: ServerProcess) -> object:
    """The lines that a ready server prints for its operator."""
    answer = ask(Request(server.port, "GET", "/readyz"))
    assert answer.status == 200
    return answer.json().get("warning")


@pytest.mark.parametrize("only", ["all", "worker"])
def test_service_manager_hears_when_a_process_serves(
    roomy_server: MakeProcess, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch, only: str
) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager,
    ):
        address = f"{folder}/notify"
        manager.bind(address)
        manager.settimeout(DEADLINE)
        server = roomy_server(DATABASE_URL=postgres_server.create_database(f"notify_{only}"))
        monkeypatch.setenv("NOTIFY_SOCKET", address)

        server.launch(*(["--only", "worker"] if only == "worker" else []))

        assert manager.recv(64) == b"READY=1"
        assert only == "worker" or serves(server)
        assert server.stop() == 0
