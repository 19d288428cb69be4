"""PostgreSQL: a pool of connections, and transactions that are run again when they collide."""

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from typing import Concatenate, Final, ParamSpec, TypeVar, cast

import asyncpg

from pressroom import metrics
from pressroom.clock import Clock, nanoseconds_awake
from pressroom.db import (
    Command,
    ConstraintViolated,
    DatabaseAway,
    DatabaseNotReached,
    DiskFull,
    Hearer,
    LockedElsewhere,
    Query,
    Subscriber,
    Tx,
    Value,
    check_columns,
)
from pressroom.db.postgres.connector import AWAY, PLAIN, Connector, PostgresConnection, PostgresOptions
from pressroom.db.postgres.pool import Connections
from pressroom.db.postgres.signals import Signals
from pressroom.db.postgres.tx import PostgresTx, StatementLimit, Supervised, bind
from pressroom.db.rows import Column
from pressroom.errors import PressroomError, SettingError

R = TypeVar("R")
P = ParamSpec("P")

COLLISION_LIMIT: Final = 20.0
"""Seconds for which a transaction that collides with others is run again before it raises DatabaseAway."""

SHORTEST_PAUSE: Final = 0.01
LONGEST_PAUSE: Final = 0.5
"""Seconds, at random up to these, before the first and before any later run."""

QUICK: Final = 20
READINGS: Final = 3
"""The database's clock is read again, at most so often, while its answer takes longer than so many milliseconds."""

ROLLBACK_LIMIT: Final = 5.0
"""Seconds to wait for the end of a transaction that failed; then its connection is closed."""

MIGRATION_LIMIT: Final = 86_400.0
"""Seconds that a migration may take: it builds indexes, and waits for another process that migrates."""

_BESIDE_MIGRATIONS: Final = (
    asyncpg.DeadlockDetectedError,
    # A migration changed a table under a statement that was prepared before.
    asyncpg.exceptions.InvalidCachedStatementError,
)
"""Errors after which a read is run again: a migration locks tables against readers too."""

_COLLISIONS: Final = (asyncpg.SerializationError, *_BESIDE_MIGRATIONS)
"""Errors after which a transaction is run again."""

_TIME: Final = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"
# CREATE SCHEMA demands a right to the database even where the schema exists; a second process may make it meanwhile.
_MAKE_SCHEMA: Final = """DO $$ BEGIN IF current_schema() IS NULL THEN
    CREATE SCHEMA IF NOT EXISTS "{schema}"; END IF; EXCEPTION WHEN unique_violation THEN NULL; END $$"""

_UNLIMITED: Final = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0"


class PostgresDatabase:
    """A PostgreSQL database, open. Built by `open_postgres`."""

    engine = "postgres"

    def __init__(
        self,
        pool: Connections[PostgresConnection],
        clock: Clock,
        direct: Connector,
        options: PostgresOptions,
        subscribers: Sequence[Subscriber],
    ) -> None:
        self.pool = pool
        self._clock = clock
        self._options = options
        self._subscribers = subscribers
        self._signals = Signals(direct.connect, self._notify, options.channel)
        self._recovering: set[asyncio.Task[None]] = set()

    async def transact(
        self, action: Callable[Concatenate[Tx, P], Awaitable[R]], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        # Cancelling the request must not interrupt a COMMIT half way, whose outcome nobody would hear.
        done = await asyncio.shield(self._transact(lambda tx: action(tx, *args, **kwargs)))
        if isinstance(done, PressroomError):
            raise done
        return done

    async def _transact(self, start: Callable[[Tx], Awaitable[R]]) -> R | PressroomError:
        """Returns its refusal: raised, it would be an error of the event loop once no caller waits."""
        try:
            return await self._repeat(lambda: self._run("BEGIN", start, self._subscribers, confirm=True), _COLLISIONS)
        except PressroomError as error:
            return error

    async def _repeat(self, run: Callable[[], Awaitable[R]], collisions: tuple[type[Exception], ...]) -> R:
        """Runs what `run` begins until it does not collide with others."""
        loop = asyncio.get_running_loop()
        give_up_at, pause = loop.time() + COLLISION_LIMIT, SHORTEST_PAUSE
        while True:
            try:
                return await run()
            # PostgreSQL rolled the transaction back as a whole, so a second run repeats no effect.
            except collisions as error:
                if loop.time() >= give_up_at:
                    raise DatabaseAway("Too many transactions collided. Nothing was written.") from error
            # At random, since those that collided would otherwise meet again.
            await asyncio.sleep(random.uniform(0, pause))  # noqa: S311  # spreads, protects nothing
            pause = min(LONGEST_PAUSE, pause * 2)

    async def read(self, action: Callable[Concatenate[Tx, P], Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        return await self._repeat(lambda: self._run(begin, lambda tx: action(tx, *args, **kwargs)), _BESIDE_MIGRATIONS)

    async def read_in_thread(
        self, action: Callable[Concatenate[Tx, P], Awaitable[R]], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        return await self.read(action, *args, **kwargs)

    async def _run(
        self,
        begin: str,
        start: Callable[[Tx], Awaitable[R]],
        subscribers: Sequence[Subscriber] = (),
        *,
        confirm: bool = False,
    ) -> R:
        """Runs an action in one transaction."""
        async with self._connection() as connection:
            tx = PostgresTx(connection, self._clock.now(), self._options.begin(begin), subscribers)
            with StatementLimit(tx, self._options.statement_seconds):
                try:
                    result = cast("R", await Supervised(tx.carry_out(start(tx)), tx))
                except PressroomError:
                    await tx.settle()
                    raise
                await tx.commit(confirm=confirm)
        # After the COMMIT: a worker that is woken earlier would not see the row yet.
        if tx.signalled or tx.announced:
            self._signals.send(work=tx.signalled, subjects=tx.announced)
        return result

    async def one(self, query: Query[R], **values: Value) -> R | None:
        return await self._repeat(lambda: self._one(query, values), _BESIDE_MIGRATIONS)

    async def _one(self, query: Query[R], values: Mapping[str, Value]) -> R | None:
        # Behind a pooler that changes sessions, a statement by itself could be prepared in one session and run in
        # another.
        if self._options.by_transaction:
            return await self._run("BEGIN READ ONLY", lambda tx: tx.one(query, **values))
        async with self._connection() as connection:
            metrics.count_round_trip()
            row = await connection.fetchrow(
                query.numbered, *query.arrange(values), timeout=self._options.statement_seconds
            )
        return None if row is None else (query.builders.get("postgres") or bind(query, row))(tuple(row))

    def listen(self) -> asyncio.Event:
        return self._signals.listen()

    def hear(self, hearer: Hearer) -> None:
        self._signals.hear(hearer)

    async def follow_clock(self) -> None:
        """Sets the clock by that of the database, read as often as it takes for an answer that came quickly."""
        found: list[tuple[int, int, int]] = []
        async with self._connection() as connection:
            while len(found) < READINGS and (not found or found[-1][0] > QUICK):
                began = nanoseconds_awake()
                row = cast("Sequence[int]", await connection.fetchrow(_TIME, timeout=self._options.statement_seconds))
                took = (nanoseconds_awake() - began) // 1_000_000
                found.append((took, nanoseconds_awake(), row[0]))
        # The quickest answer has the smallest error: its time lies within half of its round trip.
        took, at, time = min(found)
        self._clock.follow(time + took // 2 + (nanoseconds_awake() - at) // 1_000_000)

    async def prepare(self, command: Command) -> list[Column]:
        async with self._connection() as connection:
            attributes = (await connection.prepare(command.numbered)).get_attributes()
        columns = [Column(attribute.name, attribute.type.name) for attribute in attributes]
        check_columns(command, self.engine, columns)
        return columns

    async def make_schema(self) -> None:
        """Makes the schema of the tables if it is missing. Raises SettingError when PostgreSQL does not allow that."""
        try:
            async with self._connection() as connection:
                await connection.execute(_MAKE_SCHEMA.format(schema=self._options.schema))
        except asyncpg.InsufficientPrivilegeError as error:
            raise SettingError(
                f"PRESSROOM_DATABASE_SCHEMA: {self._options.schema} cannot be made: {error}. Have it made for this"
                f' user: CREATE SCHEMA "{self._options.schema}" AUTHORIZATION USER.'
            ) from error

    async def script(self, statements: str) -> None:
        with _deadlocks_as_locks():
            async with self._connection() as connection:
                await connection.execute(";".join((*self._options.begin("BEGIN"), _UNLIMITED)))
                await connection.execute(statements, timeout=MIGRATION_LIMIT)
                await connection.execute("COMMIT")

    async def build(self, statements: Sequence[str]) -> None:
        """Runs statements that refuse to be part of a transaction, such as CREATE INDEX CONCURRENTLY."""
        with _deadlocks_as_locks():
            async with self._connection() as connection:
                try:
                    await connection.execute("SET statement_timeout = 0")
                    for statement in statements:
                        await connection.execute(statement, timeout=MIGRATION_LIMIT)
                finally:
                    connection.terminate()  # with its lack of limits and the locks of its session

    async def close(self) -> None:
        await self._signals.close()
        # It waits a moment for rollbacks too, and cuts them off: a server that does not answer keeps no stop waiting.
        await self.pool.close()
        if self._recovering:
            await asyncio.wait(self._recovering)

    async def _notify(self, sql: str) -> None:
        async with self._connection() as connection:
            await connection.execute(sql, timeout=self._options.statement_seconds)

    @contextlib.asynccontextmanager
    async def _connection(self) -> AsyncGenerator[PostgresConnection]:
        """Yields a connection of the pool; raises PostgreSQL's errors as those of this package.

        A failure on it is rolled back. Collisions are raised as they are.
        """
        try:
            connection = await self.pool.take()
            try:
                yield connection
            except (asyncio.CancelledError, TimeoutError):
                # A cancelled request does not wait until PostgreSQL has let go of the statement.
                recovery = asyncio.create_task(self._roll_back(connection, cut_off=True))
                self._recovering.add(recovery)
                recovery.add_done_callback(self._recovering.discard)
                raise
            except asyncpg.ReadOnlySQLTransactionError:
                connection.terminate()  # Its server is a standby by now.
                self.pool.give_back(connection)
                raise
            except BaseException:
                await self._roll_back(connection)
                raise
            self.pool.give_back(connection)
        except _COLLISIONS:
            raise
        except asyncpg.IntegrityConstraintViolationError as error:
            raise ConstraintViolated(str(error)) from error
        except (asyncpg.DiskFullError, asyncpg.OutOfMemoryError) as error:
            # Not the same as an absent database: waiting does not help here, an operator must free space.
            raise DiskFull("The database's disk is full. Nothing was written.", 10) from error
        except asyncpg.LockNotAvailableError as error:
            raise LockedElsewhere("Another transaction keeps what is needed locked.") from error
        except AWAY as error:
            # Never run again: a COMMIT that was cut off may have happened. The client repeats under its idempotency
            # key.
            raise DatabaseAway("The database cannot be reached right now.") from error

    async def _roll_back(self, connection: PostgresConnection, *, cut_off: bool = False) -> None:
        """Gives a connection back outside any transaction. `cut_off`: its state is unknown, perhaps within a BEGIN."""
        try:
            await connection.roll_back(ROLLBACK_LIMIT, cut_off=cut_off)
        finally:
            self.pool.give_back(connection)


@contextlib.contextmanager
def _deadlocks_as_locks() -> Generator[None]:
    try:
        yield
    except asyncpg.DeadlockDetectedError as error:
        raise LockedElsewhere(
            "Another transaction waits for what this one keeps locked, and this one for it."
        ) from error


async def open_postgres(
    url: str,
    clock: Clock,
    subscribers: Sequence[Subscriber] = (),
    *,
    options: PostgresOptions = PLAIN,
    direct: Connector | None = None,
) -> PostgresDatabase:
    """Connects. `direct` makes connections that no pooler stands before; without one, those of `url` will do.

    Raises DatabaseNotReached, or SettingError when the server refuses.
    """
    connector = Connector(url, options)
    pool = Connections(connector.connect, options.connections, options.pool_seconds)
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
        asyncpg.InternalClientError,
    ) as error:
        reason = str(error) or "it does not answer"
        raise DatabaseNotReached(f"PRESSROOM_DATABASE_URL: the database cannot be reached: {reason}") from error
    except asyncpg.PostgresError as error:
        raise SettingError(f"PRESSROOM_DATABASE_URL: the database cannot be reached: {error}") from error
    db = PostgresDatabase(pool, clock, direct or connector, options, subscribers)
    try:
        await db.follow_clock()
    except BaseException:
        await db.close()
        raise
    return db
