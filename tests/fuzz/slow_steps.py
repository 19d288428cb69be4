"""Watches the event loop of a server in this process, as a server watches its own."""

import gc
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from pressroom.server.slow_steps import SlowStep, SlowSteps
from tests.harness.local import LocalServer

SLOW: Final = 0.02
"""Seconds of CPU time from which a step of the server's event loop needs a reason."""

REASONS: Final[dict[str, str]] = {}
"""Functions that may hold the event loop for longer, each with its reason, by the names of the slow-step log."""


class LoopClock:
    """The CPU time of a server's loop, in seconds, without garbage collections.

    A server has a small heap, most of it frozen at its start. Here the heap holds what hypothesis and all earlier tests
    left, and a collection of that takes up to 300 ms on whichever thread allocates next.
    """

    def __init__(self, server: LocalServer) -> None:
        self._thread_id = server.run(_thread_id())
        self._clock = time.pthread_getcpuclockid(self._thread_id)
        self._collections = 0.0
        self._began: float | None = None

    def __call__(self) -> float:
        """Returns the time that the loop has run."""
        began, now = self._began, time.clock_gettime(self._clock)
        # The watching thread can run after a collection and before the callback that notes its end.
        return (now if began is None else began) - self._collections

    def note_collection(self, phase: str, _info: dict[str, int]) -> None:
        """Takes the time of a collection out, as a callback of `gc`."""
        if threading.get_ident() != self._thread_id:
            return
        if phase == "start":
            self._began = time.clock_gettime(self._clock)
        elif self._began is not None:
            self._collections += time.clock_gettime(self._clock) - self._began
            self._began = None


@contextmanager
def watch(server: LocalServer) -> Generator[list[SlowStep]]:
    """Yields a list that receives the slow steps of a server's event loop."""
    found: list[SlowStep] = []
    clock = LoopClock(server)
    watching = SlowSteps(SLOW, found.append, clock)
    server.run(watching.start())
    gc.callbacks.append(clock.note_collection)
    try:
        yield found
    finally:
        gc.callbacks.remove(clock.note_collection)
        watching.stop()


def found_each_time(find: Callable[[], set[str]], times: int = 3) -> set[str]:
    """Returns what `find` returns in each of several runs.

    Work that takes long takes long each time. What the host or another process takes from a step does not come again
    at the same place, although a virtual machine counts it as CPU time of the thread.
    """
    found = find()
    for _ in range(times - 1):
        if found:
            found &= find()
    return found


async def _thread_id() -> int:
    return threading.get_ident()
