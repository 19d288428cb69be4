"""Names to addresses, by the system's resolver, in threads.

A look-up blocks its thread for as long as the name's servers care to hang, half a minute and more, and cannot be
called off. So that names which hang do not hold up the others:

- A name is asked for once at a time; whoever else wants it waits for the same answer. However often a hanging
  name is wanted, it holds one thread.
- There are two lanes. Every look-up starts in the quick one; after a second it counts as slow and leaves its place
  to the next. Names that were slow are remembered, and start in the slow lane.
- Both lanes are bounded, and so are the threads. Only when as many different names hang at once as there are
  places in both lanes does a look-up have to wait for one of them; its own deadline runs meanwhile.

The threads are daemons of ours and not the loop's executor: neither other work nor the end of the process waits
for them.
"""

import asyncio
import errno
import socket
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final

QUICK: Final = 16
SLOW: Final = 48
SLOW_SECONDS: Final = 1.0
REMEMBERED: Final = 1_024


def ask_system(host: str) -> list[str]:
    """Every address of a name, both families. Blocks. Raises OSError, or UnicodeError for what is no name."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class _Job:
    def __init__(self, host: str, answer: "asyncio.Future[list[str]]", slow: bool) -> None:
        self.host = host
        self.answer = answer
        self.slow = slow
        self.wanted = 0
        self.started: float | None = None


class LookUps:
    """Looks names up; one instance belongs to one event loop. `ask` blocks and may raise anything."""

    def __init__(
        self,
        ask: Callable[[str], list[str]] = ask_system,
        *,
        quick: int = QUICK,
        slow: int = SLOW,
        slow_seconds: float = SLOW_SECONDS,
    ) -> None:
        self._ask = ask
        self._places = {False: quick, True: slow}
        self._waiting: dict[bool, deque[_Job]] = {False: deque(), True: deque()}
        self._overdue: deque[_Job] = deque()
        self._slow_seconds = slow_seconds
        self._jobs: dict[str, _Job] = {}
        self._was_slow: OrderedDict[str, None] = OrderedDict()

    async def __call__(self, host: str, port: int) -> list[str]:
        """The addresses of `host`, as literals. `port` plays no part. Raises OSError when there are none."""
        job = self._jobs.get(host)
        if job is None:
            job = _Job(host, asyncio.get_running_loop().create_future(), slow=host in self._was_slow)
            self._jobs[host] = job
            self._waiting[job.slow].append(job)
            self._start_waiting()
        job.wanted += 1
        try:
            # One who gives up must not take the answer from the others.
            return await asyncio.shield(job.answer)
        finally:
            job.wanted -= 1
            if not job.wanted and job.started is None:
                self._forget(job)

    def close(self) -> None:
        """Forgets everything that is under way; its threads end by themselves."""
        for job in self._jobs.values():
            job.answer.cancel()
        self._jobs.clear()
        for lane in self._waiting.values():
            lane.clear()

    def _start_waiting(self) -> None:
        while self._overdue and self._places[True]:
            job = self._overdue.popleft()
            if not job.answer.done():
                self._move_to_slow(job)
        for lane, waiting in self._waiting.items():
            while waiting and self._places[lane]:
                job = waiting.popleft()
                if not job.answer.done():
                    self._start(job)

    def _start(self, job: _Job) -> None:
        loop = asyncio.get_running_loop()
        job.started = loop.time()
        self._places[job.slow] -= 1
        if not job.slow:
            timer = loop.call_later(self._slow_seconds, self._drags, job)
            job.answer.add_done_callback(lambda _: timer.cancel())
        try:
            threading.Thread(target=self._run, args=(job, loop), name="look-up", daemon=True).start()
        except RuntimeError:  # The system has no more threads to give.
            self._done(job, OSError(errno.EAGAIN, "no thread for a look-up"))

    def _run(self, job: _Job, loop: asyncio.AbstractEventLoop) -> None:
        """In the thread."""
        try:
            found: list[str] | Exception = self._ask(job.host)
        except Exception as error:  # Whatever it is belongs to whoever waits, not to this thread.
            found = error
        with suppress(RuntimeError):  # The loop has ended.
            loop.call_soon_threadsafe(self._done, job, found)

    def _drags(self, job: _Job) -> None:
        self._remember(job.host)
        if self._places[True]:
            self._move_to_slow(job)
            self._start_waiting()
        else:
            self._overdue.append(job)

    def _move_to_slow(self, job: _Job) -> None:
        self._places[False] += 1
        self._places[True] -= 1
        job.slow = True

    def _remember(self, host: str) -> None:
        self._was_slow[host] = None
        if len(self._was_slow) > REMEMBERED:
            self._was_slow.popitem(last=False)

    def _forget(self, job: _Job) -> None:
        """Takes a job back that nobody waits for and that has not been started."""
        job.answer.cancel()
        if self._jobs.get(job.host) is job:
            del self._jobs[job.host]

    def _done(self, job: _Job, found: list[str] | Exception) -> None:
        self._places[job.slow] += 1
        if job.started is not None and job.answer.get_loop().time() - job.started < self._slow_seconds:
            self._was_slow.pop(job.host, None)
        if self._jobs.get(job.host) is job:
            del self._jobs[job.host]
        if not job.answer.done():
            if isinstance(found, list):
                job.answer.set_result(found)
            else:
                job.answer.set_exception(found if isinstance(found, OSError) else OSError(str(found)))
                job.answer.exception()  # Nobody may be waiting any more, and that is no fault.
        self._start_waiting()
