"""Three times the writes that a server can do: some are served, and the rest is told when to come back."""

import asyncio
import itertools
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.harness.observations import observe
from tests.harness.owners import Owner, publish
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.harness.wire import Connection, Reply
from tests.services import toxiproxy
from tests.services.postgres import PostgresServer
from tests.services.process import wait_until
from tests.services.toxiproxy import Toxiproxy

MakeServer = Callable[..., ServerProcess]

pytestmark = pytest.mark.skipif(toxiproxy.available() is not None, reason=str(toxiproxy.available()))

CONNECTIONS = 2
LATENCY_MS = 50
"""The least time of a round trip to the database."""

CAPACITY = CONNECTIONS * 1_000 / LATENCY_MS / 3
"""Posts a second that the server cannot exceed on any machine: each takes three round trips at least."""

PATIENCE = 3
"""Seconds that a request waits for a connection."""

WARM_UP = 10
SECONDS = 5.0
MOST_GROWTH = 64 * 1024 * 1024


@dataclass(frozen=True)
class Answer:
    """What came of one post."""

    content: str
    reply: Reply
    seconds: float


def test_values_beyond_capacity_are_refused_and_the_rest_kept(
    roomy_server: MakeServer, postgres_server: PostgresServer, tmp_path: Path
) -> None:
    url = postgres_server.create_database(f"overload_{os.getpid()}_{time.monotonic_ns()}")
    with Toxiproxy.start(tmp_path / "toxiproxy") as proxy:
        link = proxy.link(postgres_server.port)
        server = roomy_server(
            DATABASE_URL=url.replace(f":{postgres_server.port}/", f":{link.port}/"),
            DATABASE_CONNECTIONS=CONNECTIONS,
            DATABASE_POOL_TIMEOUT_SECONDS=PATIENCE,
        ).start()
        key = Owner(server).key()
        link.poison("latency", latency=LATENCY_MS)

        for number in range(WARM_UP):
            asyncio.run(post(server, key, f"warm-up {number}"))
        before = psutil.Process(server.pid).memory_info().rss
        answers = asyncio.run(offer(server, key, 3 * CAPACITY))
        growth = psutil.Process(server.pid).memory_info().rss - before

        over = time.monotonic()
        afterwards = (post(server, key, f"afterwards {number}") for number in itertools.count())
        assert wait_until(lambda: asyncio.run(next(afterwards)).reply.status == 201)
        recovered = time.monotonic() - over
        kept = Counter(content for (content,) in rows(server, "SELECT content FROM posts"))
    statuses = Counter(answer.reply.status for answer in answers)
    done = [answer for answer in answers if answer.reply.status == 201]
    assert statuses.keys() == {201, 503}, statuses
    assert all("retry-after" in answer.reply.headers for answer in answers if answer.reply.status == 503)
    assert {answer.content for answer in done} <= kept.keys()
    assert set(kept.values()) == {1}
    assert growth < MOST_GROWTH
    slowest = sorted(answer.seconds for answer in done)[99 * len(done) // 100]
    unsaid = sum(answer.content in kept for answer in answers) - len(done)
    observe(
        "3 times the capacity offered to an API process, for 5 s",
        f"{statuses[201]} of {len(answers)} posts acknowledged and all there, the others 503 with `Retry-After`, "
        f"{unsaid} of them written; p99 of the acknowledged {slowest:.1f} s where a connection is waited for "
        f"{PATIENCE} s; memory {growth / 2**20:+.0f} MiB",
        recovered,
        "the end of the offer",
    )


async def offer(server: ServerProcess, key: str, rate: float) -> list[Answer]:
    """Sends so many posts a second, whatever becomes of those before."""
    tasks: list[asyncio.Task[Answer]] = []
    began = time.monotonic()
    for number in range(int(rate * SECONDS)):
        tasks.append(asyncio.create_task(post(server, key, f"offered {number}")))
        await asyncio.sleep(max(0, began + number / rate - time.monotonic()))
    return await asyncio.gather(*tasks)


async def post(server: ServerProcess, key: str, content: str) -> Answer:
    """Publishes over a connection of its own."""
    request = publish(server, key, content)
    began = time.monotonic()
    connection = await Connection.open(request.port)
    try:
        reply = await connection.ask(request)
    finally:
        connection.close()
    return Answer(content, reply, time.monotonic() - began)
