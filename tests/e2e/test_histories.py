"""What clients are told, side by side and through kills, is what a service would tell that did one call at a time."""

import asyncio
import itertools
import os
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.harness import histories
from tests.harness.callers import Caller
from tests.harness.histories import History
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
SCOPES = ("posts:write", "posts:delete")
STORY_SECONDS = 120.0


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


def test_the_checker_finds_what_no_order_explains(history: History) -> None:
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
    chance = Random(seed)
    owners = [Owner(pair[0], name) for name in ("alice", "bob", "carol")]
    readers = [Caller(pair, {"Cookie": owner.cookie}, history) for owner in owners]
    writers = [Caller(pair, bearer(owners[0].key(label, SCOPES)), history) for label in ("one", "two")]
    answers = [owners[1].new_key(f"key {n}").json() for n in range(KEYS)]

    async def story() -> None:
        over = asyncio.Event()
        async with asyncio.timeout(STORY_SECONDS), asyncio.TaskGroup() as group:
            ends = group.create_task(kill_in_turn(pair, over, chance))
            async with asyncio.TaskGroup() as calls:
                for number in range(POSTS):
                    calls.create_task(life_of_a_post(writers, readers[0], number))
                    calls.create_task(likes_of_a_post(writers[0], readers, number))
                for made in answers:
                    calls.create_task(life_of_a_key(readers[1], Caller(pair, bearer(made["key"]), history), made["id"]))
            over.set()
            await ends

    asyncio.run(story())

    assert history.faults() == [], f"PRESSROOM_TEST_SEED={seed}"


@pytest.mark.parametrize("pair", [{"REQUESTS_PER_MINUTE": LIMIT}], indirect=True)
def test_two_servers_that_are_killed_admit_what_one_would(
    pair: list[ServerProcess], history: History, seed: int
) -> None:
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


async def life_of_a_post(writers: list[Caller], reader: Caller, number: int) -> None:
    """A post is made, then edited, read and, if its number is odd, deleted from all sides at once."""
    text = f"post {number}"
    post_id = await writers[0].publish(text)
    writers[0].made(post_id, text)
    async with asyncio.TaskGroup() as group:
        for who, writer in enumerate(writers):
            group.create_task(writer.edit(post_id, f"{text} by {who}"))
            group.create_task(reader.read(post_id))
            if number % 2:
                group.create_task(writer.delete(post_id))
    await reader.read(post_id)


async def likes_of_a_post(writer: Caller, readers: list[Caller], number: int) -> None:
    """A post is liked from all sides, by some for a moment only."""
    post_id = await writer.publish(f"liked {number}")

    async def like(reader: Caller, name: str) -> None:
        await reader.like(post_id, name)
        await reader.count_likes(post_id)
        if number % 2:
            await reader.unlike(post_id, name)
            await reader.count_likes(post_id)

    await asyncio.gather(*(like(reader, f"reader{who}") for who, reader in enumerate(readers)))
    await writer.count_likes(post_id)


async def life_of_a_key(owner: Caller, holder: Caller, key_id: str) -> None:
    """A key is used, and revoked meanwhile."""
    await holder.use(key_id)
    await asyncio.gather(*(holder.use(key_id) for _ in range(3)), owner.revoke(key_id))
    await holder.use(key_id)


async def kill_in_turn(servers: list[ServerProcess], over: asyncio.Event, chance: Random) -> None:
    """Kills one server after the other, and starts it again, until all is over."""
    for server in itertools.cycle(servers):
        await asyncio.sleep(chance.uniform(0, 0.4))
        server.kill()
        await asyncio.sleep(chance.uniform(0, 0.2))
        await asyncio.to_thread(server.restart)
        if over.is_set():
            break


def bearer(key: str) -> dict[str, str]:
    """The header that a key goes in."""
    return {"Authorization": f"Bearer {key}"}
