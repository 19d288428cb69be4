"""Statements declared together with the functions that run them."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from pressroom.db import Database, Tx, sql

Run = Callable[[Any], Any]


class Thing(msgspec.Struct):
    """A row of the table `things`."""

    name: str
    size: int


@sql.run("INSERT INTO things (name, size) VALUES (:name, :size)")
async def insert_thing(tx: Tx, name: str, *, size: int = 3) -> int:
    """Inserts a thing."""
    ...


@sql.one("SELECT name, size FROM things WHERE name = :name")
async def find_thing(tx: Tx, name: str) -> Thing | None:
    """Returns a thing by its name."""
    ...


@sql.all("SELECT name FROM things WHERE size < :most ORDER BY name LIMIT :limit")
async def list_names(tx: Tx, *, most: int, limit: int) -> list[str]:
    """Returns the names of things smaller than `most`."""
    ...


@sql.run("UPDATE things SET size = :now")
async def set_sizes(tx: Tx) -> int:
    """Sets every size to the time of the transaction."""
    ...


@sql.run("UPDATE things SET size = :now")
async def set_sizes_to(tx: Tx, now: int) -> int:
    """Sets every size to `now`."""
    ...


def test_declared_statement_runs_with_positions_names_and_defaults(db: Database, run: Run) -> None:
    async def write(tx: Tx) -> None:
        assert await insert_thing(tx, "a") == 1
        assert await insert_thing(tx, "b", size=5) == 1
        assert await insert_thing(tx, name="c", size=7) == 1
        assert await find_thing(tx, "a") == Thing("a", 3)
        assert await find_thing(tx, name="b") == Thing("b", 5)
        assert await find_thing(tx, "x") is None
        assert await list_names(tx, most=7, limit=9) == ["a", "b"]

    run(db.transact(write))


def test_now_of_a_statement_is_the_time_of_the_transaction_unless_given(db: Database, run: Run) -> None:
    async def write(tx: Tx) -> None:
        await insert_thing(tx, "a")
        assert await set_sizes(tx) == 1
        assert await find_thing(tx, "a") == Thing("a", tx.now)
        assert await set_sizes_to(tx, 12) == 1
        assert await find_thing(tx, "a") == Thing("a", 12)

    run(db.transact(write))


async def _unused(tx: Tx, name: str, size: int) -> int: ...


async def _missing(tx: Tx) -> int: ...


async def _never_none(tx: Tx, name: str) -> Thing: ...


async def _two_rows(tx: Tx, name: str) -> Thing | str | None: ...


async def _one_row(tx: Tx, name: str) -> Thing | None: ...


@pytest.mark.parametrize(
    ("declare", "function", "named"),
    [
        (sql.run, _unused, "size"),
        (sql.run, _missing, "name"),
        (sql.one, _never_none, "`Row | None`"),
        (sql.one, _two_rows, "`Row | None`"),
        (sql.all, _one_row, "`list[Row]`"),
        (sql.run, _one_row, "number of rows"),
    ],
)
def test_signature_that_does_not_fit_the_statement_is_refused_at_import(
    declare: Callable[[str], Callable[[Callable[..., Awaitable[object]]], object]],
    function: Callable[..., Awaitable[object]],
    named: str,
) -> None:
    with pytest.raises(TypeError, match=f"{function.__name__} .*{re.escape(named)}"):
        declare("DELETE FROM things WHERE name = :name")(function)
