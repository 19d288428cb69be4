"""Kills and limits: a crash forgives what was not yet written down, a stop forgives nothing, the quota never gives."""

import asyncio
import json
import time
from collections.abc import Callable
from random import Random

import pytest

from tests.harness.days import stay_within_a_day
from tests.harness.owners import Owner, who_am_i
from tests.harness.process import ServerProcess
from tests.harness.publishers import Publisher, told
from tests.harness.records import count, disagreements, rows
from tests.harness.wire import at_once
from tests.services.process import wait_until

MakeServer = Callable[..., ServerProcess]

BURST = 25
MINUTE = 60.0


@pytest.fixture
def server(roomy_server: MakeServer, engine_settings: dict[str, object]) -> ServerProcess:
    """A running server that admits 60 requests a minute."""
    return roomy_server(REQUESTS_PER_MINUTE=60, **engine_settings).start()


def test_a_crash_forgives_only_what_was_not_written_down(server: ServerProcess, seed: int) -> None:
    key, chance = Owner(server).key(), Random(seed)
    admitted: list[float] = []
    forgiven = 0

    for life in range(4):
        began = time.time()
        answers = burst(server, key)
        admitted += answers
        if life % 2:
            time.sleep(chance.uniform(0, 0.5))
            forgiven += len(answers)
        else:
            assert wait_until(lambda since=began: written_down(server, since) == BURST, 20)
        server.kill()
        server.restart()
    admitted += burst(server, key)

    assert 60 <= most_in_a_minute(admitted) <= 60 + forgiven, f"PRESSROOM_TEST_SEED={seed}"


def test_a_stop_forgives_nothing(server: ServerProcess) -> None:
    key = Owner(server).key()
    admitted: list[float] = []

    for _ in range(4):
        admitted += burst(server, key)
        assert server.stop() == 0
        server.restart()

    assert most_in_a_minute(admitted) == 60


def test_no_kill_overruns_the_daily_quota(
    roomy_server: MakeServer, engine_settings: dict[str, object], seed: int
) -> None:
    stay_within_a_day()
    server = roomy_server(DAILY_CONTENT_QUOTA=100, **engine_settings).start()
    owner = Owner(server)
    keys = [owner.key("first"), owner.key("second")]
    publishers = [Publisher(server, keys[n % 2], f"program{n}") for n in range(10)]
    moments = sorted(Random(seed).sample(range(120), 10))

    asyncio.run(publish_300(server, publishers, moments))

    server.stop()
    story = f"PRESSROOM_TEST_SEED={seed}; killed after {moments} posts; the publishers heard {told(publishers)}"
    assert sum(len(publisher.acknowledged) for publisher in publishers) == 100, story
    assert {reply.json()["error"] for each in publishers for reply in each.refused} == {"Daily content quota exceeded"}
    assert count(server, "posts") == 100, story
    assert rows(server, "SELECT used FROM content_quotas") == [(100,)], story
    assert disagreements(server, publishers) == [], story


async def publish_300(server: ServerProcess, publishers: list[Publisher], moments: list[int]) -> None:
    """Each publishes its share; the server is killed when so many posts in all have come to an end."""
    share = 300 // len(publishers)
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        for publisher in publishers:
            group.create_task(publisher.publish(publisher.some(share)))
        for moment in moments:
            while sum(publisher.settled for publisher in publishers) < moment:
                await asyncio.sleep(0.001)
            server.kill()
            await asyncio.to_thread(server.restart)


def burst(server: ServerProcess, key: str) -> list[float]:
    """Sends some requests at once; when each that was admitted had its answer."""
    answers = at_once([who_am_i(server, key)] * BURST)
    assert {answer.status for answer in answers} <= {200, 429}
    return [time.monotonic() for answer in answers if answer.status == 200]


def written_down(server: ServerProcess, since: float) -> int:
    """How many attempts since then (Unix time, seconds) the database knows of."""
    states = [json.loads(state) for (state,) in rows(server, "SELECT state FROM rate_windows")]
    return sum(attempt >= since * 1000 - 1 for state in states for attempt in state["attempts"])


def most_in_a_minute(moments: list[float]) -> int:
    """The most moments that lie within any 60 seconds."""
    return max(sum(0 <= moment - first < MINUTE for moment in moments) for first in moments)
