"""An open transaction on PostgreSQL, and the supervision of the action that runs in it."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar, cast

import asyncpg

from pressroom import metrics
from pressroom.db import AwaitedOutsideTransaction, Command, DatabaseAway, Query, Subscriber, Value
from pressroom.db.postgres.connector import PostgresConnection, Record
from pressroom.db.postgres.pipeline import Ahead, encoded
from pressroom.db.rows import Builder, Column

R = TypeVar("R")

CONFIRMED: Final = Ahead(
    "SELECT CASE WHEN pg_current_xact_id_if_assigned() IS NULL"
    " THEN pg_logical_emit_message(true, 'pressroom', CAST(pg_current_xact_id() AS TEXT)) END"
)
"""Goes ahead of a COMMIT that shall also wait when nothing was written, until all that the transaction saw is on the
synchronous standby.

A COMMIT waits for the standby only if the transaction wrote to the log, and then for all that came before it. A server
that is a standby itself refuses it as read-only, like any write."""

MOST: Final = 64
"""Statements that wait at the most."""

Refusal = Callable[[], Exception]
"""Makes the error of a statement that had to touch a row and touched none."""


class PostgresTx:
    """An open transaction. `busy`: a statement is under way; any other await is refused; `statements`
    counts round trips.

    Args:
        connection: Nobody else uses it meanwhile.
        now: The transaction's time, in milliseconds.
        begin: Begins it, with the first statement.
        subscribers: Run for each event that is appended.
    """

    engine = "postgres"

    def __init__(
        self,
        connection: PostgresConnection,
        now: int,
        begin: Sequence[str],
        subscribers: Sequence[Subscriber] = (),
    ) -> None:
        self._connection = connection
        self.now = now
        self.subscribers = subscribers
        self.busy = False
        self.statements = 0
        self.signalled = False
        self.announced: list[str] = []
        self._ahead = [Ahead(each) for each in begin]
        self._begins = len(self._ahead)
        self._refusals: list[Refusal | None] = [None] * self._begins
        self._tags: list[str] = []
        self._wrote = False
        self._at_end: list[tuple[Subscriber, object]] = []

    async def carry_out(self, action: Awaitable[R]) -> R:
        """Runs an action, and then the subscribers that it left for its end."""
        result = await action
        # Subscribers run last, when the answer is known: its claim still waits here, and is inserted with the answer.
        for subscriber, event in self._at_end:
            await subscriber(self, event)
        return result

    def signal(self) -> None:
        self.signalled = True

    def announce(self, subject: str) -> None:
        self.announced.append(subject)

    async def one(self, query: Query[R], **values: Value) -> R | None:
        row = await self._ask(self._connection.fetchrow(query.numbered, *query.arrange(values)))
        return None if row is None else (query.builders.get("postgres") or bind(query, row))(tuple(row))

    async def all(self, query: Query[R], **values: Value) -> list[R]:
        rows = await self._ask(self._connection.fetch(query.numbered, *query.arrange(values)))
        if not rows:
            return []
        build = query.builders.get("postgres") or bind(query, rows[0])
        return [build(tuple(row)) for row in rows]

    async def run(self, command: Command, **values: Value) -> int:
        count = _count(await self._say(command.numbered, *command.arrange(values)))
        # A statement that touched no row wrote nothing to the log, so its COMMIT would not wait for the standby by
        # itself.
        self._wrote = self._wrote or count > 0
        return count

    async def run_each(self, command: Command, rows: Sequence[Mapping[str, Value]]) -> None:
        columns = [command.arrange(row) for row in rows]
        if not columns:  # asyncpg would send nothing, so nothing would carry the queued statements
            return
        await self._ask(self._connection.executemany(command.numbered, columns))

    async def later(self, command: Command, /, **values: Value) -> None:
        await self._add(command, values, None)

    async def require(self, command: Command, refusal: Refusal, /, **values: Value) -> None:
        await self._add(command, values, refusal)

    async def revise(self, command: Command, /, **values: Value) -> bool:
        # By the statement's text: an action revises a statement of its own, and queues it once at most.
        for place, waiting in enumerate(self._ahead):
            if waiting.sql == command.numbered:
                self._ahead[place] = _ahead_of(command, values)
                return True
        return False

    async def at_end(self, subscriber: Subscriber, event: object) -> None:
        self._at_end.append((subscriber, event))

    async def flush(self) -> None:
        """Sends the queued statements. Raises the first refusal."""
        await self._say("SELECT 1")

    async def settle(self) -> None:
        """Sends the queued statements, whose refusal comes before a later one, and ends the transaction."""
        if any(self._refusals):
            await self._say("ROLLBACK")

    async def commit(self, *, confirm: bool) -> None:
        """Sends the queued statements, and commits. Raises the first refusal; DatabaseAway when PostgreSQL rolled back.

        Args:
            confirm: Whether to wait for the synchronous standby even if nothing was written.
        """
        # A COMMIT never travels with a statement that may refuse: PostgreSQL would commit before the refusal is seen.
        if any(self._refusals):
            await self.flush()
        # Not even the BEGIN was sent: an action that asked nothing costs no round trip.
        if not self.statements and len(self._ahead) == self._begins:
            return
        # Otherwise an answer could rest on rows that a fail-over loses: those that it read may be on the primary alone.
        if confirm and not self._wrote:
            self._ahead.append(CONFIRMED)
            self._refusals.append(None)
        # PostgreSQL answers ROLLBACK, and no error, to the COMMIT of a transaction that had failed. Taken for a
        # success, the client would get a 2xx for nothing.
        if await self._say("COMMIT") != "COMMIT":
            raise DatabaseAway("The transaction had failed. Nothing was written.")

    async def _add(self, command: Command, values: Mapping[str, Value], refusal: Refusal | None) -> None:
        # Bounds the bytes in one write, and how much of an action runs before its first refusal is seen.
        if len(self._ahead) >= MOST:
            await self.flush()
        self._ahead.append(_ahead_of(command, values))
        self._refusals.append(refusal)

    async def _say(self, sql: str, *values: Value) -> str:
        """Runs a statement behind the queued ones, and returns PostgreSQL's command tag."""
        await self._ask(self._connection.fetch(sql, *values), note=True)
        return self._tags[-1]

    async def _ask(self, statement: Awaitable[R], *, note: bool = False) -> R:
        """Has asyncpg run a statement, behind the queued ones. Raises their first refusal before a later failure."""
        pipeline, refusals = self._connection.pipeline, self._refusals
        if refusals or note:
            self._tags = pipeline.send(self._ahead, note=note)
            self._ahead, self._refusals = [], []
        # Only while this is set may the action be suspended (`Supervised`): a wait for anything else would keep its
        # locks.
        self.busy = True
        self.statements += 1
        metrics.count_round_trip()
        answered = False
        try:
            answer = await statement
            answered = True
        except asyncpg.exceptions.InvalidCachedStatementError:
            pipeline.forget()  # A migration changed a table under the statements that went ahead, too.
            raise
        except asyncpg.PostgresError:
            # A refusal that is found late comes before later failures, as if each statement had been run by itself.
            self._check(refusals)
            raise
        finally:
            self.busy = False
            pipeline.end(answered=answered)
        self._check(refusals)
        return answer

    def _check(self, refusals: Sequence[Refusal | None]) -> None:
        """Reads the answers to statements that went ahead. Raises the first refusal."""
        for tag, refusal in zip(self._tags, refusals, strict=False):  # not of those after a failure
            touched = _count(tag)
            if touched:
                self._wrote = self._wrote or not tag.startswith("SELECT")
            elif refusal is not None:
                raise refusal()


def _ahead_of(command: Command, values: Mapping[str, Value]) -> Ahead:
    return Ahead(command.numbered, encoded(command.arrange(values)))


def _count(tag: str) -> int:
    """Returns how many rows a statement touched, by its command tag: "UPDATE 3" or "INSERT 0 3"."""
    count = tag.rpartition(" ")[2]
    return int(count) if count.isdigit() else 0


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
                # Closed before raising, so that the action's `finally` blocks run inside the transaction that is rolled
                # back now.
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
        # Another cancellation, such as that of a client that went away, stays a cancellation.
        if self._expired and isinstance(error, asyncio.CancelledError) and self._task.uncancel() == 0:
            raise TimeoutError("A statement took too long.") from error

    def _look(self) -> None:
        # The same statement as at the last look: it has run for `seconds` at least. An action that computes between two
        # statements is left alone.
        if self._seen == self._tx.statements and self._tx.busy:
            self._expired = True
            self._task.cancel()
            return
        self._seen = self._tx.statements
        self._timer = self._loop.call_later(self._seconds, self._look)
