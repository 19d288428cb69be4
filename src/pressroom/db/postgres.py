"""PostgreSQL: a pool of connections, and transactions that are run again when they collide."""

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar, cast

import asyncpg

from pressroom import metrics
from pressroom.clock import Clock
from pressroom.db import (
    AwaitedOutsideTransaction,
    Command,
    ConstraintViolated,
    DatabaseAway,
    DatabaseNotReached,
    DiskFull,
    Query,
    Subscriber,
    Tx,
    Value,
    check_columns,
)
from pressroom.db.batches import Batch, Refusal
from pressroom.db.pool import PATIENCE, Connections, PooledConnection
from pressroom.db.rows import Builder, Column
from pressroom.db.signals import Signals
from pressroom.errors import PressroomError, SettingError

R = TypeVar("R")
P = ParamSpec("P")

COLLISION_LIMIT: Final = 20.0
"""Seconds for which a transaction that collides with others is run again before it raises DatabaseAway."""

SHORTEST_PAUSE: Final = 0.01
LONGEST_PAUSE: Final = 0.5
"""Seconds, at random up to these, before the first and before any later run."""

STATEMENT_LIMIT: Final = 10.0
"""Seconds that one statement may take; in a transaction, at least these and at most twice as long."""

ROLLBACK_LIMIT: Final = 5.0
"""Seconds to wait for the end of a transaction that failed; then its connection is closed."""

MIGRATION_LIMIT: Final = 86_400.0
"""Seconds that a migration may take: it builds indexes, and waits for another process that migrates."""


class _Record(Protocol):
    """The methods of asyncpg's rows that are used here."""

    def keys(self) -> Iterator[str]: ...
    def __iter__(self) -> Iterator[Value]: ...


class _Named(Protocol):
    @property
    def name(self) -> str: ...


class _Attribute(_Named, Protocol):
    @property
    def type(self) -> _Named: ...


class _Statement(Protocol):
    """The methods of asyncpg's prepared statements that are used here."""

    def get_attributes(self) -> Sequence[_Attribute]: ...


class _PostgresConnection(PooledConnection, Protocol):
    """The methods of asyncpg's connections that are used here."""

    async def fetchrow(self, sql: str, *values: Value, timeout: float | None = None) -> _Record | None: ...  # noqa: ASYNC109  # asyncpg's
    async def fetch(self, sql: str, *values: Value) -> list[_Record]: ...
    async def execute(self, sql: str, *values: Value, timeout: float | None = None) -> str: ...  # noqa: ASYNC109  # asyncpg's
    async def executemany(self, sql: str, rows: Sequence[Sequence[Value]]) -> None: ...
    async def prepare(self, sql: str) -> _Statement: ...


class PostgresTx:
    """An open transaction. `busy` says whether a statement is under way: any other await is refused; `statements`
    counts them."""

    def __init__(self, connection: _PostgresConnection, now: int, subscribers: Sequence[Subscriber] = ()) -> None:
        self._connection = connection
        self.now = now
        self.subscribers = subscribers
        self.busy = False
        self.statements = 0
        self.signalled = False
        self._batch = Batch()

    def signal(self) -> None:
        self.signalled = True

    async def one(self, query: Query[R], **values: Value) -> R | None:
        if self._batch:
            await self.flush()
        row = await self._wait(self._connection.fetchrow(query.numbered, *[values[name] for name in query.names]))
        return None if row is None else (query.builders.get("postgres") or _bind(query, row))(tuple(row))

    async def all(self, query: Query[R], **values: Value) -> list[R]:
        if self._batch:
            await self.flush()
        rows = await self._wait(self._connection.fetch(query.numbered, *[values[name] for name in query.names]))
        if not rows:
            return []
        build = query.builders.get("postgres") or _bind(query, rows[0])
        return [build(tuple(row)) for row in rows]

    async def run(self, command: Command, **values: Value) -> int:
        if self._batch:
            await self.flush()
        return await self._count(command.numbered, [values[name] for name in command.names])

    async def run_each(self, command: Command, rows: Sequence[Mapping[str, Value]]) -> None:
        if self._batch:
            await self.flush()
        columns = [[row[name] for name in command.names] for row in rows]
        await self._wait(self._connection.executemany(command.numbered, columns))

    async def later(self, command: Command, /, **values: Value) -> None:
        await self._add(command, values, None)

    async def require(self, command: Command, refusal: Refusal, /, **values: Value) -> None:
        await self._add(command, values, refusal)

    async def flush(self) -> None:
        """Sends what waits. Raises the first refusal."""
        batch, self._batch = self._batch, Batch()
        sql, values = batch.statement()
        if batch.is_single:
            batch.check([await self._count(sql, values)])
        else:
            batch.check(tuple(await self._wait(self._connection.fetchrow(sql, *values)) or ()))

    async def settle(self) -> None:
        """Finds out whether what waits refuses the transaction: then that comes before a later refusal."""
        if self._batch.may_refuse:
            await self.flush()

    async def commit(self) -> None:
        """Sends what waits, and commits. Raises DatabaseAway when PostgreSQL rolled back instead."""
        if self._batch:
            await self.flush()
        if await self.control("COMMIT") != "COMMIT":
            raise DatabaseAway("The transaction had failed. Nothing was written.")

    async def _count(self, sql: str, values: Sequence[Value]) -> int:
        """Runs a statement, and returns how many rows it touched."""
        status = await self._wait(self._connection.execute(sql, *values))
        count = status.rpartition(" ")[2]
        return int(count) if count.isdigit() else 0

    async def _add(self, command: Command, values: Mapping[str, Value], refusal: Refusal | None) -> None:
        if self._batch and not self._batch.takes(command):
            await self.flush()
        self._batch.add(command, [values[name] for name in command.names], refusal)

    async def control(self, sql: str) -> str:
        """Begins or ends the transaction. Returns what PostgreSQL says that it did."""
        return await self._wait(self._connection.execute(sql))

    async def _wait(self, statement: Awaitable[R]) -> R:
        self.busy = True
        self.statements += 1
        metrics.count_round_trip()
        try:
            return await statement
        finally:
            self.busy = False


def _bind(query: Query[R], row: _Record) -> Builder[R]:
    return query.bind("postgres", [*map(Column, row.keys())])


class _Supervised:
    """Awaits an action and refuses any wait that is not one of its transaction's statements."""

    def __init__(self, action: Awaitable[object], tx: PostgresTx) -> None:
        self._action = action
        self._tx = tx

    def __await__(self) -> Generator[object, Any, object]:
        steps = cast("Generator[object, Any, object]", self._action.__await__())
        resume: Callable[[], object] = partial(steps.send, None)
        while True:
            try:
                waits_for = resume()
            except StopIteration as done:
                return cast("object", done.value)
            if not self._tx.busy:
                steps.close()
                raise AwaitedOutsideTransaction("An action awaited something other than its transaction.")
            try:
                sent = yield waits_for
                resume = partial(steps.send, sent)
            except BaseException as error:  # cancellation is for the action to hear
                resume = partial(steps.throw, error)


class _StatementLimit:
    """Interrupts a transaction, with TimeoutError, whose statement takes longer than `STATEMENT_LIMIT`.

    One timer for the transaction: it looks every so often whether another statement is under way than before.
    """

    def __init__(self, tx: PostgresTx) -> None:
        self._tx = tx
        self._seen = -1
        self._expired = False
        self._task = cast("asyncio.Task[object]", asyncio.current_task())
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(STATEMENT_LIMIT, self._look)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._timer.cancel()
        if self._expired and isinstance(error, asyncio.CancelledError) and self._task.uncancel() == 0:
            raise TimeoutError("A statement took too long.") from error

    def _look(self) -> None:
        if self._seen == self._tx.statements and self._tx.busy:
            self._expired = True
            self._task.cancel()
            return
        self._seen = self._tx.statements
        self._timer = self._loop.call_later(STATEMENT_LIMIT, self._look)


class PostgresDatabase:
    """A PostgreSQL database, open. Built by `open_postgres`."""

    engine = "postgres"

    def __init__(
        self, pool: Connections[_PostgresConnection], clock: Clock, url: str, subscribers: Sequence[Subscriber]
    ) -> None:
        self.pool = pool
        self._clock = clock
        self._subscribers = subscribers
        self._signals = Signals(url, self._notify)
        self._recovering: set[asyncio.Task[None]] = set()

    async def transact(
        self, action: Callable[Concatenate[Tx, P], Awaitable[R]], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        # Cancelling the request must not interrupt a COMMIT half way, whose outcome nobody would hear.
        return await asyncio.shield(self._transact(lambda tx: action(tx, *args, **kwargs)))

    async def _transact(self, start: Callable[[Tx], Awaitable[R]]) -> R:
        loop = asyncio.get_running_loop()
        give_up_at, pause = loop.time() + COLLISION_LIMIT, SHORTEST_PAUSE
        while True:
            try:
                return await self._run("BEGIN", start, self._subscribers)
            except (asyncpg.SerializationError, asyncpg.DeadlockDetectedError) as error:
                if loop.time() >= give_up_at:
                    raise DatabaseAway("Too many writes collided. Nothing was written.") from error
            await asyncio.sleep(random.uniform(0, pause))  # noqa: S311  # spreads, protects nothing
            pause = min(LONGEST_PAUSE, pause * 2)

    async def read(self, action: Callable[Concatenate[Tx, P], Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        return await self._run(begin, lambda tx: action(tx, *args, **kwargs))

    async def _run(self, begin: str, start: Callable[[Tx], Awaitable[R]], subscribers: Sequence[Subscriber] = ()) -> R:
        """Runs an action in one transaction."""
        async with self._connection() as connection:
            tx = PostgresTx(connection, self._clock.now(), subscribers)
            with _StatementLimit(tx):
                await tx.control(begin)
                try:
                    result = cast("R", await _Supervised(start(tx), tx))
                except PressroomError:
                    await tx.settle()
                    raise
                await tx.commit()
        if tx.signalled:
            self._signals.send()
        return result

    async def one(self, query: Query[R], **values: Value) -> R | None:
        async with self._connection() as connection:
            metrics.count_round_trip()
            row = await connection.fetchrow(
                query.numbered, *[values[name] for name in query.names], timeout=STATEMENT_LIMIT
            )
        return None if row is None else (query.builders.get("postgres") or _bind(query, row))(tuple(row))

    def listen(self) -> asyncio.Event:
        return self._signals.listen()

    async def prepare(self, command: Command) -> list[Column]:
        async with self._connection() as connection:
            attributes = (await connection.prepare(command.numbered)).get_attributes()
        columns = [Column(attribute.name, attribute.type.name) for attribute in attributes]
        check_columns(command, self.engine, columns)
        return columns

    async def script(self, statements: str) -> None:
        async with self._connection() as connection:
            await connection.execute("BEGIN")
            await connection.execute(statements, timeout=MIGRATION_LIMIT)
            await connection.execute("COMMIT")

    async def close(self) -> None:
        await self._signals.close()
        if self._recovering:
            await asyncio.wait(self._recovering)
        await self.pool.close()

    async def _notify(self, sql: str) -> None:
        async with self._connection() as connection:
            await connection.execute(sql, timeout=STATEMENT_LIMIT)

    @contextlib.asynccontextmanager
    async def _connection(self) -> AsyncGenerator[_PostgresConnection]:
        """Yields a connection of the pool; raises PostgreSQL's errors as those of this package.

        What fails on it is rolled back. Collisions are raised as they are.
        """
        try:
            connection = await self.pool.take()
            try:
                yield connection
            except (asyncio.CancelledError, TimeoutError):
                # Whoever was cancelled does not wait until PostgreSQL has let go of the statement.
                recovery = asyncio.create_task(self._roll_back(connection, cut_off=True))
                self._recovering.add(recovery)
                recovery.add_done_callback(self._recovering.discard)
                raise
            except BaseException:
                await self._roll_back(connection)
                raise
            self.pool.give_back(connection)
        except (asyncpg.SerializationError, asyncpg.DeadlockDetectedError):
            raise
        except asyncpg.IntegrityConstraintViolationError as error:
            raise ConstraintViolated(str(error)) from error
        except (asyncpg.DiskFullError, asyncpg.OutOfMemoryError) as error:
            raise DiskFull("The database's disk is full. Nothing was written.", 10) from error
        except _AWAY as error:
            raise DatabaseAway("The database cannot be reached right now.") from error

    async def _roll_back(self, connection: _PostgresConnection, *, cut_off: bool = False) -> None:
        """Gives a connection back outside any transaction. `cut_off`: what it is doing, maybe a BEGIN, is not known."""
        try:
            if cut_off or (not connection.is_closed() and connection.is_in_transaction()):
                await connection.execute("ROLLBACK", timeout=ROLLBACK_LIMIT)
        except (*_AWAY, asyncpg.PostgresError):
            connection.terminate()
        finally:
            self.pool.give_back(connection)


_AWAY: Final = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.TooManyConnectionsError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.ReadOnlySQLTransactionError,
)
"""What PostgreSQL and its driver raise when the database cannot be used right now."""


async def open_postgres(
    url: str, clock: Clock, subscribers: Sequence[Subscriber] = (), *, connections: int = 16
) -> PostgresDatabase:
    """Connects. Raises DatabaseNotReached, or SettingError when what answers refuses."""
    connect = cast("Callable[..., Awaitable[_PostgresConnection]]", asyncpg.connect)
    server_settings = {"application_name": "pressroom", "timezone": "UTC"}
    pool = Connections(partial(connect, url, timeout=PATIENCE, server_settings=server_settings), connections)
    try:
        pool.give_back(await pool.take())
    except (asyncpg.ClientConfigurationError, ValueError):
        raise SettingError("PRESSROOM_DATABASE_URL is no address of a database; is its password URL-encoded?") from None
    except (
        OSError,
        TimeoutError,
        asyncpg.PostgresConnectionError,
        asyncpg.CannotConnectNowError,
        asyncpg.TooManyConnectionsError,
    ) as error:
        reason = str(error) or "it does not answer"
        raise DatabaseNotReached(f"PRESSROOM_DATABASE_URL: the database cannot be reached: {reason}") from error
    except asyncpg.PostgresError as error:
        raise SettingError(f"PRESSROOM_DATABASE_URL: the database cannot be reached: {error}") from error
    return PostgresDatabase(pool, clock, url, subscribers)
