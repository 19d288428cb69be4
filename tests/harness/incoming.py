"""Requests as they come in to a test's webhook receiver: their contents, and their connections."""

import asyncio
import contextlib
import json
import socket
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tests.harness.behaviours import encoded

if TYPE_CHECKING:
    from tests.harness.receiver import Receiver

LARGEST_HEAD: Final = 64 * 1024
LARGEST_BODY: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Received:
    """One request. Header names are in lower case; `at` is on `time.monotonic()`, when the request was complete."""

    at: float
    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes
    connection: int
    """The how-manieth connection it came over, from 1."""

    @property
    def envelope(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)

    @property
    def id(self) -> str:
        """The id of the envelope, by the headers."""
        return self.headers["x-service-delivery-id"]

    @property
    def event(self) -> str:
        """The name of the event, by the headers."""
        return self.headers["x-service-event"]

    @property
    def signature(self) -> str:
        """The signature's header as it came."""
        return self.headers["x-service-signature"]

    def __str__(self) -> str:
        """One line of a failed test."""
        named = " ".join(self.headers.get(name, "-") for name in ("x-service-event", "x-service-delivery-id"))
        return f"{self.at:.3f} {self.method} {self.path} {named} {self.body[:100]!r}"


class Connection(asyncio.Protocol):
    """One connection: requests one after the other, each handed to its behaviour. Is what a behaviour acts on."""

    def __init__(self, receiver: "Receiver") -> None:
        self._receiver = receiver
        self._buffer = bytearray()
        self._path: str | None = None
        self._task: asyncio.Future[None] | None = None
        self._closing = False
        self._flowing = asyncio.Event()
        self._flowing.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._number = self._receiver.came(self)
        if self._receiver.hangs_up:
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._closing = True
        if self._task:
            self._task.cancel()
        self._end()
        self._receiver.went(self)

    def pause_writing(self) -> None:
        self._flowing.clear()

    def resume_writing(self) -> None:
        self._flowing.set()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._advance()

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    async def drained(self) -> None:
        # Without this a client that takes everything would never let the loop do anything else.
        await asyncio.sleep(0)
        await self._flowing.wait()

    def finish(self, data: bytes = b"") -> None:
        self._end()
        self.write(data)
        if self._buffer:
            asyncio.get_running_loop().call_soon(self._advance)

    def hold(self, answer: bytes) -> None:
        assert self._path is not None
        self._receiver.keep(self._path, self, answer)

    def close(self) -> None:
        self._closing = True
        self._transport.close()

    def reset(self) -> None:
        self._closing = True
        sock = self._transport.get_extra_info("socket")
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def _end(self) -> None:
        if self._path is not None:
            self._receiver.end(self._path)
            self._path = None

    def _advance(self) -> None:
        """Begins the next request if all of it is there and none is under way."""
        if self._path is not None or self._closing:
            return
        size = self._buffer.find(b"\r\n\r\n")
        if size < 0:
            if len(self._buffer) > LARGEST_HEAD:
                self._refuse(431)
            return
        try:
            method, target, headers = _parse(bytes(self._buffer[:size]))
            length = int(headers.get("content-length", "0"))
        except ValueError:
            self._refuse(400)
            return
        if "transfer-encoding" in headers or not 0 <= length <= LARGEST_BODY:
            self._refuse(411)
            return
        path, _, query = target.partition("?")
        end = size + 4 + length
        if len(self._buffer) < end and self._receiver.reads_body(path):
            return
        body = bytes(self._buffer[size + 4 : end])
        del self._buffer[:end]
        self._path = path
        self._act(Received(time.monotonic(), method, path, query, headers, body, self._number))

    def _act(self, request: Received) -> None:
        work = self._receiver.begin(request).act(self)
        if work is not None:
            self._task = asyncio.ensure_future(work)

    def _refuse(self, status: int) -> None:
        self.write(encoded(status, {"Connection": "close"}))
        self.close()


def _parse(head: bytes) -> tuple[str, str, dict[str, str]]:
    request_line, *lines = head.decode("latin-1").split("\r\n")
    method, target, version = request_line.split(" ")
    if not version.startswith("HTTP/1."):
        raise ValueError(version)
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise ValueError(line)
        name, value = name.strip().lower(), value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return method, target, headers
