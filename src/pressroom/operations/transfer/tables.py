"""Tables as both engines know them, their rows in the order of the primary key, and hashes over all rows."""

import hashlib
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Final

import msgspec

from pressroom.db import Value

BATCH: Final = 500
"""Rows that are read, and written in one transaction."""

OF_THE_DATABASE: Final = frozenset(
    {"schema_migrations", "oldest_program", "transfers", "indexed_posts", "unindexed_posts"}
)
"""Tables of the database itself, which are not transferred: the target indexes its posts anew."""

Row = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its columns in order, those of its primary key, and the places of those that are boolean."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    flags: frozenset[int]

    def last_key(self) -> str:
        """Returns the statement that reads the primary key of the last row."""
        return f"SELECT {_names(self.key)} FROM {_name(self.name)} ORDER BY {_names(self.key, ' DESC')} LIMIT 1"  # noqa: S608  # names of the schema

    def rows_after(self, parameters: Sequence[str]) -> str:
        """Returns the statement that reads a batch of rows in the order of the primary key.

        Args:
            parameters: The placeholders of the values of the key after which to begin; none for the beginning.
        """
        after = f" WHERE ({_names(self.key)}) > ({', '.join(parameters)})" if parameters else ""
        select = f"SELECT {_names(self.columns)} FROM {_name(self.name)}"  # noqa: S608  # names of the schema
        return f"{select}{after} ORDER BY {_names(self.key)} LIMIT {BATCH}"

    def key_of(self, row: Row) -> Row:
        """Returns the primary key of a row."""
        return tuple(row[self.columns.index(name)] for name in self.key)

    def with_flags(self, row: Row) -> Row:
        """Returns a row of SQLite, which knows no booleans, with them."""
        return tuple(
            bool(value) if place in self.flags and value is not None else value for place, value in enumerate(row)
        )


class TableDigest(msgspec.Struct, frozen=True):
    """The number of rows of a table, and the SHA-256 over all of them in hexadecimal."""

    name: str
    rows: int
    sha256: str


async def digest(table: Table, rows: AsyncIterator[Row]) -> TableDigest:
    """Returns the digest of rows, which come in the order of the primary key."""
    encoder, sha256, count = msgspec.json.Encoder(), hashlib.sha256(), 0
    async for row in rows:
        sha256.update(encoder.encode(row))
        count += 1
    return TableDigest(table.name, count, sha256.hexdigest())


def parents_first(parents: dict[str, Iterable[str]]) -> list[str]:
    """Returns the names of tables in an order in which each comes after those that it refers to."""
    return list(TopologicalSorter({name: sorted(parents[name]) for name in sorted(parents)}).static_order())


def _name(name: str) -> str:
    return f'"{name}"'


def _names(names: Iterable[str], end: str = "") -> str:
    return ", ".join(_name(name) + end for name in names)
