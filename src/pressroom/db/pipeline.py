"""Statements that PostgreSQL gets ahead of the next one, in its round trip (docs/architecture.md#round-trips).

asyncpg sends one statement and waits for its answer. What is written here goes before a statement of asyncpg's and has
no end of its own (a Sync): PostgreSQL carries everything out in turn, and nothing that comes after what fails. The
answers to what went ahead come first, and are taken out of what asyncpg reads.
"""

import asyncio
import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

from pressroom.db import Value

_NULL: Final = struct.pack("!i", -1)
_HEAD: Final = struct.Struct("!ci")
_SIZE: Final = struct.Struct("!i")
_COUNT: Final = struct.Struct("!h")
_EXECUTE: Final = b"E" + _SIZE.pack(9) + b"\0" + _SIZE.pack(0)
_ALL_TEXT: Final = _COUNT.pack(0)

_COMPLETE, _ERROR, _READY = b"CEZ"
_FOR_ASYNCPG: Final = b"ASN"
"""Kinds of messages that are no answer: notifications, parameters and notices."""


class Ahead(NamedTuple):
    """A statement that waits to be sent, with its values as `encoded` returns them."""

    sql: str
    values: bytes = _COUNT.pack(0)


def encoded(values: Sequence[Value]) -> bytes:
    """Returns the values of a statement as PostgreSQL reads them as text."""
    parts = [_COUNT.pack(len(values))]
    for value in values:
        if value is None:
            parts.append(_NULL)
            continue
        text = value.encode() if isinstance(value, str) else _number(value)
        parts += (_SIZE.pack(len(text)), text)
    return b"".join(parts)


def _number(value: float) -> bytes:
    if isinstance(value, bool):
        return b"t" if value else b"f"
    return b"%d" % value if isinstance(value, int) else repr(value).encode()


class Pipeline(asyncio.Protocol):
    """Stands between a connection's socket and asyncpg.

    Args:
        protocol: asyncpg's, which reads everything that is not taken out here.
        transport: The connection's.
        keeps_session: Whether statements that were prepared stay so: not behind a pooler that changes sessions.

    `tags` are what PostgreSQL said of each statement that went ahead in the latest round trip and was completed, such
    as "INSERT 0 1"; then, if it was noted, of asyncpg's.
    """

    def __init__(self, protocol: asyncio.Protocol, transport: asyncio.Transport, *, keeps_session: bool) -> None:
        self._protocol = protocol
        self._transport = transport
        self._keeps_session = keeps_session
        self._names: dict[str, bytes] = {}
        self._new: list[str] = []
        self._named = 0
        self._unread = b""
        self._ahead = 0
        self._noting = False
        self.tags: list[str] = []
        self.is_unended = False
        transport.set_protocol(self)

    @property
    def is_unanswered(self) -> bool:
        """Whether an answer is missing to what went ahead. Without a statement of asyncpg's behind it none comes."""
        return self._ahead > 0

    def send(self, statements: Sequence[Ahead], *, note: bool) -> None:
        """Writes statements; asyncpg has to write the next one before anything else happens.

        Args:
            statements: What goes ahead; their rows are dropped.
            note: Whether what PostgreSQL says of asyncpg's statement is noted too.
        """
        self.tags = []
        self._ahead, self._noting = len(statements), note
        if not statements:
            return
        self.is_unended = True
        if self._transport.is_closing():
            self._ahead, self._noting = 0, False
            return
        self._forget_new()
        parts: list[bytes] = []
        for each in statements:
            name = self._names.get(each.sql)
            if name is None:
                name = self._name(each.sql)
                parts.append(_message(b"P", name, each.sql.encode(), b"\0", _COUNT.pack(0)))
            parts.append(_message(b"B", b"\0", name, _ALL_TEXT, each.values, _ALL_TEXT))
            parts.append(_EXECUTE)
        self._transport.write(b"".join(parts))

    def end(self, *, answered: bool) -> None:
        """Has everything passed on unread: asyncpg's statement has ended. It may have sent others before, of its own.

        `answered` says whether it has got an answer: a statement that could not be sent has no end for what went ahead.
        """
        self._noting = False
        self.is_unended = self.is_unended and not answered

    def data_received(self, data: bytes) -> None:
        """Passes on to asyncpg what comes in, but for the answers to what went ahead."""
        if self._unread:
            data, self._unread = self._unread + data, b""
        if not self._ahead and not self._noting:
            self._protocol.data_received(data)
            return
        place, end = 0, len(data)
        passed_on: list[bytes] = []
        while (self._ahead or self._noting) and end - place >= _HEAD.size:
            size = _SIZE.unpack_from(data, place + 1)[0] + 1
            if end - place < size:
                break
            if self._reads(data[place], data[place + _HEAD.size : place + size]):
                passed_on.append(data[place : place + size])
            place += size
        if self._ahead or self._noting:
            self._unread = data[place:]
        else:
            passed_on.append(data[place:])
        if rest := b"".join(passed_on):
            self._protocol.data_received(rest)

    def eof_received(self) -> bool | None:
        """Passes on the end of what comes in."""
        return self._protocol.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Passes on the end of the connection."""
        self._protocol.connection_lost(exc)

    def pause_writing(self) -> None:
        """Passes on that too much waits to be written."""
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        """Passes on that it has been written."""
        self._protocol.resume_writing()

    def _reads(self, kind: int, body: bytes) -> bool:
        """Notes what a message says, and returns whether it is for asyncpg."""
        if kind == _COMPLETE:
            self.tags.append(body[:-1].decode())
            if self._ahead:
                self._ahead -= 1
                if not self._ahead:
                    self._new.clear()
                return False
        elif kind in (_ERROR, _READY):
            self._ahead = 0
        return not self._ahead or kind in _FOR_ASYNCPG

    def _name(self, sql: str) -> bytes:
        """Returns a name for a statement that is prepared now."""
        if not self._keeps_session:
            return b"\0"
        self._named += 1
        name = self._names[sql] = b"ahead%d\0" % self._named
        self._new.append(sql)
        return name

    def _forget_new(self) -> None:
        """Forgets names of statements that may not have been prepared, since something failed."""
        for sql in self._new:
            self._names.pop(sql, None)
        self._new.clear()

    def forget(self) -> None:
        """Has every statement prepared anew: a table was changed under them."""
        self._names.clear()
        self._new.clear()


def _message(kind: bytes, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return _HEAD.pack(kind, len(body) + 4) + body
