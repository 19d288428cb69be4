"""Clients' answers, side by side and through kills, equal those of a service that did one call at a time."""

import asyncio
import itertools
import os
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.e2e.lives import Crowd, bearer
from tests.harness import histories
from tests.harness.callers import Caller
from tests.harness.histories import History
from tests.harness.observations import NONE_NEEDED, observe
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.services.kinds import query
from tests.services.postgres import PostgresServer
from tests.services.redis import RedisServer

pytestmark = pytest.mark.skipif(histories.available() is not None, reason=str(histories.available()))

MakeServer = Callable[..., ServerProcess]
POSTS = 15
KEYS = 5
LIMIT = 60
STORY_SECONDS = 300.0


@pytest.fixture
def history(tmp_path: Path) -> History:
    """An empty history."""
    return History(tmp_path / "history.jsonl")


@pytest.fixture
def pair(
    request: pytest.FixtureRequest,
    roomy_server: MakeServer,
    postgres_server: PostgresServer,
    redis_server: RedisServer,
    tmp_path: Path,
) -> list[ServerProcess]:
    """Two servers of one service, with the test's own settings."""
    url = postgres_server.create_database(f"pair_{os.getpid()}_{time.monotonic_ns()}")
    shared = {"DATABASE_URL": url, "REDIS_URL": redis_server.url, "BLOBS_URL": f"file://{tmp_path}/blobs"}
    return [roomy_server(**shared, **getattr(request, "param", {})).start() for _ in range(2)]


def test_checker_finds_a_history_without_a_valid_order(history: History) -> None:
    with history.call("create", "one", "create") as told:
        told(value="a")
    with history.call("create", "one", "create") as told:
        told(value="b")
    with history.call("post", "two", "create", "first") as told:
        told()
    with history.call("post", "two", "edit", "second") as told:
        told()
    with history.call("post", "two", "read") as told:
        told(value="first")
    with history.call("likes", "three", "like", "alice") as told:
        told()
    with history.call("likes", "three", "read") as told:
        told(number=0)
    with history.call("revocation", "four", "revoke") as told:
        told()
    with history.call("revocation", "four", "use") as told:
        told(done=True)
    for _ in range(3):
        with history.call("limit", "five", "request", "2") as told:
            told(number=0)
    assert [fault["key"] for fault in history.faults()] == ["one", "three", "five", "two", "four"]


def test_the_checker_finds_a_replay_that_was_broken_on_purpose(
    roomy_server: MakeServer, postgres_server: PostgresServer, history: History
) -> None:
    server = roomy_server(DATABASE_URL=postgres_server.create_database("broken_replay")).start()
    caller = Caller([server], bearer(Owner(server).key()), history)

    async def twice() -> None:
        for _ in range(2):
            await caller.publish("text", "same-key")

    asyncio.run(twice())
    assert history.faults() == []
    query(str(server.settings["DATABASE_URL"]), "DELETE FROM idempotent_answers")
    asyncio.run(twice())

    assert [(fault["kind"], fault["key"]) for fault in history.faults()] == [("create", "same-key")]


def test_calls_to_two_servers_that_are_killed_are_as_if_done_in_some_order(
    pair: list[ServerProcess], history: History, seed: int
) -> None:
    crowd = Crowd(pair, history)
    keys = crowd.new_keys(KEYS)

    async def story() -> None:
        over = asyncio.Event()
        async with asyncio.timeout(STORY_SECONDS), asyncio.TaskGroup() as group:
            ends = group.create_task(kill_in_turn(pair, over, Random(seed)))
            await crowd.live(POSTS, keys)
            over.set()
            await ends

    asyncio.run(story())

    assert history.faults() == [], f"PRESSROOM_TEST_SEED={seed}"
    observe(
        "One of two API processes killed with -9, again and again",
        f"{history.length} calls (creates, replays, edits, deletes, likes, revocations) by clients that retry: all as "
        "if done one after the other",
        NONE_NEEDED,
    )


@pytest.mark.parametrize("pair", [{"REQUESTS_PER_MINUTE": LIMIT}], indirect=True)
def test_two_killed_servers_admit_as_many_as_one(pair: list[ServerProcess], history: History, seed: int) -> None:
    key = Owner(pair[0]).new_key().json()
    callers = [Caller(pair, bearer(key["key"]), history) for _ in range(6)]

    async def spend(caller: Caller) -> None:
        for _ in range(15):
            await caller.spend(key["id"], LIMIT)

    async def story() -> None:
        over = asyncio.Event()
        async with asyncio.timeout(STORY_SECONDS), asyncio.TaskGroup() as group:
            ends = group.create_task(kill_in_turn(pair, over, Random(seed)))
            await asyncio.gather(*map(spend, callers))
            over.set()
            await ends

    asyncio.run(story())

    assert history.faults() == [], f"PRESSROOM_TEST_SEED={seed}"
    observe(
        "One of two API processes killed with -9 while a key spends its minute",
        f"{history.length} requests of a key that may send {LIMIT}: admitted and refused as by one process",
        NONE_NEEDED,
    )


async def kill_in_turn(servers: list[ServerProcess], over: asyncio.Event, chance: Random) -> None:
    """Kills one server after the other, and starts it again, until all is over."""
    for server in itertools.cycle(servers):
        await asyncio.sleep(chance.uniform(0, 0.4))
        server.kill()
        await asyncio.sleep(chance.uniform(0, 0.2))
        await asyncio.to_thread(server.restart)
        if over.is_set():
            break
