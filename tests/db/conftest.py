"""An open database of each engine, on an event loop of its own."""

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
from tests.services.postgres import PostgresServer

_numbers = itertools.count()

Run = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture
def run() -> Iterator[Run]:
    """Runs a coroutine to its end."""
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture(params=["sqlite", "postgres"])
def db(request: pytest.FixtureRequest, tmp_path: Path, run: Run) -> Iterator[Database]:
    """A database with the table `things (name TEXT PRIMARY KEY, size BIGINT)`."""
    if request.param == "sqlite":
        database: Database = open_sqlite(tmp_path / "test.db", SettableClock())
    else:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        url = server.create_database(f"db_{os.getpid()}_{next(_numbers)}")
        database = run(open_postgres(url, SettableClock()))
    run(database.script("CREATE TABLE things (name TEXT PRIMARY KEY, size BIGINT NOT NULL)"))
    yield database
    run(database.close())
