"""The server dies at any moment, and with it the database: no acknowledged post is lost, none is there twice."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from random import Random

from tests.e2e.kills import STORY_SECONDS, kill_server_often
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.publishers import Publisher, told
from tests.harness.records import disagreements
from tests.services.postgres import PostgresServer

MakeServer = Callable[..., ServerProcess]


def test_a_killed_server_loses_and_doubles_nothing_on_sqlite(roomy_server: MakeServer, seed: int) -> None:
    server = roomy_server().start()
    publishers = ten_publishers(server)

    asyncio.run(publish_through(publishers, kill_server_often(server, 25, Random(seed))))

    assert_all_is_well(server, publishers, seed)


def test_a_server_killed_in_its_first_start_starts(roomy_server: MakeServer, seed: int) -> None:
    chance = Random(seed)
    server = roomy_server()

    for _ in range(6):
        server.launch()
        time.sleep(chance.uniform(0.1, 0.5))
        server.kill()
    server.restart()
    publishers = ten_publishers(server)

    asyncio.run(publish_through(publishers, kill_server_often(server, 1, chance)))

    assert_all_is_well(server, publishers, seed)


def test_a_killed_server_loses_and_doubles_nothing_on_postgres(
    roomy_server: MakeServer, postgres_server: PostgresServer, seed: int
) -> None:
    server = roomy_server(DATABASE_URL=postgres_server.create_database("kill_server")).start()
    publishers = ten_publishers(server)

    asyncio.run(publish_through(publishers, kill_server_often(server, 10, Random(seed))))

    assert_all_is_well(server, publishers, seed)


def test_a_killed_postgres_loses_and_doubles_nothing(
    roomy_server: MakeServer, mortal_postgres: PostgresServer, seed: int
) -> None:
    server = roomy_server(DATABASE_URL=mortal_postgres.create_database("kill_database")).start()
    publishers = ten_publishers(server)
    server_pid = server.pid

    asyncio.run(publish_through(publishers, kill_postgres_often(mortal_postgres, 4, Random(seed))))

    assert server.pid == server_pid
    assert sum(publisher.outcomes["503"] for publisher in publishers) > 0, "nobody noticed the kills"
    assert_all_is_well(server, publishers, seed)


def ten_publishers(server: ServerProcess) -> list[Publisher]:
    """Two accounts with two keys each, and programs that share them; every fifth program has no patience."""
    owners = [Owner(server, "alice"), Owner(server, "bob")]
    keys = [owner.key(label) for owner in owners for label in ("first", "second")]
    return [Publisher(server, keys[n % len(keys)], f"program{n}", patient=n % 5 > 0) for n in range(10)]


async def publish_through(publishers: list[Publisher], disaster: Coroutine[None, None, None]) -> None:
    """All publish while the disaster takes its course, and finish their writes once it is over."""
    over = asyncio.Event()
    async with asyncio.timeout(STORY_SECONDS):
        async with asyncio.TaskGroup() as group:
            for publisher in publishers:
                group.create_task(publisher.publish(publisher.until(over)))
            try:
                await disaster
            finally:
                over.set()
        for publisher in publishers:
            await publisher.publish_at_last()


async def kill_postgres_often(database: PostgresServer, times: int, chance: Random) -> None:
    """Kills PostgreSQL `times` times, and has it back after a while."""
    for _ in range(times):
        await asyncio.sleep(chance.uniform(0.1, 0.8))
        await asyncio.to_thread(database.kill)
        await asyncio.sleep(chance.uniform(0, 0.3))
        await asyncio.to_thread(database.restart)


def assert_all_is_well(server: ServerProcess, publishers: list[Publisher], seed: int) -> None:
    """The server stops in good order, and the database agrees with itself and with every publisher."""
    status = server.stop()
    story = f"PRESSROOM_TEST_SEED={seed}; the publishers heard {told(publishers)}"
    assert status == 0, f"{story}\n{server.output()}"
    assert all(publisher.acknowledged for publisher in publishers), story
    assert disagreements(server, publishers) == [], story
    print(story)
