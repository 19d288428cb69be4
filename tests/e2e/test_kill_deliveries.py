"""The server and the worker die at any moment: every event arrives, in one envelope, and none that did not happen."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

from pressroom.clock import HOUR
from tests.e2e.kills import STORY_SECONDS
from tests.harness.beside import api_alone, worker
from tests.harness.deliveries import QUICK_RETRIES, Newsroom, complaints, left_over, wait_until_settled
from tests.harness.process import ServerProcess
from tests.harness.receiver import Receiver, answer
from tests.harness.records import rows
from tests.services.postgres import PostgresServer

MakeServer = Callable[..., ServerProcess]
Victims = Sequence[ServerProcess]

RELEASE_SECONDS = 0.1
"""How long the slow endpoints take to answer."""

SETTLING_SECONDS = 300.0
"""How long to wait for the last delivery; on PostgreSQL the leases of a killed worker last half a minute."""


def test_a_killed_server_delivers_everything_on_sqlite(roomy_server: MakeServer, seed: int) -> None:
    server = roomy_server(**QUICK_RETRIES).start()

    with Receiver() as receiver:
        newsrooms = open_newsrooms(server, receiver, 25)
        asyncio.run(publish_through(newsrooms, receiver, 20, [[server]] * 25, Random(seed)))
        again = assert_everything_arrived(server, receiver, newsrooms, seed)

    assert server.stop() == 0, server.output()
    assert left_over(server) == []
    assert again > 0, "no kill met a delivery"


def test_a_killed_api_and_a_killed_worker_deliver_everything_on_postgres(
    roomy_server: MakeServer, postgres_server: PostgresServer, seed: int
) -> None:
    settings = roomy_server(DATABASE_URL=postgres_server.create_database("kill_deliveries"), **QUICK_RETRIES)
    chance = Random(seed)

    with Receiver() as receiver, api_alone(settings) as api, worker(settings) as sender:
        kills = chance.sample([[api], [sender], [api, sender]] * 7, 21)
        newsrooms = open_newsrooms(api, receiver, len(kills))
        asyncio.run(publish_through(newsrooms, receiver, 24, kills, chance))
        again = assert_everything_arrived(api, receiver, newsrooms, seed)

        assert (api.stop(), sender.stop()) == (0, 0), api.output() + sender.output()
        assert left_over(api) == []
        assert again > 0, "no kill met a delivery"


def test_while_nothing_dies_everything_arrives_once_on_sqlite(roomy_server: MakeServer, seed: int) -> None:
    server = roomy_server(**QUICK_RETRIES).start()

    with Receiver() as receiver:
        newsrooms = open_newsrooms(server, receiver, 5)
        asyncio.run(publish_through(newsrooms, receiver, 20, [[]] * 5, Random(seed)))
        assert assert_everything_arrived(server, receiver, newsrooms, seed) == 0


def test_while_nothing_dies_everything_arrives_once_on_postgres(
    roomy_server: MakeServer, postgres_server: PostgresServer, seed: int
) -> None:
    settings = roomy_server(DATABASE_URL=postgres_server.create_database("calm_deliveries"), **QUICK_RETRIES)

    with Receiver() as receiver, api_alone(settings) as api, worker(settings):
        newsrooms = open_newsrooms(api, receiver, 5)
        asyncio.run(publish_through(newsrooms, receiver, 20, [[]] * 5, Random(seed)))
        assert assert_everything_arrived(api, receiver, newsrooms, seed) == 0


def test_leased_deliveries_of_a_killed_server_are_sent_after_its_start(roomy_server: MakeServer) -> None:
    server = roomy_server(**QUICK_RETRIES).start()

    with Receiver() as receiver:
        newsroom = Newsroom(server, receiver, "room")
        asyncio.run(newsroom.authors[0].publish(4))
        slow = newsroom.slow.path
        receiver.wait(lambda receiver: receiver.in_flight[slow] == 1)
        server.kill()
        receiver.behave(slow, answer(200))
        # Alone on its file it need not wait until the leases of the killed process have run out.
        rows(server, f"UPDATE webhooks SET leased_until = leased_until + {HOUR} WHERE lease_token IS NOT NULL")  # noqa: S608
        server.restart()
        receiver.wait(lambda receiver: receiver.count(slow) == 2)

        assert assert_everything_arrived(server, receiver, [newsroom], 0) >= 1


def open_newsrooms(server: ServerProcess, receiver: Receiver, number: int) -> list[Newsroom]:
    """So many accounts, each with authors and endpoints of its own."""
    return [Newsroom(server, receiver, f"room{n}") for n in range(number)]


async def publish_through(
    newsrooms: Sequence[Newsroom], receiver: Receiver, posts: int, kills: Sequence[Victims], chance: Random
) -> None:
    """One newsroom after the other begins, each author to publish so many posts; amid each beginning comes a kill.

    So every kill finds endpoints at work: those that a killed worker held rest, others do not yet.
    """
    releasing = asyncio.create_task(_release(newsrooms, receiver))
    async with asyncio.timeout(STORY_SECONDS), asyncio.TaskGroup() as group:
        for number, (newsroom, victims) in enumerate(zip(newsrooms, kills, strict=True)):
            for author in newsroom.authors:
                group.create_task(author.publish(posts))
            if number % 5 == 0:  # so that some kills meet a delivery, however slow the machine is
                await _is_in_hand(receiver, newsroom.slow.path)
            else:
                await asyncio.sleep(chance.uniform(0, 0.5))
            await _kill(victims, chance, again=number % 5 == 4)
    releasing.cancel()
    for newsroom in newsrooms:
        receiver.behave(newsroom.slow.path, answer(200))
        receiver.release(newsroom.slow.path)


async def _is_in_hand(receiver: Receiver, path: str) -> None:
    while not receiver.in_flight[path]:
        await asyncio.sleep(0.005)


async def _release(newsrooms: Sequence[Newsroom], receiver: Receiver) -> None:
    while True:
        await asyncio.sleep(RELEASE_SECONDS)
        for newsroom in newsrooms:
            receiver.release(newsroom.slow.path)


async def _kill(victims: Victims, chance: Random, *, again: bool) -> None:
    """Kills all of them together, perhaps once more while they start, and has them back."""
    for victim in victims:
        victim.kill()
    if again:
        for victim in victims:
            victim.launch()
        await asyncio.sleep(chance.uniform(0, 1.0))
        for victim in victims:
            victim.kill()
    await asyncio.gather(*(asyncio.to_thread(victim.restart) for victim in victims))


def assert_everything_arrived(
    server: ServerProcess, receiver: Receiver, newsrooms: Sequence[Newsroom], seed: int
) -> int:
    """Every endpoint was told of all that it chose and of nothing else; how often it was told once too often."""
    story = f"PRESSROOM_TEST_SEED={seed}"
    wait_until_settled(server, SETTLING_SECONDS)
    found: list[str] = []
    seen: Counter[str] = Counter()
    requests = refusals = 0
    for newsroom in newsrooms:
        refusals += newsroom.mood.refused.total()
        for endpoint in newsroom.endpoints:
            came = receiver.of(endpoint.path)
            requests += len(came)
            seen.update({request.id for request in came})
            found += complaints(endpoint, came, newsroom.due(endpoint))
    authors = [author for newsroom in newsrooms for author in newsroom.authors]
    again = requests - len(seen) - refusals
    print(
        f"{story}; {sum(len(author.posts) for author in authors)} posts, {len(seen)} envelopes, {refusals} refusals,"
        f" {again} duplicates; {sum(author.unanswered for author in authors)} attempts to publish went unanswered"
    )
    found += [f"{id_} came to {times} endpoints" for id_, times in seen.items() if times > 1]
    assert found == [], story
    assert requests == receiver.count(), story
    published = {id_ for author in authors for id_ in (*author.posts, *author.comments)}
    assert published == {id_ for (id_,) in rows(server, "SELECT id FROM posts UNION SELECT id FROM comments")}, story
    return again
