"""The delivery worker: leases endpoints, sends what is due to them, writes down what came of it.

The unit is the endpoint. Whoever holds its lease is alone in sending to it, so that failures in a row are counted
without a race, and one that hangs holds up nobody but itself: what is leased has slots of its own (`slots.py`). No
transaction is open while a request is under way. One transaction at a time records what ended and leases what is due;
whatever ends meanwhile goes with the next.
"""

import asyncio
import contextlib
import random
import uuid
from collections.abc import Callable
from typing import Final

import msgspec

from pressroom.clock import SECOND, Clock
from pressroom.db import Database, Tx
from pressroom.domains.webhooks import slots
from pressroom.domains.webhooks.actions import leasing
from pressroom.domains.webhooks.actions.leasing import Batch, BatchResult, LeasedBatches
from pressroom.domains.webhooks.batch import WIDTH, DeliveryBatch, attempt_of, request_of
from pressroom.domains.webhooks.models import AttemptStatus, Speed
from pressroom.domains.webhooks.queries import leases
from pressroom.domains.webhooks.queries.leases import Outcome, PendingDelivery
from pressroom.domains.webhooks.slots import AT_ONCE, Slot, Slots
from pressroom.errors import Unavailable
from pressroom.logs import Log
from pressroom.outbound import Failure, OutboundClient, OutboundFailed, OutboundResponse

LEASE: Final = 30 * SECOND
"""How long a killed worker's endpoints wait for another one; three times as long as an attempt may take."""

RENEWAL_SECONDS: Final = 10.0
POLL_SECONDS: Final = 1.0
"""How often a worker looks for work that nobody told it of."""

ATTEMPT_SECONDS: Final = 10.0
WATCH_SECONDS: Final = 0.05
"""How often a turn is looked at again that cannot be moved among the slow, or is just about to be."""

LOCKED_SECONDS: Final = 0.02
"""How long to wait for an endpoint that somebody else has locked."""

PAUSE_SECONDS: Final = 0.5
"""How long to wait for a database that is away."""


class Taken(msgspec.Struct):
    """What one look at the database brought: turns to begin, when the next one is due (milliseconds), endpoints that
    were disabled, and turns that could not be ended yet."""

    begun: LeasedBatches
    next_due: int | None
    disabled: list[BatchResult]
    postponed: list[BatchResult]


class DeliveryWorker:
    """Delivers until it is stopped. `waits` are the milliseconds between attempts, `jitter` goes from -1 to 1.

    `soon` are the waits of a receiver that asks for short ones; None where that is not heeded.
    """

    def __init__(
        self,
        db: Database,
        client: OutboundClient,
        clock: Clock,
        log: Log,
        waits: list[int],
        soon: list[int] | None = None,
        jitter: Callable[[], float] = lambda: random.uniform(-1, 1),  # noqa: S311  # spreads, protects nothing
    ) -> None:
        self._db = db
        self._client = client
        self._clock = clock
        self._log = log
        self._waits = waits
        self._soon = soon
        self._jitter = jitter
        self._token = uuid.uuid4().hex
        self._wake = db.listen()
        self._stopping = False
        self._drain_seconds = 0.0
        self._slots = Slots()
        self._batches: dict[str, DeliveryBatch] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._outcomes: list[Outcome] = []
        self._ended: list[BatchResult] = []

    async def run(self) -> None:
        """Delivers until `stop`; then finishes what is under way, writes it down and gives the leases back."""
        renewal = asyncio.create_task(self._renew(), name="lease renewal")
        try:
            while not self._stopping:
                await self._wait(await self._look())
            await self._drain()
        finally:
            renewal.cancel()

    def stop(self, seconds: float) -> None:
        """Has `run` begin nothing more and end within so many seconds, give or take a transaction."""
        self._stopping = True
        self._drain_seconds = seconds
        for turn in self._batches.values():
            turn.stopped = True
        self._wake.set()

    async def settle(self) -> None:
        """Delivers all that is due by the clock and returns when that is done: for whoever sets the clock."""
        pause = await self._look()
        while self._tasks or self._ended or self._outcomes:
            await self._wait(pause)
            pause = await self._look()

    async def _wait(self, pause: float) -> None:
        """Waits until there may be more to do, `pause` seconds at most."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0 if self._stopping else pause):
                await self._wake.wait()

    async def _drain(self) -> None:
        if self._tasks:
            _, late = await asyncio.wait(self._tasks.values(), timeout=self._drain_seconds)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)
        try:
            while self._ended or self._outcomes:
                await self._exchange(leasing_too=False)
        except Exception as error:  # nothing more can be done about it here
            self._log.error("deliveries not written down at the stop", error=f"{type(error).__name__}: {error}")

    async def _look(self) -> float:
        """Writes down what has ended and begins what is due; how long to wait for more, in seconds."""
        self._wake.clear()
        try:
            if not self._ended and not self._outcomes:
                now = self._clock.now()
                if not await leases.any_due(self._db, now, [speed for speed in Speed if self._slots.has_room(speed)]):
                    return self._until(await self._db.one(leases.NEXT_DUE, now=now))
            taken = await self._exchange(leasing_too=True)
        except Exception as error:  # a worker that ended would take the whole process with it
            self._log.recurring("deliveries wait for the database", error)
            await asyncio.sleep(PAUSE_SECONDS)
            return 0
        self._begin(taken.begun.turns)
        if len(self._ended) > len(taken.postponed) or taken.begun.more:
            return 0
        return LOCKED_SECONDS if taken.postponed else self._until(taken.next_due)

    def _until(self, due_at: int | None) -> float:
        if due_at is None:
            return POLL_SECONDS
        return max(0.0, min(POLL_SECONDS, (due_at - self._clock.now()) / SECOND))

    async def _exchange(self, *, leasing_too: bool) -> Taken:
        """Writes down what has ended, of turns at most AT_ONCE, and leases endpoints for which there are slots.

        What cannot be written down for want of the database is kept. Anything else that goes wrong is given up: the
        leases run out, and what they were about is delivered again.
        """
        outcomes, self._outcomes = self._outcomes, []
        ended, self._ended = self._ended[:AT_ONCE], self._ended[AT_ONCE:]
        try:
            taken = await self._db.transact(self._record_and_lease, outcomes, ended, leasing_too)
        except Unavailable:
            self._outcomes[:0], self._ended[:0] = outcomes, ended
            raise
        self._ended += taken.postponed
        for turn in taken.disabled:
            reason = turn.standing.disabled_reason
            self._log.warning(
                "webhook endpoint disabled",
                webhook_id=turn.leased.id,
                account_id=turn.leased.account_id,
                reason=reason,
            )
        return taken

    async def _record_and_lease(
        self, tx: Tx, outcomes: list[Outcome], ended: list[BatchResult], leasing_too: bool
    ) -> Taken:
        recorded = await leasing.record(tx, self._token, outcomes, ended)
        begun = LeasedBatches([], more=False)
        if leasing_too:
            begun = await leasing.lease_batches(tx, self._token, tx.now + LEASE, self._slots, WIDTH)
        return Taken(begun, await leases.next_due(tx), recorded.disabled, recorded.postponed)

    def _begin(self, turns: list[Batch]) -> None:
        # A turn that is under way although our own lease had run out, while the database was away, goes on under the
        # new one.
        begun = [
            (
                DeliveryBatch(turn, self._waits, self._jitter(), self._soon),
                self._slots.take(leased.speed, leased.account_id, leased.url),
            )
            for turn in turns
            if (leased := turn.leased).id not in self._batches
        ]
        for turn, slot in begun:
            key = turn.leased.id
            self._slots.widen(slot, turn.width)
            turn.stopped = self._stopping
            self._batches[key] = turn
            self._tasks[key] = asyncio.create_task(self._run_batch(turn, slot), name=f"deliveries to {key}")

    async def _run_batch(self, turn: DeliveryBatch, slot: Slot) -> None:
        self._watch(turn, slot)
        try:
            width = min(turn.width, slot.width)
            if width == 1:
                await self._send_one_by_one(turn)
            else:
                await asyncio.gather(*[self._send_one_by_one(turn) for _ in range(width)])
        finally:
            turn.watch.cancel()
            self._slots.give_back(slot)
            self._ended.append(turn.end(self._clock.now()))
            del self._batches[turn.leased.id], self._tasks[turn.leased.id]
            self._wake.set()

    def _watch(self, turn: DeliveryBatch, slot: Slot) -> None:
        """Moves a turn among the slow once an attempt of it takes too long, so that others have its slots."""
        left = turn.seconds_until_slow()
        if left is not None and left <= 0 and self._slots.slow_down(slot):
            turn.slowed = True
            self._wake.set()
            return
        pause = max(slots.SLOW_SECONDS if left is None else left, WATCH_SECONDS)
        turn.watch = asyncio.get_running_loop().call_later(pause, self._watch, turn, slot)

    async def _send_one_by_one(self, turn: DeliveryBatch) -> None:
        """Sends one delivery after the other, while others send beside it."""
        while not turn.stopped and (waiting := await self._take(turn)) is not None:
            await self._attempt(turn, waiting)

    async def _take(self, turn: DeliveryBatch) -> PendingDelivery | None:
        turn.forget_stale()
        if (waiting := turn.take()) is not None:
            return waiting
        async with turn.filling:
            if (waiting := turn.take()) is not None:
                return waiting
            if room := turn.room():
                try:
                    found = await self._db.read(leasing.refill, turn.leased, self._token, turn.after, room)
                except Exception as error:  # the turn ends; what is in flight beside it is waited for
                    self._log.recurring("deliveries cannot be read", error)
                    turn.stopped = True
                    return None
                turn.fill(found, room)
            return turn.take()

    async def _attempt(self, turn: DeliveryBatch, waiting: PendingDelivery) -> None:
        at = self._clock.now()
        turn.begins(waiting)
        answer: OutboundResponse | None = None
        reason, ours = None, False
        try:
            headers, body = request_of(waiting, self._clock.wall())
            answer = await self._client.request("POST", turn.leased.url, headers, body, seconds=ATTEMPT_SECONDS)
        except OutboundFailed as failed:
            reason, ours = failed.message, failed.kind is Failure.OURS
        except Exception as error:  # one delivery that cannot be sent must not keep the others from it, time and again
            reason, ours = "Something failed here before an answer came.", True
            self._log.recurring("delivery failed here", error)
        attempt = attempt_of(waiting, answer, reason, self._clock, at)
        outcome = turn.ended(waiting, attempt, answer, self._clock.now(), ours=ours)
        if attempt.status is AttemptStatus.FAILED:
            self._log.info(
                "delivery failed",
                webhook_id=waiting.webhook_id,
                account_id=waiting.account_id,
                envelope_id=waiting.envelope_id,
                attempt=attempt.number,
                reason=attempt.error,
            )
        if outcome is not None:
            self._outcomes.append(outcome)
            self._wake.set()

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEWAL_SECONDS)
            # In the order in which queueing locks them, so that no two transactions wait in a circle.
            held = sorted((turn.leased for turn in self._batches.values()), key=lambda each: (each.account_id, each.id))
            if not held:
                continue
            try:
                await self._db.transact(leases.renew_leases, held, token=self._token, until=self._clock.now() + LEASE)
            except Exception as error:  # one renewal that fails must not be the last
                self._log.recurring("leases not renewed", error)
