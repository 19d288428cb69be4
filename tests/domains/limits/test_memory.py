"""The limiter of one process: its saves, its loads, and its refusals when it may no longer count."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressroom.clock import DAY, HOUR, MINUTE, SECOND, SettableClock
from pressroom.db import Database, DatabaseAway, DiskFull, Query, Tx, goes_first
from pressroom.db.migrate import migrate
from pressroom.db.sqlite.database import open_sqlite
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.keys.actions import create_key
from pressroom.domains.keys.models import NewKey, Scope
from pressroom.domains.limits.memory import FORGIVEN_SECONDS, IDLE, MemoryLimiter, Superseded, find_holder
from pressroom.domains.limits.models import KeyWrite, Rates
from pressroom.domains.limits.reserve import SIZE, Reserve
from pressroom.domains.limits.windows import StoredWindows, merged, moved, with_writes
from pressroom.errors import Unavailable

RATES = Rates(per_minute=5)

ONE_WRITE = Query(KeyWrite, "SELECT :since + 1 AS at, FALSE AS is_post FROM api_keys WHERE id = :key_id")
"""Finds one write of the key after its last save."""


async def make_key(tx: Tx) -> str:
    """A key to count for; its id."""
    account = await create_account(tx, NewAccount("alice", "alice@example.org", "no hash"))
    return (await create_key(tx, account.id, NewKey("key", list(Scope))))[0].id


def with_key(tmp_path: Path, story: Callable[[Database, SettableClock, str], Awaitable[None]]) -> None:
    """Tells a story about a key on a database of its own."""

    async def run() -> None:
        clock = SettableClock()
        db = open_sqlite(tmp_path / "test.db", clock)
        await migrate(db)
        await story(db, clock, await db.transact(make_key))
        await db.close()

    asyncio.run(run())


async def admitted(limiter: MemoryLimiter, key_id: str, times: int) -> int:
    """How many of so many attempts are admitted."""
    verdicts = [await limiter.attempt(key_id, is_post=False) for _ in range(times)]
    return sum(verdict.refused_by is None for verdict in verdicts)


def test_saved_counts_reach_the_next_process(tmp_path: Path) -> None:
    async def story(db: Database, clock: SettableClock, key_id: str) -> None:
        first, second = MemoryLimiter(RATES, db, clock), MemoryLimiter(RATES, db, clock)
        assert await admitted(first, key_id, 3) == 3
        await first.close()
        assert await admitted(second, key_id, 9) == 2

    with_key(tmp_path, story)


def test_writes_since_the_last_save_count_after_a_kill(tmp_path: Path) -> None:
    async def story(db: Database, clock: SettableClock, key_id: str) -> None:
        killed, successor = (MemoryLimiter(RATES, db, clock, [ONE_WRITE]) for _ in range(2))
        await killed.take_over("killed")
        assert await admitted(killed, key_id, 2) == 2
        await killed.flush()
        clock.advance(SECOND)
        await successor.take_over("successor")
        assert await admitted(successor, key_id, 9) == RATES.per_minute - 3

    with_key(tmp_path, story)


def test_requests_that_load_a_key_at_once_are_counted_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(db: Database, clock: SettableClock, key_id: str) -> None:
        limiter, real = MemoryLimiter(RATES, db, clock), db.one

        async def one(*given: Any, **values: Any) -> Any:
            await asyncio.sleep(0)  # as on PostgreSQL, where others read the same row meanwhile
            return await real(*given, **values)

        monkeypatch.setattr(db, "one", one)
        verdicts = await asyncio.gather(*(limiter.attempt(key_id, is_post=False) for _ in range(9)))
        assert sum(verdict.refused_by is None for verdict in verdicts) == RATES.per_minute

    with_key(tmp_path, story)


def test_counts_are_saved_before_requests_that_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind them they are late, and then every request is refused, those that wait and all that come."""

    async def story(db: Database, clock: SettableClock, key_id: str) -> None:
        limiter, first, real = MemoryLimiter(RATES, db, clock), list[bool](), db.transact

        async def transact(*given: Any) -> Any:
            first.append(goes_first.get())
            return await real(*given)

        monkeypatch.setattr(db, "transact", transact)
        assert await admitted(limiter, key_id, 1) == 1
        await limiter.flush()
        await db.transact(find_holder)
        assert first == [True, False]

    with_key(tmp_path, story)


def test_a_key_that_went_quiet_is_loaded_again(tmp_path: Path) -> None:
    async def story(db: Database, clock: SettableClock, key_id: str) -> None:
        limiter = MemoryLimiter(Rates(per_day=5), db, clock)
        assert await admitted(limiter, key_id, 4) == 4
        await limiter.flush()
        clock.advance(IDLE + 1)
        await limiter.flush()
        assert not limiter._windows
        assert await admitted(limiter, key_id, 9) == 1

    with_key(tmp_path, story)


def test_nothing_is_admitted_or_written_while_suspended(tmp_path: Path) -> None:
    async def story(db: Database, clock: SettableClock, key_id: str) -> None:
        suspended, owner = MemoryLimiter(RATES, db, clock), MemoryLimiter(RATES, db, clock)
        assert await admitted(suspended, key_id, 1) == 1
        await suspended.flush()
        suspended.suspend()
        with pytest.raises(Unavailable):
            await suspended.attempt(key_id, is_post=False)
        assert await admitted(owner, key_id, 3) == 3
        await owner.flush()
        await suspended.close()
        assert await admitted(MemoryLimiter(RATES, db, clock), key_id, 9) == 1

    with_key(tmp_path, story)


def test_counts_of_both_processes_hold_after_a_resume(tmp_path: Path) -> None:
    async def story(db: Database, clock: SettableClock, key_id: str) -> None:
        limiter, owner = MemoryLimiter(RATES, db, clock), MemoryLimiter(RATES, db, clock)
        assert await admitted(limiter, key_id, 2) == 2
        limiter.suspend()
        clock.advance(10)
        assert await admitted(owner, key_id, 2) == 2
        await owner.close()
        await limiter.take_over("limiter")
        assert await admitted(limiter, key_id, 9) == 1

    with_key(tmp_path, story)


def test_clock_set_back_between_processes_refuses_for_at_most_a_minute(tmp_path: Path) -> None:
    async def story(db: Database, clock: SettableClock, key_id: str) -> None:
        limiter = MemoryLimiter(RATES, db, clock)
        assert await admitted(limiter, key_id, 5) == 5
        await limiter.close()
        clock.advance(-HOUR)
        limiter = MemoryLimiter(RATES, db, clock)
        assert await admitted(limiter, key_id, 1) == 0
        clock.advance(MINUTE)
        assert await admitted(limiter, key_id, 1) == 1

    with_key(tmp_path, story)


def test_two_accounts_of_one_key_are_merged() -> None:
    one = StoredWindows([1, 2, 2], [2], [(0, 3), (5, 1)], [])
    other = StoredWindows([2, 3], [], [(0, 1), (DAY, 2)], [9])
    both = StoredWindows([1, 2, 2, 3], [2], [(0, 3), (5, 1), (DAY, 2)], [9])
    assert merged(one, other) == merged(other, one) == both


def test_a_process_that_was_superseded_saves_nothing_more(tmp_path: Path) -> None:
    async def story(db: Database, clock: SettableClock, key_id: str) -> None:
        before, after = MemoryLimiter(RATES, db, clock), MemoryLimiter(RATES, db, clock)
        await before.take_over("before")
        assert await admitted(before, key_id, 1) == 1
        await after.take_over("after")
        assert await admitted(after, key_id, 4) == 4
        await after.flush()
        with pytest.raises(Superseded):
            await before.flush()
        await after.close()
        assert await admitted(MemoryLimiter(RATES, db, clock), key_id, 9) == 1

    with_key(tmp_path, story)


def test_counts_hold_after_a_version_without_a_stop_mark(tmp_path: Path) -> None:
    async def story(db: Database, clock: SettableClock, key_id: str) -> None:
        before = MemoryLimiter(RATES, db, clock)
        assert await admitted(before, key_id, 1) == 1
        await before.flush()
        clock.advance(1)
        text = f"SELECT {clock.now()} AS at, FALSE AS is_post WHERE :key_id <> '' AND :since < {clock.now()}"
        writes = Query(KeyWrite, text)
        clock.advance(1)
        after = MemoryLimiter(RATES, db, clock, [writes])
        await after.take_over("after")
        assert await admitted(after, key_id, 9) == 3

    with_key(tmp_path, story)


def test_nothing_is_admitted_while_the_process_may_not(tmp_path: Path) -> None:
    async def story(db: Database, clock: SettableClock, key_id: str) -> None:
        limiter, allowed = MemoryLimiter(RATES, db, clock), [True]
        await limiter.take_over("limiter", lambda: allowed[0])
        assert await admitted(limiter, key_id, 1) == 1
        allowed[0] = False
        with pytest.raises(Unavailable):
            await limiter.attempt(key_id, is_post=False)
        with pytest.raises(Unavailable):
            await limiter.ping()
        allowed[0] = True
        assert await admitted(limiter, key_id, 9) == 4

    with_key(tmp_path, story)


def test_unsaved_counting_older_than_a_second_admits_nothing_more(tmp_path: Path) -> None:
    async def story(db: Database, clock: SettableClock, key_id: str) -> None:
        seconds, full = [0.0], Full(db)
        limiter = MemoryLimiter(RATES, full.as_database(), clock, monotonic=lambda: seconds[0])
        assert await admitted(limiter, key_id, 1) == 1
        full.is_full = True
        with pytest.raises(DiskFull):
            await limiter.flush()
        assert await admitted(limiter, key_id, 1) == 1, "a kill may forget this"
        seconds[0] += FORGIVEN_SECONDS + 0.1
        with pytest.raises(Unavailable):
            await limiter.attempt(key_id, is_post=False)
        with pytest.raises(Unavailable):
            await limiter.ping()
        full.is_full = False
        await limiter.flush()
        assert await admitted(limiter, key_id, 9) == 3

    with_key(tmp_path, story)


def test_unsaved_counts_reach_the_next_process(tmp_path: Path) -> None:
    """Once it is saved, it is not counted again."""

    async def story(db: Database, clock: SettableClock, key_id: str) -> None:
        full, reserve = Full(db), Reserve(tmp_path / "reserve")
        killed = MemoryLimiter(RATES, full.as_database(), clock, reserve=reserve)
        await killed.take_over("killed")
        assert await admitted(killed, key_id, 2) == 2
        await killed.flush()
        full.is_full = True
        assert await admitted(killed, key_id, 1) == 1
        with pytest.raises(DiskFull):
            await killed.flush()
        assert await admitted(killed, key_id, 1) == 1
        with pytest.raises(DiskFull):
            await killed.close()

        clock.advance(20_000)
        after = MemoryLimiter(RATES, db, clock, reserve=Reserve(tmp_path / "reserve"))
        await after.take_over("after")
        assert await admitted(after, key_id, 9) == 1
        assert Reserve(tmp_path / "reserve").load() == {}

    with_key(tmp_path, story)


def test_reserve_leaves_saved_minutes_of_the_day_counted(tmp_path: Path) -> None:
    async def story(db: Database, clock: SettableClock, key_id: str) -> None:
        full, rates = Full(db), Rates(per_day=4)
        killed = MemoryLimiter(rates, full.as_database(), clock, reserve=Reserve(tmp_path / "reserve"))
        await killed.take_over("killed")
        for _ in range(3):
            assert await admitted(killed, key_id, 1) == 1
            clock.advance(MINUTE)
        await killed.flush()
        full.is_full = True
        assert await admitted(killed, key_id, 1) == 1
        with pytest.raises(DiskFull):
            await killed.flush()

        after = MemoryLimiter(rates, db, clock, reserve=Reserve(tmp_path / "reserve"))
        await after.take_over("after")
        assert await admitted(after, key_id, 1) == 0

    with_key(tmp_path, story)


def test_a_save_that_succeeds_empties_the_reserve(tmp_path: Path) -> None:
    async def story(db: Database, clock: SettableClock, key_id: str) -> None:
        full, reserve = Full(db), Reserve(tmp_path / "reserve")
        limiter = MemoryLimiter(RATES, full.as_database(), clock, reserve=reserve)
        assert await admitted(limiter, key_id, 1) == 1
        full.is_full = True
        with pytest.raises(DiskFull):
            await limiter.flush()
        assert reserve.load().keys() == {key_id}
        full.is_full = False
        await limiter.flush()
        assert reserve.load() == {}

    with_key(tmp_path, story)


def test_a_reserve_that_is_torn_or_cannot_be_had_keeps_nothing(tmp_path: Path) -> None:
    torn, away = Reserve(tmp_path / "reserve"), Reserve(tmp_path / "nowhere" / "reserve")
    windows = {"key": StoredWindows([1], [], [(0, 1)], [], 1)}
    for reserve in (torn, away):
        reserve.allocate()
        asyncio.run(reserve.keep(windows))
    assert (tmp_path / "reserve").stat().st_size == SIZE
    assert torn.load() == windows
    with (tmp_path / "reserve").open("r+b") as file:
        file.seek(12)
        file.write(b"?")
    assert torn.load() == away.load() == {}


class Drifting(SettableClock):
    """A clock that was set after the windows began: `ahead` milliseconds."""

    ahead = 0

    def now(self) -> int:
        return self.time + self.ahead


@pytest.mark.parametrize("ahead", [-HOUR, -MINUTE, 999, HOUR, 30 * HOUR])
def test_set_clock_changes_reported_times_and_admits_nothing_more(tmp_path: Path, ahead: int) -> None:
    async def story(db: Database, _: SettableClock, key_id: str) -> None:
        clock = Drifting()
        limiter = MemoryLimiter(Rates(per_minute=5, per_day=8), db, clock)
        assert await admitted(limiter, key_id, 5) == 5
        clock.ahead = ahead
        await limiter.flush()
        told = ahead if abs(ahead) >= 1_000 else 0
        verdict = await limiter.attempt(key_id, is_post=False)
        assert verdict.refused_by == "minute"
        assert verdict.now == clock.time + told
        assert (verdict.reset_at, verdict.free_at) == (verdict.now + MINUTE, verdict.now + MINUTE)
        assert (await limiter.peek(key_id, is_post=False)).reset_at == verdict.reset_at
        clock.advance(IDLE + MINUTE)
        await limiter.flush()
        assert await admitted(limiter, key_id, 5) == 3, "loaded again, the day goes on"

    with_key(tmp_path, story)


def test_windows_saved_after_a_jump_count_in_the_next_process(tmp_path: Path) -> None:
    async def story(db: Database, _: SettableClock, key_id: str) -> None:
        clock = Drifting()
        limiter = MemoryLimiter(RATES, db, clock)
        clock.ahead = HOUR
        assert await admitted(limiter, key_id, 5) == 5
        await limiter.close()
        after = MemoryLimiter(RATES, db, SettableClock(clock.now() + MINUTE - 1))
        assert await admitted(after, key_id, 1) == 0

    with_key(tmp_path, story)


@pytest.mark.parametrize(("by", "minutes"), [(0, 0), (1, 1), (MINUTE, 1), (MINUTE + 1, 2), (-1, 0), (-MINUTE, -1)])
def test_moved_windows_leave_no_day_early(by: int, minutes: int) -> None:
    stored = StoredWindows([10], [20], [(7, 3)], [30], 40)
    assert moved(stored, by) == StoredWindows([10 + by], [20 + by], [(7 + minutes, 3)], [30 + by], 40 + by)


def test_a_request_waits_for_a_save_that_is_late(tmp_path: Path) -> None:
    async def story(db: Database, clock: SettableClock, key_id: str) -> None:
        seconds = [0.0]
        limiter = MemoryLimiter(RATES, db, clock, monotonic=lambda: seconds[0])
        assert await admitted(limiter, key_id, 1) == 1
        seconds[0] += FORGIVEN_SECONDS + 0.1
        waiting = asyncio.create_task(limiter.attempt(key_id, is_post=False))
        await asyncio.sleep(0)
        assert not waiting.done()
        await limiter.flush()
        assert (await waiting).refused_by is None

    with_key(tmp_path, story)


def test_a_stop_waits_for_the_save_under_way(tmp_path: Path) -> None:
    async def story(db: Database, clock: SettableClock, key_id: str) -> None:
        slow = Slow(db)
        limiter, after = MemoryLimiter(RATES, slow.as_database(), clock), MemoryLimiter(RATES, db, clock)
        await limiter.take_over("before")
        assert await admitted(limiter, key_id, 1) == 1
        hung = slow.hang()
        saving = asyncio.create_task(limiter.flush())
        await asyncio.sleep(0)
        assert await admitted(limiter, key_id, 3) == 3, "counted while the save is under way"
        closing = asyncio.create_task(limiter.close())
        await asyncio.sleep(0)
        hung.set_result(None)
        await asyncio.gather(saving, closing)
        holder = await db.read(find_holder)
        assert holder is not None
        assert holder.clean
        assert await admitted(after, key_id, 9) == 1

    with_key(tmp_path, story)


def test_a_stop_counts_nothing_that_it_would_not_save(tmp_path: Path) -> None:
    """Counts after the last save would be lost, or saved after the record of a clean stop and undo that."""

    async def story(db: Database, clock: SettableClock, key_id: str) -> None:
        slow = Slow(db)
        limiter = MemoryLimiter(RATES, slow.as_database(), clock)
        await limiter.take_over("limiter")
        assert await admitted(limiter, key_id, 1) == 1
        hung = slow.hang()
        closing = asyncio.create_task(limiter.close())
        await asyncio.sleep(0)
        with pytest.raises(Unavailable):
            await limiter.attempt(key_id, is_post=False)
        hung.set_result(None)
        await closing
        holder = await db.read(find_holder)
        assert holder is not None
        assert holder.clean

    with_key(tmp_path, story)


def test_a_save_that_fails_once_the_windows_were_taken_over_anew_is_made_up_for(tmp_path: Path) -> None:
    async def story(db: Database, clock: SettableClock, key_id: str) -> None:
        slow = Slow(db)
        limiter, after = MemoryLimiter(RATES, slow.as_database(), clock), MemoryLimiter(RATES, db, clock)
        await limiter.take_over("limiter")
        assert await admitted(limiter, key_id, 2) == 2
        hung = slow.hang()
        saving = asyncio.create_task(limiter.flush())
        await asyncio.sleep(0)
        limiter.suspend()
        await limiter.take_over("limiter")
        hung.set_exception(DatabaseAway("The connection led nowhere."))
        with pytest.raises(DatabaseAway):
            await saving
        await limiter.flush()
        assert await admitted(limiter, key_id, 2) == 2
        await limiter.close()
        assert await admitted(after, key_id, 9) == 1

    with_key(tmp_path, story)


class OfLimiter:
    """The part of a database that a limiter uses."""

    def __init__(self, db: Database) -> None:
        self.one, self.read, self._db = db.one, db.read, db

    def as_database(self) -> Database:
        """This, for a limiter."""
        return cast("Database", self)


class Slow(OfLimiter):
    """A database of which one transaction hangs when it is told to."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._hung: asyncio.Future[None] | None = None

    def hang(self) -> asyncio.Future[None]:
        """Has the next transaction wait for this."""
        self._hung = asyncio.get_running_loop().create_future()
        return self._hung

    async def transact(self, action: Callable[..., Awaitable[object]], *args: object) -> object:
        """As the database does, but for the one that hangs."""
        hung, self._hung = self._hung, None
        if hung is not None:
            await hung
        return await self._db.transact(action, *args)


class Full(OfLimiter):
    """A database that has no room to write while it is `is_full`."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self.is_full = False

    async def transact(self, action: Callable[..., Awaitable[object]], *args: object) -> object:
        """As the database does, unless it is full."""
        if self.is_full:
            raise DiskFull("No room.")
        return await self._db.transact(action, *args)


WRITES = st.lists(st.builds(KeyWrite, st.integers(0, 5 * MINUTE), st.booleans()), max_size=30)


@given(WRITES)
def test_each_write_since_the_last_save_counts_once(writes: list[KeyWrite]) -> None:
    stored = StoredWindows([0], [0], [(0, 1)], [7], 0)
    recovered = with_writes(stored, writes)
    assert recovered.attempts == sorted([0, *(write.at for write in writes)])
    assert recovered.posts == sorted([0, *(write.at for write in writes if write.is_post)])
    assert sum(count for _, count in recovered.day) == 1 + len(writes)
    assert [minute for minute, _ in recovered.day] == sorted({0, *(write.at // MINUTE for write in writes)})
    assert recovered.refusals == [7]
