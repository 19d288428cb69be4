"""The delivery worker: leases endpoints, sends their due deliveries and saves the results.

The unit is the endpoint (docs/architecture.md#events-and-deliveries). Its lease makes one worker the only one that
sends to it, so failures in a row are counted without a race, and an endpoint that hangs delays nobody else: slots
(`slots.py`) see to that. No transaction is open while a request is under way. One transaction at a time saves the
results of finished batches and leases due endpoints; batches that end meanwhile go with the next one.
"""

import asyncio
import random
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec

from pressroom import metrics, tracing
from pressroom.clock import SECOND, Clock
from pressroom.db import Database, Tx
from pressroom.domains.webhooks import slots
from pressroom.domains.webhooks.actions import leasing
from pressroom.domains.webhooks.actions.leasing import Lease, LeaseResult, Leases
from pressroom.domains.webhooks.attempts import attempt_of, request_of
from pressroom.domains.webhooks.batch import WIDTH, Batch
from pressroom.domains.webhooks.models import AttemptStatus, Speed, State
from pressroom.domains.webhooks.queries import leases
from pressroom.domains.webhooks.queries.leases import DeliveryOutcome, PendingDelivery
from pressroom.domains.webhooks.slots import AT_ONCE, Slot, Slots
from pressroom.errors import Unavailable
from pressroom.jobs.lease_loop import LOCKED_SECONDS, LeaseLoop, Look, pause_until
from pressroom.logs import Log
from pressroom.outbound import Failure, OutboundClient, OutboundFailed, OutboundResponse

LEASE: Final = 30 * SECOND
"""How long the endpoints of a killed worker wait for another one; three times as long as an attempt may take."""

ATTEMPT_SECONDS: Final = 10.0
WATCH_SECONDS: Final = 0.05
"""How often it is looked again whether a batch is slow that could not be moved among the slow, or nearly is."""


class Round(msgspec.Struct):
    """The result of one round of the worker, which is one transaction.

    leased: batches to begin. next_due: when the next endpoint is due (milliseconds). disabled: results that disabled
    their endpoint. postponed: results that could not be saved yet.
    """

    leased: Leases
    next_due: int | None
    disabled: list[LeaseResult]
    postponed: list[LeaseResult]


class DeliveryWorker:
    """Delivers until it is stopped.

    waits: milliseconds between attempts. soon: the waits of a receiver that asks for short ones; None where that is
    not allowed. jitter: returns a number from -1 to 1. concurrency: requests under way at once at most; None: the
    number of `slots`.
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
        concurrency: int | None = None,
    ) -> None:
        self._db = db
        self._client = client
        self._clock = clock
        self._log = log
        self._waits = waits
        self._soon = soon
        self._jitter = jitter
        self._slots = Slots(concurrency)
        self._outcomes: list[DeliveryOutcome] = []
        self._results: list[LeaseResult] = []
        self._loop = LeaseLoop[Batch](
            "deliveries",
            clock,
            log,
            db.listen(),
            lease=LEASE,
            look=self._look,
            renew=self._renew_leases,
            save=self._save,
        )
        self._token = self._loop.token

    @property
    def token(self) -> str:
        """Returns the token of the leases that this worker holds, as it stands in the rows of endpoints."""
        return self._token

    async def run(self) -> None:
        """Delivers until `stop`; then finishes the requests under way, saves the results and gives the leases back."""
        await self._loop.run()

    def stop(self, seconds: float) -> None:
        """Has `run` begin no further batch and end within so many seconds, give or take a transaction."""
        self._loop.stop(seconds)
        for batch in self._loop.items():
            batch.stopped = True

    async def settle(self) -> None:
        """Delivers all that is due by the clock and returns when that is done. For tests, which set the clock."""
        await self._loop.settle()

    async def _look(self) -> Look:
        """Saves the results of finished batches and begins batches for due endpoints."""
        if not self._results and not self._outcomes:
            now = self._clock.now()
            free = [speed for speed in Speed if self._slots.has_free(speed)]
            if not await leases.any_due(self._db, now, free):
                return Look(began=False, pause=pause_until(await self._db.one(leases.NEXT_DUE, now=now), now))
        done = await self._run_round(lease_too=True)
        began = self._begin(done.leased.leases)
        unsaved = bool(self._results or self._outcomes)
        if len(self._results) > len(done.postponed) or done.leased.more:
            pause = 0.0
        elif done.postponed:
            pause = LOCKED_SECONDS
        else:
            pause = pause_until(done.next_due, self._clock.now())
        return Look(began, unsaved, pause)

    async def _save(self) -> bool:
        """Saves all but the results of endpoints that are locked; returns whether there are such."""
        while self._results or self._outcomes:
            before = len(self._results)
            await self._run_round(lease_too=False)
            if before and len(self._results) == before:
                return True
        return False

    async def _run_round(self, *, lease_too: bool) -> Round:
        """Saves outcomes and at most AT_ONCE results, and leases endpoints for which slots are free.

        While the database is unavailable, results are kept for the next round. After any other failure they are given
        up: the leases run out, and these deliveries are sent again.
        """
        outcomes, self._outcomes = self._outcomes, []
        results, self._results = self._results[:AT_ONCE], self._results[AT_ONCE:]
        try:
            done = await self._db.transact(self._save_and_lease, outcomes, results, lease_too)
        except Unavailable:
            self._outcomes[:0], self._results[:0] = outcomes, results
            raise
        self._results += done.postponed
        _record(outcomes, [result for result in results if result not in done.postponed])
        for result in done.disabled:
            self._log.warning(
                "webhook endpoint disabled",
                webhook_id=result.endpoint.id,
                account_id=result.endpoint.account_id,
                reason=result.health.disabled_reason,
            )
        return done

    async def _save_and_lease(
        self, tx: Tx, outcomes: list[DeliveryOutcome], results: list[LeaseResult], lease_too: bool
    ) -> Round:
        saved = await leasing.save_results(tx, self._token, outcomes, results)
        leased = Leases([], more=False)
        if lease_too:
            # An endpoint leased again while its old result is unsaved would be saved twice, the second time from
            # before the first.
            def is_in_hand(endpoint_id: str) -> bool:
                unsaved = (each.endpoint.id for each in (*saved.postponed, *self._results))
                return self._loop.is_under_way(endpoint_id) or endpoint_id in unsaved

            until = tx.now + LEASE
            leased = await leasing.take_leases(tx, self._token, until, self._slots, WIDTH, is_in_hand)
        return Round(leased, await leases.next_due(tx), saved.disabled, saved.postponed)

    def _begin(self, leased: list[Lease]) -> bool:
        """Begins batches; returns whether there were any."""
        # All take one slot before the first takes more: the first long queue would leave no slot for the others.
        begun: list[tuple[Batch, Slot]] = []
        for each in leased:
            endpoint = each.endpoint
            batch = Batch(each, self._waits, self._jitter(), self._soon)
            begun.append((batch, self._slots.take(endpoint.speed, endpoint.account_id, endpoint.url)))
        for batch, slot in begun:
            key = batch.endpoint.id
            self._slots.widen(slot, batch.width)
            batch.stopped = self._loop.stopping
            self._watch(batch, slot)
            work = self._deliver(batch, min(batch.width, slot.width))
            self._loop.start(key, batch, work, f"deliveries to {key}", partial(self._batch_ended, batch, slot))
        return bool(leased)

    async def _deliver(self, batch: Batch, width: int) -> None:
        if width == 1:
            await self._send_in_turn(batch)
        else:
            await asyncio.gather(*[self._send_in_turn(batch) for _ in range(width)])

    def _batch_ended(self, batch: Batch, slot: Slot) -> None:
        """Frees the slots of a batch and queues its result; the next round saves it and gives the lease back."""
        batch.watch.cancel()
        self._slots.give_back(slot)
        self._results.append(batch.result(self._clock.now()))

    def _watch(self, batch: Batch, slot: Slot) -> None:
        """Moves a batch among the slow once an attempt of it takes too long, so that others get its slots."""
        left = batch.seconds_until_slow()
        if left is not None and left <= 0 and self._slots.slow_down(slot):
            batch.slowed = True
            self._loop.wake.set()
            return
        pause = max(slots.SLOW_SECONDS if left is None else left, WATCH_SECONDS)
        batch.watch = asyncio.get_running_loop().call_later(pause, self._watch, batch, slot)

    async def _send_in_turn(self, batch: Batch) -> None:
        """Sends one delivery after the other, while others of the batch are sent beside them."""
        while not batch.stopped and (delivery := await self._next(batch)) is not None:
            await self._attempt(batch, delivery)

    async def _next(self, batch: Batch) -> PendingDelivery | None:
        """Returns the next delivery to send, read from the database if need be."""
        batch.drop_stale()
        if (delivery := batch.take()) is not None:
            return delivery
        async with batch.filling:
            if (delivery := batch.take()) is not None:
                return delivery
            if wanted := batch.wanted():
                try:
                    found = await self._db.read(leasing.refill, batch.endpoint, self._token, batch.after, wanted)
                except Exception as error:  # the batch ends after the requests in flight
                    self._log.recurring("deliveries cannot be read", error)
                    batch.stopped = True
                    return None
                batch.fill(found, wanted)
            return batch.take()

    async def _attempt(self, batch: Batch, delivery: PendingDelivery) -> None:
        at = self._clock.now()
        batch.attempt_begins(delivery)
        response: OutboundResponse | None = None
        headers: dict[str, str] = {}
        reason, cause, ours = None, None, False
        try:
            headers, body = request_of(delivery, self._clock.wall())
            with tracing.delivering(delivery.trace, delivery.event_type, headers):
                url = batch.endpoint.url
                response = await self._client.request("POST", url, headers, body, seconds=ATTEMPT_SECONDS)
                tracing.answered(response.status)
        except OutboundFailed as failed:
            reason, cause, ours = failed.message, failed.cause, failed.kind is Failure.OURS
        except Exception as error:  # a delivery that cannot be sent must not keep the others from being sent for ever
            reason, ours = "Something failed here before an answer came.", True
            self._log.recurring("delivery failed here", error)
        ended_at = self._clock.now()
        attempt = attempt_of(delivery, headers, response, reason, at, ended_at)
        outcome = batch.attempt_ended(delivery, attempt, response, ended_at, ours=ours)
        if attempt.status is AttemptStatus.FAILED:
            self._log.info(
                "delivery failed",
                webhook_id=delivery.webhook_id,
                account_id=delivery.account_id,
                envelope_id=delivery.envelope_id,
                attempt=attempt.number,
                reason=cause or attempt.error,
            )
        if outcome is not None:
            self._outcomes.append(outcome)
            self._loop.wake.set()

    async def _renew_leases(self, batches: list[Batch], token: str, until: int) -> None:
        # In the order in which queueing locks them, so that no two transactions wait in a circle.
        held = sorted((batch.endpoint for batch in batches), key=lambda each: (each.account_id, each.id))
        await self._db.transact(leases.renew_leases, held, token=token, until=until)


OUTCOMES: Final = {State.DELIVERED: "delivered", State.PENDING: "retried", State.FAILED: "given_up"}


def _record(outcomes: list[DeliveryOutcome], results: list[LeaseResult]) -> None:
    """Counts attempts whose outcomes have been saved."""
    if metrics.recorder is None:
        return
    for outcome in [*outcomes, *(outcome for result in results for outcome in result.outcomes)]:
        metrics.recorder.delivery(OUTCOMES[outcome.state])
