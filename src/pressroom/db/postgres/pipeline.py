"""Statements that PostgreSQL gets ahead of the next one, in its round trip (docs/architecture.md#round-trips).

Measurements and alternatives: docs/decisions/0001-statements-ahead-on-postgresql.md.

asyncpg sends one statement and waits for its answer. Statements sent ahead go before it and have no end of their own (a
Sync): PostgreSQL executes everything in turn, and nothing after a failure. Their answers come first, and are taken out
of the data that asyncpg reads.
"""

import asyncio
import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

from pressroom.db import Value

_NULL: Final = struct.pack("!i", -1)
_HEAD: Final = struct.Struct("!ci")
_HEAD_SIZE: Final = 5
_SIZE: Final = struct.Struct("!i")
_COUNT: Final = struct.Struct("!h")
_ALL_TEXT: Final = _COUNT.pack(0)
_EXECUTE: Final = _ALL_TEXT + b"E" + _SIZE.pack(9) + b"\0" + _SIZE.pack(0)
"""Ends a Bind, and executes the bound statement."""

_REST_OF_BIND: Final = _SIZE.size + 1 + 2 * len(_ALL_TEXT)
"""Bytes in the size of a Bind beside the statement's name and values: itself, no name of a portal, two formats."""

_size: Final = _SIZE.pack
_read_size: Final = _SIZE.unpack_from

_COMPLETE: Final = b"C"[0]
_LAST: Final = b"EZ"
"""Kinds of messages that end the answers to statements ahead: errors, and the end of a round trip."""

_FOR_ASYNCPG: Final = b"ASN"
"""Kinds of messages that are no answer: notifications, parameters and notices."""


class Ahead(NamedTuple):
    """A statement that waits to be sent, with its values as `encoded` returns them."""

    sql: str
    values: bytes = _COUNT.pack(0)


def encoded(values: Sequence[Value]) -> bytes:
    """Returns the values of a statement as PostgreSQL reads them as text; of booleans it reads True and False."""
    sized = [_NULL if value is None else _size(len(text := str(value).encode())) + text for value in values]
    return _COUNT.pack(len(values)) + b"".join(sized)


class Pipeline(asyncio.Protocol):
    """Stands between a connection's socket and asyncpg.

    A transaction (`pressroom.db.postgres.tx`) uses three methods: `send` before a statement of asyncpg's, `end` after
    it, `forget` when a table was changed. The connection alone reads the two states, to decide how to roll back.

    Args:
        protocol: asyncpg's, which reads everything that is not taken out here.
        transport: The connection's.
        keeps_session: Whether prepared statements outlast a transaction: not behind a pooler that changes sessions.
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
        self._tags: list[str] = []
        self.is_unended = False
        # From here on all data of the socket comes here first; asyncpg's protocol is only called from `data_received`.
        transport.set_protocol(self)

    @property
    def is_unanswered(self) -> bool:
        """Whether an answer to a statement ahead is missing. Without a statement of asyncpg's behind it none comes."""
        return self._ahead > 0

    def send(self, statements: Sequence[Ahead], *, note: bool) -> list[str]:
        """Writes statements; asyncpg has to write the next one before anything else happens.

        Args:
            statements: The statements that go ahead; their rows are dropped.
            note: Whether the tag of asyncpg's statement is noted too.

        Returns:
            A list that receives command tags, such as "INSERT 0 1": of each statement that went ahead and was
            completed; then, if noted, of asyncpg's.
        """
        tags: list[str] = []
        self._tags = tags
        self._ahead, self._noting = len(statements), note
        if not statements:
            return tags
        # Until asyncpg's own statement is answered, which brings the Sync. Before one comes, PostgreSQL skips all that
        # is behind an error, a ROLLBACK too.
        self.is_unended = True
        # Without a Sync of its own: all is one round trip, and PostgreSQL executes nothing behind a failure.
        if self._transport.is_closing():
            # asyncpg's statement fails without an answer, so none must be waited for.
            self._ahead, self._noting = 0, False
            return tags
        self._forget_new()
        parts: list[bytes] = []
        for each in statements:
            name = self._names.get(each.sql)
            if name is None:
                # A new name counts once everything ahead is completed (`_forget_new`): PostgreSQL skips a Parse behind
                # an error, and a Bind of a name that it lacks would fail in every later transaction.
                name = self._name(each.sql)
                parts.append(_message(b"P", name, each.sql.encode(), b"\0", _COUNT.pack(0)))
            size = len(name) + len(each.values) + _REST_OF_BIND
            parts += (_HEAD.pack(b"B", size), b"\0", name, _ALL_TEXT, each.values, _EXECUTE)
        self._transport.write(b"".join(parts))
        return tags

    def end(self, *, answered: bool) -> None:
        """Passes everything on unread from now on: asyncpg's statement has ended. It may have sent others of its own.

        Args:
            answered: Whether asyncpg's statement was answered. One that could not be sent leaves what went ahead
                without a Sync.
        """
        self._noting = False
        self.is_unended = self.is_unended and not answered

    def data_received(self, data: bytes) -> None:
        """Passes incoming data on to asyncpg, except the answers to statements ahead."""
        if self._unread:
            data, self._unread = self._unread + data, b""
        # The usual case, rows of asyncpg's own statement, must cost no parsing.
        if not self._ahead and not self._noting:
            self._protocol.data_received(data)
            return
        if passed_on := self._without_answers(data):
            self._protocol.data_received(passed_on)

    def _without_answers(self, data: bytes) -> bytes:
        """Takes out the answers to statements sent ahead, notes their tags, and keeps incomplete messages."""
        ahead, noting, place, end = self._ahead, self._noting, 0, len(data)
        passed_on: list[bytes] = []
        while (ahead or noting) and place + _HEAD_SIZE <= end:
            kind, after = data[place], place + 1 + _read_size(data, place + 1)[0]
            if after > end:  # The rest of this message comes with the next data.
                break
            if kind in _LAST:  # PostgreSQL skips statements behind an error: none of those is answered.
                ahead = 0
            # Notices and notifications may come between any two answers. They belong to the session, not to a
            # statement.
            if not ahead or kind in _FOR_ASYNCPG:
                passed_on.append(data[place:after])
            if kind == _COMPLETE:
                self._tags.append(data[place + _HEAD_SIZE : after - 1].decode())
                if ahead:
                    ahead -= 1
                    if not ahead:  # All were completed, so all their names are prepared.
                        self._new.clear()
            place = after
        self._ahead = ahead
        if ahead or noting:  # Not yet known whose it is.
            self._unread = data[place:]
        else:
            passed_on.append(data[place:])
        return b"".join(passed_on)

    def eof_received(self) -> bool | None:
        """Passes on the end of the incoming data."""
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

    def _name(self, sql: str) -> bytes:
        """Returns a name for a statement that is prepared now."""
        if not self._keeps_session:  # The next transaction may get a session that lacks it: the unnamed statement.
            return b"\0"
        self._named += 1
        # Other names than asyncpg's (`__asyncpg_stmt_…`), so that neither overwrites a statement of the other.
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
