"""The limiter of one process: what it writes behind, loads again, and does when it may no longer count."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from pressroom.clock import DAY, HOUR, MINUTE, SettableClock
from pressroom.db import Database, Tx
from pressroom.db.migrate import migrate
from pressroom.db.sqlite import open_sqlite
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.keys.actions import create_key
from pressroom.domains.keys.models import NewKey, Scope
from pressroom.domains.limits.memory import IDLE, MemoryLimiter
from pressroom.domains.limits.models import Rates
from pressroom.domains.limits.windows import StoredWindows, merged
from pressroom.errors import Unavailable

RATES = Rates(per_minute=5)


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


def test_what_was_flushed_counts_in_the_next_process(tmp_path: Path) -> None:
    async def story(db: Database, clock: SettableClock, key_id: str) -> None:
        first, second = MemoryLimiter(RATES, db, clock), MemoryLimiter(RATES, db, clock)
        assert await admitted(first, key_id, 3) == 3
        await first.close()
        assert await admitted(second, key_id, 9) == 2

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


def test_what_either_process_counted_counts_after_a_resume(tmp_path: Path) -> None:
    async def story(db: Database, clock: SettableClock, key_id: str) -> None:
        limiter, owner = MemoryLimiter(RATES, db, clock), MemoryLimiter(RATES, db, clock)
        assert await admitted(limiter, key_id, 2) == 2
        limiter.suspend()
        clock.advance(10)
        assert await admitted(owner, key_id, 2) == 2
        await owner.close()
        limiter.resume()
        assert await admitted(limiter, key_id, 9) == 1

    with_key(tmp_path, story)


def test_a_clock_set_back_between_two_processes_locks_nobody_out(tmp_path: Path) -> None:
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
