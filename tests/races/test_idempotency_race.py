"""Copies of one create, sent at the same moment under one Idempotency-Key: one effect, one answer for all."""

import os
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.harness.days import stay_within_a_day
from tests.harness.locks import locked
from tests.harness.owners import Owner, publish, who_am_i
from tests.harness.process import ServerProcess
from tests.harness.records import count, rows
from tests.harness.roomy import ROOMY
from tests.harness.wire import Reply, ask, at_once
from tests.media.uploads import image
from tests.services.postgres import PostgresServer
from tests.services.process import wait_until

MakeServer = Callable[..., ServerProcess]

COPIES = 50

CLIP = b"\0\0\0\x18ftypisom\0\0\0\0isommp42"
"""What passes for a video until somebody decodes it."""


def test_fifty_copies_make_one_post(race_server: MakeServer) -> None:
    server = race_server()
    owner = Owner(server)
    key = owner.key()

    for n in range(1, 11):
        answers = at_once([publish(server, key, f"post {n}", f"key-{n}")] * COPIES)

        assert_one_made_and_the_rest_replayed(answers)
        assert count(server, "posts") == n
        assert count(server, "events") == n
        assert rows(server, "SELECT sum(used) FROM content_quotas") == [(n,)]
    assert ask(who_am_i(server, key)).json()["totalPosts"] == 10


def test_two_keys_of_an_account_share_an_idempotency_key(race_server: MakeServer) -> None:
    server = race_server()
    owner = Owner(server)
    keys = [owner.key("first"), owner.key("second")]

    answers = at_once([publish(server, keys[n % 2], "post", "shared") for n in range(COPIES)])

    assert_one_made_and_the_rest_replayed(answers)
    assert count(server, "posts") == 1


def test_copies_share_the_last_unit_of_the_quota(race_server: MakeServer) -> None:
    stay_within_a_day()
    server = race_server(DAILY_CONTENT_QUOTA=3)
    key = Owner(server).key()
    assert [ask(publish(server, key, text)).status for text in ("first", "second")] == [201, 201]

    answers = at_once([publish(server, key, "last", "key")] * COPIES)

    assert_one_made_and_the_rest_replayed(answers)
    assert rows(server, "SELECT used FROM content_quotas") == [(3,)]
    assert count(server, "posts") == 3


def test_copies_without_quota_are_all_refused_and_leave_the_key_free(race_server: MakeServer) -> None:
    stay_within_a_day()
    server = race_server(DAILY_CONTENT_QUOTA=0)
    key = Owner(server).key()

    answers = at_once([publish(server, key, "none", "key")] * COPIES)

    assert {answer.status for answer in answers} == {429}
    assert {answer.json()["error"] for answer in answers} == {"Daily content quota exceeded"}
    assert count(server, "idempotent_answers") == count(server, "posts") == 0


@pytest.mark.parametrize("path", ["/api/posts", "/api/posts/upload", "/api/clips"])
def test_a_replay_locks_the_answer_that_it_rests_on(
    process_server: MakeServer, postgres_server: PostgresServer, path: str
) -> None:
    """A lock is written to the log that standbys copy, so the commit of a replay waits for a synchronous standby."""
    url = postgres_server.create_database(f"replay_{path.rpartition('/')[2]}_{os.getpid()}")
    server = process_server(**ROOMY, DATABASE_URL=url).migrate().start()
    key = Owner(server).key(scopes=["posts:write", "media:write", "clips:write"])
    assert send(server, path, key).status_code == 201

    with ThreadPoolExecutor() as pool, locked(url, "SELECT * FROM idempotent_answers FOR UPDATE") as waiting:
        replay = pool.submit(send, server, path, key)
        assert wait_until(lambda: waiting() == 1)
        assert not replay.done()
    assert (replay.result().status_code, replay.result().headers["idempotent-replayed"]) == (200, "true")


def send(server: ServerProcess, path: str, key: str) -> httpx.Response:
    """Publishes under one idempotency key."""
    headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": "one"}
    if path == "/api/posts":
        return httpx.post(f"{server.base_url}{path}", headers=headers, timeout=30, json={"content": "text"})
    field, file = ("video", ("a.mp4", CLIP)) if path == "/api/clips" else ("media", ("a.jpg", image()))
    return httpx.post(f"{server.base_url}{path}", headers=headers, timeout=30, files={field: file})


def assert_one_made_and_the_rest_replayed(answers: list[Reply]) -> None:
    """One 201; every other answer is a 200 that says it is a replay; all have the same body."""
    told = Counter((answer.status, answer.headers.get("idempotent-replayed")) for answer in answers)
    assert told == {(201, None): 1, (200, "true"): COPIES - 1}
    assert len({answer.body for answer in answers}) == 1
