"""The database: two engines behind one interface.

    post = await db.transact(publish_post, caller, new)     one transaction; may run the action again
    key = await db.one(FIND_KEY, digest=digest)               one indexed read

A statement stands in its package's `queries`, declared with the function that runs it (`pressroom.db.sql`), or as a
constant where several functions use it: a `Query`, which yields rows, or a `Command`, which does not. A test prepares
all of them on both engines.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Concatenate, Final, Generic, ParamSpec, Protocol, TypeVar

from pressroom.db.dialect import statement_for_sqlite
from pressroom.db.params import in_order, numbered
from pressroom.db.rows import Builder, Column, ColumnsDoNotFit, row_builder
from pressroom.errors import PressroomError, SettingError, Unavailable

Value = str | int | float | bool | None
R = TypeVar("R")
P = ParamSpec("P")


class ConstraintViolated(PressroomError):
    """A unique, foreign-key, not-null or check constraint refused a row: a mistake of ours if nobody handles it."""


class AwaitedOutsideTransaction(PressroomError):
    """An action awaited something other than its transaction, which would hold locks for as long as that takes."""


class DatabaseAway(Unavailable):
    """The connection was lost or could not be made, or the transaction kept colliding with others."""


class LockedElsewhere(DatabaseAway):
    """Another transaction held a lock for longer than this one may wait."""


class DatabaseNotReached(SettingError):
    """PostgreSQL does not answer at the start. It may later: callers that can wait do."""


class DiskFull(Unavailable):
    """The disk is full. Nothing of the transaction was stored."""


class Command:
    """A statement without rows, with `:name` parameters: `text` for SQLite, `numbered` for PostgreSQL.

    `arrange` puts values into the order of the parameters' first places, in which both engines number them.
    """

    def __init__(self, text: str) -> None:
        self.text = statement_for_sqlite(text)
        self.numbered, self.names = numbered(text)
        self.arrange = in_order(self.names)


class Query(Command, Generic[R]):
    """A statement whose rows become `row`: a struct with a field for each column, by name, or a single column's type.

    `builders` make structs of rows, by engine; each is made at the first use of the statement.
    """

    def __init__(self, row: type[R], text: str) -> None:
        super().__init__(text)
        self.row = row
        self.builders: dict[str, Builder[R]] = {}

    def bind(self, engine: str, columns: Sequence[Column]) -> Builder[R]:
        """Returns the builder of a row on `engine`. Raises ColumnsDoNotFit unless `columns` are those of `row`."""
        build = row_builder(self.row, columns, self.text, flags_are_numbers=engine == "sqlite")
        self.builders[engine] = build
        return build


def check_columns(command: Command, engine: str, columns: Sequence[Column]) -> None:
    """Raises ColumnsDoNotFit unless the statement's rows can be built from these columns; a Command has none."""
    if isinstance(command, Query):
        command.bind(engine, columns)
    elif columns:
        raise ColumnsDoNotFit(f"A Command yields no rows, and this one does; is it a Query? {command.text}")


class Tx(Protocol):
    """An open transaction.

    `engine` is `sqlite` or `postgres`, for the few statements that differ. `now` is its time in milliseconds: all that
    it writes has this time. `subscribers` are run in it, by those who append events, for each event.
    """

    engine: str
    now: int
    subscribers: Sequence["Subscriber"]

    async def one(self, query: Query[R], **values: Value) -> R | None:
        """Returns the first row, or None."""
        ...

    async def all(self, query: Query[R], **values: Value) -> list[R]:
        """Returns every row."""
        ...

    async def run(self, command: Command, **values: Value) -> int:
        """Runs a statement, and returns how many rows it touched."""
        ...

    async def run_each(self, command: Command, rows: Sequence[Mapping[str, Value]]) -> None:
        """Runs a statement once for each of `rows`, sent together."""
        ...

    async def later(self, command: Command, /, **values: Value) -> None:
        """Queues a statement whose result the action does not use. It runs before the next one with rows, or COMMIT.

        It may wait to be sent together with others. Within this transaction it is as if it had been run.
        """
        ...

    async def require(self, command: Command, refusal: Callable[[], Exception], /, **values: Value) -> None:
        """Runs a statement like `later` that has to touch a row: when it touches none, `refusal()` is raised.

        That may be raised by a later statement, or replace a later result or refusal of the action.
        """
        ...

    async def revise(self, command: Command, /, **values: Value) -> bool:
        """Gives other values to a statement that still waits to be sent. Returns False when it has been run already.

        The transaction has this statement once at the most (docs/architecture.md#round-trips).
        """
        ...

    async def at_end(self, subscriber: "Subscriber", event: object) -> None:
        """Runs `subscriber(tx, event)` before the commit: after the action where statements wait, otherwise at once.

        So the rest of the action and the subscriber must not depend on each other's order.
        """
        ...

    def signal(self) -> None:
        """Wakes listeners when this transaction commits: there is work for them."""
        ...

    def announce(self, subject: str) -> None:
        """Announces news of `subject`, an id, to hearers when this transaction commits."""
        ...


goes_first: Final = ContextVar("goes_first", default=False)
"""Whether statements of this context go ahead of waiting requests (`ahead_of_requests`)."""


@contextlib.contextmanager
def ahead_of_requests() -> Generator[None]:
    """Gives statements of this context the next free connection, before all requests that wait.

    For counts of limits, and leases: they are short, and without them requests are refused or work is done twice.
    """
    token = goes_first.set(True)
    try:
        yield
    finally:
        goes_first.reset(token)


Subscriber = Callable[[Tx, Any], Awaitable[None]]
"""`subscriber(tx, event)` runs in the transaction that appends an event. A database is opened with them."""


Hearer = Callable[[str | None], None]
"""`hearer(subject)` is called for news of a subject; with None, any subject may have some."""


class Reads(Protocol):
    """A database that can be read. Raises Unavailable when it is away or too busy."""

    async def read(self, action: Callable[Concatenate[Tx, P], Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs `action(tx, …)`, which only reads, on one snapshot."""
        ...


class Database(Reads, Protocol):
    """A database that is open. Raises Unavailable when it is away, full or too busy."""

    engine: str

    async def transact(
        self, action: Callable[Concatenate[Tx, P], Awaitable[R]], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Runs `action(tx, …)` and commits. The action may be run again, so it has no effect outside `tx`."""
        ...

    async def read_in_thread(
        self, action: Callable[Concatenate[Tx, P], Awaitable[R]], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Is `read` for statements that may take long: on SQLite in a thread, so that other requests do not wait."""
        ...

    async def one(self, query: Query[R], **values: Value) -> R | None:
        """Returns the first row, or None, read outside any transaction."""
        ...

    def listen(self) -> asyncio.Event:
        """Returns an event that is set whenever a transaction commits that called `signal`, in any process.

        Signals can be lost with a connection; waiters also look without a signal, every so often.
        """
        ...

    def hear(self, hearer: "Hearer") -> None:
        """Has `hearer` called with each subject that committed transactions announced, in any process.

        With None when some may have been missed. Others can be lost as signals can.
        """
        ...

    async def follow_clock(self) -> None:
        """Sets this process's clock by the database's, if that is another machine's."""
        ...

    async def prepare(self, command: Command) -> list[Column]:
        """Has the engine parse and plan a statement without running it, and returns the columns of its rows.

        Raises ColumnsDoNotFit when they differ from the statement's columns, and the engine's own errors.
        """
        ...

    async def script(self, statements: str) -> None:
        """Runs the statements of a migration, all or none."""
        ...

    async def close(self) -> None:
        """Finishes transactions under way and closes the connections."""
        ...
