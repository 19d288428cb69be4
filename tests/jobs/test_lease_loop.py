"""The loop under every worker with leases: its hard cases, over a worker whose database is a dictionary."""

import asyncio
import io
from collections.abc import Coroutine
from typing import Any

import pytest

from pressroom.clock import SECOND, SettableClock
from pressroom.db import goes_first
from pressroom.errors import Unavailable
from pressroom.jobs import lease_loop
from pressroom.jobs.lease_loop import LeaseLoop, Look, is_settled, pause_until
from pressroom.logs import Log

LEASE = 30 * SECOND


class Desk:
    """A worker that claims due work, works until the test lets it go, and saves results in its next look."""

    def __init__(self) -> None:
        self.stream = io.StringIO()
        self.log = Log(requests=False, stream=self.stream)
        self.clock = SettableClock(0)
        self.due: list[str] = []
        self.began: list[str] = []
        self.results: list[str] = []
        self.saved: list[str] = []
        self.renewed: list[tuple[list[str], int]] = []
        self.looks = 0
        self.away = False
        self.locked = False
        self.gates: dict[str, asyncio.Event] = {}
        self.committing = asyncio.Event()
        self.loop = LeaseLoop[str](
            "things",
            self.clock,
            self.log,
            asyncio.Event(),
            lease=LEASE,
            look=self.look,
            renew=self.renew,
            save=self.save,
        )

    async def look(self) -> Look:
        """Saves and claims in one transaction."""
        self.looks += 1
        await asyncio.sleep(0)
        await self.save()
        due, self.due = self.due, []
        for key in due:
            if not self.loop.is_under_way(key):
                self.loop.start(key, key, self.work(key), key)
        return Look(began=bool(due), unsaved=bool(self.results), pause=0.01 if self.results else None)

    async def save(self) -> bool:
        """Saves results, unless the database is away or locked."""
        if self.away:
            raise Unavailable("The database is away.")
        if not self.locked:
            self.saved += self.results
            self.results = []
        return bool(self.results)

    async def work(self, key: str) -> None:
        """Works until let go; its end is committed even when it is cut off amid that."""
        self.began.append(key)
        try:
            if key in self.gates:
                await self.gates[key].wait()
        finally:
            self.results.append(key)

    async def renew(self, held: list[str], token: str, until: int) -> None:
        """Prolongs leases."""
        assert token == self.loop.token
        if self.away:
            raise Unavailable("The database is away.")
        assert goes_first.get(), "behind requests that wait for a connection, leases would run out"
        self.renewed.append((sorted(held), until))

    def hold(self, key: str) -> asyncio.Event:
        """Has the work of a key wait for this."""
        self.gates[key] = asyncio.Event()
        return self.gates[key]

    def logged(self) -> str:
        """The entries of the log."""
        self.log.flush()
        return self.stream.getvalue()


def run(story: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(60):
            await story

    asyncio.run(bounded())


async def until(condition: Any) -> None:
    while not condition():
        await asyncio.sleep(0.001)


def test_due_items_are_done_and_saved() -> None:
    async def story() -> None:
        desk = Desk()
        desk.due = ["a", "b"]
        await desk.loop.settle()
        assert sorted(desk.saved) == ["a", "b"]

    run(story())


def test_settle_ends_only_after_a_look_that_began_nothing() -> None:
    """The work that ends last leaves something due, of which no look has known."""

    async def story() -> None:
        desk = Desk()
        gate, desk.due = desk.hold("a"), ["a"]
        settling = asyncio.create_task(desk.loop.settle())
        await until(lambda: desk.began == ["a"])
        desk.due = ["b"]
        gate.set()
        await settling
        assert desk.saved == ["a", "b"]

    run(story())


def test_work_that_ends_amid_a_look_is_looked_after() -> None:
    async def story() -> None:
        desk = Desk()
        desk.due = ["a"]
        real, ended = desk.look, asyncio.Event()

        async def slow() -> Look:
            found = await real()
            if desk.looks == 2:
                await ended.wait()  # the result of the look is outdated by now
            return found

        desk.loop._look = slow
        gate = desk.hold("a")
        settling = asyncio.create_task(desk.loop.settle())
        await until(lambda: desk.began == ["a"])
        desk.loop.wake.set()
        await until(lambda: desk.looks == 2)
        gate.set()
        await until(lambda: not desk.loop.items())
        desk.due = ["b"]
        ended.set()
        await settling
        assert desk.saved == ["a", "b"]

    run(story())


def test_settle_waits_for_a_database_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease_loop, "PAUSE_SECONDS", 0.001)

    async def story() -> None:
        desk = Desk()
        desk.due, desk.away = ["a"], True
        settling = asyncio.create_task(desk.loop.settle())
        await until(lambda: desk.looks > 3)
        assert not settling.done()
        desk.away = False
        await settling
        assert desk.saved == ["a"]
        assert "things wait for the database" in desk.logged()

    run(story())


def test_settle_waits_for_results_that_cannot_be_saved_yet() -> None:
    async def story() -> None:
        desk = Desk()
        desk.due, desk.locked = ["a"], True
        settling = asyncio.create_task(desk.loop.settle())
        await until(lambda: desk.results == ["a"] and desk.looks > 3)
        assert not settling.done()
        desk.locked = False
        await settling
        assert desk.saved == ["a"]

    run(story())


def test_a_signal_is_not_lost_while_a_look_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease_loop, "POLL_SECONDS", 3600.0)

    async def story() -> None:
        desk = Desk()
        real = desk.look

        async def look_then_signal() -> Look:
            found = await real()
            if desk.looks == 1:
                desk.due = ["a"]
                desk.loop.wake.set()
            return found

        desk.loop._look = look_then_signal
        running = asyncio.create_task(desk.loop.run())
        await until(lambda: "a" in desk.saved)
        desk.loop.stop(1)
        await running

    run(story())


def test_stop_waits_for_running_work_and_saves_it() -> None:
    async def story() -> None:
        desk = Desk()
        gate, desk.due = desk.hold("a"), ["a"]
        running = asyncio.create_task(desk.loop.run())
        await until(lambda: desk.began == ["a"])
        desk.loop.stop(30)
        desk.due = ["b"]
        desk.loop.wake.set()
        await asyncio.sleep(0.01)
        assert not running.done()
        gate.set()
        await running
        assert (desk.saved, desk.began) == (["a"], ["a"])

    run(story())


def test_stop_cuts_off_slow_work_and_saves_the_rest() -> None:
    async def story() -> None:
        desk = Desk()
        desk.hold("a")
        desk.due, desk.locked = ["a", "b"], True
        running = asyncio.create_task(desk.loop.run())
        await until(lambda: len(desk.began) == 2)
        desk.loop.stop(0)
        await until(lambda: sorted(desk.results) == ["a", "b"])
        assert not running.done()
        desk.locked = False
        await running
        assert sorted(desk.saved) == ["a", "b"]

    run(story())


def test_work_that_is_cut_off_while_committing_ends_its_commit() -> None:
    async def story() -> None:
        desk = Desk()
        committed, go_on = asyncio.Event(), asyncio.Event()

        async def commit() -> None:
            await go_on.wait()
            committed.set()

        async def work(key: str) -> None:
            desk.began.append(key)
            under_way = asyncio.ensure_future(commit())
            try:
                await asyncio.shield(under_way)
            except asyncio.CancelledError:
                await under_way  # as a transaction that gives the job back waits for the row's lock
                raise

        desk.work = work
        desk.due = ["a"]
        running = asyncio.create_task(desk.loop.run())
        await until(lambda: desk.began == ["a"])
        desk.loop.stop(0)
        await asyncio.sleep(0.01)
        assert not running.done(), "the loop waits for work that it has cut off"
        go_on.set()
        await running
        assert committed.is_set()

    run(story())


def test_results_that_cannot_be_saved_at_the_stop_are_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease_loop, "PAUSE_SECONDS", 0.001)

    async def story() -> None:
        desk = Desk()
        gate, desk.due = desk.hold("a"), ["a"]
        running = asyncio.create_task(desk.loop.run())
        await until(lambda: desk.began == ["a"])
        desk.away = True
        desk.loop.stop(5)
        gate.set()
        await running
        assert "things not saved at the stop" in desk.logged()

    run(story())


def test_leases_of_running_work_are_renewed_again_after_a_failed_renewal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lease_loop, "RENEWALS", 10_000)

    async def story() -> None:
        desk = Desk()
        gate, desk.due = desk.hold("a"), ["a"]
        running = asyncio.create_task(desk.loop.run())
        await until(lambda: desk.renewed)
        assert desk.renewed[0] == (["a"], LEASE)
        desk.away = True
        await until(lambda: "leases not renewed" in desk.logged())
        desk.away = False
        desk.clock.advance(7)
        await until(lambda: desk.renewed[-1] == (["a"], LEASE + 7))
        gate.set()
        await until(lambda: not desk.loop.items())
        desk.loop.stop(1)
        await running

    run(story())


def test_item_leased_again_is_not_begun_twice() -> None:
    async def story() -> None:
        desk = Desk()
        gate, desk.due = desk.hold("a"), ["a"]
        running = asyncio.create_task(desk.loop.run())
        await until(lambda: desk.began == ["a"])
        desk.due = ["a"]
        desk.loop.wake.set()
        await until(lambda: not desk.due)
        gate.set()
        await until(lambda: desk.saved == ["a"])
        desk.loop.stop(1)
        await running
        assert desk.began == ["a"]

    run(story())


def test_work_that_breaks_is_logged_and_keeps_nothing_from_ending() -> None:
    async def story() -> None:
        desk = Desk()

        async def broken(key: str) -> None:
            raise ValueError(f"no {key}")

        desk.work = broken
        desk.due = ["a"]
        await desk.loop.settle()
        assert "work on things broke" in desk.logged()

    run(story())


@pytest.mark.parametrize(
    ("found", "was_idle", "is_idle", "settled"),
    [
        (Look(began=False), True, True, True),
        (Look(began=True), True, True, False),
        (Look(began=False, unsaved=True), True, True, False),
        (Look(began=False), False, True, False),
        (Look(began=False), True, False, False),
    ],
)
def test_when_nothing_is_left_to_do(found: Look, was_idle: bool, is_idle: bool, settled: bool) -> None:
    assert is_settled(found, was_idle=was_idle, is_idle=is_idle) == settled


def test_the_pause_until_something_is_due() -> None:
    assert [pause_until(at, 5_000) for at in (None, 4_000, 5_000, 5_250, 90_000)] == [None, 0.0, 0.0, 0.25, 1.0]
