"""Finds slow steps of the event loop and names their functions (docs/operations.md#slow-steps)."""

import asyncio
import gc
import inspect
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import accumulate, chain, islice, repeat
from operator import itemgetter
from types import FrameType
from typing import Any, Final, cast

import msgspec

from pressroom import metrics
from pressroom.logs import Log

LOOKS: Final = 4
"""Samples taken of a step in the time from which it counts as slow."""

LOG_SECONDS: Final = 60.0
"""Seconds between two lines of the log about the same function."""

_COROUTINES: Final = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class SlowStep(msgspec.Struct, frozen=True):
    """One step of the event loop: the function that was seen most often while it ran, and its length in seconds."""

    function: str
    seconds: float


class SlowSteps:
    """Watches one event loop from a thread of its own, and reports each step that takes too long.

    A timer of the loop notes the time. When it is late, the thread schedules a callback on the loop. While the callback
    is pending, a step is under way, and the thread notes the running function. A C function can hold the interpreter's
    lock, so that the thread itself must wait: the timer tells how long the step has run by then. A loop without slow
    steps pays for its timer.

    Args:
        seconds: The length from which a step is slow.
        report: Called on the loop, after the step.
        clock: Seconds by which steps are measured; read by the loop's thread and by the watching one.
    """

    def __init__(
        self, seconds: float, report: Callable[[SlowStep], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = seconds
        self._interval = seconds / LOOKS
        self._report = report
        self._now = clock
        self._stopped = threading.Event()
        self._returned_at: float | None = 0.0
        self._began = self._seen_at = self._beat_at = 0.0
        self._step = 0
        self._functions: Counter[str] = Counter()

    async def start(self) -> None:
        """Begins to watch the running loop."""
        self._loop = asyncio.get_running_loop()
        self._thread_id = threading.get_ident()
        stack = stack_of(self._thread_id)
        self._base = next(place for place, frame in enumerate(stack) if frame.f_code.co_flags & _COROUTINES)
        self._beat()
        self._thread = threading.Thread(target=self._watch, name="slow steps", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread. A step that is under way is not reported."""
        self._stopped.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stopped.wait(self._interval):
            try:
                self._look()
            except RuntimeError:  # The loop was closed.
                return

    def _beat(self) -> None:
        """Notes the time by the loop's own timer, until the watch ends."""
        self._beat_at = self._now()
        if not self._stopped.is_set():
            self._loop.call_later(self._interval, self._beat)

    def _look(self) -> None:
        if self._returned_at is not None:
            self._end_step(self._returned_at)
            due_at = self._beat_at + self._interval
            # The thread does not wake the loop while that is on time: on an idle server it would do little else.
            if self._now() < due_at + self._interval / 2:
                return
            self._returned_at, self._began, self._step = None, due_at, 0
            # It runs when the present step is over: until then, a step is under way.
            self._loop.call_soon_threadsafe(self._return)
        stack = self._running()
        step = id(stack[0]) if stack else 0
        if step != self._step:  # A round of the loop has several steps.
            if self._step:
                self._end_step(self._seen_at)
                self._began = self._seen_at
            self._step = step
        self._seen_at = self._now()
        if stack:
            self._functions[_name(stack)] += 1

    def _running(self) -> list[FrameType]:
        """Returns the frames of the step that runs, the outermost first."""
        return stack_of(self._thread_id)[self._base :]

    def _return(self) -> None:
        self._returned_at = self._now()

    def _end_step(self, at: float) -> None:
        if self._functions and at - self._began >= self._seconds:
            function = self._functions.most_common(1)[0][0]
            self._loop.call_soon_threadsafe(self._report, SlowStep(function, at - self._began))
        self._functions.clear()


class SlowStepLog:
    """Reports slow steps to the log and the metrics: a line a minute for each function, and each step counted."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._logged: dict[str, float] = {}

    def __call__(self, step: SlowStep) -> None:
        """Notes a slow step."""
        if metrics.recorder is not None:
            metrics.recorder.slow_step(step.function, step.seconds)
        now = time.monotonic()
        if now - self._logged.get(step.function, -LOG_SECONDS) >= LOG_SECONDS:
            self._logged[step.function] = now
            self._log.warning("a step held the event loop", function=step.function, ms=round(step.seconds * 1_000))


def stack_of(thread_id: int) -> list[FrameType]:
    """Returns the frames of a running thread, the outermost first; none when there is no such thread.

    All of it is one call of C functions, without a garbage collection. A loop in Python, or a finalizer, may hand the
    interpreter's lock to the watched thread, which runs on: `f_back` of a frame that has ended since reads memory that
    was freed, and the process dies of it.
    """
    # Documented, its name notwithstanding; nothing else gives the frame of another thread.
    current_frames = sys._current_frames  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    innermost = islice(map(itemgetter(thread_id), iter(current_frames, None)), 1)
    frames: list[FrameType | None] = []
    walk = accumulate(chain(innermost, repeat("f_back")), cast("Callable[[Any, Any], Any]", getattr))
    collects = gc.isenabled()
    gc.disable()
    try:
        frames.extend(walk)
    except (AttributeError, KeyError):  # The outermost frame's `f_back` is None, which has none itself.
        pass
    finally:
        if collects:
            gc.enable()
    return [frame for frame in reversed(frames) if frame is not None]


def _name(stack: list[FrameType]) -> str:
    """Returns the innermost function of Pressroom as `package.module.function`, or else the innermost of all."""
    names = [f"{frame.f_globals.get('__name__', '')}.{frame.f_code.co_qualname}" for frame in reversed(stack)]
    return next((name for name in names if name.startswith("pressroom.")), names[0])
