"""An open transaction on SQLite, and the methods of apsw's connections that it uses."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

import apsw

from pressroom.db import Command, Query, Subscriber, Value
from pressroom.db.rows import Builder, Column

R = TypeVar("R")


class _Rows(Protocol):
    """The methods of apsw's cursors that are used here."""

    def fetchone(self) -> tuple[Value, ...] | None: ...
    def fetchall(self) -> list[tuple[Value, ...]]: ...
    def __iter__(self) -> Iterator[tuple[Value, ...]]: ...
    def getdescription(self) -> tuple[tuple[str, str | None], ...]: ...
    def execute(self, statements: str, values: Sequence[Value], /) -> object: ...

    exec_trace: Callable[..., bool]


class SqliteConnection(Protocol):
    """The methods of apsw's connections that are used here."""

    @property
    def in_transaction(self) -> bool: ...
    def execute(self, statements: str, values: Sequence[Value] = (), /) -> _Rows: ...
    def executemany(self, statements: str, rows: Sequence[Sequence[Value]], /) -> _Rows: ...
    def cursor(self) -> _Rows: ...
    def changes(self) -> int: ...
    def total_changes(self) -> int: ...
    def set_busy_timeout(self, milliseconds: int, /) -> None: ...
    def close(self) -> None: ...


class SqliteTx:
    """An open transaction, or a snapshot for reading. None of its methods ever suspends."""

    engine = "sqlite"

    def __init__(self, connection: SqliteConnection, now: int, subscribers: Sequence[Subscriber] = ()) -> None:
        self._connection = connection
        self._execute = connection.execute
        self.now = now
        self.subscribers = subscribers
        self.signalled = False
        self.announced: list[str] = []

    def signal(self) -> None:
        self.signalled = True

    def announce(self, subject: str) -> None:
        self.announced.append(subject)

    async def one(self, query: Query[R], **values: Value) -> R | None:
        build = query.builders.get("sqlite") or bind(self._connection, query)
        row = self._execute(query.text, query.arrange(values)).fetchone()
        return None if row is None else build(row)

    async def all(self, query: Query[R], **values: Value) -> list[R]:
        build = query.builders.get("sqlite") or bind(self._connection, query)
        return [build(row) for row in self._execute(query.text, query.arrange(values))]

    async def run(self, command: Command, **values: Value) -> int:
        self._execute(command.text, command.arrange(values))
        return self._connection.changes()

    async def later(self, command: Command, /, **values: Value) -> None:
        self._execute(command.text, command.arrange(values))

    async def require(self, command: Command, refusal: Callable[[], Exception], /, **values: Value) -> None:
        self._execute(command.text, command.arrange(values))
        if not self._connection.changes():
            raise refusal()

    async def revise(self, command: Command, /, **values: Value) -> bool:
        return False

    async def at_end(self, subscriber: Subscriber, event: object) -> None:
        await subscriber(self, event)

    async def run_each(self, command: Command, rows: Sequence[Mapping[str, Value]]) -> None:
        self._connection.executemany(command.text, [command.arrange(row) for row in rows])


def columns_of(connection: SqliteConnection, command: Command) -> list[Column]:
    """Returns the columns of a statement's rows. The statement is parsed and planned, and not run."""
    columns: list[Column] = []

    def stop(cursor: _Rows, _statement: str, _values: object) -> bool:
        columns.extend(Column(name, kind) for name, kind in cursor.getdescription())
        return False

    cursor = connection.cursor()
    # The trace runs after SQLite has planned the statement, and by returning False keeps it from being executed.
    cursor.exec_trace = stop
    with contextlib.suppress(apsw.ExecTraceAbort):
        cursor.execute(command.text, [None] * len(command.names))
    return columns


def bind(connection: SqliteConnection, query: Query[R]) -> Builder[R]:
    """Returns the function that builds the rows of a statement. Raises ColumnsDoNotFit."""
    return query.bind("sqlite", columns_of(connection, query))
