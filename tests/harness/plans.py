"""The cost of a statement on each engine: its indexes, the rows that it walks through, its work. Untimed."""

import asyncio
import json
import os
import re
from collections.abc import Callable, Collection, Coroutine, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import apsw
import asyncpg
import pytest

from pressroom.clock import SettableClock
from pressroom.db import Command, Database, Query, Subscriber, Tx, Value
from pressroom.db.postgres.connector import PostgresOptions
from pressroom.db.postgres.database import open_postgres
from pressroom.db.sqlite.database import connect, open_sqlite

UNHURRIED: Final = PostgresOptions(statement_seconds=600.0)
"""For a database that is filled by statements of many rows, on a machine that may be busy."""

R = TypeVar("R")


_PARENTS: Final = """SELECT CAST(x.relname AS TEXT), CAST(c.relname AS TEXT) FROM pg_inherits i
    JOIN pg_class x ON x.oid = i.inhrelid JOIN pg_class c ON c.oid = i.inhparent"""
"""Partitions, and indexes of them, with those of the whole table."""


class Asked(NamedTuple):
    """A statement that an action ran, and its values."""

    command: Command
    values: dict[str, Value]


class Noting:
    """A transaction that notes its statements."""

    def __init__(self, tx: Tx, asked: list[Asked]) -> None:
        self.engine, self.now, self.subscribers = tx.engine, tx.now, tx.subscribers
        self._tx = tx
        self._asked = asked

    async def one(self, query: Query[R], **values: Value) -> R | None:
        self._asked.append(Asked(query, values))
        return await self._tx.one(query, **values)

    async def all(self, query: Query[R], **values: Value) -> list[R]:
        self._asked.append(Asked(query, values))
        return await self._tx.all(query, **values)

    async def run(self, command: Command, **values: Value) -> int:
        raise AssertionError("A page writes nothing.")

    async def run_each(self, command: Command, rows: Sequence[Mapping[str, Value]]) -> None:
        raise AssertionError("A page writes nothing.")

    async def later(self, command: Command, /, **values: Value) -> None:
        raise AssertionError("A page writes nothing.")

    async def require(self, command: Command, refusal: Callable[[], Exception], /, **values: Value) -> None:
        raise AssertionError("A page writes nothing.")

    async def revise(self, command: Command, /, **values: Value) -> bool:
        raise AssertionError("A page writes nothing.")

    async def at_end(self, subscriber: Subscriber, event: object) -> None:
        raise AssertionError("A page appends no event.")

    def signal(self) -> None:
        raise AssertionError("A page wakes nobody.")

    def announce(self, subject: str) -> None:
        raise AssertionError("A page announces nothing.")


class Cost(NamedTuple):
    """The cost of a statement: tables that it walks through from end to end, the indexes that it uses, its work."""

    walked: list[str]
    indexes: set[str]
    work: float
    plan: str


class Engine(Protocol):
    """Explains a statement, in each of the ways in which its database may carry it out."""

    async def explain(self, asked: Asked) -> list[Cost]: ...


class Sqlite:
    """Work is steps of SQLite's virtual machine."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    async def explain(self, asked: Asked) -> list[Cost]:
        text, values = asked.command.text, asked.values
        plan = [str(row[3]) for row in self.connection.execute(f"EXPLAIN QUERY PLAN {text}", values)]
        steps: list[float] = []
        self.connection.trace_v2(
            apsw.SQLITE_TRACE_PROFILE, lambda told: steps.append(told["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])
        )
        self.connection.execute(text, values).fetchall()
        self.connection.trace_v2(0, None)
        parts = {line.removeprefix("CO-ROUTINE ") for line in plan if line.startswith("CO-ROUTINE ")}
        walks = [line for line in plan if re.match(r"SCAN (?!CONSTANT)|USE TEMP B-TREE", line)]
        walked = [line for line in walks if line.removeprefix("SCAN ") not in parts]
        shown = "\n".join(plan)
        return [Cost(walked, set(re.findall(r"INDEX (\w+)", shown)), sum(steps), shown)]


class Postgres:
    """Work is rows looked at and blocks read, by a plan for these very values and by one for any.

    `large` are the tables that must not be walked through.
    """

    def __init__(self, connection: asyncpg.Connection, large: Collection[str]) -> None:
        self.connection = connection
        self.large = large

    async def explain(self, asked: Asked) -> list[Cost]:
        values = ", ".join(map(_literal, (asked.values[name] for name in asked.command.names)))
        await self.connection.execute(f"PREPARE page AS {asked.command.numbered}")
        parents = {str(row[0]): str(row[1]) for row in await self.connection.fetch(_PARENTS)}
        costs: list[Cost] = []
        for mode in ("force_custom_plan", "force_generic_plan"):
            await self.connection.execute(f"SET plan_cache_mode = {mode}")
            explain = f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE page({values})"
            await self.connection.execute(explain)  # Reads pages that are not in memory yet, and marks rows as seen.
            told = str(await self.connection.fetchval(explain))
            costs.append(_cost(json.loads(told)[0]["Plan"], self.large, parents))
        await self.connection.execute("DEALLOCATE page")
        return costs


def _literal(value: Value) -> str:
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def _cost(root: dict[str, Any], large: Collection[str], parents: Mapping[str, str]) -> Cost:
    """Returns the cost of a plan; a partition counts as its table, and one without rows as nothing."""
    nodes = list(_nodes(root))
    rows = sum(_rows(it) for it in nodes)
    blocks = root["Shared Hit Blocks"] + root["Shared Read Blocks"]
    tables = {name: parents.get(name, name) for it in nodes if (name := it.get("Relation Name"))}
    scans = [
        it for it in nodes if tables.get(it.get("Relation Name")) in large and it["Node Type"] != "Bitmap Heap Scan"
    ]
    scans = [it for it in scans if it["Relation Name"] in large or _rows(it)]
    walked = [f"{it['Node Type']} of {tables[it['Relation Name']]}" for it in scans if "Index Cond" not in it]
    indexes = {parents.get(name, name) for it in nodes if (name := it.get("Index Name"))}
    return Cost(walked, indexes, rows + blocks, json.dumps(root))


def _rows(node: dict[str, Any]) -> float:
    """Returns how many rows a node looked at."""
    return node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0))


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for below in node.get("Plans", []):
        yield from _nodes(below)


KINDS: Final = ("sqlite", "sqlite without statistics", "postgres")
"""The engines on which plans are measured; SQLite's also as the server leaves it, which never gathers statistics."""


class Opened(NamedTuple):
    """A database with many rows, and its engine for plans; `run` runs its actions to their end."""

    db: Database
    engine: Engine
    filled: Any
    """The result of filling it."""
    run: Callable[[Any], Any]


@contextmanager
def opened_for_plans(
    request: pytest.FixtureRequest,
    folder: Path,
    kind: str,
    name: str,
    fill: Callable[[Database], Coroutine[Any, Any, Any]],
    large: Collection[str],
) -> Generator[Opened]:
    """Opens and fills a database, and gathers statistics.

    Args:
        request: Finds the server of PostgreSQL.
        folder: Holds the file of SQLite.
        kind: One of `KINDS`, or "postgres without statistics".
        name: Begins the name of the database on PostgreSQL.
        fill: Makes the tables and their rows.
        large: Tables that no plan on PostgreSQL may walk through.
    """
    with asyncio.Runner() as runner:
        connection: asyncpg.Connection | None = None
        if kind.startswith("postgres"):
            url = request.getfixturevalue("postgres_server").create_database(f"{name}_{os.getpid()}")
            db: Database = runner.run(open_postgres(url, SettableClock(), options=UNHURRIED))
            connection = opened = runner.run(asyncpg.connect(url))
            engine: Engine = Postgres(opened, large)
        else:
            db, engine = open_sqlite(folder / "pressroom.db", SettableClock()), Sqlite(connect(folder / "pressroom.db"))
        filled = runner.run(fill(db))
        if not kind.endswith("without statistics"):
            runner.run(db.script("ANALYZE"))
        yield Opened(db, engine, filled, runner.run)
        if connection is not None:
            runner.run(connection.close())
        runner.run(db.close())
