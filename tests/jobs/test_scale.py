"""A claim costs the same among a hundred jobs that wait and among fifty thousand: by its work, untimed."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any, Final

import apsw
import asyncpg
import pytest

from pressroom.clock import MINUTE, SECOND, SettableClock
from pressroom.db import Command, Database, Query, Tx
from pressroom.db.migrate import migrate
from pressroom.db.postgres.database import open_postgres
from pressroom.db.rows import Column
from pressroom.db.sqlite.database import open_sqlite
from pressroom.db.sqlite.tx import columns_of
from pressroom.jobs import queue

pytestmark = pytest.mark.xdist_group("scale")

FEW: Final = 100
MANY: Final = 50_000
LIMIT: Final = 1.5
"""How many times the work among few a claim may be among many."""

FILL: Final = Command(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
    " INSERT INTO jobs (id, kind, subject, account_id, tries, due_at, leased_until, created_at)"
    " SELECT :kind || i, :kind, :kind || i, CASE WHEN :accounts = 1 THEN 'a' ELSE 'a' || (i % :accounts) END, 0,"
    " CAST(:now AS BIGINT), 0, CAST(:now AS BIGINT) FROM n"
)
FILL_QUEUES: Final = Command(
    "INSERT INTO job_queues (kind, account_id, due_at, claims)"
    " SELECT DISTINCT kind, account_id, CAST(:now AS BIGINT), 0 FROM jobs WHERE kind = :kind"
)


class SqliteMeter:
    """A transaction that counts its work: steps of SQLite's virtual machine."""

    subscribers = ()

    def __init__(self, file: Path, now: int) -> None:
        self.now = now
        self.work = 0.0
        self._connection: Any = apsw.Connection(str(file))
        self._connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, self._count)

    def _count(self, told: Any) -> None:
        self.work += told["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]

    async def one(self, query: Query[Any], **values: Any) -> Any:
        """The first row."""
        rows = self._connection.execute(query.text, values).fetchall()
        return query.bind("sqlite", columns_of(self._connection, query))(rows[0]) if rows else None

    async def run(self, command: Command, **values: Any) -> int:
        """Carries it out."""
        self._connection.execute(command.text, values).fetchall()
        return int(self._connection.changes())

    def signal(self) -> None:
        """Wakes nobody."""


class PostgresMeter:
    """A transaction that counts its work: rows looked at and blocks read by each statement."""

    subscribers = ()

    def __init__(self, connection: asyncpg.Connection, now: int) -> None:
        self.now = now
        self.work = 0.0
        self._connection = connection

    async def one(self, query: Query[Any], **values: Any) -> Any:
        """The first row."""
        row = await self._connection.fetchrow(query.numbered, *await self._measured(query, values))
        return query.bind("postgres", [Column(name) for name in row.keys()])(tuple(row)) if row else None  # noqa: SIM118

    async def run(self, command: Command, **values: Any) -> int:
        """Carries it out."""
        status = await self._connection.execute(command.numbered, *await self._measured(command, values))
        return int(status.rpartition(" ")[2])

    async def _measured(self, command: Command, values: dict[str, Any]) -> list[Any]:
        """The values in the command's order. To explain carries it out, which is taken back."""
        given = [values[name] for name in command.names]
        undone = self._connection.transaction()
        await undone.start()
        told = await self._connection.fetchval(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {command.numbered}", *given)
        await undone.rollback()
        self.work += work_of(json.loads(str(told))[0]["Plan"])
        return given

    def signal(self) -> None:
        """Wakes nobody."""


def work_of(plan: dict[str, Any]) -> float:
    """Rows that the plan's parts look at, and blocks that it reads."""
    parts = [plan]
    for part in parts:
        parts += part.get("Plans", [])
    looked_at = sum(
        part["Actual Loops"] * (part["Actual Rows"] + part.get("Rows Removed by Filter", 0)) for part in parts
    )
    return float(looked_at + plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


async def fill(tx: Tx, kind: str, count: int, accounts: int) -> None:
    """So many jobs of a kind that wait, of so many accounts."""
    await tx.run(FILL, kind=kind, count=count, accounts=accounts, now=tx.now - SECOND)
    await tx.run(FILL_QUEUES, kind=kind, now=tx.now - SECOND)


async def claims_and_ends(tx: Any, kind: str, each: int) -> float:
    """The work of taking what one account may have, of a look that finds no more, and of a job's end."""
    before = tx.work
    until, share = tx.now + MINUTE, {"limit": 1, "each": each}
    (job,) = await queue.claim(tx, kind, token="me", until=until, **share)
    for _ in range(3):
        await queue.claim(tx, kind, token="me", until=until, **share)
    assert await queue.finish(tx, job, "me")
    await queue.claim(tx, kind, token="me", until=until, **share)
    return float(tx.work - before)


CROWDS: Final = {"one account": 1, "a thousand accounts": 1_000}


@pytest.mark.parametrize("accounts", CROWDS.values(), ids=list(CROWDS))
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_claim_among_many_is_the_work_of_one_among_few(
    request: pytest.FixtureRequest, tmp_path: Path, engine: str, accounts: int
) -> None:
    clock = SettableClock()

    async def story() -> tuple[float, float]:
        url = ""
        if engine == "sqlite":
            db: Database = open_sqlite(tmp_path / "test.db", clock)
        else:
            url = request.getfixturevalue("postgres_server").create_database(f"claims_{os.getpid()}_{accounts}")
            db = await open_postgres(url, clock)
        await migrate(db)
        await db.transact(fill, "few", FEW, accounts)
        await db.transact(fill, "many", MANY, accounts)
        if engine == "postgres":
            await db.script("ANALYZE")
        await db.close()
        if engine == "sqlite":
            sqlite = SqliteMeter(tmp_path / "test.db", clock.now())
            return await claims_and_ends(sqlite, "few", 1), await claims_and_ends(sqlite, "many", 1)
        connection = await asyncpg.connect(url)
        try:
            async with connection.transaction():
                postgres = PostgresMeter(connection, clock.now())
                return await claims_and_ends(postgres, "few", 1), await claims_and_ends(postgres, "many", 1)
        finally:
            await connection.close()

    few, many = asyncio.run(story())

    assert many <= LIMIT * few, (few, many)
