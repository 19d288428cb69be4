"""Statements whose rows nobody needs: to the action it is as if each had been run where it stands, on both engines."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from pressroom.db import Command, ConstraintViolated, Database, Query, Tx
from pressroom.db.batches import Batch
from pressroom.db.params import shifted
from pressroom.db.postgres import PostgresTx
from pressroom.errors import Conflict, NotFound, PressroomError

Run = Callable[[Any], Any]

INSERT = Command("INSERT INTO things (name, size) VALUES (:name, :size)")
INSERT_OTHER = Command("INSERT INTO others (name, size) VALUES (:name, :size)")
GROW = Command("UPDATE things SET size = size + :size WHERE name = :name")
GROW_OTHER = Command("UPDATE others SET size = size * :size WHERE name = :name")
COPY = Command("INSERT INTO others (name, size) SELECT name, size FROM things WHERE size > :least")
LOG = Command("INSERT INTO logged (text) VALUES (:text)")
TAKE = Query(
    int,
    "INSERT INTO others (name, size) VALUES (:name, 1) ON CONFLICT (name) DO UPDATE SET size = others.size + 1"
    " WHERE others.size < :most RETURNING size",
)
SIZE = Query(int, "SELECT size FROM things WHERE name = :name")
OTHER = Query(int, "SELECT size FROM others WHERE name = :name")
COUNT = Query(int, "SELECT count(*) FROM things")


@pytest.fixture(autouse=True)
def tables(db: Database, run: Run) -> None:
    """The table `others`, like `things`."""
    run(db.script("CREATE TABLE others (name TEXT PRIMARY KEY, size BIGINT NOT NULL)"))


def full() -> Exception:
    return Conflict("Full.")


def absent() -> Exception:
    return NotFound("No such thing.")


def test_what_is_run_later_is_seen_by_whatever_comes_after(db: Database, run: Run) -> None:
    async def write(tx: Tx) -> None:
        await tx.later(INSERT, name="a", size=1)
        assert await tx.one(SIZE, name="a") == 1
        await tx.later(GROW, name="a", size=4)
        assert await tx.run(GROW, name="a", size=5) == 1
        await tx.later(GROW, name="a", size=10)
        await tx.later(GROW, name="a", size=20)  # the same row twice
        await tx.later(COPY, least=39)  # reads what was just written
        await tx.later(GROW_OTHER, name="a", size=2)
        await tx.run_each(GROW, [{"name": "a", "size": 60}])

    run(db.transact(write))
    assert (run(db.one(SIZE, name="a")), run(db.one(OTHER, name="a"))) == (100, 80)


def test_nothing_of_a_refused_transaction_stays(db: Database, run: Run) -> None:
    async def write(tx: Tx) -> None:
        await tx.later(INSERT, name="a", size=1)
        await tx.later(INSERT_OTHER, name="a", size=1)
        raise Conflict("No.")

    with pytest.raises(Conflict):
        run(db.transact(write))
    assert (run(db.one(COUNT)), run(db.one(OTHER, name="a"))) == (0, None)


def test_a_constraint_refuses_what_is_run_later(db: Database, run: Run) -> None:
    async def write(tx: Tx) -> None:
        await tx.later(INSERT_OTHER, name="a", size=1)
        await tx.later(INSERT, name="a", size=1)

    run(db.transact(write))
    with pytest.raises(ConstraintViolated):
        run(db.transact(write))


def test_a_statement_that_has_to_touch_a_row_refuses_the_transaction(db: Database, run: Run) -> None:
    async def write(tx: Tx, name: str) -> str:
        await tx.require(TAKE, full, name="quota", most=2)
        await tx.later(INSERT, name=name, size=1)
        await tx.require(GROW, absent, name=name, size=1)
        return name

    assert [run(db.transact(write, name)) for name in "ab"] == ["a", "b"]
    with pytest.raises(Conflict):
        run(db.transact(write, "c"))
    assert (run(db.one(COUNT)), run(db.one(OTHER, name="quota"))) == (2, 2)


def test_the_first_refusal_is_the_one_that_is_told(db: Database, run: Run) -> None:
    """Whatever was only found out later: the order of checks is that of the action."""

    async def take_and_grow(tx: Tx, *, refuse: bool) -> None:
        await tx.require(TAKE, full, name="quota", most=0 if refuse else 9)
        await tx.require(GROW, absent, name="nothing", size=1)

    async def take_and_refuse(tx: Tx) -> None:
        await tx.require(TAKE, full, name="other quota", most=1)
        raise NotFound("Refused without a statement.")

    async def take_one(tx: Tx) -> None:
        await tx.require(TAKE, full, name="quota", most=1)
        await tx.require(TAKE, full, name="other quota", most=1)

    def outcome(action: Any, **given: object) -> type[PressroomError] | None:
        try:
            run(db.transact(action, **given))
        except PressroomError as error:
            return type(error)
        return None

    assert outcome(take_one) is None
    assert outcome(take_and_grow, refuse=True) is Conflict
    assert outcome(take_and_grow, refuse=False) is NotFound
    assert outcome(take_and_refuse) is Conflict


@pytest.mark.parametrize("db", ["postgres"], indirect=True)
def test_statements_that_travel_together_are_carried_out_in_their_order(db: Database, run: Run) -> None:
    """Locks are taken in this order, which keeps transactions from waiting in a circle."""
    order = "CREATE SEQUENCE places"
    tables = [
        f"CREATE TABLE t{n} (name TEXT PRIMARY KEY, place BIGINT NOT NULL DEFAULT nextval('places'))" for n in range(8)
    ]
    run(db.script("; ".join([order, *tables])))
    for shuffled in (range(8), reversed(range(8)), (3, 1, 7, 0, 5, 2, 6, 4)):
        numbers = list(shuffled)

        async def write(tx: Tx, numbers: list[int] = numbers) -> None:
            for each in numbers:
                await tx.later(_INSERTS[each], name="row")
            assert isinstance(tx, PostgresTx)
            before = tx.statements
            await tx.flush()
            assert tx.statements == before + 1, "not together"

        for _ in range(7):  # plans for any values come after some for the values given
            run(db.transact(write))
            places = [run(db.one(_PLACES[each])) for each in numbers]
            assert places == sorted(places)
            run(db.script("; ".join(f"TRUNCATE t{each}" for each in range(8))))


_INSERTS = [Command(f"INSERT INTO t{number} (name) VALUES (:name)") for number in range(8)]  # noqa: S608
_PLACES = [Query(int, f"SELECT place FROM t{number}") for number in range(8)]  # noqa: S608


@pytest.mark.parametrize("db", ["postgres"], indirect=True)
def test_a_part_that_waits_for_a_lock_goes_on_from_what_it_waited_for(db: Database, run: Run) -> None:
    """Counters behind a lock are exact, also when the statement began before the change."""

    async def count_both(tx: Tx, number: int) -> None:
        await tx.require(TAKE, full, name="quota", most=30)
        await tx.later(GROW, name="n", size=1)

    async def together() -> list[object]:
        await db.transact(_make)
        return await asyncio.gather(*(db.transact(count_both, n) for n in range(50)), return_exceptions=True)

    outcomes = run(together())
    assert sum(outcome is None for outcome in outcomes) == 30
    assert {type(outcome) for outcome in outcomes if outcome is not None} == {Conflict}
    assert (run(db.one(SIZE, name="n")), run(db.one(OTHER, name="quota"))) == (30, 30)


async def _make(tx: Tx) -> None:
    await tx.run(INSERT, name="n", size=0)


def test_what_may_travel_together() -> None:
    def together(*commands: Command) -> bool:
        batch = Batch()
        for command in commands:
            if not batch.takes(command):
                return False
            batch.add(command, [None] * len(command.names), None)
        return True

    assert together(INSERT, GROW_OTHER)
    assert together(COPY)
    assert not together(INSERT, GROW), "they write the same table"
    assert not together(INSERT, COPY), "one reads what the other writes"
    assert not together(LOG, COPY), "it reads, and the lock of the other may be for that"
    assert not together(SIZE), "it yields rows"


def test_numbers_are_shifted() -> None:
    assert shifted("a = $1 AND b = $12 AND c = '$1 it''s $2'", 3) == "a = $4 AND b = $15 AND c = '$1 it''s $2'"
