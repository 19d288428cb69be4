"""Looks names up with the system's resolver, in threads.

A look-up blocks its thread for as long as the name's servers hang, half a minute and more, and cannot be cancelled.
So that names that hang do not delay the others:

- A name is looked up once at a time; all who want it wait for the same result. However often a hanging name is
  wanted, it holds one thread.
- There are two pools of slots. A look-up starts in the quick one; after a second it is slow, moves to the slow pool
  and frees its slot. Names that were slow are remembered and start in the slow pool.
- Both pools are bounded, and so are the threads. A look-up waits for a slot only while as many different names hang
  as both pools have slots; its own deadline runs meanwhile.

The threads are daemons, not the loop's executor: neither other work nor the end of the process waits for them.
"""

import asyncio
import errno
import socket
import threading
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

QUICK: Final = 16
SLOW: Final = 48
SLOW_SECONDS: Final = 1.0
REMEMBERED: Final = 1_024

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""Returns the literal addresses of a name, from (host, port); raises OSError when it has none."""


def ask_system(host: str) -> list[str]:
    """Returns every address of a name, of both families. Blocks. Raises OSError, or UnicodeError if it is no name."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class _LookUp:
    def __init__(self, host: str, result: "asyncio.Future[list[str]]", slow: bool) -> None:
        self.host = host
        self.result = result
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
        self._free = {False: quick, True: slow}
        self._waiting: dict[bool, deque[_LookUp]] = {False: deque(), True: deque()}
        self._overdue: deque[_LookUp] = deque()
        self._slow_seconds = slow_seconds
        self._look_ups: dict[str, _LookUp] = {}
        self._was_slow: OrderedDict[str, None] = OrderedDict()

    async def __call__(self, host: str, port: int) -> list[str]:
        """Returns the addresses of `host` as literals, for any `port`. Raises OSError when there are none."""
        look_up = self._look_ups.get(host)
        if look_up is None:
            look_up = _LookUp(host, asyncio.get_running_loop().create_future(), slow=host in self._was_slow)
            self._look_ups[host] = look_up
            self._waiting[look_up.slow].append(look_up)
            self._start_waiting()
        look_up.wanted += 1
        try:
            # A caller that gives up must not cancel the look-up of the others.
            return await asyncio.shield(look_up.result)
        finally:
            look_up.wanted -= 1
            if not look_up.wanted and look_up.started is None:
                self._forget(look_up)

    def close(self) -> None:
        """Cancels all look-ups; their threads end by themselves."""
        for look_up in self._look_ups.values():
            look_up.result.cancel()
        self._look_ups.clear()
        for waiting in self._waiting.values():
            waiting.clear()

    def _start_waiting(self) -> None:
        while self._overdue and self._free[True]:
            look_up = self._overdue.popleft()
            # One that has ended meanwhile has given its quick slot back already.
            if not look_up.result.done():
                self._move_to_slow(look_up)
        for slow, waiting in self._waiting.items():
            while waiting and self._free[slow]:
                look_up = waiting.popleft()
                if not look_up.result.done():
                    self._start(look_up)

    def _start(self, look_up: _LookUp) -> None:
        loop = asyncio.get_running_loop()
        look_up.started = loop.time()
        self._free[look_up.slow] -= 1
        if not look_up.slow:
            timer = loop.call_later(self._slow_seconds, self._is_late, look_up)
            look_up.result.add_done_callback(lambda _: timer.cancel())
        try:
            threading.Thread(target=self._run, args=(look_up, loop), name="look-up", daemon=True).start()
        except RuntimeError:  # The system has no more threads to give.
            self._done(look_up, OSError(errno.EAGAIN, "no thread for a look-up"))

    def _run(self, look_up: _LookUp, loop: asyncio.AbstractEventLoop) -> None:
        """Runs in the thread."""
        try:
            found: list[str] | Exception = self._ask(look_up.host)
        except Exception as error:  # for the caller that waits, not for this thread
            found = error
        with suppress(RuntimeError):  # The loop has ended.
            loop.call_soon_threadsafe(self._done, look_up, found)

    def _is_late(self, look_up: _LookUp) -> None:
        # The next look-up of this name begins in the slow pool, and takes no quick slot for its first second.
        self._remember(look_up.host)
        if self._free[True]:
            self._move_to_slow(look_up)
            self._start_waiting()
        else:
            self._overdue.append(look_up)

    def _move_to_slow(self, look_up: _LookUp) -> None:
        self._free[False] += 1
        self._free[True] -= 1
        look_up.slow = True

    def _remember(self, host: str) -> None:
        self._was_slow[host] = None
        if len(self._was_slow) > REMEMBERED:
            self._was_slow.popitem(last=False)

    def _forget(self, look_up: _LookUp) -> None:
        """Drops a look-up that nobody waits for and that has not been started."""
        # Not started, so no thread is lost: a started one runs until the system gives up.
        look_up.result.cancel()
        if self._look_ups.get(look_up.host) is look_up:
            del self._look_ups[look_up.host]

    def _done(self, look_up: _LookUp, found: list[str] | Exception) -> None:
        self._free[look_up.slow] += 1
        if look_up.started is not None and look_up.result.get_loop().time() - look_up.started < self._slow_seconds:
            self._was_slow.pop(look_up.host, None)
        if self._look_ups.get(look_up.host) is look_up:
            del self._look_ups[look_up.host]
        if not look_up.result.done():
            if isinstance(found, list):
                look_up.result.set_result(found)
            else:
                look_up.result.set_exception(found if isinstance(found, OSError) else OSError(str(found)))
                look_up.result.exception()  # retrieved, in case nobody waits any more
        self._start_waiting()
