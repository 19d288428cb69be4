"""Turns on the event loop: requests are run by steps, their clients in turn (docs/architecture.md#fairness)."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, Final, TypeVar

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


class Turn:
    """One request among those that are taken in turn.

    Attributes:
        line: The client that the request counts as: its address, or another one of its account.
        account_id: The account whose request it was found to be.
        refusal: Why the request is not served; None if it is.
    """

    __slots__ = ("account_id", "line", "refusal")

    def __init__(self, line: str = "") -> None:
        self.line = line
        self.account_id: str | None = None
        self.refusal: Unavailable | None = None


class Turns:
    """Runs requests by steps: what one does between two awaits, or until it gives way by `asyncio.sleep(0)`.

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
        self._accounts: dict[str, tuple[str, int]] = {}
        """Of accounts with requests under way, the line that they wait in, and how many requests there are."""

    @property
    def waiting(self) -> int:
        """Returns how many steps wait."""
        return len(self._queue)

    def identify(self, turn: Turn, account_id: str) -> None:
        """Notes whose request it is. Requests of one account wait in one line, whatever their addresses."""
        turn.line, count = self._accounts.get(account_id, (turn.line, 0))
        turn.account_id = account_id
        self._accounts[account_id] = turn.line, count + 1

    def leave(self, turn: Turn) -> None:
        """Notes that a request is finished."""
        if turn.account_id is None:
            return
        line, count = self._accounts.pop(turn.account_id)
        if count > 1:
            self._accounts[turn.account_id] = line, count - 1

    @coroutine
    def run(self, turn: Turn, work: Coroutine[Any, None, R]) -> Generator[Any, None, R]:
        """Runs a request, each step of it in turn, and returns what it returns.

        Sets `turn.refusal` before the first step when too many wait. A request that is cancelled hears of it at once.
        """
        is_begun = has_turn = gives_way = False
        error: BaseException | None = None
        while True:
            if gives_way or self._is_given or self._spent > SHARE:
                try:
                    has_turn = yield from self._wait(turn, is_begun=is_begun, has_turn=has_turn)
                except GeneratorExit:
                    work.close()
                    raise
                except BaseException as cut_off:
                    error, has_turn = cut_off, False
            is_begun, began = True, self._clock()
            try:
                awaited = work.send(None) if error is None else work.throw(error)
                gives_way = awaited is None
            except StopIteration as done:
                gives_way = False
                return done.value
            except BaseException:
                gives_way = False
                raise
            finally:
                error = None  # It would hold this frame, which holds it.
                self._spent += self._clock() - began
                if has_turn and not gives_way:
                    has_turn = False
                    self._give()
            if not gives_way:
                try:
                    yield awaited
                except GeneratorExit:
                    work.close()
                    raise
                except BaseException as failure:
                    error = failure

    def _wait(self, turn: Turn, *, is_begun: bool, has_turn: bool) -> Generator[Any, None, bool]:
        """Waits until the step is chosen; `has_turn`: after one that was. Returns False for a request that is
        refused: it takes none."""
        loop = asyncio.get_running_loop()
        given: asyncio.Future[bool] = loop.create_future()
        if is_begun:
            self._queue.rejoin(turn.line, given)
        elif (displaced := self._queue.join(turn.line, given)) is not None and not displaced.done():
            displaced.set_result(False)
        if has_turn:
            self._give()
        elif not self._is_given:
            self._is_given = True
            loop.call_soon(self._give)
        try:
            if given.done():
                yield  # Nobody else waits. The loop still gets its round.
            is_served = yield from given
        except BaseException:
            if not self._queue.leave(turn.line, given) and not given.cancelled() and given.done() and given.result():
                self._give()  # The turn came at the very moment of leaving.
            raise
        if not is_served:
            turn.refusal = Unavailable("Too many requests wait to be served, in all or of this address.", RETRY_SECONDS)
            yield from asyncio.sleep(self._delay).__await__()
        return is_served

    def _give(self) -> None:
        """Chooses the next step among those that wait."""
        self._spent = 0.0
        while (given := self._queue.next()) is not None:
            if not given.done():
                self._is_given = True
                given.set_result(True)
                return
        self._is_given = False
