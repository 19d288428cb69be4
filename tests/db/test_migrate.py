"""A database migrated from any earlier version equals a fresh one; a wrong version is told in one line."""

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pressroom.clock import SettableClock
from pressroom.db import Command, Database, Query, Tx
from pressroom.db.migrate import all_migrations, applied_version, check_migrated, migrate
from pressroom.db.postgres import open_postgres
from pressroom.db.sqlite import open_sqlite
from pressroom.errors import SettingError
from tests.services.postgres import PostgresServer

Run = Callable[[Any], Any]

_numbers = itertools.count()

VERSIONS = [migration.version for migration in all_migrations()]

SCHEMA = {
    "sqlite": Query(str, "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_master ORDER BY 1"),
    "postgres": Query(
        str,
        "SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable"
        " || ' ' || coalesce(column_default, '') || ' ' || coalesce(collation_name, '')"
        " FROM information_schema.columns WHERE table_schema = 'public'"
        " UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'"
        " UNION ALL SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE connamespace = 'public'::regnamespace ORDER BY 1",
    ),
}


async def schema_of(tx: Tx, engine: str) -> list[str]:
    """The whole schema as comparable lines."""
    return await tx.all(SCHEMA[engine])


@pytest.fixture(params=["sqlite", "postgres"])
def make(request: pytest.FixtureRequest, tmp_path: Path, run: Run) -> Callable[[str], Database]:
    """Makes empty databases by name."""

    def make_database(name: str) -> Database:
        if request.param == "sqlite":
            return open_sqlite(tmp_path / f"{name}.db", SettableClock())
        server: PostgresServer = request.getfixturevalue("postgres_server")
        url = server.create_database(f"migrate_{name}_{os.getpid()}_{next(_numbers)}")
        database: Database = run(open_postgres(url, SettableClock()))
        return database

    return make_database


@pytest.mark.parametrize("version", [0, *VERSIONS])
def test_every_earlier_version_becomes_this_one(version: int, make: Callable[[str], Database], run: Run) -> None:
    fresh, old = make("fresh"), make("old")
    run(migrate(fresh))
    if version:
        run(migrate(old, upto=version))
    run(migrate(old))
    assert run(old.read(schema_of, old.engine)) == run(fresh.read(schema_of, fresh.engine))
    assert run(applied_version(old)) == VERSIONS[-1]
    assert run(migrate(old)) == []
    run(fresh.close())
    run(old.close())


def test_a_database_that_is_behind_or_ahead_is_told_in_one_line(make: Callable[[str], Database], run: Run) -> None:
    db = make("behind")
    with pytest.raises(SettingError, match="pressroom migrate"):
        run(check_migrated(db))
    run(migrate(db))
    run(check_migrated(db))
    run(db.script("INSERT INTO schema_migrations VALUES (9999, 'from_the_future')"))
    with pytest.raises(SettingError, match="upgrade Pressroom"):
        run(check_migrated(db))
    run(db.close())


def test_a_migration_that_fails_leaves_nothing(make: Callable[[str], Database], run: Run) -> None:
    db = make("half")
    with pytest.raises(Exception, match=r"(?i)nowhere"):
        run(db.script("CREATE TABLE half (id TEXT); INSERT INTO nowhere VALUES (1)"))
    with pytest.raises(Exception, match="half"):
        run(db.prepare(Command("SELECT id FROM half")))
    run(db.close())
