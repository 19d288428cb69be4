"""Events as a stream: their form, resumption, how many there may be, and every way in which they end."""

from collections.abc import Callable, Iterator

import pytest

from pressroom.clock import DAY
from pressroom.domains.event_stream import streams
from tests.api.actors import Actor, body_of, publish
from tests.api.conftest import MakeActor
from tests.events.streaming import StreamClient
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.services.process import wait_until

SETTINGS = ROOMY
BEFORE_ALL = "AAAAAAAAAAAAAAAAAAAAAA"
Open = Callable[..., StreamClient]


@pytest.fixture
def stream() -> Iterator[Open]:
    """Opens streams of somebody's key, and closes them after the test."""
    opened: list[StreamClient] = []

    def open_stream(reader: Actor, **asked: str) -> StreamClient:
        opened.append(StreamClient.begin(reader.server, reader.key, **asked))
        return opened[-1]

    yield open_stream
    for each in opened:
        each.close()


def open_streams(reader: Actor) -> int:
    """How many streams the server has open."""
    return len(reader.server.runtime.streams)


def test_event_reaches_a_stream_in_the_envelope_of_the_pull(alice: Actor, stream: Open) -> None:
    opened = stream(alice)
    assert opened.next_block() == {"retry": "2000", "id": BEFORE_ALL}
    publish(alice, "Grüße 🦊\nand a second line")

    sent = opened.next()

    pulled = body_of(alice.api.get("/api/events", params={"after": BEFORE_ALL}))
    assert sent is not None
    assert (sent.id, sent.event, sent.data) == (pulled["cursor"], "post.created", pulled["events"][0])
    assert opened.headers["content-type"] == "text/event-stream"
    assert "content-length" not in opened.headers
    assert opened.headers["x-ratelimit-limit"]


def test_stream_resumes_after_the_last_event_id(alice: Actor, stream: Open) -> None:
    opened = stream(alice)
    opened.next_block()
    publish(alice, "one")
    opened.next()
    opened.close()
    for number in range(2 * streams.READ + 1):
        publish(alice, f"missed {number}")

    resumed = stream(alice, after=BEFORE_ALL, last_event_id=opened.last_id)

    for number in range(2 * streams.READ + 1):
        sent = resumed.next()
        assert sent is not None
        assert sent.data["data"]["post"]["content"] == f"missed {number}"


def test_stream_that_had_no_event_resumes_where_it_began(alice: Actor, stream: Open) -> None:
    opened = stream(alice)
    opened.next_block()
    opened.close()
    publish(alice, "meanwhile")

    sent = stream(alice, last_event_id=opened.last_id).next()

    assert sent is not None
    assert sent.data["data"]["post"]["content"] == "meanwhile"


def test_silent_stream_gets_comments(alice: Actor, stream: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "COMMENT_SECONDS", 0.05)
    opened = stream(alice)
    opened.next_block()

    assert [opened.next_block() for _ in range(3)] == [{"": ""}] * 3


def test_third_stream_of_a_key_is_refused_until_one_ends(alice: Actor, stream: Open) -> None:
    opened = [stream(alice) for _ in range(2)]

    refused = stream(alice)

    assert refused.status == 429
    problem = refused.body()
    assert (problem["error"], problem["limit"]) == ("Rate limit exceeded", "streams_per_key")
    assert problem["retryAfter"] == int(refused.headers["retry-after"])
    opened[0].close()
    assert wait_until(lambda: open_streams(alice) == 1)
    assert stream(alice).status == 200


def test_revocation_is_the_last_event(alice: Actor, actor: MakeActor, stream: Open) -> None:
    opened, others = stream(alice), stream(actor())
    opened.next_block()
    body_of(alice.web.delete(f"/api/auth/api-keys/{alice.record.id}"))

    sent = opened.next()

    assert sent is not None
    assert (sent.event, sent.data["data"]["apiKey"]["id"]) == ("apikey.revoked", alice.record.id)
    assert opened.next() is None
    assert stream(alice).status == 401
    assert others.next_block() is not None
    assert wait_until(lambda: open_streams(alice) == 1)


def test_stream_ends_when_its_key_expires(actor: MakeActor, alice: Actor, stream: Open) -> None:
    server = alice.server
    ending = actor(expires_at=server.clock.now() + DAY)
    opened = stream(ending)
    opened.next_block()
    server.clock.advance(DAY)

    assert opened.next() is None


def test_stream_of_another_process_gets_the_event(twins: tuple[LocalServer, LocalServer]) -> None:
    here, there = twins
    writer = Actor(here)
    opened = StreamClient.begin(there, writer.key)
    try:
        opened.next_block()
        publish(writer, "from the other process")
        if here.runtime.db.engine == "sqlite":  # without a NOTIFY the look of every second finds it
            there.run(there.runtime.events.look())

        sent = opened.next()

        assert sent is not None
        assert sent.data["data"]["post"]["content"] == "from the other process"
    finally:
        opened.close()
        for client in writer.clients():
            client.close()


def test_reader_that_stalls_holds_neither_memory_nor_a_stop(alice: Actor, stream: Open) -> None:
    server = alice.server
    opened = stream(alice)
    opened.next_block()
    for _ in range(40):
        publish(alice, "\U0001f98a" * 5_000)  # more than the sockets between them take

    server.run(_close(server))

    assert wait_until(lambda: open_streams(alice) == 0)


async def _close(server: LocalServer) -> None:
    """Ends all streams of the server as a stop does, and has it go on."""
    server.runtime.streams.close()
    server.runtime.events.is_closing = False


def test_stream_with_a_body_or_a_wrong_place_is_refused(alice: Actor, stream: Open) -> None:
    accepts = {"Accept": "text/event-stream"}

    refused = alice.api.request("GET", "/api/events", headers=accepts, content=b"{}")
    wrong = stream(alice, last_event_id="nonsense")

    assert (refused.status_code, refused.json()["details"][0]["field"]) == (400, "body")
    assert (wrong.status, wrong.body()["details"][0]["field"]) == (400, "header.Last-Event-ID")
    assert open_streams(alice) == 0


def test_expired_cursor_of_a_stream_is_a_410(alice: Actor, stream: Open) -> None:
    publish(alice)
    alice.server.clock.advance(31 * DAY)

    refused = stream(alice, last_event_id=BEFORE_ALL)

    assert (refused.status, refused.body()["error"]) == (410, "Cursor expired")
    assert open_streams(alice) == 0
