"""Numbered migrations, forward only: `migrations/0001_name.sql`, while the version before serves.

Their rules: docs/development.md#a-migration.
"""

import asyncio
import re
import time
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Final, cast

from pressroom.db import Command, Database, LockedElsewhere, Query, Tx
from pressroom.db.dialect import LOCKS_OF_SCHEMA, schema_for_postgres
from pressroom.db.postgres.partitions import make_ahead
from pressroom.errors import SettingError

if TYPE_CHECKING:
    from pressroom.db.postgres.database import PostgresDatabase

LOCK_SECONDS: Final = 2
"""How long a migration waits for a lock on PostgreSQL, and requests with it, which queue behind. A longer time than its
`deadlock_timeout`, after which it ends a VACUUM that is in the way."""

PAUSE_SECONDS: Final = 3.0
"""How long requests go on before the migration is tried again."""

PATIENCE_SECONDS: Final = 600.0
"""How long it is tried again."""

LOCK: Final = 7238001
"""The advisory lock of the schema, on PostgreSQL, that one process at a time migrates under."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema."""

    version: int
    name: str
    sql: str

    @property
    def statements(self) -> list[str]:
        """Returns its statements, without comments, each in one line."""
        plain = re.sub(r"--.*|/\*(?s:.*?)\*/", "", self.sql)
        return [" ".join(each.split()) for each in plain.split(";") if each.strip()]

    @property
    def partitioned(self) -> list[str]:
        """Returns the names of the tables that it makes and PostgreSQL partitions (`db.postgres.partitions`)."""
        return re.findall(r"\bPARTITION OF (\w+) DEFAULT\b", self.sql)

    @property
    def indexes(self) -> list[str]:
        """Returns the names of the indexes that it makes, if it does nothing else."""
        matches = [re.match(r"CREATE INDEX (\w+) ON ", each) for each in self.statements]
        return [match[1] for match in matches if match] if all(matches) else []


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
OLDEST_PROGRAM = Query(int, "SELECT max(schema_version) FROM oldest_program")

# It does not wait for the lock: an index that is built waits for every statement that began before, this one too.
TAKE_LOCK: Final = f"""DO $$ BEGIN IF NOT pg_try_advisory_xact_lock({LOCKS_OF_SCHEMA} + {LOCK}) THEN
    RAISE EXCEPTION 'another process migrates' USING ERRCODE = 'lock_not_available'; END IF; END $$"""
KEEP_LOCK: Final = TAKE_LOCK.replace("_xact", "")
LET_GO: Final = f"SELECT pg_advisory_unlock({LOCKS_OF_SCHEMA} + {LOCK})"

_PARTITIONS_REFUSED: Final = (
    "The schema is up to date, but partitions could not be made: others kept the tables locked. End the transaction"
    " that holds them (that of the oldest xact_start in pg_stat_activity), then migrate again."
)


def all_migrations() -> list[Migration]:
    """Returns every migration that this version of Pressroom knows, in order."""
    names = {file.name: file for file in (files("pressroom.db") / "migrations").iterdir()}
    matches = [match for name in sorted(names) if (match := re.fullmatch(r"(\d{4})_(\w+)\.sql", name))]
    return [Migration(int(match[1]), match[2], names[match[0]].read_text("utf-8")) for match in matches]


def newest_schema() -> int:
    """Returns the schema that this version of Pressroom makes."""
    return all_migrations()[-1].version


async def applied_version(db: Database) -> int:
    """Returns the version of the database's schema; 0 for an empty database."""
    if not await db.one(HAS_TABLE[db.engine]):
        return 0
    return await db.one(VERSION) or 0


async def migrate(
    db: Database, *, upto: int | None = None, patience: float = PATIENCE_SECONDS, pause: float = PAUSE_SECONDS
) -> list[Migration]:
    """Brings the schema up to date, or to `upto`, and returns the migrations applied. Safe to run in several processes.

    Args:
        db: The database.
        upto: The last version to apply.
        patience: Seconds for which a migration is tried again that others do not let at a table.
        pause: Seconds between two tries.

    Raises:
        SettingError: Others did not let a migration at a table for so long.
    """
    if db.engine == "postgres":
        await cast("PostgresDatabase", db).make_schema()
    applied: list[Migration] = []
    for migration in all_migrations():
        if upto is not None and migration.version > upto:
            break
        if await applied_version(db) >= migration.version:
            continue
        if await _apply(db, migration, patience, pause):
            applied.append(migration)
    await _make_partitions(db, patience, pause)
    return applied


async def touch(tx: Tx) -> None:
    """Rewrites a stored value unchanged, which a read-only database refuses."""
    await tx.run(TOUCH)


async def check_migrated(db: Database) -> int:
    """Returns the database's schema: this version's, or a newer one that it may serve. Raises SettingError."""
    have, need = await applied_version(db), newest_schema()
    if have < need:
        raise SettingError(f"The database is at schema {have} and this version needs {need}: run `pressroom migrate`.")
    if have > need and need < (await db.one(OLDEST_PROGRAM) or have):
        raise SettingError(
            f"The database is at schema {have}, newer than this version knows ({need}): upgrade Pressroom."
        )
    return have


async def _apply(db: Database, migration: Migration, patience: float, pause: float) -> bool:
    """Applies a migration. Returns whether it did so, and no other process was quicker."""
    give_up_at = time.monotonic() + patience
    while True:
        try:
            await _try(db, migration)
        except Exception as error:
            # Another process applied it meanwhile, and this error is its consequence, such as a table that exists.
            if await applied_version(db) >= migration.version:
                return False
            # A fault of the migration or of the database would come again.
            if not isinstance(error, LockedElsewhere):
                raise
            if time.monotonic() >= give_up_at:
                raise SettingError(_refusal(migration, patience)) from error
        else:
            return True
        await asyncio.sleep(pause)


async def _make_partitions(db: Database, patience: float, pause: float) -> None:
    """Makes the partitions ahead, also where many rows have to be moved, which a running server does not do."""
    give_up_at = time.monotonic() + patience
    while True:
        try:
            await make_ahead(db, most=None)
        except LockedElsewhere as error:
            if time.monotonic() >= give_up_at:
                raise SettingError(_PARTITIONS_REFUSED) from error
        else:
            return
        await asyncio.sleep(pause)


async def _try(db: Database, migration: Migration) -> None:
    row = f"INSERT INTO schema_migrations VALUES ({migration.version}, '{migration.name}')"  # noqa: S608  # our own names
    if db.engine != "postgres":
        # The row goes first: where another process was quicker, its primary key refuses the rest.
        await db.script(f"{MAKE_TABLE};{row};{migration.sql}")
    elif migration.indexes:
        # A try that was cut off left an index of that name.
        drop = [f"DROP INDEX CONCURRENTLY IF EXISTS {name}" for name in migration.indexes]
        create = [
            schema_for_postgres(each.replace(" INDEX ", " INDEX CONCURRENTLY ", 1)) for each in migration.statements
        ]
        await cast("PostgresDatabase", db).build([KEEP_LOCK, *drop, *create, row, LET_GO])
    else:
        limit = f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'"
        table, changes = schema_for_postgres(MAKE_TABLE), schema_for_postgres(migration.sql)
        # Gives up soon and is tried again: a change that waits for its lock makes every later statement on the table
        # wait behind it.
        await db.script(f"{limit};{TAKE_LOCK};{table};{row};{changes}")


def _refusal(migration: Migration, patience: float) -> str:
    return (
        f"Migration {migration.version:04d} was kept from what it changes for {patience:.0f} s; nothing of it is there."
        " End the transaction that holds it (that of the oldest xact_start in pg_stat_activity), then migrate again."
    )
