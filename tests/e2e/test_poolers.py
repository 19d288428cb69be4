"""Behind PgBouncer, in both of its modes: what integrators do, and deliveries by another process."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.processes import one_line
from tests.harness.beside import api_alone, worker
from tests.harness.deliveries import POST, QUICK_RETRIES, Endpoint, wait_until_settled
from tests.harness.owners import Owner, publish
from tests.harness.process import ServerProcess
from tests.harness.receiver import Receiver
from tests.harness.roomy import ROOMY
from tests.harness.wire import Request, ask, at_once
from tests.services import pgbouncer
from tests.services.pgbouncer import PgBouncer, PoolMode
from tests.services.postgres import PostgresServer

MakeServer = Callable[..., ServerProcess]

TOGETHER = 20


@pytest.fixture(params=["session", "transaction"])
def pooled(
    request: pytest.FixtureRequest, process_server: MakeServer, postgres_server: PostgresServer, tmp_path: Path
) -> Iterator[ServerProcess]:
    """A server, not started, on a new database behind PgBouncer; in transaction mode there are fewer connections behind
    it than before it."""
    if reason := pgbouncer.available():
        pytest.skip(reason)
    mode: PoolMode = request.param
    url = postgres_server.create_database(f"pooled_{mode}_{time.monotonic_ns()}")
    with PgBouncer.start(
        tmp_path / "pgbouncer", postgres_server.port, mode=mode, pool=4 if mode == "transaction" else 20
    ) as bouncer:
        by_pooler = url.replace(f":{postgres_server.port}/", f":{bouncer.port}/")
        direct = {"DATABASE_POOLER": mode, "DATABASE_DIRECT_URL": url} if mode == "transaction" else {}
        server = process_server(**ROOMY, **QUICK_RETRIES, DATABASE_URL=by_pooler, DATABASE_CONNECTIONS=6, **direct)
        assert "up to date" in server.command("migrate").stdout
        yield server


def test_an_integrators_story_behind_a_pooler(pooled: ServerProcess) -> None:
    with Receiver() as receiver, api_alone(pooled) as api:
        owner = Owner(api)
        made = owner.new_key(scopes=["posts:write"]).json()
        key = str(made["key"])
        headers = {"Authorization": f"Bearer {key}"}
        endpoint = Endpoint(api, owner, made["id"], receiver.url("/hook"), (POST,))
        with worker(api):
            sent = [publish(api, key, f"post {number}", f"key-{number}") for number in range(TOGETHER)]
            first, again = at_once(sent), at_once(sent)
            assert [reply.status for reply in first] == [201] * TOGETHER, first
            posts = [reply.json()["id"] for reply in first]
            edits = [
                ask(Request(api.port, "PATCH", f"/api/posts/{post}", headers, {"content": "edited"}))
                for post in posts[:3]
            ]
            wait_until_settled(api)
            states = endpoint.states()

    assert [(reply.status, reply.json()["id"]) for reply in again] == [(200, post) for post in posts]
    assert [reply.status for reply in edits] == [200] * 3
    assert len({request.id for request in receiver.of("/hook")}) == TOGETHER
    assert states == {"delivered": TOGETHER}
    assert '"level":"error"' not in api.output()


def test_the_doctor_looks_past_the_pooler(pooled: ServerProcess) -> None:
    found = pooled.command("doctor", check=False).stdout
    assert "ok   database   PostgreSQL" in found, found
    assert ("ok   pooler" in found) == ("DATABASE_POOLER" in pooled.settings), found


def test_a_pooler_by_transaction_needs_a_way_past_it(process_server: MakeServer, tmp_path: Path) -> None:
    server = process_server(DATABASE_URL="postgresql://u:hidden@127.0.0.1:1/none", DATABASE_POOLER="transaction")
    for command in ("serve", "migrate", "worker", "doctor"):
        line = one_line(server, command)
        assert "PRESSROOM_DATABASE_POOLER=transaction needs PRESSROOM_DATABASE_DIRECT_URL" in line
        assert "hidden" not in line
    assert not (server.folder / "data").exists()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"DATABASE_CONNECTIONS": 0}, "PRESSROOM_DATABASE_CONNECTIONS is not a whole number from 1 to 1,000: '0'"),
        ({"DATABASE_POOLER": "statement"}, "PRESSROOM_DATABASE_POOLER is neither session nor transaction: 'statement'"),
        ({"DATABASE_DIRECT_URL": "postgresql://db/x"}, "PRESSROOM_DATABASE_DIRECT_URL must lead to the same database"),
    ],
)
def test_a_setting_that_cannot_be(process_server: MakeServer, given: dict[str, object], says: str) -> None:
    server = process_server(**given)
    assert says in one_line(server)
    assert not (server.folder / "data").exists()
