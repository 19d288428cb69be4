"""Statements whose rows nobody needs: to the action it is as if each had been run where it stands, on both engines."""

import asyncio
from collections.abc import Callable
from typing import Any

import asyncpg
import msgspec
import pytest

from pressroom.db import Command, ConstraintViolated, Database, Query, Tx
from pressroom.db.postgres.tx import PostgresTx
from pressroom.errors import Conflict, NotFound, PressroomError

Run = Callable[[Any], Any]


class Kinds(msgspec.Struct):
    """A row with a value of each type."""

    t: str | None
    i: int | None
    b: bool | None
    d: float | None


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


def test_later_statement_is_visible_to_following_ones(db: Database, run: Run) -> None:
    async def write(tx: Tx) -> None:
        await tx.later(INSERT, name="a", size=1)
        assert await tx.one(SIZE, name="a") == 1
        await tx.later(GROW, name="a", size=4)
        assert await tx.run(GROW, name="a", size=5) == 1
        await tx.later(GROW, name="a", size=10)
        await tx.later(GROW, name="a", size=20)  # the same row twice
        await tx.later(COPY, least=39)  # reads the row of the statement before
        await tx.later(GROW_OTHER, name="a", size=2)
        await tx.run_each(GROW, [{"name": "a", "size": 60}])

    run(db.transact(write))
    assert (run(db.one(SIZE, name="a")), run(db.one(OTHER, name="a"))) == (100, 80)


def test_statement_run_for_no_rows_leaves_earlier_statements_unchanged(db: Database, run: Run) -> None:
    async def write(tx: Tx, name: str, rows: list[dict[str, Any]]) -> None:
        await tx.later(INSERT, name=name, size=1)
        await tx.run_each(GROW, rows)

    async def refuse(tx: Tx) -> None:
        await tx.require(GROW, absent, name="nothing", size=1)
        await tx.run_each(GROW, [])

    run(db.transact(write, "a", [{"name": "a", "size": 1}]))  # from here on it is prepared
    run(db.transact(write, "b", []))
    with pytest.raises(NotFound):
        run(db.transact(refuse))
    assert run(db.one(COUNT)) == 2


def test_only_waiting_statements_are_revised(db: Database, run: Run) -> None:
    async def write(tx: Tx, name: str, *, ask: bool) -> bool:
        await tx.require(INSERT, absent, name=name, size=1)
        await tx.later(INSERT_OTHER, name=name, size=1)
        if ask:
            assert await tx.one(SIZE, name=name) == 1
        revised = await tx.revise(INSERT, name=name, size=5)
        assert await tx.one(SIZE, name=name) == (5 if revised else 1)
        assert not await tx.revise(INSERT, name=name, size=9)
        return revised

    assert run(db.transact(write, "a", ask=True)) is False
    assert run(db.transact(write, "b", ask=False)) is (db.engine == "postgres")
    sizes = [run(db.one(query, name=name)) for name in "ab" for query in (SIZE, OTHER)]
    assert sizes == [1, 1, 5 if db.engine == "postgres" else 1, 1]


def test_subscribers_commit_with_the_action_or_not_at_all(db: Database, run: Run) -> None:
    async def grow(tx: Tx, event: object) -> None:
        await tx.require(GROW, absent, name=str(event), size=2)

    async def write(tx: Tx, name: str, event: str) -> str:
        await tx.later(INSERT, name=name, size=1)
        await tx.at_end(grow, event)
        await tx.later(INSERT_OTHER, name=name, size=7)
        return name

    assert run(db.transact(write, "a", "a")) == "a"
    assert (run(db.one(SIZE, name="a")), run(db.one(OTHER, name="a"))) == (3, 7)
    with pytest.raises(NotFound):
        run(db.transact(write, "b", "nothing"))
    assert (run(db.one(COUNT)), run(db.one(OTHER, name="b"))) == (1, None)


@pytest.mark.parametrize("db", ["postgres"], indirect=True)
def test_subscribers_run_after_the_action(db: Database, run: Run) -> None:
    order: list[str] = []

    async def note(_: Tx, event: object) -> None:
        order.append(str(event))

    async def write(tx: Tx) -> None:
        await tx.at_end(note, "first")
        await tx.at_end(note, "second")
        order.append("action")

    run(db.transact(write))
    assert order == ["action", "first", "second"]


def test_nothing_of_a_refused_transaction_stays(db: Database, run: Run) -> None:
    async def write(tx: Tx) -> None:
        await tx.later(INSERT, name="a", size=1)
        await tx.later(INSERT_OTHER, name="a", size=1)
        raise Conflict("No.")

    with pytest.raises(Conflict):
        run(db.transact(write))
    assert (run(db.one(COUNT)), run(db.one(OTHER, name="a"))) == (0, None)


def test_constraint_refuses_a_later_statement(db: Database, run: Run) -> None:
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


def test_first_refusal_is_reported(db: Database, run: Run) -> None:
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
def test_statement_after_a_lock_wait_sees_the_committed_row(db: Database, run: Run) -> None:
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


@pytest.mark.parametrize("db", ["postgres"], indirect=True)
def test_more_statements_than_the_driver_keeps_prepared(db: Database, run: Run) -> None:
    """asyncpg closes some before it sends the next one, in a round trip of its own, behind what went ahead."""

    async def write(tx: Tx) -> None:
        for number in range(150):
            name = f"n{number}"
            await tx.later(INSERT, name=name, size=number)
            grow = Command(f"UPDATE things SET size = size + {number} WHERE name = :name")  # noqa: S608
            assert await tx.run(grow, name=name) == 1
            await tx.require(TAKE, full, name=name, most=number)
            size = Query(int, f"SELECT size + {number} FROM things WHERE name = :name")  # noqa: S608
            assert await tx.one(size, name=name) == 3 * number

    run(db.transact(write))
    assert run(db.one(COUNT)) == 150


@pytest.mark.parametrize("db", ["postgres"], indirect=True)
def test_values_arrive_as_they_were_sent(db: Database, run: Run) -> None:
    run(db.script("CREATE TABLE kinds (t TEXT, i BIGINT, b BOOLEAN, d DOUBLE PRECISION)"))
    insert = Command("INSERT INTO kinds (t, i, b, d) VALUES (:t, :i, :b, :d)")
    rows = [
        ("", 0, False, 0.0),
        ("é\n\\' \U0001f30a", 2**63 - 1, True, 0.1),
        ("\\N", -(2**63), None, -1e300),
        (None, None, False, None),
    ]

    async def write(tx: Tx) -> None:
        for t, i, b, d in rows:
            await tx.later(insert, t=t, i=i, b=b, d=d)

    async def read(tx: Tx) -> list[tuple[object, ...]]:
        return [(row.t, row.i, row.b, row.d) for row in await tx.all(Query(Kinds, "SELECT t, i, b, d FROM kinds"))]

    run(db.transact(write))
    assert run(db.read(read)) == rows


@pytest.mark.parametrize("db", ["postgres"], indirect=True)
def test_a_statement_that_cannot_be_sent_leaves_nothing_open(db: Database, run: Run) -> None:
    """What went ahead of it began a transaction, which nothing would end."""

    async def write(tx: Tx, size: Any) -> None:
        await tx.later(INSERT, name="a", size=1)
        await tx.run(GROW, name="a", size=size)

    for _ in range(2):  # before the statement is prepared, and after
        with pytest.raises(asyncpg.DataError):
            run(db.transact(write, "no number"))
        run(db.transact(write, 1))
        assert run(db.one(SIZE, name="a")) == 2
        run(db.script("TRUNCATE things"))


@pytest.mark.parametrize("db", ["postgres"], indirect=True)
def test_refusal_comes_before_a_later_failure(db: Database, run: Run) -> None:
    async def write(tx: Tx) -> None:
        await tx.require(TAKE, full, name="quota", most=1)
        await tx.later(INSERT, name="a", size=1)

    run(db.transact(write))
    with pytest.raises(Conflict):
        run(db.transact(write))


@pytest.mark.parametrize("db", ["postgres"], indirect=True)
def test_statements_are_prepared_anew_after_a_migration(db: Database, run: Run) -> None:
    async def write(tx: Tx) -> None:
        await tx.require(TAKE, full, name="quota", most=9)

    for _ in range(6):
        run(db.transact(write))
    run(db.script("ALTER TABLE others ALTER COLUMN size TYPE NUMERIC"))
    run(db.transact(write))
    assert run(db.one(Query(int, "SELECT CAST(size AS BIGINT) FROM others"))) == 7
