"""Requests that no client library would send: faults that come before the body."""

import contextlib
import re
from collections.abc import Callable

import pytest

from pressroom.domains.keys.secret import new_secret
from tests.api.actors import NOTHING, Actor
from tests.api.conftest import one_engine
from tests.api.sockets import Reply, Wire, exchange
from tests.harness.local import LocalServer

pytestmark = one_engine

REQUEST_ID = re.compile(r"[0-9a-f]{16}")
LIMITS = ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset")
BODY = b'{"content":"Hello"}'


def check_headers(reply: Reply, *, in_api: bool = True, limits: bool = False) -> None:
    """Each answer bears a request id, the API's also its version, and a key's also the state of its limits."""
    assert REQUEST_ID.fullmatch(reply.header("x-request-id") or "")
    assert reply.header("x-service-api-version") == ("1" if in_api else None)
    assert [name for name in LIMITS if reply.header(name) is not None] == (list(LIMITS) if limits else [])


def refused(reply: Reply, status: int, label: str) -> None:
    """The answer is an envelope with this label and nothing that was not asked for."""
    assert (reply.status, reply.json()["error"]) == (status, label)
    assert reply.header("content-type") == "application/json"
    assert set(reply.json()) <= {"error", "message", "retryAfter", "limit", "requiredScope", "details"}


def publish(server: LocalServer, *lines: str) -> Reply:
    return exchange(server, "POST", "/api/posts", f"Content-Length: {len(BODY)}", *lines, body=BODY)


def mangled(key: str, place: int) -> str:
    return key[:place] + ("A" if key[place] != "A" else "B") + key[place + 1 :]


def test_a_request_without_a_key(server: LocalServer) -> None:
    reply = publish(server)

    refused(reply, 401, "Missing API key")
    assert reply.header("www-authenticate") == "Bearer"
    check_headers(reply)


AUTHORIZATIONS: dict[str, Callable[[str], str]] = {
    "nothing": lambda key: "",
    "no scheme": lambda key: key,
    "the scheme alone": lambda key: "Bearer",
    "no space": lambda key: f"Bearer{key}",
    "a tab": lambda key: f"Bearer\t{key}",
    "another scheme": lambda key: f"Basic {key}",
    "quotes": lambda key: f'Bearer "{key}"',
    "a comma": lambda key: f"Bearer {key},",
    "two in one": lambda key: f"Bearer {key} {key}",
    "one character less": lambda key: f"Bearer {key[:-1]}",
    "one character more": lambda key: f"Bearer {key}A",
    "a letter of another script": lambda key: f"Bearer {key[:-1]}\xe9",
    "another case": lambda key: f"Bearer {key.swapcase()}",
    "changed in the prefix": lambda key: f"Bearer {mangled(key, 4)}",
    "changed at the first": lambda key: f"Bearer {mangled(key, 9)}",
    "changed within": lambda key: f"Bearer {mangled(key, 25)}",
    "changed at the last": lambda key: f"Bearer {mangled(key, 40)}",
    "wrong checksum, at its first": lambda key: f"Bearer {mangled(key, 41)}",
    "wrong checksum, at its last": lambda key: f"Bearer {mangled(key, 46)}",
    "100,000 characters": lambda key: f"Bearer {key}{'A' * 100_000}",
}


@pytest.mark.parametrize("line", AUTHORIZATIONS.values(), ids=AUTHORIZATIONS)
def test_a_string_that_is_no_key_is_refused_without_a_look_at_the_database(
    alice: Actor, monkeypatch: pytest.MonkeyPatch, line: Callable[[str], str]
) -> None:
    monkeypatch.setattr(alice.server.runtime.db, "one", None)

    reply = publish(alice.server, f"Authorization: {line(alice.key)}")

    refused(reply, 401, "Invalid API key")
    assert reply.header("www-authenticate") == "Bearer"
    assert alice.key.encode() not in reply.body
    check_headers(reply)
    monkeypatch.undo()
    assert alice.written() == NOTHING


def test_a_key_that_we_never_issued_is_invalid(server: LocalServer) -> None:
    reply = publish(server, f"Authorization: Bearer {new_secret('')}")

    refused(reply, 401, "Invalid API key")
    check_headers(reply)


def test_two_authorization_headers_are_no_key(alice: Actor) -> None:
    refused(publish(alice.server, alice.bearer, alice.bearer), 401, "Invalid API key")
    assert alice.written() == NOTHING


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER ", "Bearer   "])
def test_the_scheme_has_no_case(alice: Actor, scheme: str) -> None:
    reply = publish(alice.server, f"Authorization: {scheme}{alice.key}")

    assert reply.status == 201
    check_headers(reply, limits=True)


def test_a_header_of_a_megabyte_does_no_harm(alice: Actor) -> None:
    with Wire(alice.server) as wire, contextlib.suppress(ConnectionError):
        wire.send(f"GET /api/auth/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {'a' * 2**20}\r\n\r\n".encode())
        assert 400 <= wire.reply().status < 500
    assert alice.api.get("/api/auth/me").status_code == 200


IDEMPOTENCY_KEYS = {
    "empty": ("Idempotency-Key:",),
    "256 characters": (f"Idempotency-Key: {'k' * 256}",),
    "a space": ("Idempotency-Key: a b",),
    "a tab": ("Idempotency-Key: a\tb",),
    "Latin-1": ("Idempotency-Key: caf\xe9",),
    "UTF-8": ("Idempotency-Key: cafÃ©",),
    "two": ("Idempotency-Key: a", "Idempotency-Key: b"),
    "twice the same": ("Idempotency-Key: a", "idempotency-key: a"),
}


@pytest.mark.parametrize("lines", IDEMPOTENCY_KEYS.values(), ids=IDEMPOTENCY_KEYS)
def test_an_idempotency_key_is_1_to_255_visible_characters(alice: Actor, lines: tuple[str, ...]) -> None:
    reply = publish(alice.server, alice.bearer, *lines)

    refused(reply, 400, "Validation failed")
    assert [(fault["field"], fault["code"]) for fault in reply.json()["details"]] == [
        ("header.Idempotency-Key", "invalid_format")
    ]
    check_headers(reply, limits=True)
    assert alice.written() == NOTHING


@pytest.mark.parametrize(
    ("path", "kind", "body"),
    [
        ("/api/posts", "application/json", b""),
        ("/api/posts", "application/json", b'{"content": '),
        ("/api/posts", "application/json", b"[]"),
        ("/api/posts", "application/json", b"\xff{}"),
        ("/api/posts", "application/json", b"[" * 100_000),
        ("/api/posts/nothing/bounce", "application/json", b"{"),
        ("/api/posts/upload", "multipart/form-data; boundary=x", b""),
        ("/api/posts/upload", "multipart/form-data", b"--x--"),
    ],
)
def test_an_invalid_idempotency_key_is_named_beside_a_malformed_body(
    alice: Actor, path: str, kind: str, body: bytes
) -> None:
    answer = alice.api.post(path, content=body, headers={"Idempotency-Key": "a b", "Content-Type": kind})

    assert answer.status_code == 400
    assert [fault["field"] for fault in answer.json()["details"]] == ["header.Idempotency-Key", "body"]
    assert alice.written() == NOTHING


@pytest.mark.parametrize("key", ["k", "k" * 255, "!~,;\"'\\"])
def test_any_visible_characters_will_do(alice: Actor, key: str) -> None:
    lines = (alice.bearer, f"Idempotency-Key: {key}")

    assert [publish(alice.server, *lines).status for _ in range(2)] == [201, 200]
    assert alice.written() == (1, 1, 1, 1)


@pytest.mark.parametrize(
    "method", ["GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "BREW", "post", "X" * 200]
)
def test_wrong_method_is_405_with_allow(alice: Actor, method: str) -> None:
    reply = exchange(alice.server, method, "/api/posts/upload", alice.bearer, "Cookie: session=x")

    assert reply.status == 405
    assert reply.header("allow") == "POST"
    if method != "HEAD":
        refused(reply, 405, "Method not allowed")
    check_headers(reply)
    assert alice.api.get("/api/auth/me").headers["X-RateLimit-Remaining"] == "59"


def test_head_answers_as_get_without_its_body(alice: Actor) -> None:
    head = exchange(alice.server, "HEAD", "/api/auth/me", alice.bearer)
    got = exchange(alice.server, "GET", "/api/auth/me", alice.bearer)

    assert (head.status, head.body) == (200, b"")
    assert head.header("content-length") == str(len(got.body))
    check_headers(head, limits=True)


@pytest.mark.parametrize("method", ["POST", "DELETE", "BREW"])
def test_a_document_can_only_be_read(server: LocalServer, method: str) -> None:
    reply = exchange(server, method, "/openapi.json")

    refused(reply, 405, "Method not allowed")
    assert set((reply.header("allow") or "").split(", ")) == {"GET", "HEAD"}
    check_headers(reply, in_api=False)


IN_API = {
    "/api": "the root",
    "/api/": "the root with a slash",
    "/api/nothing": "unknown",
    "/api/posts/": "a slash at the end",
    "/api//posts": "two slashes",
    "/api/posts%2F": "an encoded slash at the end",
    "/api%2Fposts": "an encoded slash",
    "/api/posts%00": "NUL",
    "/api/posts%0d%0aX-Injected:%201": "a line break",
    "/api/posts%ff": "not UTF-8",
    "/api/./posts": "a dot",
    "/api/x/../posts": "two dots",
    "/api/%2e%2e/api/posts": "two encoded dots",
    "/api/Posts": "another case",
    "/api/posts;v=1": "a parameter",
    "/api/" + "a" * 8_000: "8,000 characters",
    "/api/auth/api-keys/a/b": "one segment too many",
    "/api/auth/api-keys/": "no id",
    "/api/auth/api-keys/a%2Fb/c": "an encoded slash in an id",
}


@pytest.mark.parametrize("target", IN_API, ids=IN_API.values())
@pytest.mark.parametrize("method", ["GET", "POST", "BREW"])
def test_a_path_of_the_api_that_does_not_exist(alice: Actor, method: str, target: str) -> None:
    lines = (alice.bearer, "Content-Length: 0")
    reply = exchange(alice.server, method, target, *(lines if method == "POST" else lines[:1]))

    refused(reply, 404, "Not found")
    assert len(reply.body) < 1000
    assert reply.header("x-injected") is None
    check_headers(reply)


ELSEWHERE = {
    "/nothing": "unknown",
    "/apis/posts": "like the API",
    "//api/posts": "two slashes",
    "/../api/posts": "two dots",
    "/%2e%2e/etc/passwd": "encoded dots",
    "/static/": "no file",
    "/static/..%2f..%2fapp.py": "out of the folder",
    "/static/../app.py": "out of the folder, plainly",
    "/static/%00": "NUL",
    "/avatars/%00.svg": "NUL in an avatar",
    "/%ff": "not UTF-8",
    "/" + "a" * 8_000: "8,000 characters",
    "*": "the asterisk",
    "/%3Cscript%3Ealert(1)%3C/script%3E": "a script",
}


@pytest.mark.parametrize("target", ELSEWHERE, ids=ELSEWHERE.values())
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_page_that_does_not_exist(server: LocalServer, method: str, target: str) -> None:
    reply = exchange(server, method, target)

    assert reply.status == 404
    assert reply.header("content-type") == "text/html; charset=utf-8"
    assert b"<script" not in reply.body
    check_headers(reply, in_api=False)


def test_an_absolute_target_means_its_path(alice: Actor) -> None:
    reply = exchange(alice.server, "GET", "http://elsewhere.example/api/auth/me", alice.bearer)

    assert reply.status == 200
    assert "elsewhere" not in reply.json()["avatar"]


HOSTS = ["", "bad host", "a,b", "[::1", "a/b", "a@b", "x:99999999", "x" * 1000, "\xff", "127.0.0.1\r\nHost: second"]


@pytest.mark.parametrize("host", HOSTS, ids=ascii)
def test_the_host_header_decides_nothing(alice: Actor, host: str) -> None:
    with Wire(alice.server) as wire:
        wire.send(f"GET /api/auth/me HTTP/1.1\r\nHost: {host}\r\n{alice.bearer}\r\n\r\n".encode("latin-1"))
        reply = wire.reply()

    assert reply.status in (200, 400)
    if reply.status == 200:
        assert reply.json()["avatar"].startswith(alice.server.base_url + "/")


@pytest.mark.parametrize("path", ["/api/auth/me", "/api/nothing", "/healthz", "/nothing"])
@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ((), "required"),
        (("Host:",), "required"),
        (("Host: a", "Host: a"), "duplicate"),
        (("Host: a",) * 9, "duplicate"),
    ],
    ids=["none", "empty", "two", "nine"],
)
def test_a_request_has_one_host(alice: Actor, path: str, lines: tuple[str, ...], code: str) -> None:
    with Wire(alice.server) as wire:
        wire.send("\r\n".join([f"GET {path} HTTP/1.1", *lines, alice.bearer, "", ""]).encode())
        reply = wire.reply()

    assert reply.status == 400
    if path == "/nothing":
        assert reply.header("content-type") == "text/html; charset=utf-8"
        assert b"Host header" in reply.body
    else:
        assert reply.json()["error"] == "Validation failed"
        assert [(each["field"], each["code"]) for each in reply.json()["details"]] == [("header.Host", code)]
    assert reply.header("x-service-api-version") == ("1" if path.startswith("/api") else None)


def test_http_1_0_needs_no_host(alice: Actor) -> None:
    with Wire(alice.server) as wire:
        wire.send(f"GET /api/auth/me HTTP/1.0\r\n{alice.bearer}\r\n\r\n".encode())
        assert wire.reply().status == 200


@pytest.mark.parametrize(
    "lines",
    [
        ("Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="),
        ("Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA"),
        ("Upgrade: TLS/1.0",),
    ],
    ids=["WebSocket", "HTTP/2", "TLS"],
)
def test_nothing_but_http_1_is_spoken(alice: Actor, lines: tuple[str, ...]) -> None:
    assert exchange(alice.server, "GET", "/api/auth/me", alice.bearer, "Connection: Upgrade", *lines).status == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\nBad Name: 1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nA: \x00\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 2000 + b"\r\n",
        b"POST /api/posts HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/posts HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    ],
    ids=["name", "NUL", "version", "cut", "TLS", "many", "negative", "two lengths"],
)
def test_invalid_http_is_refused_or_dropped(server: LocalServer, sent: bytes) -> None:
    with Wire(server) as wire:
        wire.send(sent)
        with contextlib.suppress(ConnectionError):
            assert 400 <= wire.reply().status < 500
