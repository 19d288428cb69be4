"""The write-behind buffer: values written together, and the rest after a write that fails or is cut off."""

import asyncio
import operator
from collections.abc import Coroutine
from typing import Any

import pytest

from pressroom.jobs.write_behind import WriteBehind


class Table:
    """Takes written values, and may be away or hang."""

    def __init__(self) -> None:
        self.written: list[dict[str, int]] = []
        self.error: Exception | None = None
        self.hung: asyncio.Event | None = None

    async def write(self, values: dict[str, int]) -> None:
        """Writes in one go."""
        if self.hung is not None:
            await self.hung.wait()
        if self.error is not None:
            raise self.error
        self.written.append(dict(values))

    def hang(self) -> asyncio.Event:
        """Has writes wait for this."""
        self.hung = asyncio.Event()
        return self.hung


@pytest.fixture
def table() -> Table:
    return Table()


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(story)


def test_values_are_written_together_and_once(table: Table) -> None:
    async def story() -> None:
        buffer = WriteBehind(table.write, merge=operator.add)
        for key in "aba":
            buffer.add(key, 1)
        await buffer.flush()
        await buffer.flush()
        assert table.written == [{"a": 2, "b": 1}]

    run(story())


def test_the_later_value_counts_where_nothing_merges(table: Table) -> None:
    async def story() -> None:
        buffer = WriteBehind(table.write)
        buffer.add("a", 1)
        table.error = OSError("away")
        with pytest.raises(OSError, match="away"):
            await buffer.flush()
        assert buffer.failed
        buffer.add("a", 2)
        table.error = None
        await buffer.flush()
        assert table.written == [{"a": 2}]
        assert not buffer.failed

    run(story())


def test_failed_write_is_merged_with_later_values(table: Table) -> None:
    async def story() -> None:
        buffer = WriteBehind(table.write, merge=operator.add)
        buffer.add("a", 1)
        hung, table.error = table.hang(), OSError("away")
        flush = asyncio.create_task(buffer.flush())
        await asyncio.sleep(0)
        buffer.add("a", 2)
        buffer.add("b", 4)
        hung.set()
        with pytest.raises(OSError, match="away"):
            await flush
        assert buffer.pending == {"a": 3, "b": 4}

    run(story())


@pytest.mark.parametrize(("repeatable", "left"), [(True, {"a": 1}), (False, {})])
def test_a_write_that_is_cancelled_is_repeated_only_if_that_does_no_harm(
    table: Table, repeatable: bool, left: dict[str, int]
) -> None:
    async def story() -> None:
        buffer = WriteBehind(table.write, repeatable=repeatable)
        buffer.add("a", 1)
        table.hang()
        flush = asyncio.create_task(buffer.flush())
        await asyncio.sleep(0)
        flush.cancel()
        with pytest.raises(asyncio.CancelledError):
            await flush
        assert (buffer.pending, buffer.is_writing, buffer.failed) == (left, False, False)

    run(story())


def test_one_write_at_a_time(table: Table) -> None:
    async def story() -> None:
        buffer = WriteBehind(table.write)
        buffer.add("a", 1)
        hung = table.hang()
        first = asyncio.create_task(buffer.flush())
        await asyncio.sleep(0)
        buffer.add("b", 2)
        await buffer.flush()
        assert buffer.is_writing
        waiting = asyncio.create_task(buffer.tried())
        await asyncio.sleep(0)
        hung.set()
        await first
        await waiting
        await buffer.flush()
        assert table.written == [{"a": 1}, {"b": 2}]

    run(story())


def test_the_age_is_that_of_the_oldest_value_that_is_not_written(table: Table) -> None:
    async def story() -> None:
        seconds = [0.0]
        buffer = WriteBehind(table.write, monotonic=lambda: seconds[0])
        assert buffer.age() == 0
        buffer.add("a", 1)
        seconds[0] = 2
        buffer.add("b", 1)
        assert buffer.age() == 2
        table.error = OSError("away")
        with pytest.raises(OSError, match="away"):
            await buffer.flush()
        seconds[0] = 5
        assert buffer.age() == 5
        table.error = None
        await buffer.flush()
        assert buffer.age() == 0

    run(story())


def test_taken_values_are_not_held_again_after_a_failed_write(table: Table) -> None:
    async def story() -> None:
        buffer = WriteBehind(table.write)
        buffer.add("a", 1)
        hung, table.error = table.hang(), OSError("away")
        flush = asyncio.create_task(buffer.flush())
        await asyncio.sleep(0)
        buffer.add("b", 2)
        assert buffer.take() == {"a": 1, "b": 2}
        hung.set()
        with pytest.raises(OSError, match="away"):
            await flush
        assert buffer.pending == {}

    run(story())


def test_it_holds_so_many_keys_at_the_most(table: Table) -> None:
    async def story() -> None:
        buffer = WriteBehind(table.write, merge=operator.add, most=2)
        for key in "abca":
            buffer.add(key, 1)
        assert buffer.pending == {"a": 2, "b": 1}

    run(story())
