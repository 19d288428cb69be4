"""The OpenAPI document, held to the server's real answers."""

import json
import re
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from openapi_spec_validator import validate

from pressroom.domains.keys.actions import revoke_key
from pressroom.domains.keys.models import RevokedBy, Scope
from pressroom.domains.moderation.actions import set_admin
from pressroom.errors import Code, Unavailable
from pressroom.server.routes import API_ROUTES, SITE_ROUTES, openapi_document
from pressroom.settings import Settings
from pressroom.web.error_responses import INTERNAL, LABELS
from tests.harness.documented import (
    Documented,
    Json,
    altered,
    examples,
    operations,
    parameters,
    resolve,
    security,
    validator,
    without_unknown_fields,
)
from tests.harness.local import LocalServer
from tests.harness.process import ServerProcess
from tests.media.uploads import image

MakeServer = Callable[..., LocalServer]
MakeClient = Callable[..., httpx.Client]
IDEMPOTENCY = "Idempotency-Key"
TAKEN = (200, 201, 401, 404, 409, 422, 429)
"""Statuses of a body that is well-formed, whatever becomes of it."""

MIRA = {"username": "mira", "email": "mira@example.org", "password": "nine plums and a kettle"}


@pytest.fixture
def server(local_server: MakeServer) -> LocalServer:
    return local_server()


@pytest.fixture
def document(server: LocalServer) -> Json:
    return httpx.get(f"{server.base_url}/openapi.json").json()


@pytest.fixture
def held(client: MakeClient) -> Callable[..., httpx.Client]:
    """Makes clients whose every answer is held to the server's own document: `held(server, key)`."""
    documents: dict[str, Documented] = {}

    def make(server: LocalServer, key: str | None = None) -> httpx.Client:
        if server.base_url not in documents:
            documents[server.base_url] = Documented(httpx.get(f"{server.base_url}/openapi.json").json())
        made = client(server, key)
        made.event_hooks = {"response": [documents[server.base_url].check]}
        return made

    return make


def outcome(answer: httpx.Response) -> tuple[int, str | None]:
    """Status and label."""
    return answer.status_code, answer.json().get("error")


def test_command_prints_the_served_document(process_server: Callable[..., ServerProcess]) -> None:
    server = process_server().start()

    served = httpx.get(f"{server.base_url}/openapi.json")

    assert served.headers["content-type"] == "application/json"
    assert json.loads(server.command("openapi").stdout) == served.json()
    assert served.json()["servers"] == [{"url": server.base_url}]


def test_the_command_opens_nothing(process_server: Callable[..., ServerProcess], tmp_path: Path) -> None:
    server = process_server(DATABASE_URL="postgresql://nobody@127.0.0.1:1/none", DATA_DIR=tmp_path / "none")

    assert json.loads(server.command("openapi").stdout)["openapi"] == "3.1.0"
    assert not (tmp_path / "none").exists()


def test_the_document_is_valid(document: Json) -> None:
    validate(document)


def test_the_document_is_the_same_each_time() -> None:
    assert openapi_document(Settings({})) == openapi_document(Settings({}))


def test_document_has_the_limits_of_this_server() -> None:
    told = openapi_document(Settings({"PRESSROOM_REQUESTS_PER_MINUTE": "77", "PRESSROOM_DAILY_CONTENT_QUOTA": "4321"}))

    assert "77 requests per minute" in told
    assert "4,321 posts" in told


def test_the_document_names_every_route_and_no_other(server: LocalServer, document: Json) -> None:
    documented = {(method, path) for method, path, _ in operations(document)}

    assert documented == {(route.method, route.path) for route in API_ROUTES}
    assert not [route.path for route in SITE_ROUTES if route.path.startswith("/api")]
    for path, methods in document["paths"].items():
        answer = httpx.request("OPTIONS", server.base_url + path.replace("{keyId}", "some"))
        allowed = {method.upper() for method in methods} | ({"HEAD"} if "get" in methods else set())
        assert answer.status_code == 405
        assert set(answer.headers["allow"].split(", ")) == allowed


def test_document_for_keys_has_their_operations_alone(server: LocalServer, document: Json) -> None:
    keyed = httpx.get(f"{server.base_url}/openapi-keys.json").json()

    validate(keyed)
    takes_keys = {
        path for _, path, operation in operations(document) if {"apiKey": []} in security(document, operation)
    }
    assert set(keyed["paths"]) == takes_keys
    assert keyed["components"]["schemas"].keys() < document["components"]["schemas"].keys()
    yaml = httpx.get(f"{server.base_url}/openapi.yaml")
    assert (yaml.headers["content-type"], yaml.json()) == ("application/yaml", document)


def test_document_is_small(server: LocalServer, document: Json) -> None:
    served = len(httpx.get(f"{server.base_url}/openapi.json").content)

    assert served < 1_900 * len(list(operations(document))), "Share what operations have in common by references."


def test_operations_have_unique_names(document: Json) -> None:
    found = [operation for _, _, operation in operations(document)]
    tags = [tag["name"] for tag in document["tags"]]

    named = [re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", operation["operationId"]) for operation in found]
    assert sorted(named) == sorted(route.name for route in API_ROUTES)
    assert len(set(named)) == len(named)
    assert {tag for operation in found for tag in operation["tags"]} == set(tags)
    assert all(tag["description"] for tag in document["tags"])
    assert all(operation["summary"] and operation["description"] for operation in found)


def test_each_operation_names_its_credentials(document: Json) -> None:
    for route in API_ROUTES:
        operation = document["paths"][route.path][route.method.lower()]
        assert operation.get("x-required-scope", "") == " ".join(getattr(route.access, "scopes", ()))
        signed_out = [{}] if getattr(route.access, "anyone", False) else []
        session = [] if getattr(route.access, "key_only", False) else [{"session": []}]
        expected = {
            "Keyed": [{"apiKey": []}, *session, *signed_out],
            "SessionOnly": [{"session": []}],
            "AdminOnly": [{"session": []}],
            "Anyone": [],
        }
        assert security(document, operation) == expected[type(route.access).__name__]


def test_labels_and_codes_are_listed_and_may_grow(document: Json) -> None:
    schemas = document["components"]["schemas"]
    labels = schemas["Problem"]["properties"]["error"]["x-extensible-enum"]

    assert sorted(labels) == sorted(label for _, label in [*LABELS.values(), INTERNAL])
    assert schemas["Code"]["x-extensible-enum"] == [code.value for code in Code]
    assert all(f"`{code}`" in schemas["Code"]["description"] for code in Code)


def test_no_component_is_left_over(document: Json) -> None:
    text = json.dumps(document)

    for kind in ("schemas", "headers", "examples", "responses", "parameters"):
        names = document["components"][kind]
        assert [name for name in names if f'"#/components/{kind}/{name}"' not in text] == []
        assert all(re.fullmatch("[A-Za-z-]+[0-9]*", name) and not name.endswith("Out") for name in names)
    assert ".md" not in text


def test_every_example_is_of_its_schema(document: Json) -> None:
    closed = without_unknown_fields(document)
    checked = 0
    for _, path, operation in operations(closed):
        contents = [operation["requestBody"]["content"]] if "requestBody" in operation else []
        contents += [resolve(closed, response)["content"] for response in operation["responses"].values()]
        for media in (
            media for content in contents for kind, media in content.items() if kind != "application/octet-stream"
        ):
            assert examples(closed, media), f"an example is missing at {path}"
            for example in examples(closed, media):
                validator(closed, media["schema"]).validate(example)
                checked += 1
    for header in closed["components"]["headers"].values():
        validator(closed, header["schema"]).validate(header["example"])
    for response in closed["x-elsewhere"].values():
        for media in response["content"].values():
            for example in examples(closed, media):
                validator(closed, media["schema"]).validate(example)
    assert checked > 100


def test_the_bodies_shown_are_taken_as_they_stand(server: LocalServer, document: Json, held: MakeClient) -> None:
    browser = held(server)

    def send(method: str, path: str) -> httpx.Response:
        operation = document["paths"][path][method]
        body = operation["requestBody"]["content"]["application/json"]["example"]
        answer = browser.request(method, path, json=body)
        described = resolve(document, operation["responses"][str(answer.status_code)])
        (shown,) = examples(document, described["content"]["application/json"])
        assert answer.json().keys() == shown.keys()
        return answer

    assert send("post", "/api/auth/signup").status_code == 201
    assert send("post", "/api/auth/login").status_code == 200
    assert send("patch", "/api/auth/me").status_code == 200
    assert send("post", "/api/auth/api-keys").status_code == 201
    assert send("post", "/api/posts").status_code == 201


def test_responses_to_programs_match_the_document(local_server: MakeServer, held: MakeClient) -> None:
    server = local_server(POSTS_PER_MINUTE=50)
    _, secret = server.key(server.account("mira"))
    api = held(server, secret)
    once = {"Idempotency-Key": "0d1f6a5e"}

    assert outcome(api.get("/api/auth/me")) == (200, None)
    assert outcome(api.post("/api/posts", json={"content": "Hello", "visibility": None})) == (201, None)
    assert outcome(api.post("/api/posts", json={"content": "x", "location": {"name": "Köln"}})) == (201, None)
    assert outcome(api.post("/api/posts", json={"content": "Hello"}, headers=once)) == (201, None)
    replayed = api.post("/api/posts", json={"content": "Hello"}, headers=once)
    assert (replayed.status_code, replayed.headers["Idempotent-Replayed"]) == (200, "true")
    assert outcome(api.post("/api/posts", content=b"{")) == (400, "Validation failed")
    assert outcome(api.post("/api/posts", json={"visibility": "x", "a": 1})) == (400, "Validation failed")
    assert outcome(api.post("/api/posts", json={"content": "é", "hubId": "x"})) == (422, "Unprocessable")
    for key, status in (("k" * 255, 201), ("k" * 256, 400), ("a b", 400)):
        again = api.post("/api/posts", json={"content": "x"}, headers={"Idempotency-Key": key})
        assert again.status_code == status
    assert outcome(api.post("/api/posts", content=b" " * 300_000)) == (413, "Payload too large")
    plain = {"Content-Type": "text/plain"}
    assert outcome(api.post("/api/posts", content=b"{}", headers=plain)) == (415, "Unsupported media type")
    assert outcome(api.delete("/api/posts")) == (405, "Method not allowed")
    assert outcome(api.get("/api/feed")) == (404, "Not found")


def test_a_key_is_refused_as_documented(server: LocalServer, held: MakeClient) -> None:
    account = server.account("mira")
    now = server.clock.now()
    _, expired = server.key(account, expires_at=now + 1000)
    _, scopeless = server.key(account, Scope.POSTS_DELETE)
    _, elsewhere = server.key(account, ips=("203.0.113.0/24",))
    record, revoked = server.key(account)
    browser = held(server)
    browser.post("/api/auth/signup", json={**MIRA, "username": "other"})
    server.clock.advance(1000)
    server.run(server.runtime.db.transact(revoke_key, record.id, RevokedBy.ADMIN, "Lost."))

    for refused, label in ((expired, "API key expired"), (revoked, "API key revoked"), ("x", "Invalid API key")):
        assert outcome(held(server, refused).post("/api/posts", json={"content": "x"})) == (401, label)
        assert outcome(held(server, refused).get("/api/auth/api-keys")) == (401, label)
    assert outcome(held(server).post("/api/posts", json={"content": "x"})) == (401, "Missing API key")
    assert outcome(held(server, scopeless).post("/api/posts", json={})) == (403, "Missing required scope")
    assert outcome(held(server, elsewhere).get("/api/auth/me")) == (403, "IP address not allowed")
    for method, path in (("POST", "/api/auth/login"), ("POST", "/api/auth/logout"), ("GET", "/api/auth/api-keys/x")):
        assert outcome(held(server, scopeless).request(method, path)) == (403, "Session required")


def test_limits_refuse_as_documented(local_server: MakeServer, held: MakeClient) -> None:
    server = local_server(REQUESTS_PER_MINUTE=6, REQUESTS_PER_DAY=11, POSTS_PER_MINUTE=3, DAILY_CONTENT_QUOTA=2)
    _, secret = server.key(server.account("mira"))
    api = held(server, secret)

    def publish() -> tuple[int, str | None]:
        return outcome(api.post("/api/posts", json={"content": "x"}))

    assert [publish() for _ in range(2)] == [(201, None)] * 2
    assert publish() == (429, "Daily content quota exceeded")
    assert publish() == (429, "Rate limit exceeded")
    assert [outcome(api.get("/api/auth/me"))[0] for _ in range(3)] == [200, 200, 429]
    assert outcome(api.patch("/api/auth/me", json={})) == (429, "Rate limit exceeded")
    server.clock.advance(61_000)
    assert [outcome(api.get("/api/auth/me"))[0] for _ in range(6)] == [200] * 6
    server.clock.advance(61_000)
    assert "per 24 hours" in api.get("/api/auth/me").json()["message"]


def test_responses_to_people_match_the_document(local_server: MakeServer, held: MakeClient) -> None:
    server = local_server(SIGN_IN_FAILURES_PER_ACCOUNT=1)
    browser, stranger = held(server), held(server)

    signed_up = browser.post("/api/auth/signup", json=MIRA)
    assert (signed_up.status_code, "session=" in signed_up.headers["Set-Cookie"]) == (201, True)
    assert outcome(stranger.post("/api/auth/signup", json=MIRA)) == (409, "Conflict")
    assert outcome(stranger.post("/api/auth/signup", json={})) == (400, "Validation failed")
    assert outcome(browser.patch("/api/auth/me", json={"bio": None})) == (200, None)
    assert outcome(browser.patch("/api/auth/me", json={})) == (400, "Validation failed")
    assert outcome(browser.post("/api/posts", json={"content": "signed in"})) == (201, None)
    key = {"label": "Night desk", "scopes": ["posts:write"], "ipAllowlist": ["203.0.113.0/24"]}
    made = [browser.post("/api/auth/api-keys", json=key) for _ in range(6)]
    assert [outcome(answer) for answer in made] == [(201, None)] * 5 + [(409, "Conflict")]
    path = f"/api/auth/api-keys/{made[0].json()['id']}"
    assert [outcome(browser.request(method, path))[0] for method in ("GET", "DELETE", "DELETE")] == [200] * 3
    assert outcome(browser.get("/api/auth/api-keys/none")) == (404, "Not found")
    assert len(browser.get("/api/auth/api-keys?limit=2").json()["apiKeys"]) == 2
    assert outcome(browser.get("/api/auth/api-keys?limit=0")) == (400, "Validation failed")
    abroad = {"Origin": "https://elsewhere.example"}
    assert outcome(browser.delete(path, headers=abroad)) == (403, "Cross-origin request refused")
    assert outcome(stranger.get(path)) == (401, "Not signed in")
    wrong = {"login": "mira", "password": "ten plums"}
    assert outcome(stranger.post("/api/auth/login", json=wrong)) == (401, "Invalid credentials")
    assert outcome(stranger.post("/api/auth/login", json=wrong)) == (429, "Too many attempts")
    signed_out = browser.post("/api/auth/logout")
    assert (signed_out.status_code, "Max-Age=0" in signed_out.headers["Set-Cookie"]) == (200, True)


def test_a_closed_door_answers_as_documented(local_server: MakeServer, held: MakeClient) -> None:
    assert outcome(held(local_server(SIGNUP="closed")).post("/api/auth/signup", json=MIRA)) == (404, "Not found")


def test_failures_answer_as_documented(server: LocalServer, held: MakeClient, monkeypatch: pytest.MonkeyPatch) -> None:
    _, secret = server.key(server.account("mira"))
    api = held(server, secret)

    def fail(error: Exception) -> None:
        async def find(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr(type(server.runtime.db), "transact", find)

    fail(Unavailable("The database does not answer.", 2))
    assert outcome(api.post("/api/posts", json={"content": "x"})) == (503, "Unavailable")
    fail(RuntimeError("a secret"))
    assert outcome(api.post("/api/posts", json={"content": "x"})) == (500, "Internal error")


def test_a_slow_body_is_answered_as_documented(local_server: MakeServer) -> None:
    server = local_server(BODY_TIMEOUT_SECONDS=1)
    _, secret = server.key(server.account("mira"))
    head = f"POST /api/posts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {secret}\r\nContent-Length: 9\r\n\r\n{{"

    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(head.encode())
        raw = connection.recv(65536)

    lines, body = raw.split(b"\r\n\r\n")
    status, *headers = lines.decode().split("\r\n")
    request = httpx.Request("POST", f"{server.base_url}/api/posts", headers={"Authorization": secret})
    named = [(name, value) for name, _, value in (line.partition(": ") for line in headers)]
    answer = httpx.Response(int(status.split()[1]), headers=named, content=body)
    answer.request = request
    Documented(httpx.get(f"{server.base_url}/openapi.json").json()).check(answer)
    assert outcome(answer) == (408, "Request timeout")


def test_the_schemas_of_bodies_are_the_rules_of_the_server(
    server: LocalServer, document: Json, client: MakeClient
) -> None:
    browser = client(server)
    browser.post("/api/auth/signup", json={**MIRA, "username": "first"}).raise_for_status()
    server.run(server.runtime.db.transact(set_admin, "first", is_admin=True))
    wrong: list[str] = []
    tried = 0
    for method, path, operation in operations(document):
        media = operation.get("requestBody", {"content": {}})["content"].get("application/json")
        if media is None:
            continue
        sender = browser if security(document, operation) else client(server)
        documented = validator(document, media["schema"])
        for body in altered(document, media["schema"], media["example"]):
            status = sender.request(method, path, json=body).status_code
            tried += 1
            if status not in (TAKEN if documented.is_valid(body) else (400,)):
                wrong.append(f"{method} {path} {str(body)[:300]} {status}")
    assert wrong == []
    assert tried > 200


def test_each_paste_of_a_sample_has_a_fresh_idempotency_key(server: LocalServer, tmp_path: Path) -> None:
    """The samples of creating and uploading a post are run as they stand, twice each, by a shell."""
    document = httpx.get(f"{server.base_url}/openapi.json").json()
    writes = [
        operation
        for _, _, operation in operations(document)
        if any(each["name"] == IDEMPOTENCY for each in parameters(document, operation))
    ]
    writes = [operation for operation in writes if "x-codeSamples" in operation]
    samples = [operation["x-codeSamples"][0]["source"] for operation in writes]
    assert len(samples) >= 8
    assert all('"Idempotency-Key: $(date +%s%N)"' in sample for sample in samples)

    key = server.key(server.account())[1]
    (tmp_path / "FILE").write_bytes(image())
    for path in ("/api/posts", "/api/posts/upload"):
        sample = document["paths"][path]["post"]["x-codeSamples"][0]["source"].replace("svc_live_…", key)
        sample = re.sub(r"-F hubId=\S+ \\\n|\"hubId\":\"[^\"]+\",", "", sample)
        pasted = [
            subprocess.run(["sh", "-c", sample], cwd=tmp_path, capture_output=True, check=True, timeout=30).stdout
            for _ in range(2)
        ]
        ids = {json.loads(answer)["id"] for answer in pasted}
        assert len(ids) == 2, pasted
