"""Requests written byte by byte, for what no HTTP client would send."""

import json
import select
import socket
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from tests.harness.local import LocalServer

PATIENCE = 60.0
"""Seconds that anything may take before a test gives up."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it came, or what came of it. Header names are in lower case."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The header's only value, or None."""
        values = [value for given, value in self.headers if given == name]
        assert len(values) <= 1, f"{name} came {len(values)} times"
        return values[0] if values else None

    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)


class Wire:
    """One connection to a server."""

    def __init__(self, server: LocalServer) -> None:
        self._socket = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
        self._received = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        """Puts bytes on the wire."""
        self._socket.sendall(data)

    def end(self) -> None:
        """Says that no more will be sent, and still listens."""
        self._socket.shutdown(socket.SHUT_WR)

    def reply(self, *, to_head: bool = False) -> Reply:
        """The next answer. Raises ConnectionError when the server hangs up before its end."""
        while b"\r\n\r\n" not in self._received:
            self._receive()
        head, _, self._received = self._received.partition(b"\r\n\r\n")
        status_line, *lines = head.decode("latin-1").split("\r\n")
        headers = [(name.lower(), value) for name, _, value in (line.partition(": ") for line in lines)]
        length = 0 if to_head else int(dict(headers).get("content-length", "0"))
        while len(self._received) < length:
            self._receive()
        body, self._received = self._received[:length], self._received[length:]
        return Reply(int(status_line.split(" ")[1]), headers, body)

    def has_something(self, seconds: float) -> bool:
        """Whether something comes from the server within `seconds`."""
        return bool(select.select([self._socket], [], [], seconds)[0])

    def _receive(self) -> None:
        data = self._socket.recv(65_536)
        if not data:
            raise ConnectionError(f"the server hung up after {self._received!r}")
        self._received += data


def exchange(server: LocalServer, method: str, target: str, *lines: str, body: bytes = b"") -> Reply:
    """Sends one request, as it is given and no header more but Host; its answer."""
    head = [f"{method} {target} HTTP/1.1", f"Host: 127.0.0.1:{server.port}", *lines, "", ""]
    with Wire(server) as wire:
        wire.send("\r\n".join(head).encode("latin-1") + body)
        return wire.reply(to_head=method == "HEAD")
