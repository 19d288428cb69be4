"""Threads for work that would hold the event loop, behind a queue that is fair to clients."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import msgspec

from pressroom.fair_queue import FairQueue
from pressroom.threads import lower_priority, run_to_end

T = TypeVar("T")


class _Waiter(msgspec.Struct, eq=False):
    """Work that waits for a thread. `turn` is done when it has one."""

    line: str
    turn: asyncio.Future[None]


class FairThreads:
    """Threads of low priority, and those who wait for one: each client has a line, and lines are served round robin.

    One piece of work of each client is in a thread at a time.

    Args:
        threads: How many threads it has.
        name: The prefix of their names.
        places: How many pieces of work may wait. One more displaces the last of the longest line, or is refused.
        refusal: Makes the error of work that is displaced, refused or has waited too long.
        at_work: Clients with work in a thread: a set that several of these may share.
        ended: Called when work is done, so that others that share `at_work` may begin. It calls `start_waiting`.
    """

    def __init__(
        self,
        threads: int,
        name: str,
        places: int,
        refusal: Callable[[], Exception],
        *,
        at_work: set[str] | None = None,
        ended: Callable[[], None] | None = None,
    ) -> None:
        self._queue = FairQueue[_Waiter](places)
        self._threads = ThreadPoolExecutor(threads, name, initializer=lower_priority)
        self._free = threads
        self._refusal = refusal
        self._at_work = set[str]() if at_work is None else at_work
        self._ended = ended or self.start_waiting

    @property
    def waiting(self) -> int:
        """Returns how many pieces of work wait for a thread."""
        return len(self._queue)

    async def run(self, line: str, work: Callable[[], T], patience: float | None = None) -> T:
        """Returns what `work` returns in a thread. A cancellation is raised at its end.

        Args:
            line: The client that it is done for.
            work: The work.
            patience: Seconds that it may wait for a thread; None: any time.

        Raises:
            Exception: The refusal, or what `work` raises.
        """
        if self._free and line not in self._at_work:
            self._begin(line)
        else:
            await self._wait(line, patience)
        try:
            return await run_to_end(work, self._threads)
        finally:
            self._end(line)

    def start_waiting(self) -> None:
        """Gives free threads to those who wait, in turn."""
        while self._free and (waiter := self._queue.next(but=self._at_work)) is not None:
            if not waiter.turn.done():
                self._begin(waiter.line)
                waiter.turn.set_result(None)

    def close(self, *, wait: bool = True) -> None:
        """Stops the threads. With `wait` it returns when their current work is done."""
        self._threads.shutdown(wait=wait, cancel_futures=not wait)

    async def _wait(self, line: str, patience: float | None) -> None:
        waiter = _Waiter(line, asyncio.get_running_loop().create_future())
        turn = waiter.turn
        displaced = self._queue.join(line, waiter)
        if displaced is waiter:
            raise self._refusal()
        if displaced is not None and not displaced.turn.done():  # its wait may have timed out at this very moment
            displaced.turn.set_exception(self._refusal())
        try:
            async with asyncio.timeout(patience):
                await turn
        except BaseException as error:
            if not self._queue.leave(line, waiter) and turn.done() and not turn.cancelled() and not turn.exception():
                self._end(line)  # A thread became free at the very moment of leaving.
            if isinstance(error, TimeoutError):
                raise self._refusal() from None
            raise

    def _begin(self, line: str) -> None:
        self._free -= 1
        self._at_work.add(line)

    def _end(self, line: str) -> None:
        self._free += 1
        self._at_work.discard(line)
        self._ended()
