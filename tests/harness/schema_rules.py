"""Changes that a migration may not make while the version before serves (docs/development.md#a-migration)."""

import re
from collections.abc import Sequence
from typing import Final

from pressroom.db.migrate import Migration, all_migrations

_UNUSED: Final = re.compile(r"^-- Unused since (\S+): (.+)$", re.MULTILINE)

_OLDEST: Final = re.compile(r"\boldest_program (?:VALUES \(|SET schema_version = )(\d+)")

_CREATE_TABLE: Final = re.compile(r"CREATE (?:VIRTUAL )?TABLE (?:IF NOT EXISTS )?(\w+)", re.IGNORECASE)
_CREATE_INDEX: Final = re.compile(r"CREATE (UNIQUE )?INDEX (?:IF NOT EXISTS )?(\w+) ON (\w+)", re.IGNORECASE)
_DROP: Final = re.compile(r"DROP (TABLE|INDEX) (?:IF EXISTS )?(\w+)$", re.IGNORECASE)
_ALTER: Final = re.compile(r"ALTER TABLE (?:IF EXISTS )?(?:ONLY )?(\w+) (.+)", re.IGNORECASE)
_DROP_COLUMN: Final = re.compile(r"DROP (?:COLUMN )?(?:IF EXISTS )?(\w+)$", re.IGNORECASE)
_ADD_COLUMN: Final = re.compile(r"ADD (?:COLUMN )?(?:IF NOT EXISTS )?(\w+) (.+)", re.IGNORECASE)
_WRITE: Final = re.compile(r"(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)", re.IGNORECASE)
_SETS: Final = re.compile(r"\bSET (.+?)(?: WHERE |$)", re.IGNORECASE)


def faults_in(migrations: Sequence[Migration]) -> list[str]:
    """Returns the faults of migrations, a sentence each.

    Each is judged by the schema of the version before its own, which `oldest_program` holds.
    """
    before = 0
    faults: list[str] = []
    for migration in migrations:
        if oldest := _OLDEST.search(migration.sql):
            before = int(oldest[1])
        new = [step for each in migrations if before < each.version < migration.version for step in each.statements]
        faults += [f"{migration.version:04d}: {fault}" for fault in faults_of(migration, new)]
    return faults


def faults_of(migration: Migration, earlier: Sequence[str] = ()) -> list[str]:
    """Returns the changes of a migration that the version before may not survive, a sentence each.

    Args:
        migration: The migration.
        earlier: Statements of earlier migrations of the same version: the version before knows none of what they made.
    """
    steps = [*earlier, *migration.statements]
    tables = {"oldest_program", *(match[1] for each in steps if (match := _CREATE_TABLE.match(each)))}
    alters = [match for each in steps if (match := _ALTER.match(each))]
    columns = {f"{alter[1]}.{added[1]}" for alter in alters if (added := _ADD_COLUMN.match(alter[2]))}
    unused = {name for match in _UNUSED.finditer(migration.sql) for name in re.split(r",\s*", match[2].strip())}
    alone = bool(migration.indexes)
    return [
        f"{fault}: {statement}"
        for statement in migration.statements
        if (fault := _fault(statement, tables, columns, unused, alone=alone))
    ]


def _fault(statement: str, tables: set[str], columns: set[str], unused: set[str], *, alone: bool) -> str | None:
    if _CREATE_TABLE.match(statement):
        return None
    if index := _CREATE_INDEX.match(statement):
        if index[3] in tables:
            return None
        if index[3] in {table for each in all_migrations() for table in each.partitioned}:
            return "PostgreSQL builds no index of a partitioned table beside others"
        if index[1]:
            return "a unique index refuses what the version before writes"
        return None if alone else "writes wait for an index of a table that was there: give it a migration of its own"
    if drop := _DROP.match(statement):
        return None if {drop[2]} & (unused | tables) else "what the version before uses is dropped"
    if alter := _ALTER.match(statement):
        return None if alter[1] in tables else _fault_of_alter(alter[1], alter[2], unused)
    if write := _WRITE.match(statement):
        return None if write[1] in tables else _fault_of_write(write[1], statement, columns)
    return "it is not known whether this is safe"


def _fault_of_alter(table: str, change: str, unused: set[str]) -> str | None:
    if re.match(r"(RENAME|ALTER)\b", change, re.IGNORECASE):
        return "what the version before uses is renamed or changed"
    if drop := _DROP_COLUMN.match(change):
        return None if f"{table}.{drop[1]}" in unused else "what the version before uses is dropped"
    added = _ADD_COLUMN.match(change)
    if added is None or re.match(r"(CONSTRAINT|UNIQUE|PRIMARY|FOREIGN|CHECK|EXCLUDE)$", added[1], re.IGNORECASE):
        return "a constraint refuses what the version before writes"
    if re.search(r"\b(UNIQUE|PRIMARY KEY|CHECK|REFERENCES|GENERATED)\b", added[2], re.IGNORECASE):
        return "a constraint refuses what the version before writes"
    if re.search(r"\bNOT NULL\b", added[2], re.IGNORECASE) and not re.search(r"\bDEFAULT\b", added[2], re.IGNORECASE):
        return "the version before does not write this column: it may be null, or has a default"
    if re.search(r"\bDEFAULT \(", added[2], re.IGNORECASE):
        return "a default that is computed rewrites the table under a lock"
    return None


def _fault_of_write(table: str, statement: str, columns: set[str]) -> str | None:
    sets = _SETS.search(statement)
    if not statement.upper().startswith("UPDATE ") or sets is None:
        return "rows of a table that was there are added or removed"
    names = re.findall(r"(?:^|, )(\w+) =", sets[1])
    return None if {f"{table}.{name}" for name in names} <= columns else "columns that were there are written"
