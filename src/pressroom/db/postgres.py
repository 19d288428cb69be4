"""PostgreSQL: a pool of connections, and transactions that are run again when they collide."""

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar, cast

import asyncpg

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
from pressroom.db.rows import Builder, Column
from pressroom.db.signals import SIGNAL, Signals
from pressroom.errors import SettingError

R = TypeVar("R")
P = ParamSpec("P")

ATTEMPTS: Final = 6
"""How often a transaction that collides with others is run before it raises DatabaseAway."""

PATIENCE: Final = 5.0
"""Seconds to wait for a free connection."""

CLOSE_PATIENCE: Final = 1.0
"""Seconds to wait at a stop for connections to end in order."""

STATEMENT_LIMIT: Final = 10.0
"""Seconds that one statement may take."""

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


class _PostgresConnection(Protocol):
    """The methods of asyncpg's connections that are used here."""

    async def fetchrow(self, sql: str, *values: Value) -> _Record | None: ...
    async def fetch(self, sql: str, *values: Value) -> list[_Record]: ...
    async def execute(self, sql: str, *values: Value, timeout: float | None = None) -> str: ...  # noqa: ASYNC109  # asyncpg's
    async def executemany(self, sql: str, rows: Sequence[Sequence[Value]]) -> None: ...
    async def prepare(self, sql: str) -> _Statement: ...
    def transaction(
        self, *, isolation: str | None = None, readonly: bool = False
    ) -> AbstractAsyncContextManager[object]: ...


class _Pool(Protocol):
    """The methods of asyncpg's pools that are used here."""

    def acquire(self, *, timeout: float | None = None) -> AbstractAsyncContextManager[_PostgresConnection]: ...
    async def close(self) -> None: ...
    def terminate(self) -> None: ...


class PostgresTx:
    """An open transaction. `busy` says whether a statement is under way: any other await is refused."""

    def __init__(self, connection: _PostgresConnection, now: int, subscribers: Sequence[Subscriber] = ()) -> None:
        self._connection = connection
        self.now = now
        self.subscribers = subscribers
        self.busy = False
        self.signalled = False

    def signal(self) -> None:
        self.signalled = True

    async def one(self, query: Query[R], **values: Value) -> R | None:
        row = await self._wait(self._connection.fetchrow(query.numbered, *[values[name] for name in query.names]))
        return None if row is None else (query.builders.get("postgres") or _bind(query, row))(tuple(row))

    async def all(self, query: Query[R], **values: Value) -> list[R]:
        rows = await self._wait(self._connection.fetch(query.numbered, *[values[name] for name in query.names]))
        if not rows:
            return []
        build = query.builders.get("postgres") or _bind(query, rows[0])
        return [build(tuple(row)) for row in rows]

    async def run(self, command: Command, **values: Value) -> int:
        status = await self._wait(self._connection.execute(command.numbered, *[values[name] for name in command.names]))
        count = status.rpartition(" ")[2]
        return int(count) if count.isdigit() else 0

    async def run_each(self, command: Command, rows: Sequence[Mapping[str, Value]]) -> None:
        columns = [[row[name] for name in command.names] for row in rows]
        await self._wait(self._connection.executemany(command.numbered, columns))

    async def _wait(self, statement: Awaitable[R]) -> R:
        self.busy = True
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


class PostgresDatabase:
    """A PostgreSQL database, open. Built by `open_postgres`."""

    engine = "postgres"

    def __init__(self, pool: _Pool, clock: Clock, url: str, subscribers: Sequence[Subscriber]) -> None:
        self.pool = pool
        self._clock = clock
        self._subscribers = subscribers
        self._signals = Signals(url)

    async def transact(
        self, action: Callable[Concatenate[Tx, P], Awaitable[R]], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        # Cancelling the request must not interrupt a COMMIT half way, whose outcome nobody would hear.
        return await asyncio.shield(self._transact(lambda tx: action(tx, *args, **kwargs)))

    async def _transact(self, start: Callable[[Tx], Awaitable[R]]) -> R:
        for attempt in range(ATTEMPTS):
            if attempt:
                await asyncio.sleep(random.uniform(0, 0.01 * 2**attempt))  # noqa: S311  # spreads, protects nothing
            try:
                async with self._connection() as connection, connection.transaction():
                    tx = PostgresTx(connection, self._clock.now(), self._subscribers)
                    result = cast("R", await _Supervised(start(tx), tx))
                    if tx.signalled:
                        await connection.execute(SIGNAL)
                    return result
            except (asyncpg.SerializationError, asyncpg.DeadlockDetectedError):
                continue
        raise DatabaseAway("Too many writes collided. Nothing was written.")

    async def read(self, action: Callable[Concatenate[Tx, P], Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
        async with (
            self._connection() as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            tx = PostgresTx(connection, self._clock.now())
            return cast("R", await _Supervised(action(tx, *args, **kwargs), tx))

    async def one(self, query: Query[R], **values: Value) -> R | None:
        async with self._connection() as connection:
            row = await connection.fetchrow(query.numbered, *[values[name] for name in query.names])
        return None if row is None else (query.builders.get("postgres") or _bind(query, row))(tuple(row))

    def listen(self) -> asyncio.Event:
        return self._signals.listen()

    async def prepare(self, command: Command) -> list[Column]:
        async with self.pool.acquire() as connection:
            attributes = (await connection.prepare(command.numbered)).get_attributes()
        columns = [Column(attribute.name, attribute.type.name) for attribute in attributes]
        check_columns(command, self.engine, columns)
        return columns

    async def script(self, statements: str) -> None:
        async with self._connection() as connection, connection.transaction():
            await connection.execute(statements, timeout=MIGRATION_LIMIT)

    async def close(self) -> None:
        await self._signals.close()
        try:
            await asyncio.wait_for(self.pool.close(), CLOSE_PATIENCE)
        except (TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            self.pool.terminate()

    @contextlib.asynccontextmanager
    async def _connection(self) -> AsyncGenerator[_PostgresConnection]:
        """Yields a connection of the pool; raises PostgreSQL's errors as those of this package."""
        try:
            async with self.pool.acquire(timeout=PATIENCE) as connection:
                yield connection
        except asyncpg.IntegrityConstraintViolationError as error:
            raise ConstraintViolated(str(error)) from error
        except (asyncpg.DiskFullError, asyncpg.OutOfMemoryError) as error:
            raise DiskFull("The database's disk is full. Nothing was written.", 10) from error
        except (
            OSError,
            TimeoutError,
            asyncpg.PostgresConnectionError,
            asyncpg.OperatorInterventionError,
            asyncpg.TooManyConnectionsError,
            asyncpg.InterfaceError,
            asyncpg.InternalClientError,
            asyncpg.ReadOnlySQLTransactionError,
        ) as error:
            raise DatabaseAway("The database cannot be reached right now.") from error


async def open_postgres(
    url: str, clock: Clock, subscribers: Sequence[Subscriber] = (), *, connections: int = 16
) -> PostgresDatabase:
    """Connects. Raises DatabaseNotReached, or SettingError when what answers refuses."""
    connect = cast("Callable[..., Awaitable[_Pool]]", asyncpg.create_pool)
    try:
        pool = await connect(
            url,
            min_size=1,
            max_size=connections,
            timeout=PATIENCE,
            command_timeout=STATEMENT_LIMIT,
            server_settings={"application_name": "pressroom", "timezone": "UTC"},
        )
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
