"""The delivery worker: leases endpoints, sends what is due to them, writes down what came of it.

The unit is the endpoint. Whoever holds its lease is alone in sending to it, so that failures in a row are counted
without a race, and one that hangs holds up nobody but itself. No transaction is open while a request is under way.
One transaction at a time records what ended and leases what is due; whatever ends meanwhile goes with the next.
"""

import asyncio
import contextlib
import random
import uuid
from collections.abc import Callable
from typing import Final
from weakref import WeakValueDictionary

import msgspec

from pressroom.clock import SECOND, Clock
from pressroom.db import Database, Tx
from pressroom.domains.webhooks.actions import leasing
from pressroom.domains.webhooks.actions.leasing import Ended, Turn
from pressroom.domains.webhooks.queries import leases
from pressroom.domains.webhooks.queries.leases import Outcome, Waiting
from pressroom.domains.webhooks.turns import WIDTH, TurnUnderWay, attempt_of, request_of
from pressroom.errors import Unavailable
from pressroom.logs import Log
from pressroom.outbound import Answer, Door, Failure, OutboundFailed

ENDPOINTS: Final = 256
"""Endpoints that one worker serves together."""

AT_ONCE: Final = 32
"""Endpoints that are leased in one transaction, so that none is long."""

IN_FLIGHT: Final = 512
"""Requests that one worker has under way together: 64 endpoints may begin to hang at once and hold up nobody."""

OF_ACCOUNT: Final = 64
"""Of those, for the endpoints of one account: slow ones must not crowd out everybody else's."""

LEASE: Final = 30 * SECOND
"""How long a killed worker's endpoints wait for another one; three times as long as an attempt may take."""

RENEWAL_SECONDS: Final = 10.0
POLL_SECONDS: Final = 1.0
"""How often a worker looks for work that nobody told it of."""

ATTEMPT_SECONDS: Final = 10.0
LOCKED_SECONDS: Final = 0.02
"""How long to wait for an endpoint that somebody else has locked."""

PAUSE_SECONDS: Final = 0.5
"""How long to wait for a database that is away."""


class Taken(msgspec.Struct):
    """What one look at the database brought: turns to begin, when the next one is due (milliseconds), endpoints that
    were disabled, and turns that could not be ended yet."""

    turns: list[Turn]
    next_due: int | None
    disabled: list[Ended]
    postponed: list[Ended]


class DeliveryWorker:
    """Delivers until it is stopped. `waits` are the milliseconds between attempts, `jitter` goes from -1 to 1."""

    def __init__(
        self,
        db: Database,
        door: Door,
        clock: Clock,
        log: Log,
        waits: list[int],
        jitter: Callable[[], float] = lambda: random.uniform(-1, 1),  # noqa: S311  # spreads, protects nothing
    ) -> None:
        self._db = db
        self._door = door
        self._clock = clock
        self._log = log
        self._waits = waits
        self._jitter = jitter
        self._token = uuid.uuid4().hex
        self._wake = db.listen()
        self._stopping = False
        self._drain_seconds = 0.0
        self._in_flight = asyncio.Semaphore(IN_FLIGHT)
        self._of_account: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._turns: dict[str, TurnUnderWay] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._outcomes: list[Outcome] = []
        self._ended: list[Ended] = []

    async def run(self) -> None:
        """Delivers until `stop`; then finishes what is under way, writes it down and gives the leases back."""
        renewal = asyncio.create_task(self._renew(), name="lease renewal")
        try:
            while not self._stopping:
                self._wake.clear()
                pause = await self._look()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(0 if self._stopping else pause):
                        await self._wake.wait()
            await self._drain()
        finally:
            renewal.cancel()

    def stop(self, seconds: float) -> None:
        """Has `run` begin nothing more and end within so many seconds, give or take a transaction."""
        self._stopping = True
        self._drain_seconds = seconds
        for turn in self._turns.values():
            turn.stopped = True
        self._wake.set()

    async def settle(self) -> None:
        """Delivers all that is due by the clock and returns when that is done: for whoever sets the clock."""
        await self._look()
        while self._tasks or self._ended or self._outcomes:
            if self._tasks:
                await asyncio.wait(self._tasks.values(), return_when=asyncio.FIRST_COMPLETED)
            await self._look()

    async def _drain(self) -> None:
        if self._tasks:
            _, late = await asyncio.wait(self._tasks.values(), timeout=self._drain_seconds)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)
        try:
            while self._ended or self._outcomes:
                await self._exchange(room=0)
        except Exception as error:  # nothing more can be done about it here
            self._log.event("deliveries not written down at the stop", error=f"{type(error).__name__}: {error}")

    async def _look(self) -> float:
        """Writes down what has ended and begins what is due; how long to wait for more, in seconds."""
        try:
            if not self._ended and not self._outcomes:
                now = self._clock.now()
                if await self._db.one(leases.ANY_DUE, now=now) is None:
                    return self._until(await self._db.one(leases.NEXT_DUE, now=now))
            room = min(AT_ONCE, ENDPOINTS - len(self._turns))
            taken = await self._exchange(room)
        except Exception as error:  # a worker that ended would take the whole process with it
            self._log.event("deliveries wait for the database", error=f"{type(error).__name__}: {error}")
            await asyncio.sleep(PAUSE_SECONDS)
            return 0
        for turn in taken.turns:
            self._begin(turn)
        if len(self._ended) > len(taken.postponed) or (taken.turns and len(taken.turns) == room):
            return 0
        return LOCKED_SECONDS if taken.postponed else self._until(taken.next_due)

    def _until(self, due_at: int | None) -> float:
        if due_at is None:
            return POLL_SECONDS
        return max(0.0, min(POLL_SECONDS, (due_at - self._clock.now()) / SECOND))

    async def _exchange(self, room: int) -> Taken:
        """Writes down what has ended, of turns at most AT_ONCE, and leases up to `room` endpoints.

        What cannot be written down for want of the database is kept. Anything else that goes wrong is given up: the
        leases run out, and what they were about is delivered again.
        """
        outcomes, self._outcomes = self._outcomes, []
        ended, self._ended = self._ended[:AT_ONCE], self._ended[AT_ONCE:]
        try:
            taken = await self._db.transact(self._record_and_lease, outcomes, ended, room)
        except Unavailable:
            self._outcomes[:0], self._ended[:0] = outcomes, ended
            raise
        self._ended += taken.postponed
        for turn in taken.disabled:
            reason = turn.standing.disabled_reason
            self._log.event("webhook endpoint disabled", webhook_id=turn.leased.id, reason=reason)
        return taken

    async def _record_and_lease(self, tx: Tx, outcomes: list[Outcome], ended: list[Ended], room: int) -> Taken:
        recorded = await leasing.record(tx, self._token, outcomes, ended)
        turns = await leasing.begin_turns(tx, self._token, tx.now + LEASE, room, WIDTH) if room else []
        return Taken(turns, await leases.next_due(tx), recorded.disabled, recorded.postponed)

    def _begin(self, turn: Turn) -> None:
        key = turn.leased.id
        if key in self._turns:
            return  # Our own lease ran out while the database was away: the turn goes on under the new one.
        share = self._of_account.setdefault(turn.leased.account_id, asyncio.Semaphore(OF_ACCOUNT))
        under_way = TurnUnderWay(turn, share, self._waits, self._jitter())
        under_way.stopped = self._stopping
        self._turns[key] = under_way
        self._tasks[key] = asyncio.create_task(self._run_turn(under_way), name=f"deliveries to {key}")

    async def _run_turn(self, turn: TurnUnderWay) -> None:
        try:
            lanes = turn.lanes
            if lanes == 1:
                await self._lane(turn)
            else:
                await asyncio.gather(*[self._lane(turn) for _ in range(lanes)])
        finally:
            self._ended.append(turn.end(self._clock.now()))
            del self._turns[turn.leased.id], self._tasks[turn.leased.id]
            self._wake.set()

    async def _lane(self, turn: TurnUnderWay) -> None:
        """Sends one delivery after the other, beside the other lanes."""
        while not turn.stopped:
            async with turn.share, self._in_flight:
                waiting = await self._take(turn)
                if waiting is None:
                    return
                await self._attempt(turn, waiting)

    async def _take(self, turn: TurnUnderWay) -> Waiting | None:
        turn.forget_stale()
        if (waiting := turn.take()) is not None:
            return waiting
        async with turn.filling:
            if (waiting := turn.take()) is not None:
                return waiting
            if room := turn.room():
                try:
                    found = await self._db.read(leasing.refill, turn.leased, self._token, turn.after, room)
                except Exception as error:  # the turn ends; what is in flight in its other lanes is waited for
                    self._log.event("deliveries cannot be read", error=f"{type(error).__name__}: {error}")
                    turn.stopped = True
                    return None
                turn.fill(found, room)
            return turn.take()

    async def _attempt(self, turn: TurnUnderWay, waiting: Waiting) -> None:
        at = self._clock.now()
        answer: Answer | None = None
        reason, ours = None, False
        try:
            headers, body = request_of(waiting, self._clock.wall())
            answer = await self._door.request("POST", turn.leased.url, headers, body, seconds=ATTEMPT_SECONDS)
        except OutboundFailed as failed:
            reason, ours = failed.message, failed.kind is Failure.OURS
        except Exception as error:  # one delivery that cannot be sent must not keep the others from it, time and again
            reason, ours = "Something failed here before an answer came.", True
            self._log.event(
                "delivery failed here", envelope_id=waiting.envelope_id, error=f"{type(error).__name__}: {error}"
            )
        attempt = attempt_of(waiting, answer, reason, self._clock, at)
        outcome = turn.ended(waiting, attempt, answer, self._clock.now(), ours=ours)
        if outcome is not None:
            self._outcomes.append(outcome)
            self._wake.set()

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEWAL_SECONDS)
            # In the order in which queueing locks them, so that no two transactions wait in a circle.
            held = sorted((turn.leased for turn in self._turns.values()), key=lambda each: (each.account_id, each.id))
            if not held:
                continue
            try:
                await self._db.transact(leases.renew_leases, held, token=self._token, until=self._clock.now() + LEASE)
            except Exception as error:  # one renewal that fails must not be the last
                self._log.event("leases not renewed", error=f"{type(error).__name__}: {error}")
