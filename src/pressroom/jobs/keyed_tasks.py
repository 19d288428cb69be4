"""Tasks by key: one at a time for each."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

import msgspec

T = TypeVar("T")


class _Entry(msgspec.Struct, Generic[T]):
    item: T
    task: asyncio.Task[None]


class KeyedTasks(Generic[T]):
    """Tasks that are under way, each with an item of its own.

    ended: is called with each task that has ended, when its key is free again. Their exceptions are for those who await
    them, which nobody need do.
    """

    def __init__(self, ended: Callable[[asyncio.Task[None]], None] | None = None) -> None:
        self._entries: dict[str, _Entry[T]] = {}
        self._ended = ended

    def start(self, key: str, item: T, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Starts the task of a key that has none."""
        task = asyncio.create_task(work, name=name)
        self._entries[key] = _Entry(item, task)
        task.add_done_callback(lambda _: self._end(key, task))
        return task

    def get(self, key: str) -> asyncio.Task[None] | None:
        """Returns the task of a key."""
        entry = self._entries.get(key)
        return None if entry is None else entry.task

    def items(self) -> list[T]:
        """Returns the items of all tasks."""
        return [entry.item for entry in self._entries.values()]

    async def end(self, seconds: float) -> None:
        """Waits for all tasks, then cancels those that have not ended within so many seconds and waits for them."""
        tasks = [entry.task for entry in self._entries.values()]
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=seconds)
        for task in late:
            task.cancel()
        # A cancelled task may take some steps more, to give back its lease.
        if late:
            await asyncio.wait(late)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def _end(self, key: str, task: asyncio.Task[None]) -> None:
        del self._entries[key]
        if not task.cancelled():
            # Retrieved, or asyncio would log it as never retrieved when no caller awaits the task.
            task.exception()
        if self._ended is not None:
            self._ended(task)
