"""Readers of events over stops and kills of the server: streams end in order, and no event is lost or read twice."""

import asyncio
import threading
from collections.abc import Callable
from random import Random

import pytest

from pressroom_client import Pressroom
from tests.e2e.kills import STORY_SECONDS, kill_server_often
from tests.e2e.processes import LONGEST_STOP
from tests.events.streaming import StreamClient
from tests.harness.owners import Owner, publish
from tests.harness.process import ServerProcess
from tests.harness.publishers import Publisher, told
from tests.harness.wire import Request, ask
from tests.services.process import wait_until

MakeServer = Callable[..., ServerProcess]


class Reader(threading.Thread):
    """Iterates over the events of an account until its key is revoked."""

    def __init__(self, server: ServerProcess, key: str) -> None:
        super().__init__(daemon=True)
        self._client = Pressroom(server.base_url, key, deadline=STORY_SECONDS)
        self._after = cursor_of(server, key)
        self.contents: list[str] = []
        self.last = ""

    def run(self) -> None:
        """Reads."""
        with self._client:
            for _, event in self._client.events(self._after):
                self.last = event["event"]
                if event["event"] == "post.created":
                    self.contents.append(event["data"]["post"]["content"] or "")


def cursor_of(server: ServerProcess, key: str) -> str:
    """The cursor of now."""
    answer = ask(Request(server.port, "GET", "/api/events", {"Authorization": f"Bearer {key}"}))
    assert answer.status == 200, answer
    return str(answer.json()["cursor"])


def test_streams_end_in_order_at_a_stop(roomy_server: MakeServer, engine_settings: dict[str, object]) -> None:
    server = roomy_server(**engine_settings).start()
    owner = Owner(server)
    key, writing = owner.key("reader", ["events:read"]), owner.key()
    streams = [StreamClient.begin(server, key) for _ in range(2)]
    assert [stream.status for stream in streams] == [200, 200]
    assert ask(publish(server, writing, "before the stop")).status == 201
    assert [found.event for stream in streams if (found := stream.next())] == ["post.created"] * 2

    server.terminate()

    assert [stream.next() for stream in streams] == [None, None]
    assert all(stream.ended_in_order for stream in streams)
    assert server.wait(LONGEST_STOP) == 0
    for stream in streams:
        stream.close()


def test_draining_server_streams_on(roomy_server: MakeServer) -> None:
    server = roomy_server(DRAIN_SECONDS=300).start()
    owner = Owner(server)
    stream, writing = StreamClient.begin(server, owner.key("reader", ["events:read"])), owner.key()

    server.terminate()
    assert wait_until(lambda: ask(Request(server.port, "GET", "/readyz")).status == 503)
    assert ask(publish(server, writing, "amid the drain")).status == 201

    found = stream.next()
    assert found is not None
    assert found.data["data"]["post"]["content"] == "amid the drain"
    stream.close()
    server.kill()


@pytest.mark.parametrize("ending", ["stop", "kill"])
def test_no_event_is_lost_over_restarts(
    roomy_server: MakeServer, engine_settings: dict[str, object], seed: int, ending: str
) -> None:
    server = roomy_server(**engine_settings).start()
    owner = Owner(server)
    publishers = [Publisher(server, owner.key(f"writer {n}"), f"program{n}") for n in range(4)]
    read = owner.new_key("reader", ["events:read"]).json()
    readers = [Reader(server, read["key"]) for _ in range(2)]
    for reader in readers:
        reader.start()

    asyncio.run(publish_through(server, publishers, ending, Random(seed)))
    acknowledged = {content for publisher in publishers for content in publisher.acknowledged}
    assert wait_until(lambda: all(len(reader.contents) >= len(acknowledged) for reader in readers), STORY_SECONDS)
    assert ask(owner.revoke(read["id"])).status == 200
    for reader in readers:
        reader.join(STORY_SECONDS)

    assert len(acknowledged) > 0, told(publishers)
    for reader in readers:
        assert reader.last == "apikey.revoked"
        assert len(reader.contents) == len(set(reader.contents)), seed
        assert acknowledged == set(reader.contents), (seed, told(publishers))
    assert readers[0].contents == readers[1].contents


async def publish_through(server: ServerProcess, publishers: list[Publisher], ending: str, chance: Random) -> None:
    """All publish while the server ends and starts again."""
    over = asyncio.Event()
    async with asyncio.timeout(STORY_SECONDS), asyncio.TaskGroup() as group:
        for publisher in publishers:
            group.create_task(publisher.publish(publisher.until(over)))
        try:
            if ending == "kill":
                await kill_server_often(server, 4, chance)
            for _ in range(3 if ending == "stop" else 0):
                await asyncio.sleep(chance.uniform(0, 0.4))
                server.terminate()
                assert await asyncio.to_thread(server.wait, LONGEST_STOP) == 0
                await asyncio.to_thread(server.restart)
        finally:
            over.set()
