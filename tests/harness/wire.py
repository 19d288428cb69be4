"""HTTP spoken by hand, for tests that decide what goes over which connection, and when."""

import asyncio
import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.harness.process import ServerProcess

DEADLINE = 90.0
"""Seconds that any answer may take before a test gives up."""


class HungUp(ConnectionError):  # an event, not an error
    """The server closed the connection instead of answering."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a port of this machine."""

    port: int
    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, object] | None = None

    @property
    def head(self) -> bytes:
        """All that comes before the body."""
        own = {"Host": f"127.0.0.1:{self.port}", **self.headers}
        if self.body is not None:
            own |= {"Content-Type": "application/json", "Content-Length": str(len(self.content))}
        lines = [f"{self.method} {self.path} HTTP/1.1", *(f"{name}: {value}" for name, value in own.items())]
        return "\r\n".join([*lines, "", ""]).encode()

    @property
    def content(self) -> bytes:
        """The body as it is sent."""
        return b"" if self.body is None else json.dumps(self.body).encode()

    def encoded(self) -> bytes:
        """The whole request."""
        return self.head + self.content


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)


class Connection:
    """One connection to a server, kept alive. Every failure is an OSError."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, port: int) -> "Connection":
        """Connects to a port of this machine."""
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    def send(self, data: bytes) -> None:
        """Puts bytes on the wire."""
        self._writer.write(data)

    async def reply(self) -> Reply:
        """The next answer, 100 Continue included. Raises HungUp."""
        try:
            async with asyncio.timeout(DEADLINE):
                return await self._read()
        except asyncio.IncompleteReadError as error:
            raise HungUp("The server hung up.") from error

    async def ask(self, request: Request) -> Reply:
        """Sends a request; its answer."""
        self.send(request.encoded())
        return await self.reply()

    async def ended(self) -> bool:
        """Whether the server closes the connection without another word."""
        async with asyncio.timeout(DEADLINE):
            try:
                return await self._reader.read() == b""
            except ConnectionError:
                return True

    def close(self) -> None:
        """Hangs up."""
        self._writer.close()

    async def _read(self) -> Reply:
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        status_line, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        return Reply(int(status_line.split(" ")[1]), headers, body)


def ask(request: Request) -> Reply:
    """Sends one request over a connection of its own; its answer."""
    return at_once([request])[0]


def at_once(requests: Sequence[Request]) -> list[Reply]:
    """Sends each request over a connection of its own, all but its last byte; then all the last bytes together."""
    return asyncio.run(_at_once(requests))


def decided(requests: Sequence[Request]) -> list[Reply]:
    """Returns what all are answered that are sent at once.

    Where a busy machine has no time for so many passwords, some get a 503, which did nothing: they are sent again.
    """
    answers = at_once(requests)
    while again := [place for place, answer in enumerate(answers) if answer.status == 503]:
        for place in again:
            answers[place] = ask(requests[place])
    return answers


def in_turn(queues: Sequence[Sequence[Request]]) -> list[Reply]:
    """Sends each queue over a connection of its own, one request after the other; all queues side by side."""
    return asyncio.run(_in_turn(queues))


async def send(server: ServerProcess, data: bytes) -> Reply:
    """Sends bytes over a connection of their own; the answer."""
    with contextlib.closing(await Connection.open(server.port)) as connection:
        connection.send(data)
        return await connection.reply()


async def _at_once(requests: Sequence[Request]) -> list[Reply]:
    connections = await asyncio.gather(*(Connection.open(request.port) for request in requests))
    pairs = list(zip(connections, [request.encoded() for request in requests], strict=True))
    try:
        for connection, data in pairs:
            connection.send(data[:-1])
        for connection, data in pairs:
            connection.send(data[-1:])
        return await asyncio.gather(*(connection.reply() for connection in connections))
    finally:
        for connection in connections:
            connection.close()


async def _in_turn(queues: Sequence[Sequence[Request]]) -> list[Reply]:
    async def work_off(queue: Sequence[Request]) -> list[Reply]:
        connection = await Connection.open(queue[0].port)
        try:
            return [await connection.ask(request) for request in queue]
        finally:
            connection.close()

    return [reply for replies in await asyncio.gather(*map(work_off, queues)) for reply in replies]
