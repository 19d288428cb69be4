"""Clean-ups by several processes of one database: each is done by one at a time."""

import asyncio
import io

import pytest

from pressroom.clock import MINUTE, SettableClock
from pressroom.db import Database
from pressroom.jobs.sweeps import LEASE, Sweep, SweepGroup, claim, renew
from pressroom.logs import Log
from tests.harness.action_database import Run


@pytest.fixture
def log() -> Log:
    return Log(requests=False, stream=io.StringIO())


def groups(db: Database, log: Log, *sweeps: Sweep, count: int = 4) -> list[SweepGroup]:
    """The same group, in so many processes."""
    return [SweepGroup("database", 60, db, SettableClock(), log, sweeps) for _ in range(count)]


async def run_all(of: list[SweepGroup]) -> None:
    await asyncio.gather(*(group.run() for group in of))


def test_one_of_four_processes_sweeps(db: Database, run: Run, clock: SettableClock, log: Log) -> None:
    done: list[str] = []

    async def sweep() -> None:
        done.append("swept")
        await asyncio.sleep(0)

    of = groups(db, log, Sweep("one", sweep), Sweep("two", sweep))
    for minute in range(1, 4):
        run(run_all(of))
        run(run_all(of))
        assert len(done) == 2 * minute
        clock.advance(MINUTE)


def test_a_sweep_that_fails_does_not_keep_the_others(db: Database, run: Run, log: Log) -> None:
    done: list[str] = []

    async def fail() -> None:
        raise RuntimeError("no")

    async def sweep() -> None:
        done.append("swept")

    run(run_all(groups(db, log, Sweep("one", fail), Sweep("two", sweep))))

    assert done == ["swept"]


def test_another_process_finishes_the_work_of_a_killed_one(
    db: Database, run: Run, clock: SettableClock, log: Log
) -> None:
    done: list[str] = []

    async def sweep() -> None:
        done.append("swept")

    of = groups(db, log, Sweep("one", sweep))
    assert run(db.transact(claim, "database", "killed"))

    clock.advance(LEASE - 1)
    run(run_all(of))
    assert done == []
    clock.advance(1)
    run(run_all(of))
    assert done == ["swept"]
    assert not run(db.transact(renew, "database", "killed"))


def test_a_process_that_lost_its_lease_stops(db: Database, run: Run, clock: SettableClock, log: Log) -> None:
    done: list[str] = []

    async def freeze() -> None:
        clock.advance(LEASE)
        assert await db.transact(claim, "database", "another")

    async def sweep() -> None:
        done.append("swept")

    (group,) = groups(db, log, Sweep("one", freeze), Sweep("two", sweep), count=1)
    run(group.run())

    assert done == []
    assert run(db.transact(renew, "database", "another"))


def test_process_that_lost_its_lease_in_its_last_sweep_gives_none_back(
    db: Database, run: Run, clock: SettableClock, log: Log
) -> None:
    async def freeze() -> None:
        clock.advance(LEASE)
        assert await db.transact(claim, "database", "another")

    (group,) = groups(db, log, Sweep("one", freeze), count=1)
    run(group.run())
    clock.advance(2 * MINUTE)

    assert not run(db.transact(claim, "database", "a third"))


class Doubtful(SettableClock):
    """A clock that was set ahead when `doubts` of its looks are over."""

    def __init__(self, doubts: int) -> None:
        super().__init__()
        self.looks = doubts

    @property
    def is_settled(self) -> bool:
        self.looks -= 1
        return self.looks >= 0


@pytest.mark.parametrize(("looks", "swept"), [(0, []), (2, ["first"]), (3, ["first", "second"])])
def test_nothing_is_swept_by_a_clock_in_doubt(db: Database, run: Run, log: Log, looks: int, swept: list[str]) -> None:
    done: list[str] = []

    def sweep(name: str) -> Sweep:
        async def work() -> None:
            done.append(name)

        return Sweep(name, work)

    run(SweepGroup("database", 60, db, Doubtful(looks), log, [sweep("first"), sweep("second")]).run())

    assert done == swept
