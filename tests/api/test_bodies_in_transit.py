"""Bodies that are too large, too slow, of the wrong type, or never arrive."""

import contextlib
import time
from pathlib import Path

import pytest

from tests.api.actors import NOTHING, Actor
from tests.api.conftest import one_engine
from tests.api.sockets import Reply, Wire, exchange

SETTINGS = {"BODY_TIMEOUT_SECONDS": 2, "REQUESTS_PER_MINUTE": 1000, "POSTS_PER_MINUTE": 1000}

pytestmark = one_engine

LIMIT = 256 * 1024
MEGABYTE = 2**20
BODY = b'{"content":"Hello"}'


def head(actor: Actor, *lines: str, target: str = "/api/posts") -> bytes:
    first = [f"POST {target} HTTP/1.1", "Host: x", actor.bearer, "Idempotency-Key: again"]
    return "\r\n".join([*first, *lines, "", ""]).encode("latin-1")


def refused(reply: Reply, status: int, label: str) -> None:
    assert (reply.status, reply.json()["error"]) == (status, label)
    assert reply.header("content-type") == "application/json"
    assert reply.header("x-request-id")
    assert reply.header("x-service-api-version") == "1"
    assert reply.header("x-ratelimit-limit") == "1000"


def resident() -> int:
    """Bytes of memory that this process, and the server within it, holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.parametrize("chunked", [False, True], ids=["with its length", "in chunks"])
def test_50_megabytes_are_refused_before_they_are_read_and_the_client_gets_to_hear_it(
    alice: Actor, *, chunked: bool
) -> None:
    piece = b" " * MEGABYTE
    chunk = b"%x\r\n%b\r\n" % (len(piece), piece)
    before = resident()

    with Wire(alice.server) as wire:
        if chunked:
            wire.send(head(alice, "Transfer-Encoding: chunked"))
            wire.send(chunk)
        else:
            wire.send(head(alice, f"Content-Length: {50 * MEGABYTE}"))
        refused(wire.reply(), 413, "Payload too large")
        for _ in range(49 if chunked else 50):
            wire.send(chunk if chunked else piece)
        if chunked:
            wire.send(b"0\r\n\r\n")
        wire.send(head(alice, f"Content-Length: {len(BODY)}") + BODY)
        assert wire.reply().status == 201, "the connection is as good as new"

    assert resident() - before < 8 * MEGABYTE
    assert alice.written() == (1, 1, 1, 1)


def test_a_client_that_writes_all_before_it_reads_hears_the_answer(alice: Actor) -> None:
    for target in ("/api/posts", "/api/nothing", "/api/auth/me"):
        with Wire(alice.server) as wire:
            wire.send(head(alice, f"Content-Length: {50 * MEGABYTE}", target=target) + b" " * (50 * MEGABYTE))
            assert wire.reply().status in (413, 404, 405)


def test_a_body_without_end_is_not_listened_to_for_ever(alice: Actor) -> None:
    piece = b" " * MEGABYTE
    sent = 0
    with Wire(alice.server) as wire, contextlib.suppress(ConnectionError):
        wire.send(head(alice, "Transfer-Encoding: chunked"))
        while sent < 1000:
            wire.send(b"%x\r\n%b\r\n" % (len(piece), piece))
            sent += 1

    assert 50 < sent < 200


def test_the_limit_is_256_kilobytes(alice: Actor) -> None:
    fits = b'{"content":"a"}' + b" " * (LIMIT - 15)
    for body, status in ((fits, 201), (fits + b" ", 413)):
        reply = alice.api.post("/api/posts", content=body)
        assert reply.status_code == status
        reply = alice.api.post("/api/posts", content=iter([body[:100], body[100:]]))
        assert reply.status_code == status
    assert alice.written()[0] == 2


def test_a_body_that_does_not_come_is_waited_for_two_seconds(alice: Actor) -> None:
    for lines, begun in (("Content-Length: 100", b'{"content'), ("Transfer-Encoding: chunked", b'9\r\n{"content\r\n')):
        with Wire(alice.server) as wire:
            began = time.monotonic()
            wire.send(head(alice, lines) + begun)
            refused(wire.reply(), 408, "Request timeout")
            assert time.monotonic() - began > 1.9
    assert alice.written() == NOTHING


def test_a_body_that_drips_is_not_waited_for_any_longer(alice: Actor) -> None:
    with Wire(alice.server) as wire:
        wire.send(head(alice, "Content-Length: 100000"))
        for _ in range(100):
            if wire.has_something(0.05):
                break
            wire.send(b" ")
        refused(wire.reply(), 408, "Request timeout")


def test_aborted_upload_changes_nothing(alice: Actor) -> None:
    for lines, begun in (("Content-Length: 100", BODY), ("Transfer-Encoding: chunked", b"13\r\n" + BODY + b"\r\n")):
        with Wire(alice.server) as wire:
            wire.send(head(alice, lines) + begun)

    assert alice.post().status_code == 201, "the next request is served"
    assert alice.written() == (1, 1, 1, 0)


CUT = {
    "shorter than its length": ("Content-Length: 100", BODY),
    "no last chunk": ("Transfer-Encoding: chunked", b"13\r\n" + BODY + b"\r\n"),
    "a chunk cut off": ("Transfer-Encoding: chunked", b"50\r\n" + BODY),
    "a chunk's size is no number": ("Transfer-Encoding: chunked", b"XY\r\n" + BODY + b"\r\n0\r\n\r\n"),
    "a chunk's size is too large": ("Transfer-Encoding: chunked", b"f" * 17 + b"\r\n" + BODY),
    "a chunk with a long extension": ("Transfer-Encoding: chunked", b"13;" + b"a" * 20_000 + b"\r\n" + BODY),
    "a chunk without its line end": ("Transfer-Encoding: chunked", b"13\r\n" + BODY + b"0\r\n\r\n"),
}


@pytest.mark.parametrize(("line", "body"), CUT.values(), ids=CUT)
def test_a_broken_body_is_the_client_s_fault(alice: Actor, line: str, body: bytes) -> None:
    with Wire(alice.server) as wire:
        wire.send(head(alice, line) + body)
        wire.end()
        with contextlib.suppress(ConnectionError):
            assert 400 <= wire.reply().status < 500
    assert alice.written() == NOTHING


TYPES = {
    "text/plain": 415,
    "text/json": 415,
    "application/x-www-form-urlencoded": 415,
    "multipart/form-data; boundary=x": 415,
    "application/jsonp": 415,
    "application/problem+json": 415,
    "application/json, text/plain": 415,
    "json": 415,
    ";": 415,
    "\xff": 415,
    "x" * 10_000: 415,
    "application/json": 201,
    "Application/JSON": 201,
    "application/json; charset=utf-8": 201,
    "application/json;charset=UTF-16": 201,
    "application/json ; v=1": 201,
}


@pytest.mark.parametrize(("kind", "status"), TYPES.items(), ids=[kind[:40] for kind in TYPES])
def test_a_body_is_json(alice: Actor, kind: str, status: int) -> None:
    reply = exchange(
        alice.server,
        "POST",
        "/api/posts",
        alice.bearer,
        f"Content-Type: {kind}",
        f"Content-Length: {len(BODY)}",
        body=BODY,
    )

    assert reply.status == status
    assert len(reply.body) < 2000
    if status == 415:
        refused(reply, 415, "Unsupported media type")
        assert alice.written() == NOTHING


def test_a_body_without_a_type_is_taken_as_json(alice: Actor) -> None:
    with Wire(alice.server) as wire:
        wire.send(head(alice, f"Content-Length: {len(BODY)}") + BODY)
        assert wire.reply().status == 201


@pytest.mark.parametrize("coding", ["gzip", "br", "identity, gzip", "GZIP", "\xff"])
def test_a_body_is_not_compressed(alice: Actor, coding: str) -> None:
    with Wire(alice.server) as wire:
        wire.send(head(alice, f"Content-Encoding: {coding}", f"Content-Length: {len(BODY)}") + BODY)
        refused(wire.reply(), 415, "Unsupported media type")
    assert alice.written() == NOTHING


def test_a_client_may_ask_before_it_sends(alice: Actor) -> None:
    with Wire(alice.server) as wire:
        wire.send(head(alice, "Expect: 100-continue", f"Content-Length: {len(BODY)}"))
        assert wire.reply().status == 100
        wire.send(BODY)
        assert wire.reply().status == 201


@pytest.mark.parametrize(
    ("line", "status"), [(f"Content-Length: {50 * MEGABYTE}", 413), ("Content-Type: text/plain", 415)]
)
def test_a_client_that_asks_is_refused_without_sending(alice: Actor, line: str, status: int) -> None:
    length = () if line.startswith("Content-Length") else ("Content-Length: 20",)
    with Wire(alice.server) as wire:
        wire.send(head(alice, "Expect: 100-continue", line, *length))
        assert wire.reply().status == status
    assert alice.written() == NOTHING


@pytest.mark.parametrize(
    "length", ["262145", "18446744073709551612", "18446744073709551615", "9" * 30, "+18", "0x12", "²"]
)
def test_a_length_that_cannot_be_is_refused_at_once(alice: Actor, length: str) -> None:
    with Wire(alice.server) as wire:
        wire.send(head(alice, f"Content-Length: {length}"))
        assert wire.reply().status in (400, 413, 431)
    assert alice.written() == NOTHING


def test_a_get_may_have_a_body_that_nobody_reads(alice: Actor) -> None:
    lines = (alice.bearer, "Content-Type: text/plain", "Content-Length: 5")

    assert exchange(alice.server, "GET", "/api/auth/me", *lines, body=b"hello").status == 200


def test_two_requests_at_once_on_one_connection_are_answered_in_turn(alice: Actor) -> None:
    request = head(alice, f"Content-Length: {len(BODY)}") + BODY
    with Wire(alice.server) as wire:
        wire.send(request + request)
        first, second = wire.reply(), wire.reply()

    assert (first.status, second.status) == (201, 200)
    assert first.body == second.body
