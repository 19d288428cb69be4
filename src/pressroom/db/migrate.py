"""Numbered migrations, forward only: `migrations/0001_name.sql`, each in a transaction of its own, under a lock."""

import re
from dataclasses import dataclass
from importlib.resources import files

from pressroom.db import Command, Database, Query, Tx
from pressroom.db.dialect import schema_for_postgres
from pressroom.errors import SettingError


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema."""

    version: int
    name: str
    sql: str


MAKE_TABLE = """CREATE TABLE IF NOT EXISTS schema_migrations (
    version INTEGER PRIMARY KEY, name TEXT NOT NULL)"""

# The table of migrations does not exist on a new database, so it is looked for before it is read.
HAS_TABLE = {
    "sqlite": Query(int, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'"),
    "postgres": Query(
        int,
        "SELECT count(*) FROM pg_tables WHERE tablename = 'schema_migrations'"
        " AND schemaname = ANY (current_schemas(false))",
    ),
}
TOUCH = Command("UPDATE schema_migrations SET name = name WHERE version = 1")
VERSION = Query(int, "SELECT coalesce(max(version), 0) FROM schema_migrations")


def all_migrations() -> list[Migration]:
    """Returns every migration that this version of Pressroom knows, in order."""
    names = {file.name: file for file in (files("pressroom.db") / "migrations").iterdir()}
    matches = [match for name in sorted(names) if (match := re.fullmatch(r"(\d{4})_(\w+)\.sql", name))]
    return [Migration(int(match[1]), match[2], names[match[0]].read_text("utf-8")) for match in matches]


async def applied_version(db: Database) -> int:
    """Returns the version of the database's schema; 0 for an empty database."""
    if not await db.one(HAS_TABLE[db.engine]):
        return 0
    return await db.one(VERSION) or 0


async def migrate(db: Database, *, upto: int | None = None) -> list[Migration]:
    """Brings the schema up to date, or to `upto`, and returns what was applied. Safe to run in several processes."""
    applied: list[Migration] = []
    for migration in all_migrations():
        if upto is not None and migration.version > upto:
            break
        if await applied_version(db) >= migration.version:
            continue
        if await _apply(db, migration):
            applied.append(migration)
    return applied


async def touch(tx: Tx) -> None:
    """Writes what is there already, which a database that cannot be written refuses."""
    await tx.run(TOUCH)


async def check_migrated(db: Database) -> None:
    """Raises SettingError unless the schema is this version's."""
    have, need = await applied_version(db), all_migrations()[-1].version
    if have < need:
        raise SettingError(f"The database is at schema {have} and this version needs {need}: run `pressroom migrate`.")
    if have > need:
        raise SettingError(
            f"The database is at schema {have}, newer than this version knows ({need}): upgrade Pressroom."
        )


async def _apply(db: Database, migration: Migration) -> bool:
    row = f"INSERT INTO schema_migrations VALUES ({migration.version}, '{migration.name}');"  # noqa: S608  # our own names
    try:
        if db.engine == "postgres":
            lock = "SELECT pg_advisory_xact_lock(7238001);"
            await db.script(f"{lock}{schema_for_postgres(MAKE_TABLE)};{row}{schema_for_postgres(migration.sql)}")
        else:
            await db.script(f"{MAKE_TABLE};{row}{migration.sql}")
    except Exception:
        if await applied_version(db) >= migration.version:
            return False  # Another process was quicker.
        raise
    return True
