"""Rates and quotas as a program that runs into them sees them, to the second."""

import contextlib
import re
from collections.abc import Callable, Generator
from pathlib import Path

import httpx
import pytest

from pressroom.clock import DAY, HOUR, MINUTE
from pressroom.domains.keys.models import Scope
from pressroom.domains.limits.actions import purge_limits
from tests.api.actors import Actor, nobody
from tests.api.conftest import MakeActor
from tests.harness.local import LocalServer

SETTINGS = {"REQUESTS_PER_DAY": 150, "DAILY_CONTENT_QUOTA": 12}

PER_MINUTE = "60 requests per minute"
PER_DAY = "150 requests per 24 hours"
POSTS = "10 posts per minute"
NAMES = {"requests per minute": "requests_per_minute", "24 hours": "requests_per_day", "posts": "posts_per_minute"}
"""The names of limits for programs, by words of their messages."""


def ask(actor: Actor) -> httpx.Response:
    return actor.api.get("/api/auth/me")


def admitted(actor: Actor, times: int, request: Callable[[Actor], httpx.Response] = ask) -> None:
    """Sends requests that all pass."""
    assert {request(actor).is_success for _ in range(times)} == {True}


def post(actor: Actor) -> httpx.Response:
    return actor.post()


def refused(answer: httpx.Response, limit: str) -> int:
    """The answer is that `limit` is reached; after how many seconds to come back."""
    problem = answer.json()
    assert (answer.status_code, problem["error"]) == (429, "Rate limit exceeded")
    assert limit in problem["message"]
    assert answer.headers["Retry-After"] == str(problem["retryAfter"])
    assert set(problem) == {"error", "message", "retryAfter", "limit"}
    assert [problem["limit"]] == [name for words, name in NAMES.items() if words in limit]
    return int(problem["retryAfter"])


@pytest.fixture
def alice(actor: MakeActor) -> Actor:
    """Somebody whose day begins on a whole minute."""
    made = actor()
    made.server.clock.time = (made.server.clock.now() // MINUTE + 1) * MINUTE
    return made


def test_sixty_requests_in_any_minute(alice: Actor) -> None:
    start = alice.server.clock.now()
    for number in range(60):
        answer = ask(alice)
        assert answer.status_code == 200
        assert answer.headers["X-RateLimit-Limit"] == "60"
        assert answer.headers["X-RateLimit-Remaining"] == str(59 - number)
        assert answer.headers["X-RateLimit-Reset"] == str(-(-(start + MINUTE) // 1000))
        alice.server.clock.advance(250)

    answer = ask(alice)
    wait = refused(answer, PER_MINUTE)
    assert wait == 46, "of the 60 attempts that count now the oldest was made 14.75 seconds ago"
    assert answer.headers["X-RateLimit-Remaining"] == "0"
    assert answer.headers["X-RateLimit-Reset"] == str(-(-(start + 250 + MINUTE) // 1000))
    assert wait == int(answer.headers["X-RateLimit-Reset"]) - alice.server.clock.now() // 1000

    alice.server.clock.advance(wait * 1000)
    assert ask(alice).status_code == 200


@pytest.mark.parametrize("early", [1, 1000])
def test_the_wait_is_exact(alice: Actor, early: int) -> None:
    admitted(alice, 59)
    alice.server.clock.advance(1)
    admitted(alice, 1)
    wait = refused(ask(alice), PER_MINUTE)
    assert wait == 60

    alice.server.clock.advance(wait * 1000 - early)
    status = ask(alice).status_code
    assert status == (200 if early == 1 else 429), "59.999 s after the oldest that counts, it has left; 59 s after, not"


def test_refused_attempts_extend_the_wait(alice: Actor) -> None:
    admitted(alice, 60)
    for _ in range(7):
        alice.server.clock.advance(10_000)
        for _ in range(12):
            refused(ask(alice), PER_MINUTE)
    wait = refused(ask(alice), PER_MINUTE)
    assert wait == 20, "the oldest of the last 60 attempts was made 40 seconds ago"
    alice.server.clock.advance(wait * 1000)
    admitted(alice, 1)


def test_ten_posts_in_any_minute(alice: Actor) -> None:
    admitted(alice, 10, post)
    alice.server.clock.advance(20_000)

    answer = post(alice)
    assert refused(answer, POSTS) == 40
    assert answer.headers["X-RateLimit-Remaining"] == "49"
    admitted(alice, 1)
    assert alice.written()[0] == 10


def test_a_refused_post_counts_among_posts(alice: Actor) -> None:
    admitted(alice, 10, post)
    alice.server.clock.advance(30_000)
    for _ in range(10):
        refused(post(alice), POSTS)
    alice.server.clock.advance(30_000)

    wait = refused(post(alice), POSTS)
    assert wait == 30, "of the last ten attempts the oldest was made 30 seconds ago"
    admitted(alice, 1)
    alice.server.clock.advance(wait * 1000)
    admitted(alice, 1, post)


def test_the_wait_for_a_post_is_rounded_up(alice: Actor) -> None:
    admitted(alice, 9, post)
    alice.server.clock.advance(1500)
    admitted(alice, 1, post)
    wait = refused(post(alice), POSTS)

    assert wait == 59, "58.5 seconds, rounded up"
    alice.server.clock.advance(wait * 1000)
    admitted(alice, 1, post)


def test_other_rows_are_not_counted_as_posts(alice: Actor) -> None:
    admitted(alice, 30)
    for _ in range(4):
        assert alice.api.post("/api/auth/api-keys", json={}).status_code == 403
        assert alice.api.put("/api/posts").status_code == 405
    admitted(alice, 10, post)
    assert ask(alice).headers["X-RateLimit-Remaining"] == str(60 - 30 - 4 - 10 - 1)


def test_invalid_post_counts_among_posts(alice: Actor) -> None:
    for _ in range(10):
        assert alice.api.post("/api/posts", content=b"{").status_code == 400
    refused(post(alice), POSTS)


def test_a_replay_is_a_request(alice: Actor) -> None:
    remaining = [alice.post("once", "k").headers["X-RateLimit-Remaining"] for _ in range(10)]

    assert remaining == [str(59 - number) for number in range(10)]
    refused(alice.post("once", "k"), POSTS)


def test_each_key_has_limits_of_its_own(actor: MakeActor) -> None:
    alice = actor()
    admitted(alice, 60)
    _, other = alice.server.key(alice.account)

    answer = nobody.get(f"{alice.server.base_url}/api/auth/me", headers={"Authorization": f"Bearer {other}"})

    assert answer.headers["X-RateLimit-Remaining"] == "59"


def test_150_requests_in_any_24_hours(alice: Actor) -> None:
    clock = alice.server.clock
    clock.advance(30_000)
    start = clock.now()
    admitted(alice, 50)
    for _ in range(2):
        clock.advance(2 * HOUR)
        admitted(alice, 50)
    clock.advance(2 * HOUR)
    answer = ask(alice)
    wait = refused(answer, PER_DAY)

    assert answer.headers["X-RateLimit-Remaining"] == "59", "the minute is free"
    freed = clock.now() + wait * 1000
    assert start + DAY <= freed <= start + DAY + MINUTE
    clock.time = freed - 1000
    assert refused(ask(alice), PER_DAY) == 1
    clock.advance(1000)
    admitted(alice, 50)
    refused(ask(alice), PER_DAY)


def test_refused_requests_do_not_count_in_the_day(alice: Actor) -> None:
    for _ in range(3):
        admitted(alice, 50)
        alice.server.clock.advance(MINUTE)
    for _ in range(100):
        refused(ask(alice), PER_DAY)
    alice.server.clock.advance(DAY)
    for _ in range(3):
        admitted(alice, 50)
        alice.server.clock.advance(MINUTE)
    refused(ask(alice), PER_DAY)


def test_the_limit_that_binds_longest_is_named(alice: Actor) -> None:
    admitted(alice, 50)
    alice.server.clock.advance(30_000)
    admitted(alice, 10, post)
    wait = refused(post(alice), POSTS)

    assert wait == 60
    assert "60 requests" not in post(alice).json()["message"]
    alice.server.clock.advance(wait * 1000)
    admitted(alice, 1, post)


def test_the_quota_ends_at_midnight(actor: MakeActor) -> None:
    alice = actor(Scope.POSTS_WRITE)
    clock = alice.server.clock
    midnight = (clock.now() // DAY + 1) * DAY
    clock.time = midnight - HOUR
    _, other = alice.server.key(alice.account)
    second = {"Authorization": f"Bearer {other}"}
    admitted(alice, 10, post)
    clock.advance(MINUTE)
    assert alice.api.post("/api/posts", json={"content": "a"}, headers=second).status_code == 201
    assert alice.post("last", "k").status_code == 201

    for more in ({}, second):
        clock.advance(500)
        answer = alice.api.post("/api/posts", json={"content": "too many"}, headers=more)
        assert (answer.status_code, answer.json()["error"]) == (429, "Daily content quota exceeded")
        assert answer.json()["retryAfter"] == -(-(midnight - clock.now()) // 1000)
        assert answer.json()["limit"] == "content_per_day"
        assert answer.headers["Retry-After"] == str(answer.json()["retryAfter"])
        assert answer.headers["X-RateLimit-Limit"] == "60"
    assert alice.post("last", "k").status_code == 200
    assert alice.web.post("/api/posts", json={"content": "signed in"}).status_code == 201
    assert alice.written() == (13, 13, 12, 1)

    clock.time = midnight - 1
    assert post(alice).json()["retryAfter"] == 1
    clock.advance(1)
    assert post(alice).status_code == 201
    assert alice.web.get("/api/auth/me").json()["totalPosts"] == 14


def fields(answer: httpx.Response, name: str) -> dict[str, tuple[int, int]]:
    """The two parameters of each item of a field that is a list of structured fields."""
    items = [re.fullmatch(r'"(\w+)";[qr]=(\d+);[wt]=(\d+)', item) for item in answer.headers[name].split(", ")]
    return {item[1]: (int(item[2]), int(item[3])) for item in items if item is not None}


def test_rate_limit_fields_tell_every_limit_of_the_route(alice: Actor) -> None:
    requests = {"requests_per_minute": (60, 60), "requests_per_day": (150, DAY // 1000)}
    content = {"content_per_day": (12, DAY // 1000)}
    assert fields(ask(alice), "RateLimit-Policy") == requests
    alice.server.clock.advance(20_500)
    answer = post(alice)
    assert fields(answer, "RateLimit-Policy") == {**requests, "posts_per_minute": (10, 60), **content}
    assert fields(answer, "RateLimit") == {
        "requests_per_minute": (58, 40),
        "requests_per_day": (148, (MINUTE + DAY - 20_500 + 999) // 1000),
        "posts_per_minute": (9, 60),
    }
    path = f"/api/posts/{answer.json()['id']}"
    assert fields(alice.api.post(f"{path}/bounce"), "RateLimit-Policy") == {**requests, **content}
    assert fields(alice.api.post("/api/posts/upload"), "RateLimit-Policy") == {**requests, **content}
    assert fields(alice.api.post("/api/clips"), "RateLimit-Policy") == {**requests, **content}
    for plain in (alice.api.post(f"{path}/comments"), alice.api.patch(path), alice.api.get("/api/hubs/x")):
        assert fields(plain, "RateLimit-Policy") == requests
        assert fields(plain, "RateLimit").keys() == requests.keys()


def test_a_refusal_s_rate_limit_field_ends_with_its_wait(alice: Actor) -> None:
    admitted(alice, 10, post)
    alice.server.clock.advance(100)
    answer = post(alice)
    assert fields(answer, "RateLimit")["posts_per_minute"] == (0, refused(answer, POSTS))
    admitted(alice, 49)
    answer = ask(alice)
    assert fields(answer, "RateLimit")["requests_per_minute"] == (0, refused(answer, PER_MINUTE))
    for number in (45, 46):
        alice.server.clock.advance(MINUTE)
        admitted(alice, number)
    answer = ask(alice)
    assert fields(answer, "RateLimit")["requests_per_day"] == (0, refused(answer, PER_DAY))


@contextlib.contextmanager
def serving(folder: Path, now: int, settings: dict[str, object]) -> Generator[LocalServer]:
    """A server on a folder that others have served before."""
    server = LocalServer(folder, **settings)
    server.clock.time = now
    server.start()
    try:
        yield server
    finally:
        server.stop()


def test_windows_outlive_the_server(tmp_path: Path, engine_settings: dict[str, object]) -> None:
    settings = {**engine_settings, "REQUESTS_PER_DAY": 60, "DAILY_CONTENT_QUOTA": 10}
    start = 1_800_000_000_000

    def try_(server: LocalServer, method: str, path: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {key}"}
        return nobody.request(method, server.base_url + path, json={"content": "a"}, headers=headers)

    with serving(tmp_path, start, settings) as server:
        _, key = server.key(server.account())
        assert {try_(server, "POST", "/api/posts").status_code for _ in range(10)} == {201}
        assert {try_(server, "GET", "/api/auth/me").status_code for _ in range(40)} == {200}
    with serving(tmp_path, start + 30_000, settings) as server:
        assert refused(try_(server, "POST", "/api/posts"), POSTS) == 30
        assert {try_(server, "GET", "/api/auth/me").status_code for _ in range(9)} == {200}
        assert refused(try_(server, "GET", "/api/auth/me"), PER_MINUTE) == 30
    with serving(tmp_path, start + 90_000, settings) as server:
        assert try_(server, "POST", "/api/posts").json()["error"] == "Daily content quota exceeded"
        assert refused(try_(server, "GET", "/api/auth/me"), "60 requests per 24 hours") == 24 * 3600 - 30
    with serving(tmp_path, start + DAY + MINUTE, settings) as server:
        assert try_(server, "POST", "/api/posts").status_code == 201


def test_purge_keeps_the_windows_and_quotas_that_still_count(
    tmp_path: Path, engine_settings: dict[str, object]
) -> None:
    settings = {**engine_settings, "REQUESTS_PER_DAY": 10, "DAILY_CONTENT_QUOTA": 10}
    start = 1_800_000_000_000

    def post_with(server: LocalServer, key: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {key}"}
        return nobody.post(f"{server.base_url}/api/posts", json={"content": "a"}, headers=headers)

    with serving(tmp_path, start, settings) as server:
        account = server.account()
        (_, first), (_, second) = server.key(account), server.key(account)
        assert {post_with(server, first).status_code for _ in range(10)} == {201}
        server.run(server.runtime.limiter.flush())
        server.clock.time = (start // DAY + 1) * DAY - 1
        server.run(server.runtime.db.transact(purge_limits, 500))
        assert post_with(server, second).json()["limit"] == "content_per_day"
    with serving(tmp_path, start + DAY + MINUTE - 1, settings) as server:
        server.run(server.runtime.db.transact(purge_limits, 500))
        assert refused(post_with(server, first), "10 requests per 24 hours") == 1
