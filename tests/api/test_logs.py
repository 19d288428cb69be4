"""The server's log of requests, and values that are never in it."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from pressroom.domains.keys.models import Scope
from pressroom.domains.keys.secret import new_secret
from tests.api.actors import Actor, nobody
from tests.api.conftest import MakeActor
from tests.api.sockets import exchange
from tests.harness.local import LocalServer

PASSWORD = "nine plums and a kettle"
DATABASE_PASSWORD = "hunter2-of-the-database"
FIELDS = {"at", "level", "event", "request_id", "method", "path", "status", "ms", "client"}


def log_of(server: LocalServer) -> str:
    """All that the server has logged so far."""

    async def flush() -> None:
        server.runtime.log.flush()

    server.run(flush())
    return server.stream.getvalue()


def entries(server: LocalServer) -> list[dict[str, Any]]:
    """The log, line by line."""
    return [json.loads(line) for line in log_of(server).split("\n") if line]


def entry(server: LocalServer, request_id: str | None) -> dict[str, Any]:
    """The one line about a request."""
    found = [each for each in entries(server) if each.get("request_id") == request_id and each["event"] == "request"]
    assert len(found) == 1
    line: dict[str, Any] = found[0]
    return line


def test_a_request_has_one_line(alice: Actor) -> None:
    for answer, method, path in (
        (alice.post(), "POST", "/api/posts"),
        (alice.api.get("/api/auth/me?limit=1"), "GET", "/api/auth/me"),
        (alice.api.post("/api/posts", json={}), "POST", "/api/posts"),
        (alice.api.get("/api/nothing"), "GET", "/api/nothing"),
        (alice.api.put("/api/posts"), "PUT", "/api/posts"),
        (nobody.get(f"{alice.server.base_url}/nothing/Köln"), "GET", "/nothing/Köln"),
    ):
        line = entry(alice.server, answer.headers["X-Request-Id"])
        assert {*line, "account_id", "key_id"} == FIELDS | {"account_id", "key_id"}
        assert (line["method"], line["path"], line["status"]) == (method, path, answer.status_code)
        assert line["client"] == "127.0.0.1"
        assert line["level"] == "info"


def test_log_line_names_account_and_key_also_of_refusals(actor: MakeActor) -> None:
    alice = actor(Scope.POSTS_WRITE)
    server, account, key = alice.server, alice.account.id, alice.record.id

    def named(answer: httpx.Response) -> tuple[int, str | None, str | None]:
        line = entry(server, answer.headers["X-Request-Id"])
        return line["status"], line.get("account_id"), line.get("key_id")

    assert named(alice.post()) == (201, account, key)
    assert named(alice.api.post("/api/posts", json={})) == (400, account, key)
    assert named(alice.api.delete("/api/posts/x")) == (403, account, key), "a scope that is missing"
    assert named(alice.api.get("/api/notifications")) == (403, account, key), "no key may do it"
    assert named(alice.web.get("/api/notifications")) == (200, account, None)
    assert named(alice.web.get(f"/@{alice.account.username}")) == (200, account, None)
    crossed = alice.web.post("/api/posts", json={"content": "a"}, headers={"Origin": "https://elsewhere.example"})
    assert named(crossed) == (403, account, None)
    refusals = [each for each in entries(server) if each["event"] == "cross-origin request refused"]
    assert "https://elsewhere.example" in refusals[-1]["reason"]
    assert server.base_url in refusals[-1]["reason"]
    assert named(nobody.get(f"{server.base_url}/robots.txt")) == (200, None, None)
    wrong = nobody.get(f"{server.base_url}/api/auth/me", headers={"Authorization": f"Bearer {new_secret('')}"})
    assert named(wrong) == (401, None, None)


@pytest.mark.parametrize(
    "target",
    [
        "/api/%0a%7B%22event%22:%22forged%22%7D",
        "/x%0d%0aforged",
        "/%1b[2J",
        "/" + "a" * 10_000,
        "/%ff%fe",
        "/%E2%80%A8x",
    ],
    ids=ascii,
)
def test_a_path_cannot_forge_a_line(server: LocalServer, target: str) -> None:
    reply = exchange(server, "GET", target)

    line = entry(server, reply.header("x-request-id"))
    assert len(line["path"]) <= 500
    assert "forged" not in {each["event"] for each in entries(server)}


def test_no_secret_is_ever_written_down(alice: Actor) -> None:
    server, stranger = alice.server, new_secret("")
    secrets = {alice.key, alice.token, PASSWORD, stranger}

    def sent(method: str, path: str, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
        return nobody.request(method, server.base_url + path, headers=headers or {}, **more)

    body = {"username": f"{alice.account.username}_too", "email": "a@example.org", "password": PASSWORD}
    signed_up = sent("POST", "/api/auth/signup", json=body)
    assert signed_up.status_code == 201
    secrets.add(signed_up.cookies["session"])
    assert sent("POST", "/api/auth/login", json={"login": body["username"], "password": PASSWORD}).status_code == 200
    assert sent("POST", "/api/auth/login", json={"login": PASSWORD, "password": PASSWORD}).status_code == 401
    assert sent("POST", "/api/auth/signup", json={"password": PASSWORD, PASSWORD: 1}).status_code == 400
    made = alice.web.post("/api/auth/api-keys", json={"label": "a", "scopes": ["posts:write"]})
    secrets.add(made.json()["key"])
    for authorization in (
        f"Bearer {stranger}",
        f"Bearer {alice.key[:-1]}",
        f"Basic {alice.key}",
        alice.key,
        f"Bearer {alice.token}",
    ):
        assert sent("GET", "/api/auth/me", {"Authorization": authorization}).status_code == 401
    for path in (
        f"/api/{alice.key}",
        f"/api/auth/api-keys/{stranger}",
        f"/{alice.key}/x",
        f"/api/auth/me?key={alice.key}",
    ):
        sent("GET", path, {"Cookie": alice.cookie})
        sent("GET", path.replace("_live_", "%5Flive%5F"))
    assert alice.post(alice.key, idempotency_key=stranger).status_code == 201

    log = log_of(server)
    assert log.count('"event":"request"') > 15, "what is there is looked at"
    for secret in secrets:
        assert secret not in log
        assert secret.removeprefix("svc_live_")[:12] not in log


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_failure_is_logged_without_its_values(alice: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"postgresql://pressroom:{DATABASE_PASSWORD}@db.example/pressroom"

    async def fail(*_: object, **__: object) -> None:
        raise RuntimeError(f"cannot reach {url} with {alice.key}, Authorization: Bearer {alice.token}")

    monkeypatch.setattr(alice.server.runtime.db, "transact", fail)
    answer = alice.post()
    monkeypatch.undo()

    assert answer.status_code == 500
    assert answer.json()["error"] == "Internal error"
    assert "details" not in answer.json()
    assert "reach" not in answer.text
    assert answer.headers["X-RateLimit-Limit"] == "60"
    log = log_of(alice.server)
    failures = [each for each in entries(alice.server) if each["event"] == "request failed"]
    assert [failure["request_id"] for failure in failures] == [answer.headers["X-Request-Id"]]
    assert "RuntimeError" in failures[0]["trace"], "where it failed is told"
    assert failures[0]["level"] == "error"
    for secret in (DATABASE_PASSWORD, alice.key[9:], alice.token):
        assert secret not in log
        assert secret not in answer.text


def test_the_password_of_the_database_is_in_no_line(
    local_server: Callable[..., LocalServer], engine_settings: dict[str, object]
) -> None:
    settings = dict(engine_settings)
    if url := str(settings.get("DATABASE_URL", "")):
        settings["DATABASE_URL"] = url.replace("postgres@", f"postgres:{DATABASE_PASSWORD}@")
    server = local_server(**settings)

    assert nobody.get(f"{server.base_url}/readyz").status_code == 200
    assert DATABASE_PASSWORD not in log_of(server)
