"""Every statement is understood by both engines, and its columns are the fields of its struct."""

import ast
import inspect
import os
import re
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Any, Final

import apsw
import msgspec
import pytest

from pressroom.clock import SettableClock
from pressroom.db import Command, Database, Query
from pressroom.db.migrate import all_migrations, migrate
from pressroom.db.postgres.database import open_postgres
from pressroom.db.rows import ColumnsDoNotFit, plain_types
from pressroom.db.sqlite.database import open_sqlite
from tests.db.conftest import Run
from tests.harness.statements import modules, statements
from tests.services.postgres import PostgresServer

NEVER_NULL: Final = {
    "pressroom.domains.posts.queries.writing.EDITS_BY_KEY": {"at"},  # WHERE replaced_at >= :since
    "pressroom.domains.posts.queries.writing.DELETIONS_BY_KEY": {"at"},  # WHERE deleted_at >= :since
    "pressroom.domains.explore.queries.list_bounces": {"post_id"},  # WHERE original_id IS NOT NULL
    "pressroom.domains.events.queries.list_from": {"number"},  # WHERE number >= :first
    "pressroom.domains.events.queries.find_oldest": {"number"},  # WHERE number >= 0
    # SQLite describes its tables in columns that it does not declare.
    "pressroom.db.schema.COLUMNS[sqlite]": {"table_name", "name"},
    "pressroom.db.schema.INDEXES[sqlite]": {
        "table_name",
        "name",
        "origin",
        "is_unique",
        "is_partial",
        "place",
        "descending",
    },
    "pressroom.db.schema.REFERENCES[sqlite]": {"table_name", "place", "column_name", "other_table", "other_column"},
}
"""Columns whose table may hold NULL, and whose statement's condition leaves those rows out."""

OUTER: Final = r"LEFT JOIN (\w+)(?: (?!ON\b)(\w+))?"
"""An outer join: its table and, if any, the statement's alias for it."""


QUALIFIED: Final = re.compile(r"(?<!DISTINCT )\b(?:FROM|JOIN|INTO|UPDATE|TABLE|REFERENCES)\s+\w+\.\w+")
"""A table with its schema."""


@pytest.fixture(params=["sqlite", "postgres"])
def migrated(request: pytest.FixtureRequest, tmp_path: Path, run: Run) -> Iterator[Database]:
    """A migrated database of each engine."""
    if request.param == "sqlite":
        db: Database = open_sqlite(tmp_path / "test.db", SettableClock())
    else:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        name = f"statements_{os.getpid()}"
        server.drop_database(name)
        db = run(open_postgres(server.create_database(name), SettableClock()))
    run(migrate(db))
    yield db
    run(db.close())


def structs(engine: str | None = None) -> dict[str, Query[msgspec.Struct]]:
    """The statements whose rows become structs, by name."""
    found = statements(engine).items()
    return {name: query for name, query in found if isinstance(query, Query) and issubclass(query.row, msgspec.Struct)}


def test_statements_of_every_part_are_found() -> None:
    named = {name.rpartition(".")[0] for name in statements()}
    assert {"pressroom.jobs.queue", "pressroom.operations.doctor", "pressroom.web.site"} <= named
    assert {"pressroom.db.migrate", "pressroom.domains.posts.queries.writing", "benchmarks.library"} <= named


DECLARATIONS = {"Query", "Command", "sql.one", "sql.all", "sql.run"}


def test_no_function_makes_a_statement() -> None:
    """No test would find it and check it."""
    made = [
        f"{module.__name__}: line {call.lineno}"
        for module in modules()
        if module.__name__ != "pressroom.db.sql"
        for function in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for part in (function.body if isinstance(function.body, list) else [function.body])
        for call in ast.walk(part)
        if isinstance(call, ast.Call) and ast.unparse(call.func) in DECLARATIONS
    ]
    assert made == []


def test_every_statement_fits_its_struct(migrated: Database, run: Run) -> None:
    problems: list[str] = []
    for name, command in statements(migrated.engine).items():
        try:
            run(migrated.prepare(command))
        except Exception as error:  # all of them are reported together
            problems.append(f"{name}: {error}")
    assert problems == []


def test_columns_stand_in_the_order_of_the_fields(migrated: Database, run: Run) -> None:
    """By name any order would do; in this one a row is built without being rearranged."""
    for name, query in structs(migrated.engine).items():
        columns = [column.name for column in run(migrated.prepare(query))]
        assert columns == [field.name for field in msgspec.structs.fields(query.row)], name


def test_a_column_that_may_be_null_has_a_field_that_may_be_none(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "test.db"
    db = open_sqlite(file, SettableClock())
    run(migrate(db))
    run(db.close())
    connection = apsw.Connection(str(file))
    problems: dict[str, set[str]] = {}
    for name, query in structs("sqlite").items():
        fields = {field.name: field.type for field in msgspec.structs.fields(query.row)}
        may_be_null = {column for column in nullable_columns(connection, query) if column in fields}
        if wrong := {column for column in may_be_null if NoneType not in plain_types(fields[column])}:
            problems[name] = wrong
    assert problems == NEVER_NULL


def nullable_columns(connection: apsw.Connection, query: Query[Any]) -> set[str]:
    """The columns of a statement's rows that come straight from a table and may be NULL in it, or by an outer join."""
    described: list[tuple[str, ...]] = []

    def stop(cursor: apsw.Cursor, _statement: str, _values: object) -> bool:
        described.extend(cursor.description_full)
        return False

    cursor = connection.cursor()
    cursor.exec_trace = stop
    with pytest.raises(apsw.ExecTraceAbort):
        cursor.execute(query.text, dict.fromkeys(query.names))
    outer = {table for table, _ in re.findall(OUTER, query.text)}
    return {
        name
        for name, _, _, table, column in described
        if table
        and (not is_required(connection, table, column) or (table in outer and comes_from_outer(query, name, column)))
    }


def comes_from_outer(query: Query[Any], name: str, column: str) -> bool:
    """Whether a column of a table that is joined more than once, also by an outer join, comes from that one."""
    outer = {alias or table for table, alias in re.findall(OUTER, query.text)}
    listed = query.text.partition("SELECT ")[2].partition(" FROM ")[0].split(", ")
    written = column if name == column else f"{column} AS {name}"
    mentions = [item.partition(".") for item in listed]
    return not any(rest == written and alias not in outer for alias, _, rest in mentions)


def is_required(connection: apsw.Connection, table: str, column: str) -> bool:
    """Whether a table's column refuses NULL."""
    columns = connection.execute('SELECT name FROM pragma_table_info(?) WHERE "notnull" OR pk', (table,)).fetchall()
    return (column,) in columns


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("m.username AS made_by, u.username AS used_by", {"used_by"}),
        ("i.id, u.username", {"username"}),
        ("m.username", set()),
    ],
)
def test_table_joined_twice_is_nullable_in_the_outer_join_only(
    tmp_path: Path, run: Run, columns: str, expected: set[str]
) -> None:
    file = tmp_path / "test.db"
    db = open_sqlite(file, SettableClock())
    run(migrate(db))
    run(db.close())
    joined = "invitations i JOIN accounts m ON m.id = i.account_id LEFT JOIN accounts u ON u.id = i.used_by"
    query = Query(str, f"SELECT {columns} FROM {joined}")  # noqa: S608  # the columns above

    assert nullable_columns(apsw.Connection(str(file)), query) == expected


class Account(msgspec.Struct):
    id: str
    is_private: bool
    suspended_at: int | None


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ("is_private AS id, id AS is_private, suspended_at", "Account.id"),
        ("id, suspended_at AS is_private, is_private AS suspended_at", "Account.is_private"),
        ("id, is_private", "Account.suspended_at has no column"),
        ("id, is_private, suspended_at, bio", "bio is no field of Account"),
        ("id, is_private, suspended_at, username AS id", "id stands 2 times"),
        ("id, is_private, suspended_at IS NULL", "Account.suspended_at has no column"),
    ],
)
def test_columns_that_do_not_fit_are_refused(migrated: Database, run: Run, columns: str, problem: str) -> None:
    with pytest.raises(ColumnsDoNotFit, match=f"{problem}.*FROM accounts"):
        run(migrated.prepare(Query(Account, f"SELECT {columns} FROM accounts")))  # noqa: S608  # the columns above


def test_a_statement_whose_columns_do_not_fit_yields_no_row(migrated: Database, run: Run) -> None:
    with pytest.raises(ColumnsDoNotFit, match=r"stands 2 times.*AS id"):
        run(migrated.one(Query(Account, "SELECT 'a' AS id, TRUE AS is_private, 1 AS suspended_at, 'b' AS id")))


def test_rows_are_built_by_name(migrated: Database, run: Run) -> None:
    swapped = Query(Account, "SELECT CAST(NULL AS BIGINT) AS suspended_at, 'a' AS id, TRUE AS is_private")
    for _ in range(2):
        assert run(migrated.one(swapped)) == Account(id="a", is_private=True, suspended_at=None)


def test_a_single_column_is_one_of_its_type(migrated: Database, run: Run) -> None:
    assert run(migrated.one(Query(bool, "SELECT 1 = 1"))) is True
    for text in ("SELECT id, username FROM accounts", "SELECT created_at FROM accounts"):
        with pytest.raises(ColumnsDoNotFit):
            run(migrated.prepare(Query(str, text)))


def test_a_command_yields_no_rows(migrated: Database, run: Run) -> None:
    with pytest.raises(ColumnsDoNotFit, match="is it a Query"):
        run(migrated.prepare(Command("DELETE FROM accounts RETURNING id")))


def test_a_wrong_statement_is_refused(migrated: Database, run: Run) -> None:
    with pytest.raises(Exception, match="nowhere"):
        run(migrated.prepare(Command("DELETE FROM nowhere")))


def test_no_statement_or_migration_names_a_schema() -> None:
    texts = {name: command.numbered for name, command in statements().items()}
    texts |= {str(each.version): each.sql for each in all_migrations()}
    assert QUALIFIED.search("SELECT 1 FROM shop.posts")
    assert not [name for name, sql in texts.items() if QUALIFIED.search(sql)]
