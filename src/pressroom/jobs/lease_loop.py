"""The loop of every worker that works under leases (docs/architecture.md#leases).

It looks for work, keeps the leases of running work, and stops in order. Which work, how it is claimed and how
its results are saved is the worker's choice.
"""

import asyncio
import contextlib
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, Generic, TypeVar

import msgspec

from pressroom.clock import SECOND, Clock
from pressroom.db import ahead_of_requests
from pressroom.jobs.keyed_tasks import KeyedTasks
from pressroom.logs import Log

T = TypeVar("T")

POLL_SECONDS: Final = 1.0
"""How often a worker looks for work that no signal announced."""

PAUSE_SECONDS: Final = 0.5
"""How long to wait after a look that failed, mostly because the database is away."""

LOCKED_SECONDS: Final = 0.02
"""How long to wait for a row that somebody else has locked."""

RENEWALS: Final = 3
"""Renewals of a lease within its length."""


class Look(msgspec.Struct, frozen=True):
    """The result of one look for work.

    began: whether it began any work. unsaved: whether results are left that could not be saved. pause: seconds until
    the next look, unless work ends or is queued before; None: POLL_SECONDS.
    """

    began: bool
    unsaved: bool = False
    pause: float | None = None


def is_settled(look: Look, *, was_idle: bool, is_idle: bool) -> bool:
    """Returns whether nothing is left to do after a look, before and after which work was under way or not (`idle`).

    Work that was under way before the look may have ended during it and left something due that the look missed.
    """
    return was_idle and is_idle and not look.began and not look.unsaved


def pause_until(due_at: int | None, now: int) -> float | None:
    """Returns the seconds from `now` until `due_at` (milliseconds), POLL_SECONDS at most; None: nothing is due."""
    return None if due_at is None else max(0.0, min(POLL_SECONDS, (due_at - now) / SECOND))


class LeaseLoop(Generic[T]):
    """Runs a worker until it is stopped. `T` is a leased piece of work.

    name: the kind of work, for the log ("jobs"). wake: is set when work was queued. lease: the
    length of a lease in milliseconds. look: saves results, claims due work and starts it. renew: prolongs the leases
    of these items, taken with this token, until then (milliseconds). save: saves results and claims nothing; returns
    whether some are left, because somebody holds a lock.
    """

    def __init__(
        self,
        name: str,
        clock: Clock,
        log: Log,
        wake: asyncio.Event,
        *,
        lease: int,
        look: Callable[[], Awaitable[Look]],
        renew: Callable[[list[T], str, int], Awaitable[object]],
        save: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        self.token: Final = uuid.uuid4().hex
        """The token of all leases that this worker holds."""

        self.stopping = False
        self.wake: Final = wake
        self._name = name
        self._clock = clock
        self._log = log
        self._lease = lease
        self._look = look
        self._renew = renew
        self._save = save
        self._drain_seconds = 0.0
        self._tasks = KeyedTasks[T](self._ended)

    def lease_end(self) -> int:
        """Returns when a lease ends that is taken or renewed now, in milliseconds."""
        return self._clock.now() + self._lease

    def items(self) -> list[T]:
        """Returns the running work."""
        return self._tasks.items()

    def is_under_way(self, key: str) -> bool:
        """Returns whether the work of a key has begun and not ended.

        Its lease may have run out while the database was away, so that it is due once more.
        """
        return key in self._tasks

    def start(
        self,
        key: str,
        item: T,
        work: Coroutine[Any, Any, None],
        name: str,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        """Starts the work of a key that has none running.

        ended: is called when the work has ended, even cancelled before its first step; it must not raise.
        """
        task = self._tasks.start(key, item, work, name)
        task.add_done_callback(lambda _: ended())

    async def run(self) -> None:
        """Works until `stop`, then finishes or cuts off running work and saves the results."""
        renewal = asyncio.create_task(self._renew_leases(), name=f"leases of {self._name}")
        try:
            while not self.stopping:
                look = await self._look_once()
                await self._wait(look.pause)
            # Leases are renewed until the last task has ended: the renewal is only cancelled in `finally`.
            await self._tasks.end(self._drain_seconds)
            await self._save_rest()
        finally:
            renewal.cancel()

    def stop(self, seconds: float) -> None:
        """Has `run` begin nothing more and end within so many seconds, give or take a transaction."""
        self.stopping = True
        self._drain_seconds = seconds
        self.wake.set()

    async def settle(self) -> None:
        """Does all that is due by the clock and returns when that is done. For tests, which set the clock."""
        while True:
            was_idle = not self._tasks
            look = await self._look_once()
            if is_settled(look, was_idle=was_idle, is_idle=not self._tasks):
                return
            await self._wait(look.pause if self._tasks or look.unsaved else 0)

    async def _look_once(self) -> Look:
        # Before the look: a signal that comes during it may announce work that the look has not seen.
        self.wake.clear()
        try:
            return await self._look()
        except Exception as error:  # a worker that ended would end the whole process
            self._log.recurring(f"{self._name} wait for the database", error)
            await asyncio.sleep(PAUSE_SECONDS)
            # As unsaved: results may be left, so the next look must not wait for a signal.
            return Look(began=False, unsaved=True, pause=0)

    async def _wait(self, pause: float | None) -> None:
        seconds = POLL_SECONDS if pause is None else pause
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0 if self.stopping else seconds):
                await self.wake.wait()

    async def _save_rest(self) -> None:
        try:
            while self._save is not None and await self._save():
                await asyncio.sleep(LOCKED_SECONDS)
        except Exception as error:  # nothing more can be done about it here
            self._log.error(f"{self._name} not saved at the stop", error=f"{type(error).__name__}: {error}")

    async def _renew_leases(self) -> None:
        while True:
            # Several times within a lease, so that one renewal that fails loses none.
            await asyncio.sleep(self._lease / SECOND / RENEWALS)
            if not self._tasks:
                continue
            try:
                # Behind a queue of requests the renewal could come too late, and another worker would do the same work
                # again.
                with ahead_of_requests():
                    await self._renew(self.items(), self.token, self.lease_end())
            except Exception as error:  # one renewal that fails must not be the last
                self._log.recurring("leases not renewed", error)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.recurring(f"work on {self._name} broke", error)
        self.wake.set()
