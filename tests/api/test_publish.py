"""Publishing as an integrator sees it, on both engines."""

import re
from collections.abc import Callable

import httpx
import pytest

from pressroom.domains.keys.models import Scope
from tests.harness.local import LocalServer

MakeServer = Callable[..., LocalServer]
MakeClient = Callable[..., httpx.Client]

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@pytest.fixture
def server(local_server: MakeServer, engine_settings: dict[str, object]) -> LocalServer:
    return local_server(**engine_settings)


def test_a_key_publishes_a_post(server: LocalServer, client: MakeClient) -> None:
    account = server.account("alice")
    key, secret = server.key(account)
    api = client(server, secret)

    answer = api.post("/api/posts", json={"content": "Hello", "location": {"name": "Köln", "latitude": 50.9}})

    assert answer.status_code == 201
    post = answer.json()
    assert post["content"] == "Hello"
    assert post["type"] == "POST"
    assert post["visibility"] == "PUBLIC"
    assert post["location"] == {"name": "Köln", "latitude": 50.9}
    assert post["author"]["username"] == "alice"
    assert post["sourceApiKey"] == {"id": key.id, "label": "test key", "keyPrefix": secret[:15]}
    assert TIME.fullmatch(post["createdAt"])
    assert post["editedAt"] is None
    assert answer.headers["X-RateLimit-Remaining"] == "59"
    assert api.get("/api/auth/me").json()["totalPosts"] == 1


def test_a_replay_answers_200_with_the_same_body(server: LocalServer, client: MakeClient) -> None:
    _, secret = server.key(server.account())
    api = client(server, secret)

    first = api.post("/api/posts", json={"content": "once"}, headers={"Idempotency-Key": "k1"})
    again = api.post("/api/posts", json={"content": "other"}, headers={"Idempotency-Key": "k1"})

    assert (first.status_code, again.status_code) == (201, 200)
    assert again.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    assert api.get("/api/auth/me").json()["totalPosts"] == 1


def test_missing_scope_is_named(server: LocalServer, client: MakeClient) -> None:
    _, secret = server.key(server.account(), Scope.POSTS_DELETE)

    answer = client(server, secret).post("/api/posts", json={"content": "x"})

    assert answer.status_code == 403
    assert answer.json()["error"] == "Missing required scope"
    assert answer.json()["requiredScope"] == "posts:write"
