"""The guarantees of a transaction, on both engines."""

import asyncio
import gc
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from pressroom.clock import SettableClock
from pressroom.db import (
    AwaitedOutsideTransaction,
    Command,
    ConstraintViolated,
    Database,
    DatabaseAway,
    DiskFull,
    Query,
    Tx,
)
from pressroom.db.postgres.database import open_postgres
from pressroom.db.sqlite.database import open_sqlite
from pressroom.errors import Conflict
from pressroom.turns import Turn, Turns
from tests.harness.unsynced import with_fsync
from tests.services.postgres import PostgresServer

Run = Callable[[Any], Any]

INSERT = Command("INSERT INTO things (name, size) VALUES (:name, :size)")
COUNT = Query(int, "SELECT count(*) FROM things")
SIZE = Query(int, "SELECT size FROM things WHERE name = :name")
ADD = Command("UPDATE things SET size = size + 1 WHERE name = :name")


async def insert(tx: Tx, name: str, size: int = 1) -> None:
    await tx.run(INSERT, name=name, size=size)


async def insert_and_refuse(tx: Tx, name: str) -> None:
    await insert(tx, name)
    raise Conflict("No.")


async def insert_and_dawdle(tx: Tx, name: str) -> None:
    await insert(tx, name)
    await asyncio.sleep(0.01)


def test_writes_of_an_action_are_visible_after_it(db: Database, run: Run) -> None:
    run(db.transact(insert, "one"))
    assert run(db.one(COUNT)) == 1


def test_a_refused_action_leaves_nothing_and_spares_its_neighbours(db: Database, run: Run) -> None:
    async def together() -> list[object]:
        actions = [db.transact(insert, "a"), db.transact(insert_and_refuse, "b"), db.transact(insert, "c")]
        return await asyncio.gather(*actions, return_exceptions=True)

    outcomes = run(together())

    assert [type(outcome) for outcome in outcomes] == [type(None), Conflict, type(None)]
    assert run(db.one(COUNT)) == 2
    assert run(db.one(SIZE, name="b")) is None


def test_refusals_among_many_actions_undo_nothing_but_their_own(db: Database, run: Run) -> None:
    async def together() -> list[object]:
        names = [f"thing {number}" for number in range(300)]
        return await asyncio.gather(
            *(db.transact(insert if place % 7 else insert_and_refuse, name) for place, name in enumerate(names)),
            return_exceptions=True,
        )

    outcomes = run(together())
    assert [isinstance(outcome, Conflict) for outcome in outcomes] == [place % 7 == 0 for place in range(300)]
    assert run(db.one(COUNT)) == sum(place % 7 != 0 for place in range(300))


@pytest.mark.parametrize("db", ["sqlite"], indirect=True)
def test_writes_of_waiting_clients_are_run_in_turn(db: Database, run: Run) -> None:
    served: list[str] = []

    async def write(tx: Tx, client: str) -> None:
        served.append(client)
        await insert(tx, f"{client} {len(served)}")

    async def request(client: str) -> None:
        await Turns().run(Turn(line=client), db.transact(write, client))

    async def together() -> None:
        await asyncio.gather(*(request(client) for client in ("crowd", "crowd", "crowd", "other")))

    run(together())
    assert served == ["crowd", "other", "crowd", "crowd"]
    assert run(db.one(COUNT)) == 4


def test_an_action_that_awaits_something_foreign_fails_loudly(db: Database, run: Run) -> None:
    with pytest.raises(AwaitedOutsideTransaction):
        run(db.transact(insert_and_dawdle, "slow"))
    assert run(db.one(COUNT)) == 0


def test_read_in_a_thread_leaves_the_event_loop_free_on_sqlite(tmp_path: Path, run: Run) -> None:
    database = open_sqlite(tmp_path / "test.db", SettableClock())
    is_free = threading.Event()

    async def read(tx: Tx) -> bool:
        return is_free.wait(60)

    async def beside() -> bool:
        reading = asyncio.create_task(database.read_in_thread(read))
        await asyncio.sleep(0)
        is_free.set()
        return await reading

    try:
        assert run(beside())
    finally:
        run(database.close())


def test_reads_in_a_thread_of_waiting_clients_are_run_in_turn(tmp_path: Path, run: Run) -> None:
    database = open_sqlite(tmp_path / "test.db", SettableClock())
    all_wait = threading.Event()
    served: list[str] = []

    async def read(tx: Tx, client: str) -> None:
        assert all_wait.wait(60)
        served.append(client)

    async def together() -> None:
        clients = ("crowd", "crowd", "crowd", "other")
        requests = [Turns().run(Turn(line=client), database.read_in_thread(read, client)) for client in clients]
        reading = asyncio.gather(*requests)
        while database.waiting_reads < len(clients) - 1:
            await asyncio.sleep(0)
        all_wait.set()
        await reading

    try:
        run(together())
        assert served == ["crowd", "crowd", "other", "crowd"], "the lines take turns"
    finally:
        run(database.close())


def test_violated_constraint_has_its_own_error(db: Database, run: Run) -> None:
    run(db.transact(insert, "one"))
    with pytest.raises(ConstraintViolated):
        run(db.transact(insert, "one"))


def test_a_client_that_goes_away_does_not_undo_its_write(db: Database, run: Run) -> None:
    async def begin_and_leave() -> None:
        task = asyncio.ensure_future(db.transact(insert, "kept"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(60):
            while await db.one(SIZE, name="kept") is None:  # a database sets no event
                await asyncio.sleep(0.001)

    run(begin_and_leave())


def test_a_refusal_that_nobody_waits_for_is_no_error_of_the_event_loop(db: Database, run: Run) -> None:
    refused: list[str] = []
    told: list[object] = []

    async def refuse(tx: Tx) -> None:
        await tx.one(SIZE, name="refused")
        refused.append("refused")
        raise Conflict("Not this.")

    async def begin_and_leave() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
        task = asyncio.ensure_future(db.transact(refuse))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(30):
            while not refused:
                await asyncio.sleep(0.001)
            await db.transact(insert, "afterwards")  # by then the other has ended
        gc.collect()

    try:
        run(begin_and_leave())
    finally:
        run(_without_handler())
    assert told == []


async def _without_handler() -> None:
    asyncio.get_running_loop().set_exception_handler(None)


def test_increments_at_once_are_all_counted(db: Database, run: Run) -> None:
    async def increment(tx: Tx) -> None:
        await tx.run(ADD, name="n")

    async def together() -> None:
        await db.transact(insert, "n", 0)
        await asyncio.gather(*(db.transact(increment) for _ in range(200)))

    run(together())
    assert run(db.one(SIZE, name="n")) == 200


@pytest.mark.parametrize("db", ["postgres"], indirect=True)
def test_a_deadlock_is_run_again(db: Database, run: Run) -> None:
    # SQLite has one writer: there, two transactions cannot wait for each other.
    started: list[str] = []

    async def grow_both(tx: Tx, first: str, second: str) -> None:
        await tx.run(ADD, name=first)
        started.append(first)
        # Both hold their first row once each has begun: from here on they wait for each other.
        while len(started) < 2:
            await tx.one(COUNT)
        await tx.run(ADD, name=second)

    async def together() -> None:
        await db.transact(insert, "a", 0)
        await db.transact(insert, "b", 0)
        await asyncio.gather(db.transact(grow_both, "a", "b"), db.transact(grow_both, "b", "a"))

    run(together())
    assert len(started) > 2
    assert (run(db.one(SIZE, name="a")), run(db.one(SIZE, name="b"))) == (2, 2)


def test_a_full_disk_is_a_503_and_nothing_is_half_written(tmp_path: Path, run: Run) -> None:
    db = open_sqlite(tmp_path / "full.db", SettableClock())
    run(db.script("CREATE TABLE things (name TEXT PRIMARY KEY, size BIGINT NOT NULL)"))
    run(db.transact(insert, "before"))
    pages = db._writer.execute("PRAGMA page_count").fetchone()
    assert pages is not None
    db._writer.execute(f"PRAGMA max_page_count = {pages[0]}")

    async def insert_much(tx: Tx, letter: str) -> None:
        for number in range(400):
            await insert(tx, f"{letter}{number}" * 20)

    async def together() -> list[object]:
        return await asyncio.gather(*(db.transact(insert_much, letter) for letter in "abc"), return_exceptions=True)

    assert {type(outcome) for outcome in run(together())} == {DiskFull}
    assert run(db.one(COUNT)) == 1
    db._writer.execute("PRAGMA max_page_count = 1000000")
    run(db.transact(insert, "after"))
    assert run(db.one(COUNT)) == 2
    run(db.close())


def test_another_process_that_writes_is_waited_for(tmp_path: Path, run: Run) -> None:
    db = open_sqlite(tmp_path / "shared.db", SettableClock())
    run(db.script("CREATE TABLE things (name TEXT PRIMARY KEY, size BIGINT NOT NULL)"))
    other = apsw.Connection(str(tmp_path / "shared.db"))
    other.execute("BEGIN IMMEDIATE")

    async def write_meanwhile() -> None:
        waiting = asyncio.ensure_future(db.transact(insert, "patient"))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        other.execute("COMMIT")
        await waiting

    run(write_meanwhile())
    assert run(db.one(COUNT)) == 1
    run(db.close())


def test_a_database_that_goes_away_is_a_503_and_comes_back(tmp_path: Path, run: Run) -> None:
    with PostgresServer.start(tmp_path / "own") as server:
        db = run(open_postgres(server.create_database("away"), SettableClock()))
        run(db.script("CREATE TABLE things (name TEXT PRIMARY KEY, size BIGINT NOT NULL)"))
        server.kill()
        with pytest.raises(DatabaseAway):
            run(db.transact(insert, "lost"))
        with pytest.raises(DatabaseAway):
            run(db.one(COUNT))
        server.restart()
        run(db.transact(insert, "back"))
        assert run(db.one(COUNT)) == 1
        run(db.close())


def test_row_that_refers_to_none_is_refused(db: Database, run: Run) -> None:
    run(db.script("CREATE TABLE parts (name TEXT PRIMARY KEY, thing TEXT NOT NULL REFERENCES things (name))"))

    async def insert_part(tx: Tx) -> None:
        await tx.run(Command("INSERT INTO parts (name, thing) VALUES ('part', 'nothing')"))

    with pytest.raises(ConstraintViolated):
        run(db.transact(insert_part))


class FailingSyncs(apsw.VFS):
    """SQLite's own files, on a disk that syncs nothing while `fails` is set."""

    def __init__(self) -> None:
        self.fails = False
        super().__init__("failing syncs", "unix", makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> "FailingFile":  # noqa: N802  # SQLite's name
        return FailingFile(self, name, flags)


class FailingFile(apsw.VFSFile):
    def __init__(self, disk: FailingSyncs, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self._disk = disk

    def xSync(self, flags: int) -> None:  # noqa: N802  # SQLite's name
        if self._disk.fails:
            raise apsw.IOError("The disk is away.")
        super().xSync(flags)


def test_failed_commit_fails_its_whole_group_and_is_undone(tmp_path: Path, run: Run) -> None:
    disk = FailingSyncs()
    try:
        with with_fsync():
            db = open_sqlite(tmp_path / "failing.db", SettableClock())
    finally:
        disk.unregister()
    run(db.script("CREATE TABLE things (name TEXT PRIMARY KEY, size BIGINT NOT NULL)"))

    async def together() -> list[object]:
        return await asyncio.gather(*(db.transact(insert, name) for name in "abc"), return_exceptions=True)

    disk.fails = True
    assert {type(outcome) for outcome in run(together())} == {DatabaseAway}
    disk.fails = False
    assert run(together()) == [None, None, None]
    assert run(db.one(COUNT)) == 3
    run(db.close())
