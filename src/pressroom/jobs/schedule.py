"""What is due every so often: writing behind, cleaning up."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pressroom.logs import Log


@dataclass(frozen=True, slots=True)
class Every:
    """`work` is awaited every `seconds`; a failure is logged and counted, and the next turn comes all the same."""

    seconds: float
    name: str
    work: Callable[[], Awaitable[object]]


class Schedule:
    """Runs its entries until it is stopped."""

    def __init__(self, entries: list[Every], log: Log) -> None:
        self._log = log
        self._tasks = [asyncio.create_task(self._repeat(entry), name=entry.name) for entry in entries]

    async def stop(self) -> None:
        """Ends all entries; work under way is cut off."""
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
            except Exception as error:  # one bad turn must not end the schedule
                self._log.recurring("scheduled work failed", error, work=entry.name)
