"""Peers on loopback for requests to go to, and clients that may reach them."""

import asyncio
import contextlib
import ipaddress
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from typing import Final, TypeVar

import uvloop

from pressroom.outbound import OutboundClient, OutboundFailed, OutboundResponse, Policy
from pressroom.outbound.client import HttpClient

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
T = TypeVar("T")

LOOPBACK: Final = Policy(allow_http=True, allow=(ipaddress.ip_network("127.0.0.0/8"),))
NO_CONTENT: Final = b"HTTP/1.1 204 No Content\r\n\r\n"
GUARD_SECONDS: Final = 30.0
NO_TLS: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Trusts nobody; made at once, where reading the system's authorities takes a while."""


def run(work: Coroutine[object, object, T]) -> T:
    """Runs a test's work on the loop that the server runs on, and fails it when it does not end by itself."""

    async def guarded() -> T:
        async with asyncio.timeout(GUARD_SECONDS):
            return await work

    return uvloop.run(guarded())


def names(known: dict[str, list[str]]) -> Callable[[str, int], Awaitable[list[str]]]:
    """A resolver that knows these names and no others."""

    async def resolve(host: str, port: int) -> list[str]:
        if host not in known:
            raise OSError("no such name")
        return known[host]

    return resolve


class Peer:
    """A server on loopback. `connections` counts those that came, `heads` holds the heads of requests."""

    def __init__(self) -> None:
        self.port = 0
        self.connections = 0
        self.heads: list[bytes] = []
        self.bodies: list[bytes] = []

    def url(self, path: str = "/", host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    async def read_request(self, reader: asyncio.StreamReader) -> bytes:
        """Reads one request and returns its head; b"" when the client is gone."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return b""
        lines = head.lower().split(b"\r\n")
        length = next((int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:")), 0)
        self.bodies.append(await reader.readexactly(length))
        self.heads.append(head)
        return head


@contextlib.asynccontextmanager
async def peer(
    handle: Callable[[Peer, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
    tls: ssl.SSLContext | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
) -> AsyncGenerator[Peer]:
    """A server whose every connection is given to `handle`, and closed after it."""
    it = Peer()
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        it.connections += 1
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await handle(it, reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            tasks.discard(task)
            writer.transport.abort() if tls else writer.close()

    server = await asyncio.start_server(connected, host, port, ssl=tls)
    it.port = server.sockets[0].getsockname()[1]
    try:
        yield it
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def always(answer: bytes) -> Callable[[Peer, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """Gives the same answer to each request, on connections that it keeps."""

    async def handle(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await it.read_request(reader):
            writer.write(answer)
            await writer.drain()

    return handle


def once(answer: bytes) -> Callable[[Peer, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """Gives one answer and closes."""

    async def handle(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await it.read_request(reader)
        writer.write(answer)
        await writer.drain()

    return handle


def endless(start: bytes, more: bytes) -> Callable[[Peer, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """Sends `start`, and then `more` for as long as anybody takes it."""

    async def handle(it: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await it.read_request(reader)
        writer.write(start)
        while True:
            writer.write(more)
            await writer.drain()

    return handle


@contextlib.asynccontextmanager
async def open_client(
    policy: Policy = LOOPBACK, known: dict[str, list[str]] | None = None, tls: ssl.SSLContext = NO_TLS
) -> AsyncGenerator[OutboundClient]:
    """A client that is closed afterwards; `known` are the names that resolve."""
    it = OutboundClient(policy, resolve=names(known or {}), tls=tls)
    try:
        yield it
    finally:
        await it.close()


def loaded(client: OutboundClient) -> HttpClient:
    """The HTTP client, which is loaded with the first request."""
    assert client._loaded is not None
    return client._loaded


async def outcome(work: Awaitable[OutboundResponse]) -> OutboundResponse | OutboundFailed:
    """The answer, or the failure."""
    try:
        return await work
    except OutboundFailed as failed:
        return failed


async def until(condition: Callable[[], bool]) -> None:
    """Waits for something that happens by itself; the test's guard ends it."""
    while not condition():
        await asyncio.sleep(0.005)
