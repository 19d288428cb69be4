"""The limits of a signed-in account: writes in any minute over all its sessions, content of a day."""

from typing import Any

import httpx
import pytest

from pressroom.clock import DAY, MINUTE
from pressroom.db import Query
from pressroom.domains.sign_in.sessions import begin_session
from tests.api.actors import Actor, body_of, nobody, publish, refusal
from tests.api.conftest import MakeActor, one_engine
from tests.corpus.clips import Recipe
from tests.harness.roomy import ROOMY
from tests.media.uploads import video_bytes
from tests.services.process import wait_until

SETTINGS = {**ROOMY, "SESSION_WRITES_PER_MINUTE": 6, "SESSION_CONTENT_PER_DAY": 4, "DAILY_CONTENT_QUOTA": 3}

WINDOWS = Query(int, "SELECT count(*) FROM rate_windows WHERE key_id = :subject")


def edit(actor: Actor, **more: Any) -> httpx.Response:
    """The cheapest write of somebody signed in."""
    return actor.web.patch("/api/auth/me", json={"bio": "x"}, **more)


def wait_of(answer: httpx.Response) -> int:
    """The seconds to wait after too many writes."""
    assert refusal(answer) == (429, "Rate limit exceeded"), answer.text
    assert "The limit of 6 writes per minute is reached" in answer.json()["message"]
    assert answer.headers["Retry-After"] == str(answer.json()["retryAfter"])
    assert answer.json()["limit"] == "session_writes_per_minute"
    assert not [name for name in answer.headers if "ratelimit" in name]
    return answer.json()["retryAfter"]


def exhaust(actor: Actor) -> None:
    """Writes until no more may be written."""
    assert [edit(actor).status_code for _ in range(6)] == [200] * 6


def test_sixty_writes_in_any_minute(alice: Actor) -> None:
    clock = alice.server.clock
    for _ in range(3):
        assert [edit(alice).status_code for _ in range(2)] == [200, 200]
        clock.advance(10_000)

    assert wait_of(edit(alice)) == 30, "when the second of the first two writes has left the minute"
    clock.advance(30_000)
    assert edit(alice).status_code == 200


def test_the_limit_is_the_account_s_over_all_its_sessions(alice: Actor, actor: MakeActor) -> None:
    token = alice.server.run(alice.server.runtime.db.transact(begin_session, alice.account.id))
    elsewhere = {"Cookie": f"session={token}"}
    url = f"{alice.server.base_url}/api/auth/me"

    answers = [edit(alice), *(nobody.patch(url, json={"bio": "y"}, headers=elsewhere) for _ in range(6))]

    assert [answer.status_code for answer in answers] == [200] * 6 + [429]
    wait_of(edit(alice))
    assert edit(actor()).status_code == 200, "nobody else's"
    assert alice.post().status_code == 201, "a key has limits of its own"


def test_writes_count_and_reads_do_not(alice: Actor) -> None:
    post = publish(alice)
    web = alice.web
    for _ in range(10):
        assert web.get("/api/auth/me").status_code == 200
    made = body_of(web.post("/api/auth/api-keys", json={"label": "x", "scopes": ["posts:write"]}), 201)
    answers = [
        web.post(f"/api/posts/{post['id']}/like"),
        web.delete(f"/api/posts/{post['id']}/like"),
        web.put(f"/api/posts/{post['id']}/audience", json={"usernames": []}),
        web.patch("/api/auth/me", json={"nothing": 1}),
        web.delete(f"/api/auth/api-keys/{made['id']}"),
    ]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 400, 200]
    wait_of(web.post(f"/api/posts/{post['id']}/save"))
    assert web.get("/api/auth/api-keys").status_code == 200
    assert web.post("/api/auth/logout").status_code == 200, "who wants to leave may"


@one_engine
def test_the_order_of_checks(alice: Actor) -> None:
    url, headers = f"{alice.server.base_url}/api/posts", {"Idempotency-Key": "k"}
    first = alice.web.post("/api/posts", json={"content": "once"}, headers=headers)
    assert first.status_code == 201
    abroad = {"Origin": "https://elsewhere.example"}
    for _ in range(8):
        assert refusal(edit(alice, headers=abroad)) == (403, "Cross-origin request refused")
    assert [edit(alice).status_code for _ in range(5)] == [200] * 5

    assert refusal(nobody.post(url, json={}, headers={"Cookie": "session=x"})) == (401, "Missing API key")
    assert refusal(edit(alice, headers=abroad)) == (403, "Cross-origin request refused")
    for body in ({"nothing": 1}, {"content": "once"}):
        wait_of(alice.web.post("/api/posts", json=body, headers=headers))
    alice.server.clock.advance(MINUTE)
    assert alice.web.post("/api/posts", json={"content": "once"}, headers=headers).content == first.content


def test_a_refused_write_extends_the_wait(alice: Actor) -> None:
    exhaust(alice)
    for _ in range(8):
        alice.server.clock.advance(MINUTE - 1)
        for _ in range(6):
            wait_of(edit(alice))
    alice.server.clock.advance(MINUTE)
    assert edit(alice).status_code == 200


def test_the_content_of_a_day_is_counted_apart_from_the_keys(alice: Actor, tmp_path: Any) -> None:
    post = publish(alice)
    clip = {"video": ("a.mp4", video_bytes(tmp_path, Recipe(size=(64, 48), seconds=0.2)), "video/mp4")}
    answers = [
        alice.web.post("/api/posts", json={"content": "1"}),
        alice.web.post(f"/api/posts/{post['id']}/bounce", json={}),
        alice.web.post(f"/api/posts/{post['id']}/bounce", json={"content": "2"}),
        alice.web.post("/api/clips", files=clip),
    ]
    assert [answer.status_code for answer in answers] == [201] * 4
    alice.server.clock.advance(MINUTE)
    written = alice.written()

    fifth = alice.web.post("/api/posts", json={"content": "3"})

    assert refusal(fifth) == (429, "Daily content quota exceeded")
    assert "published 4 posts and clips signed in today" in fifth.json()["message"]
    assert fifth.json()["limit"] == "session_content_per_day"
    now = alice.server.clock.now()
    assert fifth.json()["retryAfter"] == -(-((now // DAY + 1) * DAY - now) // 1000)
    assert fifth.headers["Retry-After"] == str(fifth.json()["retryAfter"])
    assert alice.written() == written
    assert [alice.post().status_code for _ in range(3)] == [201, 201, 429], "a key has published one before"
    assert alice.web.post(f"/api/posts/{post['id']}/comments", json={"content": "x"}).status_code == 201
    alice.server.clock.advance((now // DAY + 1) * DAY - now)
    assert alice.web.post("/api/posts", json={"content": "4"}).status_code == 201


@pytest.mark.parametrize("content", ["plain", "https://example.org/ with a card"])
def test_a_replay_takes_nothing_of_the_day(alice: Actor, content: str) -> None:
    def post(number: int) -> httpx.Response:
        alice.server.clock.advance(MINUTE)
        return alice.web.post("/api/posts", json={"content": content}, headers={"Idempotency-Key": str(number)})

    assert [post(0).status_code for _ in range(4)] == [201, 200, 200, 200]
    assert [post(number).status_code for number in (1, 2, 3, 4, 0)] == [201, 201, 201, 429, 200]


def test_windows_of_a_session_are_saved_behind_the_request(alice: Actor) -> None:
    edit(alice)

    subject = f"account:{alice.account.id}"
    wait_until(lambda: alice.server.run(alice.server.runtime.db.one(WINDOWS, subject=subject)) == 1)
