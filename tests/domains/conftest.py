"""A migrated database of each engine, on an event loop of its own, for tests that call actions."""

import asyncio
import itertools
import os
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from pressroom.clock import SettableClock
from pressroom.db import Database
from pressroom.db.migrate import migrate
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


@pytest.fixture
def clock() -> SettableClock:
    """The time of the database."""
    return SettableClock()


@pytest.fixture(params=["sqlite", "postgres"])
def db(request: pytest.FixtureRequest, tmp_path: Path, run: Run, clock: SettableClock) -> Iterator[Database]:
    """A database of the test's own."""
    if request.param == "sqlite":
        database: Database = open_sqlite(tmp_path / "test.db", clock)
    else:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        url = server.create_database(f"domains_{os.getpid()}_{next(_numbers)}")
        database = run(open_postgres(url, clock))
    run(migrate(database))
    yield database
    run(database.close())
