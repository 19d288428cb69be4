"""The source of a transfer: a SQLite file that nobody serves."""

import contextlib
import os
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol, cast

import apsw

from pressroom.db import Value
from pressroom.db.migrate import VERSION, newest_schema
from pressroom.errors import SettingError
from pressroom.folders import sync_folder
from pressroom.operations.transfer import marks
from pressroom.operations.transfer.tables import OF_THE_DATABASE, Row, Table, parents_first
from pressroom.server.sole_counter import alone_with
from pressroom.settings import RESTORING

BUSY_MS: Final = 5_000
"""How long a command that writes may hold the file, in milliseconds."""

_TABLES: Final = (
    "SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main'"
    " AND substr(name, 1, 7) <> 'sqlite_' AND substr(name, 1, 12) <> '_litestream_'"
)
"""All but SQLite's own, Litestream's, and virtual ones with the tables that hold their rows."""

_PARENTS: Final = 'SELECT DISTINCT "table" FROM pragma_foreign_key_list(:name)'
_COLUMNS: Final = "SELECT name, type, pk FROM pragma_table_info(:name) ORDER BY cid"


class _Rows(Protocol):
    def fetchall(self) -> list[tuple[Value, ...]]: ...


class _Connection(Protocol):
    """The methods of apsw's connections that are used here."""

    def execute(self, statements: str, values: Mapping[str, Value] | Sequence[Value] | None = None, /) -> _Rows: ...
    def set_busy_timeout(self, milliseconds: int, /) -> None: ...
    def close(self) -> None: ...


class Source:
    """An open source, which nobody can write until it is closed."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection
        self.tables = [self._table(name) for name in self._names()]

    async def rows(self, table: Table, after: Row = ()) -> AsyncGenerator[list[Row]]:
        """Yields the rows behind the primary key `after`, in batches."""
        while True:
            statement = table.rows_after(["?"] * len(after))
            batch = [table.with_flags(row) for row in self._connection.execute(statement, after).fetchall()]
            if not batch:
                return
            yield batch
            after = table.key_of(batch[-1])

    def _names(self) -> list[str]:
        names = [str(name) for (name,) in self._connection.execute(_TABLES).fetchall()]
        ours = {name: self._parents(name) for name in names if name not in OF_THE_DATABASE}
        return parents_first(dict(ours))

    def _parents(self, name: str) -> list[str]:
        return [str(parent) for (parent,) in self._connection.execute(_PARENTS, {"name": name}).fetchall()]

    def _table(self, name: str) -> Table:
        columns = self._connection.execute(_COLUMNS, {"name": name}).fetchall()
        key = sorted((place, column) for column, _, place in columns if place)
        return Table(
            name,
            tuple(str(column) for column, *_ in columns),
            tuple(str(column) for _, column in key),
            frozenset(place for place, (_, kind, _) in enumerate(columns) if kind == "BOOLEAN"),
        )


def write_mark(database: Path, transfer_id: str) -> None:
    """Marks a database durably."""
    with marks.file_of(database).open("w", encoding="utf-8") as writing:
        writing.write(transfer_id)
        writing.flush()
        os.fsync(writing.fileno())
    sync_folder(database.parent)


def remove_mark(database: Path) -> None:
    """Takes the mark off a database."""
    marks.file_of(database).unlink(missing_ok=True)
    sync_folder(database.parent)


@contextlib.contextmanager
def open_source(file: Path) -> Generator[Source]:
    """Opens the file while nobody serves it. Raises SettingError when it is served, absent, damaged or another's."""
    if not file.is_file():
        raise SettingError(f"There is no database {file}.")
    if (file.parent / RESTORING).exists():
        raise SettingError(f"A restore into {file.parent} was cut off: run pressroom restore once more.")
    with alone_with(file, f"{file} is being served: stop that server first."), _translated(file):
        connection = cast("_Connection", apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE))
        try:
            connection.set_busy_timeout(BUSY_MS)
            # Held to the end: not even a command of this installation can write what would be left behind.
            connection.execute("BEGIN IMMEDIATE")
            _check(connection, file)
            yield Source(connection)
        finally:
            connection.close()


def _check(connection: _Connection, file: Path) -> None:
    verdict = [str(said) for (said,) in connection.execute("PRAGMA integrity_check(1)").fetchall()]
    broken = connection.execute("PRAGMA foreign_key_check").fetchall()
    if verdict != ["ok"] or broken:
        raise SettingError(f"{file} is damaged: {'; '.join(verdict)}; {len(broken)} rows refer to nothing.")
    known = newest_schema()
    if not connection.execute(_TABLES + " AND name = 'schema_migrations'").fetchall():
        raise SettingError(f"{file} is no database of Pressroom.")
    ((version,),) = connection.execute(VERSION.text).fetchall()
    if int(version or 0) > known:
        raise SettingError(
            f"{file} is at schema {version}, newer than this version knows ({known}): upgrade Pressroom."
        )
    if version != known:
        raise SettingError(
            f"{file} is at schema {version} and this version needs {known}: run pressroom migrate on it first."
        )


@contextlib.contextmanager
def _translated(file: Path) -> Generator[None]:
    try:
        yield
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise SettingError(f"{file} is damaged: {error}.") from None
    except apsw.Error as error:
        raise SettingError(f"{file} cannot be read: {error}.") from None
