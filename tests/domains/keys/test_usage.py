"""Counting the usage of keys in memory: exact over writes that fail, and bounded while the database is away."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import pytest

from pressroom.clock import HOUR, SettableClock
from pressroom.db import Database, Query
from pressroom.db.migrate import migrate
from pressroom.db.sqlite.database import open_sqlite
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.keys.actions import create_key, read_usage
from pressroom.domains.keys.models import RECENT_REFUSALS, NewKey, Refusal, Scope, Usage
from pressroom.domains.keys.usage import MOST_KEYS, MOST_REFUSALS, KeyUsage
from pressroom.errors import Unavailable
from tests.db.conftest import Run, run

__all__ = ["run"]

NOW: Final = SettableClock().now()
LISTED: Final = Query(int, "SELECT count(*) FROM api_key_refusals")


class Flaky:
    """A database that refuses to write while it is away."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.is_away = False

    async def transact(self, action: Callable[..., Awaitable[Any]], *given: Any) -> Any:
        if self.is_away:
            raise Unavailable("away")
        return await self._db.transact(action, *given)


class Counting:
    """The counter over a database, with an account whose keys it counts."""

    def __init__(self, db: Database, run: Run) -> None:
        self._db = db
        self._run = run
        run(migrate(db))
        self._account = run(db.transact(create_account, NewAccount("alice", "alice@example.org", "hash")))
        self.database = Flaky(db)
        self.usage = KeyUsage(self.database)  # pyright: ignore[reportArgumentType]  # all that it uses of one

    def key(self) -> str:
        record, _ = self._run(self._db.transact(create_key, self._account.id, NewKey("k", [Scope.POSTS_WRITE])))
        return str(record.id)

    def flush(self) -> None:
        self._run(self.usage.flush())

    def read(self, key_id: str) -> Usage:
        found: Usage = self._run(self._db.read(read_usage, self._account.id, key_id))
        return found

    def listed(self) -> int:
        """Refusals of all keys that are stored."""
        return int(self._run(self._db.one(LISTED)))


@pytest.fixture
def counting(tmp_path: Path, run: Run) -> Any:
    db = open_sqlite(tmp_path / "usage.db", SettableClock())
    yield Counting(db, run)
    run(db.close())


def refusal(number: int = 0) -> Refusal:
    return Refusal(NOW + number, "GET", "/", 404, "Not found", "::1", str(number))


def test_unwritten_counts_are_added_to_later_ones(counting: Counting) -> None:
    key_id = counting.key()
    counting.usage.note(key_id, NOW - HOUR, 200)
    counting.usage.note(key_id, NOW, 503)
    counting.usage.note_refusal(key_id, refusal(1))
    counting.database.is_away = True
    with pytest.raises(Unavailable):
        counting.flush()
    counting.usage.note(key_id, NOW, 429)
    counting.usage.note_refusal(key_id, refusal(2))
    counting.database.is_away = False
    counting.flush()
    counting.flush()

    found = counting.read(key_id)
    assert [(each.accepted, each.limited, each.refused, each.failed) for each in found.hours[-2:]] == [
        (1, 0, 0, 0),
        (0, 1, 2, 1),
    ]
    assert [each.request_id for each in found.refusals] == ["2", "1"]


def test_waiting_lines_are_bounded(counting: Counting) -> None:
    keys = [counting.key() for _ in range(2)]
    counting.database.is_away = True
    for number in range(3 * RECENT_REFUSALS):
        counting.usage.note_refusal(keys[0], refusal(number))
    for number in range(MOST_KEYS + 10):
        counting.usage.note(f"key {number}", NOW, 200)
    counting.usage.note(keys[1], NOW, 200)
    with pytest.raises(Unavailable):
        counting.flush()

    pending = counting.usage._held.pending
    assert len(pending) == MOST_KEYS
    assert keys[1] not in pending
    assert len(pending[keys[0]].refusals) == RECENT_REFUSALS


def test_refusals_of_many_keys_are_counted_but_not_all_listed(counting: Counting) -> None:
    for number in range(MOST_REFUSALS + 10):
        counting.usage.note_refusal(f"key {number}", refusal(number))
    assert sum(len(held.refusals) for held in counting.usage._held.pending.values()) == MOST_REFUSALS
    assert sum(held.hours[NOW // HOUR][2] for held in counting.usage._held.pending.values()) == MOST_REFUSALS + 10
