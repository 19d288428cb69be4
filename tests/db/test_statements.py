"""Every statement of every room is understood by both engines."""

import asyncio
import importlib
import importlib.util
import pkgutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import ModuleType

import pressroom.domains
from pressroom.clock import SettableClock
from pressroom.db import Command, Database
from pressroom.db.migrate import migrate
from pressroom.db.postgres import open_postgres
from pressroom.db.sqlite import open_sqlite
from tests.services.postgres import PostgresServer

ROOMS = [room.name for room in pkgutil.iter_modules(pressroom.domains.__path__)]


def query_modules(room: str) -> list[ModuleType]:
    """The room's `queries.py`, or all modules of its `queries/`; none for a room without SQL."""
    if importlib.util.find_spec(f"pressroom.domains.{room}.queries") is None:
        return []
    queries = importlib.import_module(f"pressroom.domains.{room}.queries")
    parts = pkgutil.iter_modules(getattr(queries, "__path__", []))
    return [queries, *(importlib.import_module(f"{queries.__name__}.{part.name}") for part in parts)]


def statements() -> dict[str, Command]:
    """Each statement of each room by its full name."""
    found: dict[str, Command] = {}
    for room in ROOMS:
        for module in query_modules(room):
            found |= {f"{room}.{name}": value for name, value in vars(module).items() if isinstance(value, Command)}
    return found


async def prepare_all(db: Database) -> list[str]:
    """The statements that the engine refuses, with what it says."""
    refused: list[str] = []
    for name, command in statements().items():
        try:
            await db.prepare(command)
        except Exception as error:  # all of them are reported together
            refused.append(f"{name}: {error}")
    return refused


def test_every_room_has_its_statements_found() -> None:
    assert {name.partition(".")[0] for name in statements()} == {room for room in ROOMS if query_modules(room)}


def test_sqlite_understands_every_statement(tmp_path: Path) -> None:
    async def run() -> list[str]:
        db = open_sqlite(tmp_path / "test.db", SettableClock())
        try:
            await migrate(db)
            return await prepare_all(db)
        finally:
            await db.close()

    assert asyncio.run(run()) == []


def test_postgres_understands_every_statement(postgres_server: PostgresServer) -> None:
    url = postgres_server.create_database("statements")

    async def run() -> list[str]:
        db = await open_postgres(url, SettableClock())
        try:
            await migrate(db)
            return await prepare_all(db)
        finally:
            await db.close()

    assert asyncio.run(run()) == []


def test_a_wrong_statement_is_refused(tmp_path: Path, postgres_server: PostgresServer) -> None:
    url = postgres_server.create_database("wrong_statement")
    openings: list[Callable[[], Awaitable[Database]]] = [
        lambda: asyncio.sleep(0, open_sqlite(tmp_path / "test.db", SettableClock())),
        lambda: open_postgres(url, SettableClock()),
    ]

    async def run(opening: Callable[[], Awaitable[Database]]) -> bool:
        db = await opening()
        try:
            await db.prepare(Command("SELECT nothing FROM nowhere"))
        except Exception:  # each engine has its own
            return True
        finally:
            await db.close()
        return False

    assert [asyncio.run(run(opening)) for opening in openings] == [True, True]
