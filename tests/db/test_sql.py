"""Statements declared together with the functions that run them."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from pressroom.db import ColumnsDoNotFit, Database, Tx, sql

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


@sql.run("DELETE FROM things WHERE name = :name")
async def delete_thing(tx: Tx, name: str) -> bool:
    """Removes a thing, and returns whether there was one."""
    ...


@sql.one("SELECT TRUE FROM things WHERE name = :name")
async def has_thing(tx: Tx, name: str) -> bool:
    """Returns whether a thing has this name."""
    ...


@sql.one("SELECT size > 4 FROM things WHERE name = :name")
async def is_large(tx: Tx, name: str) -> bool:
    """Returns whether a thing is large; an unknown one is not."""
    ...


@sql.one("SELECT count(*) FROM things")
async def count_things(tx: Tx) -> int:
    """Returns how many things exist."""
    ...


@sql.one("SELECT max(size) FROM things")
async def find_largest_size(tx: Tx) -> int:
    """Returns the largest size, and 0 without things."""
    ...


@sql.one("SELECT size FROM things WHERE name = :name")
async def find_size(tx: Tx, name: str) -> int:
    """Returns a thing's size, and 0 of an unknown one."""
    ...


@sql.one("SELECT name FROM things")
async def is_text(tx: Tx) -> bool:
    """Returns a text as if it were a truth."""
    ...


@sql.one("SELECT name FROM things")
async def number_of_text(tx: Tx) -> int:
    """Returns a text as if it were a number."""
    ...


@sql.one("SELECT TRUE, size FROM things")
async def two_truths(tx: Tx) -> bool:
    """Returns two columns as if they were one."""
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


def test_run_that_returns_bool_is_true_when_a_row_was_touched(db: Database, run: Run) -> None:
    async def write(tx: Tx) -> None:
        await insert_thing(tx, "a")
        assert await delete_thing(tx, "a") is True
        assert await delete_thing(tx, "a") is False

    run(db.transact(write))


def test_one_that_returns_bool_is_the_value_and_false_without_a_row(db: Database, run: Run) -> None:
    async def write(tx: Tx) -> None:
        await insert_thing(tx, "small", size=3)
        await insert_thing(tx, "large", size=5)
        assert await has_thing(tx, "small") is True
        assert await has_thing(tx, "x") is False
        assert await is_large(tx, "large") is True
        assert await is_large(tx, "small") is False
        assert await is_large(tx, "x") is False

    run(db.transact(write))


def test_one_that_returns_int_is_the_value_and_zero_without_a_row_or_value(db: Database, run: Run) -> None:
    async def write(tx: Tx) -> None:
        assert await count_things(tx) == 0
        assert await find_largest_size(tx) == 0
        assert await find_size(tx, "a") == 0
        await insert_thing(tx, "a", size=3)
        assert await count_things(tx) == 1
        assert await find_largest_size(tx) == 3
        assert await find_size(tx, "a") == 3

    run(db.transact(write))


@pytest.mark.parametrize("declared", [is_text, number_of_text, two_truths])
def test_one_whose_column_is_not_of_the_returned_type_is_refused_when_prepared(
    db: Database, run: Run, declared: Callable[..., object]
) -> None:
    with pytest.raises(ColumnsDoNotFit):
        run(db.prepare(declared.__dict__["statement"]))


async def _unused(tx: Tx, name: str, size: int) -> int: ...


async def _missing(tx: Tx) -> int: ...


async def _never_none(tx: Tx, name: str) -> Thing: ...


async def _two_rows(tx: Tx, name: str) -> Thing | str | None: ...


async def _one_row(tx: Tx, name: str) -> Thing | None: ...


async def _text(tx: Tx, name: str) -> str: ...


@pytest.mark.parametrize(
    ("declare", "function", "named"),
    [
        (sql.run, _unused, "size"),
        (sql.run, _missing, "name"),
        (sql.one, _never_none, "`Row | None`"),
        (sql.one, _two_rows, "`Row | None`"),
        (sql.all, _one_row, "`list[Row]`"),
        (sql.one, _text, "`Row | None`"),
        (sql.run, _one_row, "number of rows"),
        (sql.run, _text, "number of rows"),
    ],
)
def test_signature_that_does_not_fit_the_statement_is_refused_at_import(
    declare: Callable[[str], Callable[[Callable[..., Awaitable[object]]], object]],
    function: Callable[..., Awaitable[object]],
    named: str,
) -> None:
    with pytest.raises(TypeError, match=f"{function.__name__} .*{re.escape(named)}"):
        declare("DELETE FROM things WHERE name = :name")(function)
