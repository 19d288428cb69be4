"""Writes of one account at the same moment, signed in: its limits hold in one process, and over two."""

import asyncio
from collections import Counter
from collections.abc import Callable

import httpx
import pytest

from tests.harness.days import stay_within_a_day
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.records import count, rows
from tests.harness.roomy import ROOMY
from tests.harness.wire import Reply, Request, ask, at_once
from tests.media.uploads import file, padded
from tests.services.postgres import PostgresServer
from tests.services.redis import RedisServer

MakeServer = Callable[..., ServerProcess]
PASSWORD = "correct horse"

AT_ONCE = 200


def sign_in(server: ServerProcess) -> str:
    """One more session of alice: its cookie."""
    body = {"login": "alice", "password": PASSWORD}
    answer = ask(Request(server.port, "POST", "/api/auth/login", {}, body))
    assert answer.status == 200, answer
    return answer.headers["set-cookie"].partition(";")[0]


def write(server: ServerProcess, cookie: str, content: str) -> Request:
    """Publishes, signed in."""
    return Request(server.port, "POST", "/api/posts", {"Cookie": cookie}, {"content": content})


def assert_60_admitted(answers: list[Reply]) -> None:
    assert Counter(answer.status for answer in answers) == {201: 60, 429: len(answers) - 60}
    for refusal in (answer for answer in answers if answer.status == 429):
        assert refusal.json()["error"] == "Rate limit exceeded"
        assert "60 writes per minute" in refusal.json()["message"]
        assert 1 <= refusal.json()["retryAfter"] <= 60


def test_200_writes_at_once_over_two_sessions_are_60(race_server: MakeServer) -> None:
    server = race_server(SESSION_WRITES_PER_MINUTE=60)
    cookies = [Owner(server).cookie, sign_in(server)]

    answers = at_once([write(server, cookies[n % 2], f"post {n}") for n in range(AT_ONCE)])

    assert_60_admitted(answers)
    assert count(server, "posts") == 60


def test_200_writes_at_once_over_two_processes_are_60(
    process_server: MakeServer, postgres_server: PostgresServer, redis_server: RedisServer
) -> None:
    url = postgres_server.create_database("session_race")
    shared = {**ROOMY, "SESSION_WRITES_PER_MINUTE": 60, "DATABASE_URL": url, "REDIS_URL": redis_server.url}
    servers = process_server(**shared).migrate().start(), process_server(**shared).start()
    cookies = [Owner(servers[0]).cookie, sign_in(servers[1])]

    answers = at_once([write(servers[n % 2], cookies[n // 2 % 2], f"post {n}") for n in range(AT_ONCE)])

    assert_60_admitted(answers)
    assert count(servers[0], "posts") == 60


def test_the_content_of_a_day_is_never_overspent(race_server: MakeServer) -> None:
    stay_within_a_day()
    server = race_server(SESSION_CONTENT_PER_DAY=20, DAILY_CONTENT_QUOTA=20)
    owner = Owner(server)
    key = {"Authorization": f"Bearer {owner.key()}"}
    by_key = [Request(server.port, "POST", "/api/posts", key, {"content": f"by key {n}"}) for n in range(60)]

    answers = at_once([*(write(server, owner.cookie, f"post {n}") for n in range(60)), *by_key])

    for some in (answers[:60], answers[60:]):
        assert Counter(answer.status for answer in some) == {201: 20, 429: 40}
        assert {answer.json()["error"] for answer in some if answer.status == 429} == {"Daily content quota exceeded"}
    assert rows(server, "SELECT used, used_signed_in FROM content_quotas") == [(20, 20)]
    assert count(server, "posts") == 40


@pytest.mark.parametrize("alone", [True, False], ids=["one process", "two processes"])
def test_the_store_of_an_account_is_never_overspent(
    process_server: MakeServer, postgres_server: PostgresServer, redis_server: RedisServer, *, alone: bool
) -> None:
    shared: dict[str, object] = {**ROOMY, "ACCOUNT_STORAGE_BYTES": 100_000}
    if not alone:
        shared |= {"DATABASE_URL": postgres_server.create_database("store_race"), "REDIS_URL": redis_server.url}
    # Nothing is processed meanwhile, which would make room.
    servers = [process_server(**shared).migrate().start("--only", "api")]
    servers.append(servers[0] if alone else process_server(**shared).start("--only", "api"))
    owner = Owner(servers[0])
    who = [{"Cookie": owner.cookie}, {"Authorization": f"Bearer {owner.key(scopes=['media:write'])}"}]

    answers = send_files(servers, who, 30, 10_000)

    assert Counter(answers) == {201: 10, 422: 20}
    assert rows(servers[0], "SELECT bytes FROM stored_media") == [(100_000,)]
    assert count(servers[0], "media") == 10


def send_files(servers: list[ServerProcess], who: list[dict[str, str]], times: int, size: int) -> list[int]:
    """Publishes so many files of `size` bytes at once; the statuses."""

    async def story() -> list[int]:
        async with httpx.AsyncClient(timeout=30, limits=httpx.Limits(max_connections=times)) as client:
            answers = await asyncio.gather(
                *(
                    client.post(
                        f"{servers[n % 2].base_url}/api/posts/upload",
                        files=[file(padded(size))],
                        headers=who[n // 2 % 2],
                    )
                    for n in range(times)
                )
            )
        return [answer.status_code for answer in answers]

    return asyncio.run(story())
