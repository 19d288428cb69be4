"""A response is bounded in its cost, not in bytes alone: calls are counted on the thread of the event loop."""

import asyncio
import socket
import ssl
import sys
from collections.abc import Awaitable, Callable
from typing import Final

import pytest
import trustme

from pressroom.outbound import Failure, OutboundFailed, OutboundResponse, connections
from tests.outbound.certificates import serving
from tests.outbound.peers import LOOPBACK, Peer, open_client, outcome, peer, run

HEAD: Final = b"HTTP/1.1 200 OK\r\n"
CHUNKED: Final = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
MOST_CALLS: Final = 30_000
"""Function calls of one exchange, those of the peer too; an honest one makes about 3,000."""

Handler = Callable[[Peer, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def sends(answer: bytes) -> Handler:
    """Sends it all, and keeps the connection."""

    async def handle(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await it.read_request(reader):
            writer.write(answer)
            await writer.drain()

    return handle


def costs(handle: Handler, read: int) -> tuple[OutboundResponse | OutboundFailed, int]:
    """The result of a request, and the calls of Python's and C's functions meanwhile."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event.endswith("call")

    async def work() -> OutboundResponse | OutboundFailed:
        async with peer(handle) as it, open_client() as client:
            await outcome(client.request("GET", it.url("/warm"), {}, read=1))
            sys.setprofile(count)
            try:
                return await outcome(client.request("POST", it.url(), {}, b"{}", read=read, keep=read))
            finally:
                sys.setprofile(None)

    return run(work()), calls


@pytest.mark.parametrize("read", [65_536, 1_048_576], ids=["delivery", "page"])
@pytest.mark.parametrize(
    "answer",
    [
        CHUNKED + b"1\r\na\r\n" * 70_000 + b"0\r\n\r\n",
        CHUNKED + b"3\r\nabc\r\n" * 70_000 + b"0\r\n\r\n",
        CHUNKED + b"20\r\n" + b"a" * 32 + b"\r\n" + (b"20\r\n" + b"a" * 32 + b"\r\n") * 30_000 + b"0\r\n\r\n",
        CHUNKED + b"1;x=yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\na\r\n" * 20_000 + b"0\r\n\r\n",
        CHUNKED + b"1\r\na\r\n0\r\n" + b"a:b\r\n" * 20_000 + b"\r\n",
        HEAD + b"Content-Length: 1000000\r\n\r\n" + b"a" * 1_000_000,
    ],
    ids=["1", "3", "32", "extensions", "trailers", "honest"],
)
def test_wasteful_bodies_are_cut_off_and_their_status_counts(answer: bytes, read: int) -> None:
    response, calls = costs(sends(answer), read)

    assert isinstance(response, OutboundResponse)
    assert response.status == 200
    assert calls < MOST_CALLS


def test_interim_responses_are_broken_off_after_ten() -> None:
    response, calls = costs(sends(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 3_500 + HEAD + b"\r\n"), 65_536)

    assert isinstance(response, OutboundFailed)
    assert response.kind is Failure.PROTOCOL
    assert calls < MOST_CALLS


@pytest.mark.parametrize("head", [HEAD + b"Content-Length: 6000\r\n\r\n", HEAD + b"X: y"], ids=["body", "head"])
@pytest.mark.parametrize("over_tls", [False, True], ids=["plain", "tls"])
def test_bytes_that_come_one_by_one_gather_before_they_are_read(
    head: bytes, over_tls: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = 0
    received = connections.Wire.data_received

    def count(self: connections.Wire, data: bytes) -> None:
        nonlocal reads
        reads += 1
        received(self, data)

    async def drips(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await it.read_request(reader)
        writer.write(head)
        for _ in range(6_000):
            writer.write(b"a")
            await asyncio.sleep(0)
        if not head.endswith(b"\r\n\r\n"):
            writer.write(b"\r\nContent-Length: 0\r\n\r\n")
        await asyncio.Event().wait()

    monkeypatch.setattr(connections.Wire, "data_received", count)
    authority, trusting = trustme.CA(), ssl.create_default_context()
    authority.configure_trust(trusting)
    tls = serving(authority.issue_cert("127.0.0.1")) if over_tls else None

    async def work() -> None:
        async with peer(drips, tls) as it, open_client(LOOPBACK, tls=trusting) as client:
            url = it.url(scheme="https" if over_tls else "http")
            assert (await client.request("POST", url, {}, b"x", seconds=30.0)).status == 200

    run(work())
    assert reads < 1_000
