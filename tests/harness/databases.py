"""Databases of the tests' own, brought up to date in this process."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeVar

import asyncpg

from pressroom.clock import SettableClock, SystemClock
from pressroom.db import Database
from pressroom.db.migrate import migrate
from pressroom.db.postgres.partitions import AHEAD, make_partitions
from pressroom.server.database import open_database
from pressroom.settings import Settings
from tests.services.postgres import PostgresServer
from tests.services.process import alone

T = TypeVar("T")

_TEMPLATE = "migrated"
_SHARED = "shared"


TIME_OF_TESTS: Final = SettableClock().now()
"""Where the clocks that tests set begin, in milliseconds."""


async def _migrate(db: Database) -> None:
    """Brings a database up to date, with partitions for the time of the tests as well."""
    await migrate(db)
    if db.engine == "postgres":
        await make_partitions(db, TIME_OF_TESTS, TIME_OF_TESTS + AHEAD)


def settings_of(given: Mapping[str, object]) -> Settings:
    """Returns the settings that are named without their prefix."""
    return Settings({f"PRESSROOM_{name}": str(value) for name, value in given.items()})


def in_database(settings: Settings, work: Callable[[Database], Awaitable[T]]) -> T:
    """Returns the result of `work` on the database of the settings, opened for it."""

    async def run() -> T:
        db = await open_database(settings, SystemClock())
        try:
            return await work(db)
        finally:
            await db.close()

    return asyncio.run(run())


async def connect_to(settings: Settings) -> asyncpg.Connection:
    """Connects to the schema of an installation on PostgreSQL, past everything of ours."""
    return await asyncpg.connect(
        settings.database_direct_url, server_settings={"search_path": settings.database_schema}
    )


@cache
def migrated_file() -> bytes:
    """Returns the file of an SQLite database that is up to date and has no rows, migrated once in this process."""
    with TemporaryDirectory() as folder:
        in_database(settings_of({"DATA_DIR": folder}), migrate)
        return (Path(folder) / "pressroom.db").read_bytes()


def migrated_database(server: PostgresServer, run_folder: Path, name: str) -> str:
    """Makes a database that is up to date, a copy of one that the run's first caller migrates; returns its URL."""
    done = run_folder / f"postgres-migrated-{server.port}"  # a run may have one server after the other
    with alone(run_folder / "postgres-migrated.gate"):
        if not done.exists():
            server.drop_database(_TEMPLATE)
            in_database(settings_of({"DATABASE_URL": server.create_database(_TEMPLATE, kept=True)}), _migrate)
            done.touch()
    return server.create_database(name, template=_TEMPLATE)


def migrated_schema(server: PostgresServer, run_folder: Path, name: str) -> dict[str, object]:
    """Makes an installation in a schema of the one database that such installations share; returns its settings."""
    done = run_folder / f"postgres-shared-{server.port}"
    with alone(run_folder / "postgres-shared.gate"):
        if not done.exists():
            server.drop_database(_SHARED)
            server.create_database(_SHARED, kept=True)
            done.touch()
    settings: dict[str, object] = {"DATABASE_URL": server.database_url(_SHARED), "DATABASE_SCHEMA": name}
    in_database(settings_of(settings), _migrate)
    return settings
