"""Turns on the event loop: requests are run by steps, their clients in turn (docs/architecture.md#fairness)."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Generator
from contextvars import ContextVar
from types import coroutine
from typing import Any, Final, TypeVar

import msgspec

from pressroom.errors import Unavailable
from pressroom.fair_queue import FairQueue

R = TypeVar("R")

SHARE: Final = 0.001
"""Seconds of steps after which the event loop takes a round before the next one, so that others can join the queue."""

PLACES: Final = 4_096
"""Requests that may wait for their first step."""

PLACES_OF_ONE: Final = 512
"""Requests of one client that may wait for their first step (docs/limits.md#turns)."""

RETRY_SECONDS: Final = 2

DELAY: Final = 1.0
"""Seconds until a request is refused. Answered at once, clients would come again at once, and take more time so."""


class Turn(msgspec.Struct):
    """One request among those that are taken in turn.

    Attributes:
        line: The client that the request counts as: its address, or another one of its account.
        refusal: Why the request is not served; None if it is.
        has_turn: Whether the others wait until the step that it runs, or begins next, is done.
        is_over: Whether the request is finished. Tasks that it left behind belong to no client.
        waited: For how many seconds it has waited for connections to the database (docs/operations.md#postgresql).
    """

    line: str = ""
    refusal: Unavailable | None = None
    has_turn: bool = False
    is_over: bool = False
    waited: float = 0.0


_latest: Final = ContextVar[Turn | None]("turn", default=None)
"""The request that is served now, or was the last in this context."""


def current_turn() -> Turn | None:
    """Returns the request that this work is done for, or None for all other work."""
    turn = _latest.get()
    return None if turn is None or turn.is_over else turn


class Turns:
    """Runs requests by steps: the code between two awaits, or until it gives way by `asyncio.sleep(0)`.

    While the loop has time, a step is run at once. Otherwise it waits in a queue that is fair to clients, from which
    one step is taken in each round of the loop. So a step waits for one of each other client, however many requests
    each of them has. Nothing is held from one step to the next: a request that waits for the database or for a slow
    reader keeps nobody waiting, and no two requests can wait for each other.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.perf_counter,
        *,
        places: int | None = None,
        places_of_one: int | None = None,
        delay: float | None = None,
    ) -> None:
        self._clock = clock
        self._delay = DELAY if delay is None else delay
        self._queue = FairQueue[asyncio.Future[bool]](
            PLACES if places is None else places, PLACES_OF_ONE if places_of_one is None else places_of_one
        )
        self._is_given = False
        """Whether a step has been chosen to run and is not done, or one will be chosen in the next round."""
        self._spent = 0.0
        self._lines: dict[str, str] = {}
        """The lines of accounts that have come since nobody waited."""

    @property
    def waiting(self) -> int:
        """Returns how many steps wait."""
        return len(self._queue)

    def identify(self, turn: Turn, account_id: str) -> None:
        """Records the account of the request. Requests of one account wait in one line, from all addresses."""
        if len(self._lines) >= PLACES:
            self._lines.clear()
        # Otherwise an account with many addresses would have as many lines, and be served as often as many clients.
        turn.line = self._lines.setdefault(account_id, turn.line)

    @coroutine
    def run(self, turn: Turn, work: Coroutine[Any, None, R]) -> Generator[Any, None, R]:
        """Runs a request, each step of it in turn, and returns its result.

        Sets `turn.refusal` before the first step when too many wait. A request that is cancelled hears of it at once.
        """
        # Inherited by tasks that the request starts, so that their waits count as the request's.
        _latest.set(turn)
        is_begun = gives_way = False
        error: BaseException | None = None
        try:
            while True:
                # A step at once while the loop has time: a queue on an idle server would cost each of them a round.
                # Past SHARE the loop must read its sockets first, or no other client could join the queue.
                if gives_way or self._is_given or self._spent > SHARE:
                    try:
                        yield from self._wait(turn, is_begun=is_begun)
                    except BaseException as cut_off:
                        error = cut_off
                is_begun, began = True, self._clock()
                try:
                    awaited = work.send(None) if error is None else work.throw(error)
                finally:
                    error = None  # It would hold this frame, which holds it.
                    self._spent += self._clock() - began
                gives_way = awaited is None
                # A turn lasts for one step. If a request kept it while it waits for the database, a body or a slow
                # reader, one client could stop all others, and two requests could wait for each other.
                if not gives_way:
                    if turn.has_turn:
                        self._give_after(turn)
                    try:
                        yield awaited
                    except BaseException as failure:
                        error = failure
        except StopIteration as done:
            return done.value
        finally:
            turn.is_over = True
            if turn.has_turn:
                self._give_after(turn)

    def _wait(self, turn: Turn, *, is_begun: bool) -> Generator[Any, None, None]:
        """Waits until the next step is chosen. A refused request is not served."""
        loop = asyncio.get_running_loop()
        given: asyncio.Future[bool] = loop.create_future()
        if is_begun:
            # Ahead of new requests and never displaced: it may hold a connection that others wait for.
            self._queue.rejoin(turn.line, given)
        elif (displaced := self._queue.join(turn.line, given)) is not None and not displaced.done():
            displaced.set_result(False)
        if turn.has_turn:
            self._give_after(turn)
        elif not self._is_given:
            self._is_given = True
            loop.call_soon(self._give)
        try:
            if given.done():
                yield  # Nobody else waits. The loop still gets its round.
            turn.has_turn = yield from given
        except BaseException:
            if not self._queue.leave(turn.line, given) and not given.cancelled() and given.done() and given.result():
                self._give()  # The turn came at the very moment of leaving.
            raise
        if not turn.has_turn:
            turn.refusal = Unavailable("Too many requests wait to be served, in all or of this address.", RETRY_SECONDS)
            # Held back, for the reason at DELAY.
            yield from asyncio.sleep(self._delay).__await__()

    def _give_after(self, turn: Turn) -> None:
        """Chooses the step after that of `turn`."""
        turn.has_turn = False
        self._give()

    def _give(self) -> None:
        """Chooses the next step among those that wait."""
        # The chosen step runs in the loop's next round, which begins by reading the sockets.
        self._spent = 0.0
        while (given := self._queue.next()) is not None:
            if not given.done():
                self._is_given = True
                given.set_result(True)
                return
        self._is_given = False
        self._lines.clear()
