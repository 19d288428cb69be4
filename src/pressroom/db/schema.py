"""Finds the missing parts of a database's schema, compared with the one that the migrations make.

A restore that was cut off leaves a database whose table of migrations is complete, but not its indexes and constraints.
The migrations are applied to a database in memory and the schema is read from there, so that no second description of
it is kept. Both are read as facts in words, which mean the same on both engines. Only missing facts count: an
operator may add tables, columns and indexes.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final, TypeVar

import msgspec

from pressroom.db import Database, Query, Tx
from pressroom.db.migrate import MAKE_TABLE, all_migrations, applied_version, newest_schema
from pressroom.db.sqlite.database import read_in_memory
from pressroom.errors import SettingError

_OF_POSTGRES: Final = re.compile(r"/\* CREATE INDEX (\w+) ON (\w+) USING \w+ \((\w+)\)")

NAMED: Final = 5
"""Missing facts that a message names; it counts the others."""


class _Column(msgspec.Struct):
    """A column; `kind` is its type, `standard` the expression of its default."""

    table_name: str
    name: str
    kind: str
    required: bool
    standard: str | None


class _IndexColumn(msgspec.Struct):
    """A column of an index. `origin`: of a primary key (pk), a UNIQUE of its table (u), or made as an index (c)."""

    table_name: str
    name: str
    origin: str
    is_unique: bool
    is_partial: bool
    place: int
    column_name: str
    descending: bool


class _ReferenceColumn(msgspec.Struct):
    """A column of a foreign key, and the table and column that it refers to."""

    table_name: str
    name: str
    place: int
    column_name: str
    other_table: str
    other_column: str


Part = TypeVar("Part", _IndexColumn, _ReferenceColumn)

# Both engines have the ordinary tables: no virtual one of SQLite, and none that holds the rows of such.
COLUMNS: Final = {
    "sqlite": Query(
        _Column,
        'SELECT m.name AS table_name, p.name, lower(p.type) AS kind, p."notnull" OR p.pk > 0 AS required,'
        " p.dflt_value AS standard FROM pragma_table_list m JOIN pragma_table_info(m.name) p"
        " WHERE m.type = 'table' AND substr(m.name, 1, 7) <> 'sqlite_'",
    ),
    "postgres": Query(
        _Column,
        "SELECT CAST(c.relname AS TEXT) AS table_name, CAST(a.attname AS TEXT) AS name,"
        " format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attcollation <> 0 AND l.collname <> 'C'"
        " THEN ' of collation ' || l.collname ELSE '' END AS kind,"
        " a.attnotnull AS required, pg_get_expr(d.adbin, d.adrelid) AS standard"
        " FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
        " LEFT JOIN pg_collation l ON l.oid = a.attcollation"
        " LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum"
        " WHERE c.relkind IN ('r', 'p') AND pg_table_is_visible(c.oid) AND a.attnum > 0 AND NOT a.attisdropped"
        " AND c.relnamespace <> CAST('pg_catalog' AS regnamespace)",
    ),
}

INDEXES: Final = {
    "sqlite": Query(
        _IndexColumn,
        'SELECT m.name AS table_name, i.name, i.origin, i."unique" AS is_unique, i.partial AS is_partial,'
        " x.seqno AS place, coalesce(x.name, 'an expression') AS column_name, x.desc AS descending"
        " FROM pragma_table_list m JOIN pragma_index_list(m.name) i JOIN pragma_index_xinfo(i.name) x"
        " WHERE m.type = 'table' AND substr(m.name, 1, 7) <> 'sqlite_' AND x.key = 1",
    ),
    "postgres": Query(
        _IndexColumn,
        "SELECT CAST(c.relname AS TEXT) AS table_name, CAST(o.relname AS TEXT) AS name,"
        " CASE k.contype WHEN 'p' THEN 'pk' WHEN 'u' THEN 'u' ELSE 'c' END AS origin, i.indisunique AS is_unique,"
        " i.indpred IS NOT NULL AS is_partial, p.place - 1 AS place,"
        " coalesce(CAST(a.attname AS TEXT), 'an expression') AS column_name,"
        " i.indoption[p.place - 1] % 2 = 1 AS descending"
        " FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class o ON o.oid = i.indexrelid"
        " CROSS JOIN LATERAL generate_series(1, CAST(i.indnkeyatts AS INTEGER)) AS p (place)"
        " LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[p.place - 1]"
        " LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.conrelid = i.indrelid"
        " WHERE i.indisvalid AND pg_table_is_visible(c.oid) AND c.relnamespace <> CAST('pg_catalog' AS regnamespace)",
    ),
}

REFERENCES: Final = {
    "sqlite": Query(
        _ReferenceColumn,
        'SELECT m.name AS table_name, CAST(f.id AS TEXT) AS name, f.seq AS place, f."from" AS column_name,'
        ' f."table" AS other_table, f."to" AS other_column'
        " FROM pragma_table_list m JOIN pragma_foreign_key_list(m.name) f"
        " WHERE m.type = 'table' AND substr(m.name, 1, 7) <> 'sqlite_'",
    ),
    "postgres": Query(
        _ReferenceColumn,
        "SELECT CAST(c.relname AS TEXT) AS table_name, CAST(k.oid AS TEXT) AS name, p.place, CAST(a.attname AS TEXT)"
        " AS column_name, CAST(t.relname AS TEXT) AS other_table, CAST(b.attname AS TEXT) AS other_column"
        " FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class t ON t.oid = k.confrelid"
        " CROSS JOIN LATERAL generate_subscripts(k.conkey, 1) AS p (place)"
        " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.conkey[p.place]"
        " JOIN pg_attribute b ON b.attrelid = t.oid AND b.attnum = k.confkey[p.place]"
        " WHERE k.contype = 'f' AND k.convalidated AND pg_table_is_visible(c.oid)",
    ),
}


async def check_schema(db: Database) -> None:
    """Raises SettingError when a database of this version's schema lacks a part of it (docs/backup.md#postgresql).

    Of a newer schema nothing is known, and nothing is checked.
    """
    if await applied_version(db) != newest_schema():
        return
    expected = _expected() | _expected_of_postgres() if db.engine == "postgres" else _expected()
    missing = sorted(expected - await db.read(_facts, db.engine), key=_tables_first)
    if missing:
        more = f" and {len(missing) - NAMED:,} more" if len(missing) > NAMED else ""
        raise SettingError(
            f"The database is not whole: it lacks {', '.join(missing[:NAMED])}{more}. If a restore was cut off, restore"
            " into another, empty database, in one transaction; otherwise make again what was removed."
        )


async def check_not_cut_off(db: Database) -> None:
    """Raises SettingError when a database without migrations has tables of this version (docs/backup.md#postgresql)."""
    found = sorted(_expected() & await db.read(_tables, db.engine))
    if found and await applied_version(db) == 0:  # asked last: another process may migrate at the same time
        raise SettingError(
            f"The database has {found[0]} and no migrations: a restore into it was cut off. Restore into another, empty"
            " database, in one transaction."
        )


def _tables_first(fact: str) -> tuple[bool, str]:
    return not fact.startswith("the table "), fact


async def _tables(tx: Tx, engine: str) -> frozenset[str]:
    """Returns the tables, in words."""
    return frozenset(f"the table {column.table_name}" for column in await tx.all(COLUMNS[engine]))


async def _facts(tx: Tx, engine: str) -> frozenset[str]:
    """Returns the parts of a schema, each in words."""
    tables, columns = await _tables(tx, engine), await tx.all(COLUMNS[engine])
    indexes = _grouped(await tx.all(INDEXES[engine]))
    references = _grouped(await tx.all(REFERENCES[engine]))
    return frozenset({*tables, *map(_of_column, columns), *map(_of_index, indexes), *map(_of_reference, references)})


@cache
def _expected() -> frozenset[str]:
    """Returns the facts of the schema that the migrations make."""
    return read_in_memory([MAKE_TABLE, *(migration.sql for migration in all_migrations())], _facts, "sqlite")


@cache
def _expected_of_postgres() -> frozenset[str]:
    """Returns the facts of the indexes that the migrations make on PostgreSQL alone."""
    found = [match for migration in all_migrations() for match in _OF_POSTGRES.finditer(migration.sql)]
    return frozenset(f"the index {match[1]} of {match[2]} ({match[3]})" for match in found)


def _grouped(parts: Iterable[Part]) -> list[list[Part]]:
    """Returns the columns of each index or foreign key, in order."""
    whole: dict[tuple[str, str], list[Part]] = {}
    for part in sorted(parts, key=lambda each: each.place):
        whole.setdefault((part.table_name, part.name), []).append(part)
    return list(whole.values())


def _of_column(column: _Column) -> str:
    required = " NOT NULL" if column.required else ""
    standard = "" if column.standard is None else f" DEFAULT {_plain(column.standard)}"
    return f"the column {column.table_name}.{column.name} {column.kind}{required}{standard}"


def _plain(standard: str) -> str:
    """Returns the expression of a default as both engines have it, without types."""
    plain = re.sub(r"::[a-z ]+", "", standard)
    return plain.lower() if plain.lower() in {"true", "false"} else plain


def _of_index(index: Sequence[_IndexColumn]) -> str:
    first = index[0]
    columns = ", ".join(f"{each.column_name}{' DESC' if each.descending else ''}" for each in index)
    match first.origin:
        case "pk":
            return f"the primary key of {first.table_name} ({columns})"
        case "u":
            return f"the UNIQUE of {first.table_name} ({columns})"
        case _:
            unique, partial = " unique" * first.is_unique, " for some rows" * first.is_partial
            return f"the{unique} index {first.name} of {first.table_name} ({columns}){partial}"


def _of_reference(reference: Sequence[_ReferenceColumn]) -> str:
    first = reference[0]
    columns = ", ".join(each.column_name for each in reference)
    others = ", ".join(each.other_column for each in reference)
    return f"the foreign key {first.table_name} ({columns}) to {first.other_table} ({others})"
