"""Missing parts of a schema are named; additions by an operator are ignored."""

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pressroom.clock import SettableClock
from pressroom.db import Database
from pressroom.db.migrate import migrate
from pressroom.db.postgres.database import open_postgres
from pressroom.db.schema import check_not_cut_off, check_schema
from pressroom.db.sqlite.database import open_sqlite
from pressroom.errors import SettingError
from tests.db.conftest import Run
from tests.services.postgres import PostgresServer

_numbers = itertools.count()


@pytest.fixture(params=["sqlite", "postgres"])
def empty(request: pytest.FixtureRequest, tmp_path: Path, run: Run) -> Iterator[Database]:
    """An empty database of each engine."""
    if request.param == "sqlite":
        db: Database = open_sqlite(tmp_path / "test.db", SettableClock())
    else:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        db = run(open_postgres(server.create_database(f"schema_{os.getpid()}_{next(_numbers)}"), SettableClock()))
    yield db
    run(db.close())


@pytest.fixture
def migrated(empty: Database, run: Run) -> Database:
    """A database of this version."""
    run(migrate(empty))
    return empty


def test_migrated_database_is_whole(migrated: Database, run: Run) -> None:
    run(check_not_cut_off(migrated))
    run(check_schema(migrated))


def check_named(migrated: Database, run: Run, change: str, words: str) -> None:
    """Changes the schema and checks that the refusal names the missing part."""
    run(migrated.script(change))
    with pytest.raises(SettingError, match="is not whole") as refused:
        run(check_schema(migrated))
    assert words in refused.value.message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("DROP INDEX posts_profile", "the index posts_profile of posts (account_id, visibility, id) for some rows"),
        ("DROP INDEX comments_id", "the unique index comments_id of comments (id)"),
        ("DROP INDEX posts_profile; CREATE INDEX posts_profile ON posts (id)", "the index posts_profile"),
        ("DROP INDEX comments_id; CREATE INDEX comments_id ON comments (id)", "the unique index comments_id"),
        ("DROP TABLE exports", "it lacks the table exports, "),
        ("ALTER TABLE accounts DROP COLUMN bio", "the column accounts.bio text"),
    ],
)
def test_missing_part_is_named(migrated: Database, run: Run, change: str, words: str) -> None:
    check_named(migrated, run, change, words)


@pytest.mark.parametrize("empty", ["postgres"], indirect=True)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("ALTER TABLE saves DROP CONSTRAINT saves_pkey", "the primary key of saves ("),
        ("ALTER TABLE accounts DROP CONSTRAINT accounts_email_key_key", "UNIQUE of accounts (email_key)"),
        ("ALTER TABLE hubs DROP CONSTRAINT hubs_account_id_fkey", "the foreign key hubs (account_id) to accounts (id)"),
        ("ALTER TABLE posts ALTER content TYPE varchar(9)", "the column posts.content text"),
        ('ALTER TABLE posts ALTER content TYPE text COLLATE "POSIX"', "the column posts.content text"),
        ("ALTER TABLE posts ALTER created_at DROP NOT NULL", "the column posts.created_at bigint NOT NULL"),
        ("ALTER TABLE accounts ALTER is_admin DROP DEFAULT", "the column accounts.is_admin boolean NOT NULL DEFAULT"),
        ("UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = CAST('comments_id' AS regclass)", "comments_id"),
    ],
)
def test_missing_part_of_postgres_is_named(migrated: Database, run: Run, change: str, words: str) -> None:
    check_named(migrated, run, change, words)


def test_additions_of_an_operator_are_not_reported(migrated: Database, run: Run) -> None:
    run(
        migrated.script(
            "CREATE TABLE reports_of_ours (id TEXT PRIMARY KEY); CREATE INDEX posts_of_ours ON posts (created_at);"
            " ALTER TABLE posts ADD COLUMN ours TEXT"
        )
    )
    run(check_schema(migrated))


def test_newer_schema_is_not_judged(migrated: Database, run: Run) -> None:
    run(migrated.script("INSERT INTO schema_migrations VALUES (9999, 'from_the_future'); DROP TABLE exports"))
    run(check_schema(migrated))


def test_tables_without_migrations_are_reported_before_a_migration(empty: Database, run: Run) -> None:
    run(check_not_cut_off(empty))
    run(empty.script("CREATE TABLE of_an_operator (id TEXT)"))
    run(check_not_cut_off(empty))
    run(empty.script("CREATE TABLE accounts (id TEXT)"))
    with pytest.raises(SettingError, match=r"has the table accounts and no migrations"):
        run(check_not_cut_off(empty))
