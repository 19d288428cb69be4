"""The cost of a page: its statements and their work for the database. Untimed."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import apsw
import asyncpg
import httpx
import pytest

from pressroom.db import Command
from pressroom.db.postgres.database import PostgresDatabase
from pressroom.db.postgres.tx import PostgresTx
from pressroom.db.sqlite.database import SqliteDatabase
from tests.harness.local import LocalServer
from tests.harness.plans import Asked, Postgres
from tests.harness.plans import Cost as StatementCost

STATEMENTS: Final = 10
LIMIT: Final = 1.5
"""How many times the steps beside few it may be beside many."""

LARGE: Final = {"clips", "comments", "deliveries", "events", "media", "posts"}


@dataclass(frozen=True, slots=True)
class Owner:
    """An owner with a key, an endpoint, and so many posts and deliveries."""

    ids: dict[str, str]
    token: str


@dataclass(slots=True)
class Cost:
    """The statements of a page, and their work in each way of carrying them out.

    On SQLite work is steps of its virtual machine; `walked` is what PostgreSQL looks through from end to end.
    """

    statements: list[str]
    work: list[float]
    walked: list[str] = field(default_factory=list)


def cost(server: LocalServer, owner: Owner, page: str) -> Cost:
    """Opens a page twice, and returns the cost of the second time."""
    is_sqlite = isinstance(server.runtime.db, SqliteDatabase)
    with httpx.Client(base_url=server.base_url, cookies={"session": owner.token}) as web:

        def view() -> None:
            response = web.get(page.format_map(owner.ids))
            assert response.status_code == 200, response.text

        view()
        return _sqlite_cost(server, view) if is_sqlite else _postgres_cost(server, view)


def _sqlite_cost(server: LocalServer, view: Callable[[], None]) -> Cost:
    db = server.runtime.db
    assert isinstance(db, SqliteDatabase)
    cost = Cost([], [0])

    def note(told: dict[str, object]) -> None:
        status = told["stmt_status"]
        assert isinstance(status, dict)
        if told["sql"] not in ("BEGIN", "COMMIT"):
            cost.statements.append(str(told["sql"]))
            cost.work[0] += int(status["SQLITE_STMTSTATUS_VM_STEP"])

    async def trace(*, on: bool) -> None:
        for connection in (db._reader, db._writer):
            connection.trace_v2(apsw.SQLITE_TRACE_PROFILE if on else 0, note if on else None)  # type: ignore[attr-defined]

    server.run(trace(on=True))
    view()
    server.run(trace(on=False))
    return cost


def _postgres_cost(server: LocalServer, view: Callable[[], None]) -> Cost:
    """Notes each statement, and has PostgreSQL carry it out again by a plan for these values and by one for any."""
    asked: list[Asked] = []
    with pytest.MonkeyPatch.context() as patch:
        for where, name in ((PostgresTx, "one"), (PostgresTx, "all"), (PostgresTx, "run"), (PostgresDatabase, "one")):
            patch.setattr(where, name, _noting(getattr(where, name), asked))
        view()

    async def explain() -> list[list[StatementCost]]:
        connection = await asyncpg.connect(str(server.settings.database_url))
        try:
            return [await Postgres(connection, LARGE).explain(each) for each in asked]
        finally:
            await connection.close()

    ways = list(zip(*asyncio.run(explain()), strict=True))
    return Cost(
        [each.command.text for each in asked],
        [sum(each.work for each in way) for way in ways],
        [walk for way in ways for each in way for walk in each.walked],
    )


def _noting(method: Callable[..., Any], asked: list[Asked]) -> Callable[..., Any]:
    async def noted(db: Any, command: Command, **values: Any) -> Any:
        asked.append(Asked(command, values))
        return await method(db, command, **values)

    return noted
