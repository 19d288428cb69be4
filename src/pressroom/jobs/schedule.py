"""Work that is due every so often: write-behind, clean-ups."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pressroom.logs import Log


@dataclass(frozen=True, slots=True)
class Every:
    """`work` is awaited every `seconds`. A failure is logged and does not keep it from being awaited again."""

    seconds: float
    name: str
    work: Callable[[], Awaitable[object]]


class Schedule:
    """Runs its entries until it is stopped."""

    def __init__(self, entries: list[Every], log: Log) -> None:
        self._log = log
        self._tasks = [asyncio.create_task(self._repeat(entry), name=entry.name) for entry in entries]

    async def stop(self) -> None:
        """Ends all entries and cuts off work under way."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _repeat(self, entry: Every) -> None:
        while True:
            await asyncio.sleep(entry.seconds)
            try:
                await entry.work()
            except Exception as error:  # one failure must not end the schedule
                self._log.recurring("scheduled work failed", error, work=entry.name)
