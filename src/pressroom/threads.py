"""Calls of blocking functions in threads."""

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Final, Generic, TypeVar

T = TypeVar("T")


NICENESS: Final = 10
"""How much nicer than the process a thread of low priority is: beside one that wants the same core it has a tenth.

Not the most, 19: such a thread may hold Python's lock for some microseconds, and must then not wait for long.
"""


class Abandoned(Exception):
    """Nobody waits for the result any more."""


def lower_priority() -> None:
    """Has the calling thread, and the threads that it starts, give way to all others of the process.

    Only Linux has priorities of threads; elsewhere the id of a thread could be that of another process.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # the process may be forbidden to: it works without
            thread = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread, min(19, os.getpriority(os.PRIO_PROCESS, thread) + NICENESS))


async def run_to_end(work: Callable[[], T], pool: Executor | None = None, stop: threading.Event | None = None) -> T:
    """Runs `work` in a thread of `pool` (asyncio's own when None) and waits for its end, even when cancelled.

    The cancellation is raised afterwards, in place of the result, so that the caller can release what `work` used.
    With `stop`, a cancellation also sets that event, and work that no thread has begun is never begun; without it,
    `work` is always done.

    Returns the result of `work`, or raises its error.
    """
    first = threading.Lock()  # taken by the thread that begins the work, or by the caller that abandons it before that

    def begin() -> T:
        if not first.acquire(blocking=False):
            raise Abandoned
        return work()

    result = asyncio.get_running_loop().run_in_executor(pool, begin)
    cancellation: asyncio.CancelledError | None = None
    while not result.done():
        try:
            await asyncio.wait({result})
        except asyncio.CancelledError as error:
            cancellation = error
            if stop is not None:
                stop.set()
                # Never begun, and now it never will be: there is no end to wait for.
                if first.acquire(blocking=False):
                    break
    if cancellation is not None:
        # The cancellation is raised instead of the result, whose error nobody would retrieve.
        result.add_done_callback(_retrieve)
        raise cancellation
    return result.result()


async def run_apart(work: Callable[[], T]) -> T:
    """Runs `work` in a thread of its own. A cancellation leaves it behind, and the process can end before it does.

    Returns the result of `work`, or raises its error.
    """
    result: Future[T] = Future()

    def begin() -> None:
        try:
            result.set_result(work())
        except Exception as error:  # for the waiting caller
            result.set_exception(error)

    result.set_running_or_notify_cancel()
    threading.Thread(target=begin, name="apart", daemon=True).start()
    return await asyncio.wrap_future(result)


def _retrieve(result: "asyncio.Future[T]") -> None:
    """Keeps asyncio from reporting an exception that nobody is left to hear of."""
    if not result.cancelled():
        result.exception()


class MadeOnce(Generic[T]):
    """A value that is made in a thread when it is first asked for, and kept."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: asyncio.Future[T] | None = None

    async def get(self) -> T:
        """Returns the value. Raises what making it raises; the next caller tries again."""
        if self._made is None or (self._made.done() and (self._made.cancelled() or self._made.exception())):
            self._made = asyncio.ensure_future(asyncio.to_thread(self._make))
        # Others may wait for the same value: a caller that gives up must not end their wait.
        return await asyncio.shield(self._made)
