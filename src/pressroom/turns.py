"""Turns on the event loop: requests are run by steps, their clients in turn (docs/architecture.md#fairness)."""

import asyncio
import math
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

FORGIVEN: Final = 0.5
"""The part of the time by which the use of each client decreases. Who uses more of the event loop rests at times."""

MOST_USED: Final = 0.01
"""Seconds of use that count at the most. One long step must not have its client rest for as long."""

COMPANY_SECONDS: Final = 0.1
"""Seconds for which a client counts as present after its latest step."""

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


class LoopUse:
    """The recent use of the event loop by each client: the seconds of its steps, less a part of the time since.

    Args:
        little: The use, in seconds, up to which the steps of a client do not wait, and it does not rest.
        company: For how many seconds another client counts as present after its latest step.
    """

    def __init__(self, little: float = SHARE, company: float = COMPANY_SECONDS) -> None:
        self._little = little
        self._company = company
        self._used: dict[str, tuple[float, float]] = {}
        self._latest = ""
        self._changed_at = -math.inf

    def add(self, line: str, seconds: float, now: float) -> None:
        """Notes a step of a client that took so many seconds until `now`."""
        if len(self._used) >= PLACES:
            self._used.clear()
        self._used[line] = (min(MOST_USED, self._of(line, now) + seconds), now)
        if line != self._latest:
            self._latest, self._changed_at = line, now

    def is_little(self, line: str, now: float) -> bool:
        """Returns whether a client has used so little that its steps need not wait."""
        return self._of(line, now) <= self._little

    def rest_of(self, line: str, now: float) -> float:
        """Returns for how many seconds a client rests before its next step, when no other's steps wait."""
        if now - self._changed_at >= self._company or self.is_little(line, now):
            return 0.0
        return self._of(line, now) / FORGIVEN

    def _of(self, line: str, now: float) -> float:
        used, at = self._used.get(line, (0.0, now))
        return max(0.0, used - (now - at) * FORGIVEN)


class Turns:
    """Runs requests by steps: the code between two awaits, or until it gives way by `asyncio.sleep(0)`.

    While the loop has time, a step is run at once, and so is one of a client that has used little of it. Otherwise it
    waits in a queue that is fair to clients, from which one step is taken in each round of the loop. So a step waits
    for one of each other client, however many requests each of them has. A client whose steps alone wait rests in
    between while others come: they find the loop free half of the time. Nothing is held from one step to the next: a
    request that waits for the database or for a slow reader keeps nobody waiting, and no two requests can wait for each
    other.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.perf_counter,
        *,
        places: int | None = None,
        places_of_one: int | None = None,
        delay: float | None = None,
        use: LoopUse | None = None,
    ) -> None:
        self._clock = clock
        self._delay = DELAY if delay is None else delay
        self._queue = FairQueue[asyncio.Future[bool]](
            PLACES if places is None else places, PLACES_OF_ONE if places_of_one is None else places_of_one
        )
        self._is_given = False
        """Whether a step has been chosen to run and is not done, or one will be chosen in the next round."""
        self._spent = 0.0
        self._use = LoopUse() if use is None else use
        self._rest: asyncio.TimerHandle | None = None
        """Ends the rest of the client that has all waiting steps. Meanwhile `_is_given` holds."""
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
                began = self._clock()
                is_busy = self._is_given or self._spent > SHARE
                if gives_way or (is_busy and not self._use.is_little(turn.line, began)):
                    try:
                        yield from self._wait(turn, is_begun=is_begun)
                    except BaseException as cut_off:
                        error = cut_off
                    began = self._clock()
                is_begun = True
                try:
                    awaited = work.send(None) if error is None else work.throw(error)
                finally:
                    error = None  # It would hold this frame, which holds it.
                    ended = self._clock()
                    self._spent += ended - began
                    self._use.add(turn.line, ended - began, ended)
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
        elif self._rest is not None and self._queue.sole_line is None:
            self._rest.cancel()
            self._choose()
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
        """Chooses the next step among those that wait, after a rest of their client when it is only one."""
        line = self._queue.sole_line
        # Without rests, almost each step of another client would find one of this client under way.
        if line is not None and (rest := self._use.rest_of(line, self._clock())):
            self._is_given = True
            self._rest = asyncio.get_running_loop().call_later(rest, self._choose)
        else:
            self._choose()

    def _choose(self) -> None:
        """Chooses the next step among those that wait."""
        self._rest = None
        # The chosen step runs in the loop's next round, which begins by reading the sockets.
        self._spent = 0.0
        while (given := self._queue.next()) is not None:
            if not given.done():
                self._is_given = True
                given.set_result(True)
                return
        self._is_given = False
        self._lines.clear()
