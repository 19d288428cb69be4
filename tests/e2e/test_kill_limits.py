"""Kills and limits: a crash forgives unsaved counts, a stop forgives nothing, the quota never gives."""

import asyncio
import contextlib
import json
import resource
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.e2e.kills import STORY_SECONDS
from tests.harness.days import most_in_a_minute, stay_within_a_day
from tests.harness.owners import Owner, publish, who_am_i
from tests.harness.process import ServerProcess
from tests.harness.publishers import Publisher, told
from tests.harness.records import count, disagreements, rows
from tests.harness.small_disk import can_mount, small_disk
from tests.harness.wire import Request, ask, at_once
from tests.services.process import wait_until

MakeServer = Callable[..., ServerProcess]

BURST = 25


@pytest.fixture
def server(roomy_server: MakeServer, engine_settings: dict[str, object]) -> ServerProcess:
    """A running server that admits 60 requests a minute."""
    return roomy_server(REQUESTS_PER_MINUTE=60, **engine_settings).start()


def test_crash_forgives_unsaved_counts_only(server: ServerProcess, seed: int) -> None:
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


@pytest.mark.parametrize("limit", ["REQUESTS_PER_MINUTE", "POSTS_PER_MINUTE"])
def test_writes_of_a_key_count_after_a_kill(
    roomy_server: MakeServer, engine_settings: dict[str, object], limit: str
) -> None:
    """Each life is ended before it can save its counts."""
    server = roomy_server(**{limit: 20}, **engine_settings).start()
    key = Owner(server).key("all", ("posts:write", "posts:delete", "comments:write"))
    shared = ask(publish(server, key, "shared")).json()["id"]
    writes = {
        "REQUESTS_PER_MINUTE": [
            Request(server.port, "POST", f"/api/posts/{shared}/comments", {}, {"content": "a comment"}),
            Request(server.port, "PATCH", f"/api/posts/{shared}", {}, {"content": "edited"}),
            Request(server.port, "POST", "/api/posts", {}, {"content": "to be deleted"}),
        ],
        "POSTS_PER_MINUTE": [Request(server.port, "POST", "/api/posts", {}, {"content": "a post"})] * 4,
    }[limit]

    for _ in range(10):
        answers = at_once([replace(write, headers={"Authorization": f"Bearer {key}"}) for write in writes])
        if limit == "REQUESTS_PER_MINUTE" and answers[-1].status == 201:
            path = f"/api/posts/{answers[-1].json()['id']}"
            ask(Request(server.port, "DELETE", path, {"Authorization": f"Bearer {key}"}))
        server.kill()
        server.restart()

    statement = WRITTEN if limit == "REQUESTS_PER_MINUTE" else "SELECT created_at FROM posts"
    moments = [at / 1000 for (at,) in rows(server, statement)]
    assert 15 <= most_in_a_minute(moments) <= 20


def test_posts_by_session_count_after_a_kill(roomy_server: MakeServer, engine_settings: dict[str, object]) -> None:
    server = roomy_server(SESSION_WRITES_PER_MINUTE=10, **engine_settings).start()
    owner = Owner(server)
    shared = ask(publish(server, owner.key(), "shared")).json()["id"]
    posts = [Request(server.port, "POST", "/api/posts", {"Cookie": owner.cookie}, {"content": "a post"})] * 3
    path = f"/api/posts/{shared}/comments"
    comment = Request(server.port, "POST", path, {"Cookie": owner.cookie}, {"content": "a comment"})

    for _ in range(5):
        at_once([*posts, comment])
        server.kill()
        server.restart()

    statement = "SELECT created_at FROM posts WHERE key_id IS NULL UNION ALL SELECT created_at FROM comments"
    assert 8 <= most_in_a_minute([at / 1000 for (at,) in rows(server, statement)]) <= 10


WRITTEN = (
    "SELECT created_at FROM posts UNION ALL SELECT created_at FROM comments"
    " UNION ALL SELECT replaced_at FROM post_versions UNION ALL SELECT deleted_at FROM posts WHERE deleted_at > 0"
)


def test_requests_whose_counts_cannot_be_saved_are_refused(roomy_server: MakeServer) -> None:
    server = roomy_server(REQUESTS_PER_MINUTE=200).start()
    key = Owner(server).key()
    assert burst(server, key)

    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    assert wait_until(lambda: ask(who_am_i(server, key)).status == 503), "what cannot be saved is admitted for ever"
    refused = ask(who_am_i(server, key))
    assert (refused.status, refused.json()["error"], refused.headers["retry-after"]) == (503, "Unavailable", "1")
    assert {answer.status for answer in at_once([who_am_i(server, key)] * 50)} == {503}
    assert ask(Request(server.port, "GET", "/readyz")).status == 503

    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert wait_until(lambda: ask(who_am_i(server, key)).status == 200), "it does not recover"


@pytest.mark.parametrize("full", ["file size", "disk"])
def test_unsaved_counts_survive_a_kill(roomy_server: MakeServer, tmp_path: Path, full: str) -> None:
    """Requests of long ago, which the database had not taken by the time of the kill."""
    if full == "disk" and not can_mount(tmp_path / "disk"):
        pytest.skip("this account may not mount a disk")
    server = roomy_server(REQUESTS_PER_MINUTE=60)
    data = server.folder / "data"
    with small_disk(data, "16m") if full == "disk" else contextlib.nullcontext():
        server.start()
        key, filler = Owner(server).key(), data / "blobs" / "filler"
        began = time.time()
        admitted = burst(server, key)
        assert wait_until(lambda: written_down(server, began) == BURST, 20)

        if full == "disk":
            fill_up(filler)
        else:
            grown = (data / "pressroom.db-wal").stat().st_size
            resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (grown, resource.RLIM_INFINITY))
        answers = at_once([who_am_i(server, key)] * BURST)
        admitted += [time.monotonic() for answer in answers if answer.status == 200]
        assert len(admitted) > BURST

        def is_away() -> bool:
            status = ask(who_am_i(server, key)).status
            admitted.extend([time.monotonic()] * (status == 200))
            return status == 503

        assert wait_until(is_away), "what cannot be saved is admitted for ever"
        server.kill()
        assert written_down(server, began) == BURST

        filler.unlink(missing_ok=True)
        server.restart()
        for _ in range(3):
            admitted += burst(server, key)
        server.stop()

    assert most_in_a_minute(admitted) == 60


def fill_up(filler: Path) -> None:
    """Writes a file until the disk takes no more."""
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4_096))


async def publish_300(server: ServerProcess, publishers: list[Publisher], moments: list[int]) -> None:
    """Each publishes its share; the server is killed when so many posts in all have come to an end."""
    share = 300 // len(publishers)
    async with asyncio.timeout(STORY_SECONDS), asyncio.TaskGroup() as group:
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
