"""Rate limits in every kind of Redis, while it is killed, frozen, emptied, failed over or cut in part."""

import contextlib
import os
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pressroom.domains.limits.redis import PAUSE
from tests.harness.observations import observe
from tests.harness.owners import Owner, who_am_i
from tests.harness.process import ServerProcess
from tests.harness.roomy import ROOMY
from tests.harness.wire import Reply, Request, ask, at_once
from tests.services import redis
from tests.services.process import wait_until
from tests.services.redis import RedisServer
from tests.services.redis_groups import Cluster, DurableRedis, FileWatch, SentinelGroup

pytestmark = pytest.mark.skipif(redis.available() is not None, reason=str(redis.available()))

MakeServer = Callable[..., ServerProcess]

MOST = "the most that a key got in 60 seconds"
BACK = "Redis's answering again"
TRIES = 4
"""Connections of one call at most: it is sent twice, and each time a connection that fails is opened once more."""


@pytest.fixture
def sentinels(tmp_path: Path) -> Iterator[SentinelGroup]:
    """A primary with a replica and a sentinel, of the test's own."""
    group = SentinelGroup(tmp_path)
    yield group
    group.close()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster of the test's own."""
    group = Cluster(tmp_path)
    yield group
    group.close()


@pytest.fixture
def durable(tmp_path: Path) -> Iterator[DurableRedis]:
    """A Redis with an append-only file, of the test's own."""
    with DurableRedis.start(tmp_path / "durable") as server:
        yield server


@pytest.fixture
def forgetful(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis that keeps nothing, of the test's own."""
    with RedisServer.start(tmp_path / "forgetful") as server:
        yield server


def serve(process_server: MakeServer, url: str, **settings: object) -> ServerProcess:
    """A server that admits 60 requests per key and minute, counted there."""
    return process_server(**{**ROOMY, "REQUESTS_PER_MINUTE": 60, "REDIS_URL": url, **settings}).start()


def keys_of(server: ServerProcess, count: int) -> list[str]:
    """As many keys, each of an account of its own."""
    keys: list[str] = []
    for number in range(count):
        server.create_account(f"account{number}")
        keys.append(server.create_key(f"account{number}"))
    return keys


def admitted(server: ServerProcess, key: str, requests: int = 61) -> int:
    """How many of so many requests at once are admitted; the others get a 429."""
    answers = Counter(answer.status for answer in at_once([who_am_i(server, key)] * requests))
    assert answers.keys() <= {200, 429}
    return answers[200]


def is_counted(server: ServerProcess, key: str) -> bool:
    """Whether requests of a key are counted again, as one of them shows."""
    return ask(who_am_i(server, key)).status != 503


def assert_away(answer: Reply) -> None:
    """The answer is the one to a request that cannot be counted."""
    assert (answer.status, answer.json()["error"]) == (503, "Unavailable")
    assert int(answer.headers["retry-after"]) > 0


def test_a_cluster_counts_every_key(process_server: MakeServer, cluster: Cluster) -> None:
    server = serve(process_server, cluster.url)
    keys = keys_of(server, 20)

    assert {ask(who_am_i(server, key)).status for key in keys} == {200}
    assert [admitted(server, key) for key in keys[:3]] == [59, 59, 59]


def test_a_node_that_is_lost_takes_its_keys_alone(process_server: MakeServer, cluster: Cluster) -> None:
    server = serve(process_server, cluster.url)
    keys = keys_of(server, 20)
    assert [admitted(server, key) for key in keys] == [60] * 20

    cluster.nodes[0].kill()
    answers = [ask(who_am_i(server, key)) for key in keys]
    lost = [key for key, answer in zip(keys, answers, strict=True) if answer.status == 503]

    assert {answer.status for answer in answers} == {429, 503}
    assert 0 < len(lost) < len(keys)
    for answer in answers:
        if answer.status == 503:
            assert_away(answer)

    cluster.nodes[0].restart()
    back = time.monotonic()

    assert wait_until(lambda: all(is_counted(server, key) for key in lost))
    recovered = time.monotonic() - back
    assert [admitted(server, key) for key in keys] == [0] * 20
    effect = f"{MOST}: 60; its keys alone were 503"
    observe("a node of a Redis Cluster lost, and back with its file", effect, recovered, BACK)


def test_no_node_that_dies_under_load_fails_a_request(process_server: MakeServer, cluster: Cluster) -> None:
    server = serve(process_server, cluster.url, REQUESTS_PER_MINUTE=10_000, ABUSE_REFUSALS=1_000_000)
    keys = keys_of(server, 20)
    statuses = Counter[int]()

    for node in cluster.nodes:
        with ThreadPoolExecutor(1) as pool:
            asking = pool.submit(
                lambda: [answer.status for answer in at_once([who_am_i(server, key) for key in keys * 20])]
            )
            node.kill()
            statuses.update(asking.result())
        statuses.update(answer.status for answer in at_once([who_am_i(server, key) for key in keys * 5]))
        node.restart()
        assert wait_until(lambda: all(ask(who_am_i(server, key)).status == 200 for key in keys))

    assert statuses.keys() <= {200, 503}, statuses


def test_sentinels_name_the_new_primary(process_server: MakeServer, sentinels: SentinelGroup) -> None:
    server = serve(process_server, sentinels.url)
    (key,) = keys_of(server, 1)
    assert admitted(server, key) == 60
    sentinels.wait_for_copy()

    sentinels.primary.kill()
    killed = time.monotonic()

    assert_away(ask(who_am_i(server, key)))
    assert wait_until(lambda: is_counted(server, key))
    recovered = time.monotonic() - killed
    assert admitted(server, key) == 0
    effect = f"{MOST}: 60; 503 meanwhile"
    observe("Redis's primary killed, sentinels name its replica", effect, recovered, "the kill")
    assert ask(Request(server.port, "GET", "/readyz")).status == 200


def test_a_kill_of_a_redis_with_its_file_forgets_nothing(process_server: MakeServer, durable: DurableRedis) -> None:
    server = serve(process_server, durable.url)
    (key,) = keys_of(server, 1)
    assert admitted(server, key) == 60

    durable.kill()
    assert_away(ask(who_am_i(server, key)))
    durable.restart()
    back = time.monotonic()

    assert wait_until(lambda: is_counted(server, key))
    recovered = time.monotonic() - back
    assert admitted(server, key) == 0
    observe("Redis with an append-only file killed and started", f"{MOST}: 60; 503 meanwhile", recovered, BACK)


def test_a_loss_of_power_forgets_the_last_second_alone(process_server: MakeServer, durable: DurableRedis) -> None:
    """The file is cut to its size one second before the end, as if it had last been synced then."""
    server = serve(process_server, durable.url)
    (key,) = keys_of(server, 1)
    passed: list[tuple[float, float]] = []

    def is_counted_now() -> bool:
        sent = time.monotonic()
        status = ask(who_am_i(server, key)).status
        if status == 200:
            passed.append((sent, time.monotonic()))
        return status != 503

    def spend(requests: int) -> None:
        for _ in range(requests):
            is_counted_now()

    with FileWatch(durable) as watch, ThreadPoolExecutor() as pool:
        spend(40)
        assert wait_until(lambda: watch.before(time.monotonic() - 1)[0] > passed[-1][1])
        rest = pool.submit(spend, 20)
        assert wait_until(lambda: len(passed) >= 50)
        cut_at, size = watch.before(time.monotonic() - 1)
        durable.kill()
        rest.result()
    os.truncate(durable.file, size)
    lost = sum(answered >= cut_at for _, answered in passed)
    durable.restart()
    back = time.monotonic()

    assert wait_until(is_counted_now)
    recovered = time.monotonic() - back
    spend(65)
    most = most_in_a_minute(passed)
    assert most <= 60 + lost
    observe(
        "power lost under a Redis with an append-only file synced every second: its last second is gone",
        f"{MOST}: {most}, where 60 are allowed and {lost} had been admitted in that second; 503 meanwhile",
        recovered,
        BACK,
    )


def most_in_a_minute(passed: Sequence[tuple[float, float]]) -> int:
    """How many of these requests, each sent and answered then, were for sure admitted within some 60 seconds."""
    return max(sum(first <= sent and answered < first + 60 for sent, answered in passed) for first, _ in passed)


def test_a_redis_that_comes_back_empty_counts_from_nothing(process_server: MakeServer, forgetful: RedisServer) -> None:
    server = serve(process_server, forgetful.url)
    (key,) = keys_of(server, 1)
    assert admitted(server, key) == 60

    forgetful.kill()
    assert_away(ask(who_am_i(server, key)))
    forgetful.restart()
    back = time.monotonic()

    assert wait_until(lambda: "warning" not in ask(Request(server.port, "GET", "/readyz")).json())
    recovered = time.monotonic() - back
    assert admitted(server, key) == 60
    assert admitted(server, key) == 0
    observe("Redis killed, and started with nothing", f"{MOST}: 120; 503 meanwhile", recovered, BACK)


def test_a_frozen_redis_keeps_nobody_waiting(process_server: MakeServer, forgetful: RedisServer) -> None:
    server = serve(process_server, forgetful.url, REDIS_TIMEOUT_MS=100)
    (key,) = keys_of(server, 1)
    assert wait_until(lambda: is_counted(server, key))

    os.kill(forgetful.pid, signal.SIGSTOP)
    try:
        for answer in at_once([who_am_i(server, key)] * 100):
            assert_away(answer)
    finally:
        os.kill(forgetful.pid, signal.SIGCONT)
        woken = time.monotonic()

    assert wait_until(lambda: is_counted(server, key))
    recovered = time.monotonic() - woken
    observe("Redis frozen (SIGSTOP)", "100 keyed requests at once 503 with Retry-After", recovered, "its going on")


def test_each_process_may_count_for_itself(process_server: MakeServer, forgetful: RedisServer) -> None:
    server = serve(process_server, forgetful.url, LIMITS_WHEN_AWAY="local")
    (key,) = keys_of(server, 1)
    assert admitted(server, key, 40) == 40

    forgetful.kill()

    ready = ask(Request(server.port, "GET", "/readyz"))
    assert ready.status == 200
    assert ready.json()["warning"] == "Redis does not answer: each process counts requests for itself until it does."
    assert admitted(server, key) == 60
    assert admitted(server, key) == 0
    assert wait_until(lambda: server.output().count("each process counts requests for itself") == 1)

    forgetful.restart()
    back = time.monotonic()

    assert wait_until(lambda: ask(who_am_i(server, key)).status == 200)
    assert wait_until(lambda: "all processes count together" in server.output())
    effect = f"{MOST}: 60 in each process, beside 40 before; recovered when all count together"
    observe("Redis away, PRESSROOM_LIMITS_WHEN_AWAY=local", effect, time.monotonic() - back, BACK)


@pytest.mark.parametrize("way", ["killed", "frozen"])
def test_writes_signed_in_go_on_while_redis_is_away(
    process_server: MakeServer, forgetful: RedisServer, way: str
) -> None:
    server = serve(process_server, forgetful.url, SESSION_WRITES_PER_MINUTE=6, REDIS_TIMEOUT_MS=100, SIGNUP="open")
    owner = Owner(server)
    key = owner.key()
    edit = Request(server.port, "PATCH", "/api/auth/me", {"Cookie": owner.cookie}, {"bio": "x"})
    assert [ask(edit).status for _ in range(6)] == [200] * 5 + [429]

    if way == "killed":
        forgetful.kill()
    else:
        os.kill(forgetful.pid, signal.SIGSTOP)
    assert_away(ask(who_am_i(server, key)))
    answers = [ask(edit) for _ in range(7)]
    assert_away(ask(who_am_i(server, key)))

    assert [answer.status for answer in answers] == [200] * 6 + [429]
    assert answers[-1].json()["limit"] == "session_writes_per_minute"
    assert wait_until(lambda: "requests with a key are 503" in server.output())

    if way == "killed":
        forgetful.restart()
    else:
        os.kill(forgetful.pid, signal.SIGCONT)
    assert wait_until(lambda: is_counted(server, key))
    # What Redis counted stands: all of it where it was frozen, none where it began empty.
    assert [ask(edit).status for _ in range(6)] == ([200] * 6 if way == "killed" else [429] * 6)


def test_start_without_redis_logs_local_counting_once(process_server: MakeServer, forgetful: RedisServer) -> None:
    forgetful.kill()
    server = serve(process_server, forgetful.url, LIMITS_WHEN_AWAY="local")
    assert wait_until(lambda: "each process counts requests for itself" in server.output())
    (key,) = keys_of(server, 1)
    assert admitted(server, key) == 60
    server.stop()
    assert server.output().count("each process counts requests for itself") == 1


class Dropping:
    """Listens where a Redis would, and drops every connection."""

    def __init__(self) -> None:
        self.connections = 0
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=1_000)
        self.url = f"redis://127.0.0.1:{self._listener.getsockname()[1]}/0"
        self._thread = threading.Thread(target=self._drop, daemon=True)
        self._thread.start()

    def _drop(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                connection.close()

    def close(self) -> None:
        """Ends it."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()


def test_however_many_ask_while_redis_is_away_few_connections_are_made(process_server: MakeServer) -> None:
    with contextlib.closing(Dropping()) as dropping:
        server = process_server(**{**ROOMY, "REQUESTS_PER_MINUTE": 60, "REDIS_URL": dropping.url}).restart()
        keys = keys_of(server, 5)
        assert_away(ask(who_am_i(server, keys[0])))
        before, began = dropping.connections, time.monotonic()
        waits: list[float] = []
        for _ in range(5):
            asked = time.monotonic()
            for answer in at_once([who_am_i(server, key) for key in keys * 20]):
                assert_away(answer)
            waits.append(time.monotonic() - asked)
        seconds, made = time.monotonic() - began, dropping.connections - before

    assert made <= TRIES * (seconds / PAUSE + 1)
    observe(
        "Redis away",
        f"500 keyed requests 503 with Retry-After, 100 at once within {max(waits) * 1_000:.0f} ms; meanwhile"
        f" {made / seconds:.0f} connections a second to Redis",
        "as where Redis was killed",
    )


def test_lost_node_is_logged_once(process_server: MakeServer, cluster: Cluster) -> None:
    server = serve(process_server, cluster.url, LIMITS_WHEN_AWAY="local")
    keys = keys_of(server, 20)
    cluster.nodes[0].kill()

    # Some requests are counted in Redis, beside those that cannot be.
    for _ in range(3):
        assert {ask(who_am_i(server, key)).status for key in keys} == {200}

    server.stop()
    assert server.output().count("each process counts requests for itself") == 1
    assert "all processes count together" not in server.output()


def test_a_server_that_starts_while_a_node_is_lost_counts_with_the_others(
    process_server: MakeServer, cluster: Cluster
) -> None:
    cluster.nodes[0].kill()
    server = serve(process_server, cluster.url)
    keys = keys_of(server, 20)

    assert wait_until(lambda: any(is_counted(server, key) for key in keys))

    assert {ask(who_am_i(server, key)).status for key in keys} == {200, 503}
