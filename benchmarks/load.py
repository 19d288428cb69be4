"""The load: a process of its own that keeps 32 connections busy, one request at a time on each.

    python -m benchmarks.load create --port 8000 --keys FILE --seconds 4
    python -m benchmarks.load page --port 8000 --path /@mira_press --seconds 4

It knows just enough HTTP to stay clearly cheaper than any server: requests are bytes made beforehand, and
of an answer it reads the status and Content-Length. Prints its figures as one line of JSON.
"""

import argparse
import asyncio
import itertools
import secrets
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import msgspec
import uvloop

CONNECTIONS: Final = 32
WARM_UP: Final = 0.4
"""Seconds of load before anything is counted."""

BODY: Final = b'{"content":"The harbour bridge opens again on Monday."}'


class Load(msgspec.Struct):
    """The result of one load. Rates count the measured seconds; `answered` counts the warm-up too."""

    per_second: float
    answered: int
    refused: int
    first_refusal: str
    median_ms: float
    p99_ms: float
    busy: float
    """Share of one core that the load itself took: near 1 it would be the load that was measured."""


def creates(port: int, keys: list[str]) -> Iterator[bytes]:
    """POST /api/posts over all keys in turn, each under an Idempotency-Key of its own."""
    run = secrets.token_hex(8).encode()
    tail = b"\r\n\r\n" + BODY
    heads = [
        b"POST /api/posts HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %b\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\nIdempotency-Key: %b-"
        % (port, key.encode(), len(BODY), run)
        for key in keys
    ]
    for number, head in enumerate(itertools.cycle(heads)):
        yield b"%b%012x%b" % (head, number, tail)


def reads(port: int, keys: list[str]) -> Iterator[bytes]:
    """GET /api/auth/me over all keys in turn."""
    return itertools.cycle(
        [
            b"GET /api/auth/me HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %b\r\n\r\n"
            % (port, key.encode())
            for key in keys
        ]
    )


def pages(port: int, path: str) -> Iterator[bytes]:
    """GET of one page, as somebody who is not signed in."""
    return itertools.repeat(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())


class Responses:
    """The responses to all connections so far."""

    def __init__(self, expected: bytes) -> None:
        self.expected = b"HTTP/1.1 " + expected
        self.answered = 0
        self.refused = 0
        self.first_refusal = b""
        self.measuring = False
        self.stopping = False
        self.latencies: list[float] = []

    def count(self, answer: bytes, seconds: float) -> None:
        """One answer, and how long it took."""
        self.answered += 1
        if self.measuring:
            self.latencies.append(seconds)
        if not answer.startswith(self.expected):
            self.refused += 1
            self.first_refusal = self.first_refusal or answer


class Connection(asyncio.Protocol):
    """One keep-alive connection: sends the next request as soon as the last is answered."""

    def __init__(self, requests: Iterator[bytes], responses: Responses) -> None:
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._requests = requests
        self._responses = responses
        self._transport: asyncio.Transport
        self._received = b""
        self._sent = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._send()

    def data_received(self, data: bytes) -> None:
        self._received = received = self._received + data if self._received else data
        end = received.find(b"\r\n\r\n")
        if end < 0 or len(received) < end + 4 + _content_length(received[:end]):
            return
        self._responses.count(received, time.perf_counter() - self._sent)
        self._received = b""
        self._send()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._responses.stopping:
            self._responses.count(f"connection lost: {exc}".encode(), 0)
        self.closed.set_result(None)

    def _send(self) -> None:
        if self._responses.stopping:
            self._transport.close()
            return
        self._sent = time.perf_counter()
        self._transport.write(next(self._requests))


def _content_length(head: bytes) -> int:
    _, _, value = head.lower().partition(b"content-length:")
    return int(value.partition(b"\r\n")[0])


async def run(requests: Iterator[bytes], kind: str, port: int, seconds: float) -> Load:
    """Loads the server on `port` with `requests` for `seconds` after the warm-up."""
    responses = Responses(b"201 " if kind == "create" else b"200 ")
    loop = asyncio.get_running_loop()
    busy_at_first, began = time.process_time(), time.perf_counter()
    connections = [
        (await loop.create_connection(lambda: Connection(requests, responses), "127.0.0.1", port))[1]
        for _ in range(CONNECTIONS)
    ]
    await asyncio.sleep(WARM_UP)
    responses.measuring, start = True, time.perf_counter()
    await asyncio.sleep(seconds)
    responses.measuring, took = False, time.perf_counter() - start
    busy = (time.process_time() - busy_at_first) / (time.perf_counter() - began)
    responses.stopping = True
    await asyncio.wait([connection.closed for connection in connections], timeout=10)
    latencies = statistics.quantiles(responses.latencies, n=100) if len(responses.latencies) > 1 else [0.0] * 99
    return Load(
        per_second=len(responses.latencies) / took,
        answered=responses.answered,
        refused=responses.refused,
        first_refusal=responses.first_refusal.decode("latin-1"),
        median_ms=latencies[49] * 1000,
        p99_ms=latencies[98] * 1000,
        busy=busy,
    )


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("kind", choices=["create", "me", "page"])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--keys", type=Path, help="a file with one key per line")
    parser.add_argument("--path", default="/", help="the page")
    parser.add_argument("--seconds", type=float, default=4)
    given = parser.parse_args()
    keys: list[str] = given.keys.read_text("utf-8").split() if given.keys else []
    match given.kind:
        case "create":
            requests = creates(given.port, keys)
        case "me":
            requests = reads(given.port, keys)
        case _:
            requests = pages(given.port, given.path)
    print(msgspec.json.encode(uvloop.run(run(requests, given.kind, given.port, given.seconds))).decode())


if __name__ == "__main__":
    main()
