"""A database migrated from any earlier version equals a fresh one; a wrong version is refused in one line."""

import itertools
import os
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from pressroom.clock import SettableClock
from pressroom.db import Command, Database, Query, Tx
from pressroom.db.migrate import Migration, all_migrations, applied_version, check_migrated, migrate
from pressroom.db.postgres.database import open_postgres
from pressroom.db.schema import check_schema
from pressroom.db.sqlite.database import open_sqlite
from pressroom.errors import SettingError
from tests.services.postgres import PostgresServer

Run = Callable[[Any], Any]

_numbers = itertools.count()

THINGS = Migration(1, "things", "CREATE TABLE things (name TEXT PRIMARY KEY, size BIGINT NOT NULL);")
COLUMN = Migration(
    2, "column", "ALTER TABLE things ADD COLUMN is_large BOOLEAN; UPDATE things SET is_large = size > 10;"
)
INDEX = Migration(3, "index", "CREATE INDEX things_large ON things (is_large);")
PARTS = Migration(4, "parts", "CREATE TABLE parts (thing TEXT NOT NULL REFERENCES things (name));")
KNOWN = [THINGS, COLUMN, INDEX, PARTS]

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


async def all_of(tx: Tx, query: Query[str]) -> list[str]:
    """The rows of a query."""
    return await tx.all(query)


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


def test_each_number_is_one_migration_and_none_is_left_out() -> None:
    names = sorted(path.name for path in Path(str(files("pressroom.db"))).joinpath("migrations").glob("*"))
    strange = [name for name in names if not re.fullmatch(r"\d{4}_\w+\.sql", name)]
    assert strange == [], "a migration is called 0001_name.sql: these would not be applied"
    numbers = [int(name[:4]) for name in names]
    twice = {number: [name for name in names if int(name[:4]) == number] for number in numbers}
    twice = {number: both for number, both in twice.items() if len(both) > 1}
    assert twice == {}, "two migrations have one number, and only one of them would be applied: renumber the later one"
    missing = {*range(1, numbers[-1] + 1)} - {*numbers}
    assert missing == set(), (
        "these numbers are left out: a migration that takes one later is not applied to a database that is past it. "
        f"Give the next migration the number {min(missing, default=0)}"
    )


@pytest.mark.parametrize("version", [0, *(migration.version for migration in KNOWN)])
def test_database_of_any_earlier_version_becomes_like_a_new_one(
    version: int, make: Callable[[str], Database], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pressroom.db.migrate.all_migrations", lambda: KNOWN)
    fresh, old = make("fresh"), make("old")
    run(migrate(fresh))
    run(migrate(old, upto=version))
    assert run(migrate(old)) == KNOWN[version:]
    assert run(old.read(schema_of, old.engine)) == run(fresh.read(schema_of, fresh.engine))
    assert run(applied_version(old)) == KNOWN[-1].version
    assert run(migrate(old)) == []
    run(fresh.close())
    run(old.close())


def test_rows_of_the_version_before_are_kept_and_filled(
    make: Callable[[str], Database], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pressroom.db.migrate.all_migrations", lambda: KNOWN)
    db = make("held")
    run(migrate(db, upto=1))
    run(db.script("INSERT INTO things VALUES ('pin', 1), ('ship', 1000)"))
    run(migrate(db))
    assert run(db.read(all_of, Query(str, "SELECT name FROM things WHERE is_large"))) == ["ship"]
    assert run(db.read(all_of, Query(str, "SELECT name FROM things WHERE NOT is_large"))) == ["pin"]
    run(db.close())


def test_new_database_has_the_tables_of_the_initial_schema(make: Callable[[str], Database], run: Run) -> None:
    db = make("new")
    assert run(migrate(db)) == all_migrations()
    run(check_migrated(db))
    run(check_schema(db))
    run(db.close())


def test_old_or_new_schema_is_reported_in_one_line(make: Callable[[str], Database], run: Run) -> None:
    db = make("behind")
    with pytest.raises(SettingError, match="pressroom migrate"):
        run(check_migrated(db))
    run(migrate(db))
    run(check_migrated(db))
    run(db.script("INSERT INTO schema_migrations VALUES (9999, 'from_the_future')"))
    assert run(check_migrated(db)) == 9999
    run(db.script("UPDATE oldest_program SET schema_version = 9998"))
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
