"""An open transaction on PostgreSQL, and what is seen to while an action runs in it."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar, cast

from pressroom import metrics
from pressroom.db import AwaitedOutsideTransaction, Command, DatabaseAway, Query, Subscriber, Value
from pressroom.db.batches import Batch, Refusal
from pressroom.db.connector import PostgresConnection, Record
from pressroom.db.rows import Builder, Column

R = TypeVar("R")

CONFIRMED: Final = (
    "SELECT CASE WHEN pg_current_xact_id_if_assigned() IS NULL"
    " THEN pg_logical_emit_message(true, 'pressroom', CAST('' AS TEXT)) END; COMMIT"
)
"""Commits, also what changed nothing, only when all that the transaction saw is on the synchronous standby.

A COMMIT waits for the standby only if the transaction wrote to the log, and then for all that came before it."""


class PostgresTx:
    """An open transaction. `busy` says whether a statement is under way: any other await is refused; `statements`
    counts them."""

    def __init__(self, connection: PostgresConnection, now: int, subscribers: Sequence[Subscriber] = ()) -> None:
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
        return None if row is None else (query.builders.get("postgres") or bind(query, row))(tuple(row))

    async def all(self, query: Query[R], **values: Value) -> list[R]:
        if self._batch:
            await self.flush()
        rows = await self._wait(self._connection.fetch(query.numbered, *[values[name] for name in query.names]))
        if not rows:
            return []
        build = query.builders.get("postgres") or bind(query, rows[0])
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

    async def commit(self, sql: str) -> None:
        """Sends what waits, and commits by `sql`. Raises DatabaseAway when PostgreSQL rolled back instead."""
        if self._batch:
            await self.flush()
        if await self.control(sql) != "COMMIT":
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


def bind(query: Query[R], row: Record) -> Builder[R]:
    return query.bind("postgres", [*map(Column, row.keys())])


class Supervised:
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


class StatementLimit:
    """Interrupts a transaction, with TimeoutError, whose statement takes longer than `seconds`, at most twice as long.

    One timer for the transaction: it looks every so often whether another statement is under way than before. The
    server has the same limit for itself; this one is for a server that is silent, and for a COMMIT, which has none.
    """

    def __init__(self, tx: PostgresTx, seconds: float) -> None:
        self._tx = tx
        self._seconds = seconds
        self._seen = -1
        self._expired = False
        self._task = cast("asyncio.Task[object]", asyncio.current_task())
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(self._seconds, self._look)

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
        self._timer = self._loop.call_later(self._seconds, self._look)
