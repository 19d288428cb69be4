"""SQLite: one writer, group commit, reads beside it (docs/architecture.md, The database).

The writer's connection lives on the event loop's own thread. Transactions that wait are run one after the other, their
clients in turn, and one COMMIT covers them all; its fsync happens in a thread, and the next group forms meanwhile. A
transaction returns only after the COMMIT that covers it. When an action is refused after it has written, its group is
undone and run again, each action in a savepoint.
"""

import asyncio
import contextlib
import contextvars
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, TypeVar, cast

import apsw
import msgspec

from pressroom.clock import Clock
from pressroom.db import (
    AwaitedOutsideTransaction,
    Command,
    ConstraintViolated,
    DatabaseAway,
    DiskFull,
    Hearer,
    Query,
    Subscriber,
    Tx,
    Value,
    check_columns,
)
from pressroom.db.rows import Column
from pressroom.db.sqlite.tx import SqliteConnection, SqliteTx, bind, columns_of
from pressroom.errors import SettingError
from pressroom.fair_queue import FairQueue
from pressroom.fair_threads import FairThreads
from pressroom.folders import make_folder
from pressroom.turns import current_turn

R = TypeVar("R")
P = ParamSpec("P")

GROUP: Final = 64
"""Transactions per COMMIT at the most: bounds the loss by one failed COMMIT, and how long a group runs."""

GROUP_SECONDS: Final = 0.008
"""Seconds after which a group takes no further transaction: it runs in one step of the event loop."""

CAREFUL: Final = 64
"""Groups that are run in savepoints after an action has failed that had written."""

QUEUE: Final = 4_096
"""Transactions that may wait. One more raises DatabaseAway, for itself or the last of the client that has most."""

LONG_READ: Final = 0.0005
"""Seconds of a read after which its request gives way to others (docs/architecture.md#fairness)."""

LOCK_WAIT: Final = 5.0
"""Seconds to wait for another process (the command line) to unlock the file."""


class _QueuedTransaction(msgspec.Struct):
    action: Callable[..., Awaitable[object]]
    args: tuple[object, ...]
    kwargs: dict[str, object]
    answer: asyncio.Future[object]
    context: contextvars.Context
    result: object = None
    error: BaseException | None = None
    signalled: bool = False
    announced: Sequence[str] = ()


class SqliteDatabase:
    """One SQLite file, open. Built by `open_sqlite`."""

    engine = "sqlite"

    def __init__(
        self, connect: Callable[[], SqliteConnection], clock: Clock, subscribers: Sequence[Subscriber]
    ) -> None:
        self._writer = connect()
        self._reader = connect()
        # A connection of its own: one connection must not be used by two threads at once.
        self._thread_reader = connect()
        self._clock = clock
        self._subscribers = subscribers
        self._queue = FairQueue[_QueuedTransaction](QUEUE)
        self._committer: asyncio.Task[None] | None = None
        self._careful = 0
        # One thread: there is one writer, and groups commit one after the other.
        self._thread = ThreadPoolExecutor(1, "commit")
        self._reading = FairThreads(1, "read", QUEUE, lambda: DatabaseAway("Too many searches wait for the database."))
        self._listening: list[asyncio.Event] = []
        self._hearers: list[Hearer] = []

    @property
    def waiting_reads(self) -> int:
        """Returns how many reads wait for the thread."""
        return self._reading.waiting

    async def transact(
        self, action: Callable[Concatenate[Tx, P], Awaitable[R]], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        answer: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        # The action runs later, in the committer's task. It needs the context of its request, for log lines and traces.
        queued = _QueuedTransaction(action, args, kwargs, answer, contextvars.copy_context())
        turn = current_turn()
        if (displaced := self._queue.join(turn.line if turn else "", queued)) is not None:
            displaced.error = DatabaseAway("Too many writes wait for the database.")
            _resolve(displaced)
        if self._committer is None:
            self._committer = asyncio.create_task(self._commit_groups())
        # A client that goes away cancels this wait, not the action: its group commits all the same.
        return cast("R", await answer)

    async def read(self, action: Callable[Concatenate[Tx, P], Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
        began = time.perf_counter()
        result = _read(self._reader, self._clock.now(), lambda tx: action(tx, *args, **kwargs))
        if time.perf_counter() - began > LONG_READ:
            await asyncio.sleep(0)  # Many rows take as long again to be shown: that is a step of its own.
        return result

    async def read_in_thread(
        self, action: Callable[Concatenate[Tx, P], Awaitable[R]], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        now, turn = self._clock.now(), current_turn()
        return await self._reading.run(
            turn.line if turn else "", lambda: _read(self._thread_reader, now, lambda tx: action(tx, *args, **kwargs))
        )

    async def one(self, query: Query[R], **values: Value) -> R | None:
        try:
            build = query.builders.get("sqlite") or bind(self._reader, query)
            row = self._reader.execute(query.text, query.arrange(values)).fetchone()
        except apsw.Error as error:
            _translate(error)
            raise
        return None if row is None else build(row)

    def listen(self) -> asyncio.Event:
        event = asyncio.Event()
        self._listening.append(event)
        return event

    def hear(self, hearer: Hearer) -> None:
        self._hearers.append(hearer)

    async def follow_clock(self) -> None:
        """Does nothing: the file is on this machine."""

    async def prepare(self, command: Command) -> list[Column]:
        columns = columns_of(self._reader, command)
        check_columns(command, self.engine, columns)
        return columns

    async def script(self, statements: str) -> None:
        with translated():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                self._writer.execute(statements)
                self._writer.execute("COMMIT")
            except BaseException:
                self._rollback()
                raise

    async def close(self) -> None:
        # Transactions that are queued were accepted; their clients still wait for an answer.
        while self._committer is not None:
            await asyncio.wait([self._committer])
        self._thread.shutdown()
        self._reading.close()
        self._thread_reader.close()
        self._reader.close()
        self._writer.close()

    async def _commit_groups(self) -> None:
        try:
            while (first := self._queue.next()) is not None:
                group = [first]
                try:
                    await self._commit(group)
                except DatabaseAway as error:
                    # Those that wait have waited as long: the file is locked for all of them.
                    while (waiting := self._queue.next()) is not None:
                        group.append(waiting)
                    _fail(group, error)
                except Exception as error:  # every waiting request must hear of it
                    _fail(group, error)
                # Only now, after the COMMIT: an answer before it could be lost in a power cut.
                for waiting in group:
                    _resolve(waiting)
                if any(waiting.signalled and waiting.error is None for waiting in group):
                    for event in self._listening:
                        event.set()
                for subject in {each for waiting in group if waiting.error is None for each in waiting.announced}:
                    for hearer in self._hearers:
                        hearer(subject)
        finally:
            # No await lies between the empty queue and this line, so no transaction is queued that nobody commits.
            self._committer = None

    async def _commit(self, group: list[_QueuedTransaction]) -> None:
        with translated():
            await self._begin()
            try:
                if self._careful:
                    self._careful -= 1
                    self._run_apart(self._take(group))
                # Without savepoints, which cost 13 to 26 µs of a create (docs/decisions/0007-optimisations-tried.md).
                # An action that fails before it writes, as most refusals do, harms no other; one that has written takes
                # the group down, which is then run again in savepoints.
                elif not self._run_all(self._take(group)):
                    self._careful = CAREFUL
                    self._rollback()
                    await self._begin()
                    self._run_apart(group)
                # Nothing stands: no fsync for a group of refusals.
                if all(waiting.error for waiting in group):
                    self._rollback()
                else:
                    # In a thread, for its fsync takes milliseconds. Nothing else touches the writer meanwhile: the
                    # committer waits here.
                    await asyncio.get_running_loop().run_in_executor(self._thread, self._writer.execute, "COMMIT")
            except BaseException:
                self._rollback()
                raise

    def _take(self, group: list[_QueuedTransaction]) -> Iterator[_QueuedTransaction]:
        """Yields the first transaction of a group, then waiting ones, until the group is full or its time is over."""
        began = time.perf_counter()
        yield group[0]
        while len(group) < GROUP and time.perf_counter() - began < GROUP_SECONDS:
            if (waiting := self._queue.next()) is None:
                return
            group.append(waiting)
            yield waiting

    def _run_all(self, group: Iterable[_QueuedTransaction]) -> bool:
        """Runs the actions of a group. Returns False when one that failed had written: then none may stand."""
        for waiting in group:
            before = self._writer.total_changes()
            self._run(waiting)
            if waiting.error is not None and self._writer.total_changes() != before:
                return False
        return True

    def _run_apart(self, group: Iterable[_QueuedTransaction]) -> None:
        """Runs the actions of a group, each in a savepoint, so that the others stand when one fails that has written.

        Groups after such a failure are run so for a while: such failures come together.
        """
        for waiting in group:
            # Of its first run, which was undone with the whole group.
            waiting.error = None
            self._writer.execute("SAVEPOINT action")
            self._run(waiting)
            if waiting.error is not None:
                # This leaves the savepoint open; the RELEASE below ends it either way.
                self._writer.execute("ROLLBACK TO action")
            self._writer.execute("RELEASE action")

    def _run(self, waiting: _QueuedTransaction) -> None:
        """Runs one action. Raises only when the whole group's transaction is gone."""
        try:
            tx = SqliteTx(self._writer, self._clock.now(), self._subscribers)
            waiting.result = waiting.context.run(drive, waiting.action(tx, *waiting.args, **waiting.kwargs))
            waiting.signalled, waiting.announced = tx.signalled, tx.announced
        except Exception as error:
            waiting.error = _translated(error)
            if not self._writer.in_transaction:
                raise waiting.error from error  # A full disk makes SQLite roll everything back: nothing stands.

    async def _begin(self) -> None:
        deadline = asyncio.get_running_loop().time() + LOCK_WAIT
        pause = 0.001
        while True:
            try:
                self._writer.execute("BEGIN IMMEDIATE")
            # Not by SQLite's own busy time-out, which would block the event loop for its whole length.
            except apsw.BusyError:
                if asyncio.get_running_loop().time() > deadline:
                    raise
                await asyncio.sleep(pause)
                pause = min(0.05, pause * 2)
            else:
                return

    def _rollback(self) -> None:
        if self._writer.in_transaction:
            self._writer.execute("ROLLBACK")


def _read(connection: SqliteConnection, now: int, start: Callable[[Tx], Awaitable[R]]) -> R:
    """Runs an action that only reads, on one snapshot of a connection."""
    with translated():
        connection.execute("BEGIN")
        try:
            return drive(start(SqliteTx(connection, now)))
        finally:
            connection.execute("COMMIT")


def drive(action: Awaitable[R]) -> R:
    """Runs an action to its end at once. Raises AwaitedOutsideTransaction when it awaits anything else."""
    steps = cast("Coroutine[object, None, R]", action)
    try:
        steps.send(None)
    except StopIteration as done:
        return cast("R", done.value)
    steps.close()
    raise AwaitedOutsideTransaction("An action awaited something other than its transaction.")


def _fail(group: list[_QueuedTransaction], error: Exception) -> None:
    for waiting in group:
        waiting.error = error


def _resolve(waiting: _QueuedTransaction) -> None:
    if waiting.answer.done():
        return
    if waiting.error is not None:
        waiting.answer.set_exception(waiting.error)
    else:
        waiting.answer.set_result(waiting.result)


class translated(contextlib.AbstractContextManager["translated"]):  # noqa: N801  # reads as a statement
    """Raises SQLite's errors as those of this package: `with translated(): …`."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is not None:
            _translate(error)


def _translated(error: Exception) -> Exception:
    """Returns the error of this package for one of SQLite, any other as it is."""
    try:
        _translate(error)
    except Exception as ours:
        return ours
    return error


def _translate(error: BaseException) -> None:
    """Raises an error of SQLite as one of this package, if there is one for it."""
    match error:
        case apsw.ConstraintError():
            raise ConstraintViolated(str(error)) from error
        case apsw.FullError():
            raise DiskFull("The disk is full. Nothing was written.", 10) from error
        case apsw.BusyError() | apsw.IOError() | apsw.CantOpenError() | apsw.ReadOnlyError():
            raise DatabaseAway("The database cannot be used right now.") from error
        case _:
            return


def open_sqlite(file: Path, clock: Clock, subscribers: Sequence[Subscriber] = ()) -> SqliteDatabase:
    """Opens the file, creating it if needed. Raises SettingError when that fails."""
    try:
        make_folder(file.parent)
        return SqliteDatabase(partial(connect, file), clock, subscribers)
    except (OSError, apsw.Error) as error:
        raise SettingError(f"The database file {file} cannot be opened: {error}") from error


def read_in_memory(
    scripts: Iterable[str], action: Callable[Concatenate[Tx, P], Awaitable[R]], *args: P.args, **kwargs: P.kwargs
) -> R:
    """Returns what `action(tx, …)` reads from a database of its own that the scripts have made."""
    connection = connect(Path(":memory:"))
    try:
        for script in scripts:
            connection.execute(script)
        return drive(action(SqliteTx(connection, 0), *args, **kwargs))
    finally:
        connection.close()


def connect(file: Path) -> SqliteConnection:
    """Opens a file as the server does."""
    opened = apsw.Connection(str(file), statementcachesize=512)
    # Without this, SQLite plans a join anew whenever a parameter is bound: 13 µs instead of 2 for a key's look-up.
    opened.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection = cast("SqliteConnection", opened)
    # Only for the switch to WAL, which needs the file alone for a moment when two processes open it together.
    connection.set_busy_timeout(2_000)
    # Savepoints keep their journal in the temporary store; in a file that costs 80 µs a create.
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        "cache_size = -16384",
        "temp_store = MEMORY",
    ):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    # From here on `_begin` waits, without blocking the event loop.
    connection.set_busy_timeout(0)
    return connection
