"""A client of event streams, on a socket of its own."""

import json
import socket
from typing import Any, NamedTuple, Self

from tests.harness.local import LocalServer
from tests.harness.process import ServerProcess


class Sent(NamedTuple):
    """One event of a stream."""

    id: str
    event: str
    data: Any


class StreamClient:
    """Reads a stream of events; see `begin`."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._file = connection.makefile("rb")
        self.status = int(self._file.readline().split()[1])
        self.headers = dict[str, str]()
        while line := self._file.readline().strip():
            name, _, value = line.decode("latin-1").partition(":")
            self.headers[name.lower()] = value.strip()
        self.last_id = ""
        self.ended_in_order = False
        self._text = b""

    @classmethod
    def begin(cls, server: LocalServer | ServerProcess, key: str, *, after: str = "", last_event_id: str = "") -> Self:
        """Opens a stream and reads the head of the response."""
        connection = socket.create_connection(("127.0.0.1", int(server.base_url.rpartition(":")[2])), timeout=30)
        lines = [
            f"GET /api/events{f'?after={after}' if after else ''} HTTP/1.1",
            f"Host: {server.base_url.partition('//')[2]}",
            f"Authorization: Bearer {key}",
            "Accept: text/event-stream",
            *([f"Last-Event-ID: {last_event_id}"] if last_event_id else []),
        ]
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        return cls(connection)

    def next_block(self) -> dict[str, str] | None:
        """The fields of the next block; a comment has the name `""`. None at the end of the stream."""
        while b"\n\n" not in self._text:
            size = self._file.readline()
            if not size or int(size, 16) == 0:
                self.ended_in_order = bool(size)  # Otherwise the connection was cut off.
                return None
            self._text += self._file.read(int(size, 16))
            self._file.readline()
        block, _, self._text = self._text.partition(b"\n\n")
        fields = dict[str, str]()
        for line in block.decode().split("\n"):
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
        self.last_id = fields.get("id", self.last_id)
        return fields

    def next(self) -> Sent | None:
        """The next event; None at the end of the stream."""
        while (fields := self.next_block()) is not None:
            if "data" in fields:
                return Sent(fields["id"], fields["event"], json.loads(fields["data"]))
        return None

    def body(self) -> Any:
        """The body of a response that is no stream."""
        return json.loads(self._file.read(int(self.headers["content-length"])))

    def close(self) -> None:
        """Hangs up."""
        self._file.close()
        self._connection.close()
