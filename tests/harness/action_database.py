"""Fixtures of tests that call actions: a migrated database of each engine, an event loop, a clock that tests set."""

import asyncio
import itertools
import os
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from pressroom.clock import SettableClock
from pressroom.db import Database
from pressroom.db.postgres.database import open_postgres
from pressroom.db.sqlite.database import open_sqlite
from tests.harness.databases import migrated_database, migrated_file
from tests.services.postgres import PostgresServer
from tests.services.session import run_folder

_numbers = itertools.count()

Run = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture
def clock() -> SettableClock:
    """The time."""
    return SettableClock()


@pytest.fixture
def run() -> Iterator[Run]:
    """Runs a coroutine to its end."""
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture(params=["sqlite", "postgres"])
def db(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    run: Run,
    clock: SettableClock,
) -> Iterator[Database]:
    """A database of the test's own."""
    if request.param == "sqlite":
        file = tmp_path / "test.db"
        file.write_bytes(migrated_file())
        database: Database = open_sqlite(file, clock)
    else:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        name = f"actions_{os.getpid()}_{next(_numbers)}"
        url = migrated_database(server, run_folder(tmp_path_factory.getbasetemp()), name)
        database = run(open_postgres(url, clock))
    yield database
    run(database.close())
