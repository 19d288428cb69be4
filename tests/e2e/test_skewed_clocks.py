"""Machines whose clocks are wrong: leases and times go by the database's clock, and the operator is told."""

import contextlib
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from tests.harness.beside import api_alone, worker
from tests.harness.deliveries import POST, QUICK_RETRIES, Endpoint, wait_until_settled
from tests.harness.observations import NONE_NEEDED, observe
from tests.harness.owners import Owner, publish
from tests.harness.process import PRESSROOM, ServerProcess
from tests.harness.receiver import Receiver
from tests.harness.records import rows
from tests.harness.wire import Request, ask, in_turn
from tests.services.postgres import PostgresServer
from tests.services.process import wait_until
from tests.services.programs import found

ENDPOINTS, POSTS = 5, 10
MINUTE = 60_000

FAKETIME = found("faketime")
pytestmark = pytest.mark.skipif(FAKETIME is None, reason="faketime is not installed")


@pytest.fixture
def server(roomy_server: Callable[..., ServerProcess], postgres_server: PostgresServer) -> ServerProcess:
    url = postgres_server.create_database(f"skewed_{os.getpid()}_{time.monotonic_ns()}")
    return roomy_server(DATABASE_URL=url, **QUICK_RETRIES)


@contextlib.contextmanager
def skewed(server: ServerProcess, offset: str, command: str) -> Generator[Path]:
    """Runs a command with the settings of a server while the clock of its machine is wrong; yields its log."""
    log = server.folder / f"{command}{offset}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(FAKETIME), "-f", offset, *PRESSROOM, command],
            cwd=server.folder,
            env={**server.environment, "DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"},
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    try:
        yield log
    finally:
        # faketime hands no signal on to the command that it started: both are one process group.
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)
        assert wait_until(lambda: not _is_running(process.pid)), log.read_text()


def _is_running(group: int) -> bool:
    """Whether a process of the group is there."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_workers_whose_clocks_differ_share_their_work(server: ServerProcess) -> None:
    with Receiver() as receiver, api_alone(server) as api:
        owner = Owner(api)
        made = owner.new_key().json()
        for number in range(ENDPOINTS):
            Endpoint(api, owner, made["id"], receiver.url(f"/{number}"), (POST,))
        with skewed(api, "+2m", "worker") as ahead, skewed(api, "-2m", "worker") as behind, worker(api):
            for log in (ahead, behind):
                assert wait_until(lambda log=log: "clocks differ" in log.read_text()), log.read_text()
            posts = [publish(api, made["key"], f"post {number}") for number in range(POSTS)]
            assert [reply.status for reply in in_turn([posts])] == [201] * POSTS
            wait_until_settled(api)
        times = Counter(Counter((request.path, request.id) for request in receiver.received).values())
        assert rows(api, "SELECT DISTINCT state FROM deliveries") == [("delivered",)]

    assert times == {1: ENDPOINTS * POSTS}
    observe(
        "workers whose clocks are 2 minutes ahead and 2 minutes behind",
        f"{ENDPOINTS * POSTS} deliveries shared with a right one: none lost, none twice; each is named in its log",
        NONE_NEEDED,
    )


def test_server_with_a_wrong_clock_uses_the_databases_and_warns(server: ServerProcess) -> None:
    server.folder.mkdir(parents=True, exist_ok=True)
    with skewed(server, "+2m", "serve") as log:
        assert wait_until(lambda: _ready(server) is not None), log.read_text()
        ready = _ready(server)
        key = Owner(server).key()
        assert ask(publish(server, key, "now")).status == 201
    ((created_at,),) = rows(server, "SELECT created_at FROM posts")
    assert abs(created_at - time.time_ns() // 1_000_000) < MINUTE
    assert ready is not None
    assert "s ahead of the database server's" in ready["warning"]

    with skewed(server, "+2m", "doctor") as log:
        assert wait_until(lambda: "bad  clock" in log.read_text()), log.read_text()


def _ready(server: ServerProcess) -> dict[str, str] | None:
    try:
        answer = ask(Request(server.port, "GET", "/readyz"))
    except OSError:
        return None
    return answer.json() if answer.status == 200 else None
