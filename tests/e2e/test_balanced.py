"""Two servers behind HAProxy are one service: one limit, one idempotent write, one state of each key."""

import csv
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.harness.owners import Owner, publish, who_am_i
from tests.harness.process import ServerProcess
from tests.harness.records import count
from tests.harness.roomy import ROOMY
from tests.harness.wire import ask, at_once
from tests.services import haproxy
from tests.services.haproxy import HAProxy
from tests.services.postgres import PostgresServer
from tests.services.redis import RedisServer

MakeServer = Callable[..., ServerProcess]

pytestmark = pytest.mark.skipif(haproxy.available() is not None, reason=str(haproxy.available()))

LIMIT = 60
COPIES = 10


@pytest.fixture
def nodes(
    process_server: MakeServer, postgres_server: PostgresServer, redis_server: RedisServer, tmp_path: Path
) -> list[ServerProcess]:
    """Two servers that admit 60 requests of a key in a minute."""
    shared: dict[str, object] = {
        **ROOMY,
        "REQUESTS_PER_MINUTE": LIMIT,
        "DATABASE_URL": postgres_server.create_database(f"balanced_{os.getpid()}_{time.monotonic_ns()}"),
        "REDIS_URL": redis_server.url,
        "BLOBS_URL": f"file://{tmp_path}/blobs",
    }
    process_server(**shared).migrate()
    return [process_server(**shared).start() for _ in range(2)]


@pytest.fixture
def balancer(nodes: list[ServerProcess], tmp_path: Path) -> Iterator[HAProxy]:
    """HAProxy before both."""
    with HAProxy.start(tmp_path / "haproxy", haproxy.before([node.port for node in nodes])) as started:
        yield started


def served(balancer: HAProxy) -> list[int]:
    """How many requests each server was given."""
    rows = csv.DictReader(balancer.admin("show stat").removeprefix("# ").splitlines())
    return [int(row["stot"]) for row in rows if row["svname"].startswith("node")]


def test_both_routes_together_admit_60_of_61_requests(nodes: list[ServerProcess], balancer: HAProxy) -> None:
    key = Owner(nodes[0]).key()
    # Only the port of what is asked counts here, and that is the balancer's.
    front = ServerProcess(nodes[0].folder, PORT=balancer.port)

    answers = at_once([who_am_i(front, key)] * (LIMIT + 1))

    assert Counter(answer.status for answer in answers) == {200: LIMIT, 429: 1}
    assert sorted(int(answer.headers["x-ratelimit-remaining"]) for answer in answers) == [0, *range(LIMIT)]
    assert all(number >= LIMIT // 2 - 1 for number in served(balancer)), served(balancer)


def test_copies_sent_to_both_at_once_make_one_post(nodes: list[ServerProcess]) -> None:
    key = Owner(nodes[0]).key()
    copies = [publish(node, key, f"post {number}", f"key-{number}") for number in range(COPIES) for node in nodes]

    answers = at_once(copies)

    for one, other in zip(answers[::2], answers[1::2], strict=True):
        assert {one.status, other.status} == {201, 200}
        assert one.json()["id"] == other.json()["id"]
    assert count(nodes[0], "posts") == COPIES


def test_a_key_revoked_on_one_is_refused_by_the_others_next_request(nodes: list[ServerProcess]) -> None:
    one, other = nodes
    owner = Owner(one)
    for number in range(5):
        made = owner.new_key(f"key {number}").json()
        assert [ask(who_am_i(node, made["key"])).status for node in nodes] == [200, 200]

        assert ask(owner.revoke(made["id"])).status == 200

        answer = ask(who_am_i(other, made["key"]))
        assert (answer.status, answer.json()["error"]) == (401, "API key revoked")
