"""The target of a transfer: an empty PostgreSQL database that nobody serves."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Final, Protocol, cast

import asyncpg

from pressroom.clock import SystemClock
from pressroom.db import DatabaseAway, Value
from pressroom.db.migrate import check_migrated, newest_schema
from pressroom.db.postgres.connector import Connector, PostgresOptions
from pressroom.db.postgres.database import open_postgres
from pressroom.db.postgres.lock import PATIENCE, TAKE
from pressroom.db.postgres.partitions import make_ahead
from pressroom.domains.posts.queries.indexing import NOTE_ALL
from pressroom.domains.webhooks.models import RETENTION
from pressroom.errors import SettingError
from pressroom.operations.transfer import marks
from pressroom.operations.transfer.marks import Mark
from pressroom.operations.transfer.tables import Row, Table
from pressroom.server.sole_counter import API_LOCK

_ALONE: Final = "LOCK TABLE transfers IN EXCLUSIVE MODE"


class _Connection(Protocol):
    """The methods of asyncpg's connections that are used here."""

    async def execute(self, sql: str, *values: Value) -> str: ...
    async def fetch(self, sql: str, *values: Value) -> list[Sequence[Value]]: ...
    async def fetchrow(self, sql: str, *values: Value) -> Sequence[Value] | None: ...
    async def copy_records_to_table(
        self, table_name: str, *, records: Sequence[Row], columns: Sequence[str]
    ) -> str: ...
    def terminate(self) -> None: ...


class Target:
    """An open target, with the lock of the one process that serves. The lock ends with the connection."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    async def mark(self) -> Mark | None:
        """Returns the latest transfer into it."""
        row = await self._connection.fetchrow(marks.LATEST.numbered)
        return Mark(str(row[0]), cast("int | None", row[1])) if row else None

    async def check_empty(self, tables: Sequence[Table]) -> None:
        """Raises SettingError if a table has a row."""
        for table in tables:
            if await self._connection.fetchrow(table.last_key()):
                raise SettingError(f"The database is not empty: {table.name} has rows. Name an empty one.")

    async def begin(self, transfer_id: str, tables: Sequence[Table]) -> None:
        """Marks it as half way, from when on no server starts on it. Raises SettingError when it is not empty."""
        await self._connection.execute("BEGIN")
        try:
            # Keeps servers out while emptiness is checked: a row of theirs in between would be mixed with those that
            # come.
            await self._connection.execute(_ALONE)
            await self.check_empty(tables)
            await self._connection.execute(marks.BEGIN.numbered, transfer_id, SystemClock().now())
        except BaseException:
            await self._connection.execute("ROLLBACK")
            raise
        await self._connection.execute("COMMIT")

    async def finish(self, transfer_id: str) -> None:
        """Marks it as whole, and has the planner's statistics renewed. A server will index its posts."""
        await self._connection.execute(NOTE_ALL.numbered)
        await self._connection.execute("ANALYZE")
        # Last: until then no server starts on it, so none serves half of an installation.
        await self._connection.execute(marks.FINISH.numbered, SystemClock().now(), transfer_id)

    async def last_key(self, table: Table) -> Row:
        """Returns the primary key of the last row that has come; empty when none has."""
        return tuple(await self._connection.fetchrow(table.last_key()) or ())

    async def add(self, table: Table, rows: Sequence[Row]) -> None:
        """Writes rows, all or none. Raises SettingError when PostgreSQL does not take them."""
        try:
            # One COPY is one transaction: after a kill the last key shows exactly how far it came.
            await self._connection.copy_records_to_table(table.name, records=rows, columns=table.columns)
        except (
            asyncpg.DataError,
            asyncpg.IntegrityConstraintViolationError,
            asyncpg.CharacterNotInRepertoireError,
        ) as error:
            raise SettingError(f"PostgreSQL does not take rows of {table.name}: {error}.") from error

    async def rows(self, table: Table) -> AsyncGenerator[list[Row]]:
        """Yields all rows in the order of the primary key, in batches."""
        after: Row = ()
        while True:
            statement = table.rows_after([f"${place}" for place in range(1, len(after) + 1)])
            batch = [tuple(row) for row in await self._connection.fetch(statement, *after)]
            if not batch:
                return
            yield batch
            after = table.key_of(batch[-1])

    async def lock(self) -> None:
        """Takes the lock of a server. Raises SettingError when another process has it."""
        deadline = time.monotonic() + PATIENCE
        while not (await self._connection.fetchrow(TAKE, API_LOCK) or (False,))[0]:
            if time.monotonic() > deadline:
                raise SettingError(
                    "The database of PRESSROOM_DATABASE_URL is being served, or another transfer fills it."
                )
            await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def open_target(url: str, options: PostgresOptions) -> AsyncGenerator[Target]:
    """Opens the database at `url`, alone. Raises SettingError when it is served or its schema is not this version's."""
    db = await open_postgres(url, SystemClock(), options=options)
    try:
        if (have := await check_migrated(db)) != (known := newest_schema()):
            raise SettingError(f"The database is at schema {have} and this version's is {known}: upgrade Pressroom.")
        # Rows go where they would be if they had been written there, so that retention drops them with their week.
        await make_ahead(db, since=SystemClock().now() - RETENTION)
    finally:
        await db.close()
    # Statistics of large tables, and files between the last row and the end, take as long as they take.
    connector = Connector(url, replace(options, statement_seconds=0.0, idle_seconds=0.0), name="pressroom transfer")
    try:
        connection = await connector.connect()
        try:
            target = Target(cast("_Connection", connection))
            await target.lock()
            yield target
        finally:
            connection.terminate()
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise DatabaseAway(f"The database cannot be used right now: {error}. Run the transfer once more.") from error
