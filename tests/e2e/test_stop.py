"""A stop in good order: running requests are answered, acknowledged writes are kept, and it is over in time."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.e2e.kills import STORY_SECONDS
from tests.e2e.processes import LONGEST_STOP
from tests.harness.deliveries import POST, QUICK_RETRIES, Endpoint
from tests.harness.owners import Owner, publish
from tests.harness.process import DEADLINE, ServerProcess
from tests.harness.publishers import Publisher, told
from tests.harness.receiver import Receiver
from tests.harness.records import count, disagreements
from tests.harness.wire import Connection, Reply, Request, ask
from tests.services.process import wait_until

MakeServer = Callable[..., ServerProcess]


@pytest.fixture
def server(roomy_server: MakeServer, engine_settings: dict[str, object]) -> ServerProcess:
    """A running server."""
    return roomy_server(**engine_settings).start()


def test_requests_whose_bodies_are_still_arriving_are_answered(server: ServerProcess) -> None:
    key = Owner(server).key()
    requests = [publish(server, key, f"slow {n}", f"slow-{n}") for n in range(50)]

    replies = asyncio.run(stop_amid_the_bodies(server, requests))

    assert server.wait(LONGEST_STOP) == 0
    assert [reply.status for reply in replies] == [201] * 50
    assert count(server, "posts") == count(server, "events") == 50


def test_a_stop_amid_many_creates_answers_all_that_it_keeps(server: ServerProcess) -> None:
    key = Owner(server).key()
    publishers = [Publisher(server, key, f"program{n}") for n in range(50)]

    asyncio.run(publish_through_stops(server, publishers, 3))

    assert server.stop() == 0
    assert disagreements(server, publishers) == [], told(publishers)
    assert sum(publisher.outcomes["kept though its answer was lost"] for publisher in publishers) == 0, told(publishers)


def test_silent_connections_do_not_hold_a_stop_up(roomy_server: MakeServer) -> None:
    server = roomy_server().start()
    request = publish(server, Owner(server).key(), "said in full")

    async def stop_amid_silence() -> list[Reply]:
        idle, half_way, unheard = [await Connection.open(server.port) for _ in range(3)]
        unheard.send(request.head[:50])
        half_way.send(request.encoded() + request.head[:50])
        answers = [await half_way.reply(), await idle.ask(request)]
        server.terminate()
        assert await asyncio.to_thread(server.wait, LONGEST_STOP) == 0
        assert await idle.ended()
        for connection in (idle, half_way, unheard):
            connection.close()
        return answers

    assert [answer.status for answer in asyncio.run(stop_amid_silence())] == [201, 201]
    assert count(server, "posts") == 2


def test_a_server_that_drains_is_not_ready_and_still_serves(roomy_server: MakeServer) -> None:
    server = roomy_server(DRAIN_SECONDS=300).start()
    key = Owner(server).key()
    server.terminate()
    ready = Request(server.port, "GET", "/readyz")
    deadline = time.monotonic() + DEADLINE
    while (answer := ask(ready)).status == 200:
        assert time.monotonic() < deadline
    assert (answer.status, answer.json()["error"]) == (503, "Unavailable")
    assert ask(publish(server, key, "amid the drain")).status == 201
    assert ask(Request(server.port, "GET", "/healthz")).status == 200
    assert ask(ready).status == 503
    assert wait_until(lambda: '"not ready"' in server.output()), "a thread writes the log"
    server.kill()
    lines = [json.loads(line) for line in server.output().splitlines() if line.startswith("{")]
    told = [line for line in lines if line["event"] == "not ready"]
    assert [(line["level"], line["reason"]) for line in told] == [("info", "This server is about to stop.")]
    assert {line["level"] for line in lines} <= {"info", "warning"}
    assert not [line for line in lines if line.get("path") in ("/healthz", "/readyz")]


def test_a_server_that_drains_delivers_too(roomy_server: MakeServer) -> None:
    with Receiver() as receiver:
        server = roomy_server(**QUICK_RETRIES, DRAIN_SECONDS=300).start()
        owner = Owner(server)
        made = owner.new_key().json()
        Endpoint(server, owner, made["id"], receiver.url("/hook"), (POST,))
        server.terminate()
        assert wait_until(lambda: ask(Request(server.port, "GET", "/readyz")).status == 503)
        assert ask(publish(server, made["key"], "amid the drain")).status == 201
        receiver.wait(lambda seen: seen.count("/hook") == 1)


async def stop_amid_the_bodies(server: ServerProcess, requests: list[Request]) -> list[Reply]:
    """Has the server wait for every body, tells it to stop, and sends the bodies then."""
    connections = [await Connection.open(server.port) for _ in requests]
    for connection, request in zip(connections, requests, strict=True):
        connection.send(replace(request, headers={**request.headers, "Expect": "100-continue"}).head)
        assert (await connection.reply()).status == 100
        connection.send(request.content[:5])
    server.terminate()
    while "stopping" not in server.output():
        await asyncio.sleep(0.005)
    for connection, request in zip(connections, requests, strict=True):
        connection.send(request.content[5:])
    try:
        return [await connection.reply() for connection in connections]
    finally:
        for connection in connections:
            connection.close()


async def publish_through_stops(server: ServerProcess, publishers: list[Publisher], stops: int) -> None:
    """All publish while the server is stopped and started again, each time once all have published anew."""
    over = asyncio.Event()
    async with asyncio.timeout(STORY_SECONDS), asyncio.TaskGroup() as group:
        for publisher in publishers:
            group.create_task(publisher.publish(publisher.until(over)))
        try:
            for number in range(1, stops + 1):
                while min(publisher.settled for publisher in publishers) < number:
                    await asyncio.sleep(0.005)
                server.terminate()
                assert await asyncio.to_thread(server.wait, LONGEST_STOP) == 0
                await asyncio.to_thread(server.restart)
        finally:
            over.set()
