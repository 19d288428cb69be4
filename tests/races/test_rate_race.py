"""Requests at the same moment against the rate limits: exact in one process, and in several that share a Redis."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.harness.owners import Owner, publish, who_am_i
from tests.harness.process import ServerProcess
from tests.harness.records import count
from tests.harness.roomy import ROOMY
from tests.harness.wire import Reply, Request, ask, at_once
from tests.services import redis
from tests.services.postgres import PostgresServer
from tests.services.process import wait_until
from tests.services.redis import RedisServer

MakeServer = Callable[..., ServerProcess]

AT_ONCE = 200


@pytest.fixture
def mortal_redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis of the test's own."""
    if reason := redis.available():
        pytest.skip(reason)
    with RedisServer.start(tmp_path / "redis") as server:
        yield server


def test_200_requests_at_once_are_60_in_one_process(race_server: MakeServer) -> None:
    server = race_server(REQUESTS_PER_MINUTE=60)
    key = Owner(server).key()

    assert_60_admitted(at_once([who_am_i(server, key)] * AT_ONCE))


def test_30_creates_at_once_are_10_in_one_process(race_server: MakeServer) -> None:
    server = race_server(POSTS_PER_MINUTE=10)
    key = Owner(server).key()

    answers = at_once([publish(server, key, f"post {n}") for n in range(30)])

    assert Counter(answer.status for answer in answers) == {201: 10, 429: 20}
    assert {answer.json()["message"].partition(";")[0] for answer in answers if answer.status == 429} == {
        "The limit of 10 posts per minute is reached"
    }
    assert count(server, "posts") == 10


def test_200_requests_at_once_are_60_in_one_process_with_redis(
    process_server: MakeServer, redis_server: RedisServer
) -> None:
    server = process_server(**{**ROOMY, "REQUESTS_PER_MINUTE": 60, "REDIS_URL": redis_server.url}).start()
    key = Owner(server).key()

    assert_60_admitted(at_once([who_am_i(server, key)] * AT_ONCE))


def test_200_requests_at_once_are_60_over_two_processes(
    process_server: MakeServer, postgres_server: PostgresServer, redis_server: RedisServer
) -> None:
    url = postgres_server.create_database("rate_race")
    shared = {**ROOMY, "REQUESTS_PER_MINUTE": 60, "DATABASE_URL": url, "REDIS_URL": redis_server.url}
    one, two = process_server(**shared).migrate().start(), process_server(**shared).start()
    key = Owner(one).key()

    answers = at_once([who_am_i((one, two)[n % 2], key) for n in range(AT_ONCE)])

    assert_60_admitted(answers)


def test_without_redis_no_keyed_request_passes(process_server: MakeServer, mortal_redis: RedisServer) -> None:
    server = process_server(**ROOMY, REDIS_URL=mortal_redis.url).start()
    key = Owner(server).key()
    keyed = [who_am_i(server, key), publish(server, key, "post", "key")]
    ready = Request(server.port, "GET", "/readyz")
    assert [ask(request).status for request in keyed] == [200, 201]

    mortal_redis.kill()

    for answer in at_once(keyed * 10):
        assert (answer.status, answer.json()["error"]) == (503, "Unavailable")
        assert int(answer.headers["retry-after"]) > 0
    away = ask(ready)
    assert (away.status, away.json()["status"]) == (200, "ready"), "a load balancer would send sessions nowhere"
    assert "Redis does not answer" in away.json()["warning"]

    mortal_redis.restart()

    assert wait_until(lambda: "warning" not in ask(ready).json())
    assert [ask(request).status for request in keyed] == [200, 200]
    assert count(server, "posts") == 1


def assert_60_admitted(answers: list[Reply]) -> None:
    """60 answers are 200 and the others 429; the admitted ones have 59, 58, … 0 requests left."""
    assert Counter(answer.status for answer in answers) == {200: 60, 429: AT_ONCE - 60}
    left = [int(answer.headers["x-ratelimit-remaining"]) for answer in answers if answer.status == 200]
    assert sorted(left) == list(range(60))
    for refusal in (answer for answer in answers if answer.status == 429):
        assert refusal.json()["error"] == "Rate limit exceeded"
        assert 1 <= refusal.json()["retryAfter"] <= 60
        assert refusal.headers["retry-after"] == str(refusal.json()["retryAfter"])
