"""One batch: the deliveries to one endpoint under one lease, at most 8 of them in flight."""

import asyncio
import time
from collections import deque
from typing import Final

from pressroom.domains.events.models import EventType
from pressroom.domains.webhooks import slots
from pressroom.domains.webhooks.actions.leasing import Lease, LeaseResult
from pressroom.domains.webhooks.attempts import code_class, with_attempt
from pressroom.domains.webhooks.models import AttemptRecord, AttemptStatus, Endpoint, Speed, State
from pressroom.domains.webhooks.queries.leases import DeliveryOutcome, PendingDelivery
from pressroom.domains.webhooks.retries import (
    ATTEMPTS,
    GONE,
    MOST_FAILURES,
    AttemptResult,
    EndpointHealth,
    health_after,
    retry_after,
    wait_after,
)
from pressroom.outbound import OutboundResponse

WIDTH: Final = 8
"""Deliveries to one endpoint that are in flight together."""

LENGTH: Final = 64
"""Deliveries of one batch at the most; then other endpoints have their batches."""

BATCH_SECONDS: Final = 1.0
"""After this a batch sends nothing more, however little it has sent: slow endpoints must not keep others' slots."""

FRESH_SECONDS: Final = 0.1
"""How long a delivery that was read may wait to be sent before it is read again."""

RETRY_SOON: Final = "x-service-retry-soon"
"""The header by which `pressroom listen --fail` asks for short waits; only development mode obeys it."""


class Batch:
    """A batch under way. Deliveries are taken one by one until one fails, the batch is long or nothing is due."""

    def __init__(self, lease: Lease, waits: list[int], jitter: float, soon: list[int] | None = None) -> None:
        self.endpoint: Final[Endpoint] = lease.endpoint
        self.slowed = False
        """Whether it was moved to the pool of slow endpoints."""

        self.watch: asyncio.Handle
        """The timer that looks whether it is to be moved there."""

        self.stopped = False
        self.filling = asyncio.Lock()
        self.after = ""
        """The event of the delivery that was taken last."""

        self._most = len(lease.pending) if lease.probing else LENGTH
        self._taken = 0
        self._dry = lease.probing or len(lease.pending) < WIDTH
        self._buffer = deque([*lease.tests, *lease.pending])
        self._began = self._read_at = time.monotonic()
        self._probing = lease.probing
        self._waits = waits
        self._soon = soon
        self._jitter = jitter
        self._attempts: list[AttemptResult] = []
        self._unsaved: list[DeliveryOutcome] = []
        self._ours = False
        self._recovered = False
        self._under_way: dict[str, float] = {}
        self._longest: float | None = None

    @property
    def width(self) -> int:
        """How many deliveries it would have in flight together."""
        return min(WIDTH, len(self._buffer)) if self._dry else WIDTH

    def attempt_begins(self, delivery: PendingDelivery) -> None:
        """Records the start of an attempt."""
        self._under_way[delivery.envelope_id] = time.monotonic()

    def seconds_until_slow(self) -> float | None:
        """Returns the seconds until the oldest attempt under way is slow, 0 or less if it is; None if there is none."""
        began = next(iter(self._under_way.values()), None)
        return None if began is None else slots.SLOW_SECONDS - (time.monotonic() - began)

    def drop_stale(self) -> None:
        """Drops deliveries that were read more than FRESH_SECONDS ago."""
        # Meanwhile the endpoint may have been removed, paused or given another secret: a stale delivery would still go
        # to it, or with the old signature.
        if self._buffer and time.monotonic() - self._read_at > FRESH_SECONDS:
            self._buffer.clear()
            self._dry = False

    def take(self) -> PendingDelivery | None:
        """Returns the next delivery of the buffer; None when it is empty or the batch is over."""
        if self.stopped or not self._buffer or self._is_long:
            return None
        delivery = self._buffer.popleft()
        if delivery.event_type != EventType.WEBHOOK_TEST:
            self._taken += 1
            self.after = delivery.event_id
        return delivery

    def wanted(self) -> int:
        """Returns how many deliveries to read; 0 when none are left or none may be sent."""
        return 0 if self.stopped or self._dry or self._is_long else min(WIDTH, self._most - self._taken)

    def fill(self, found: list[PendingDelivery], asked: int) -> None:
        """Adds deliveries that were read; `asked` is the limit of that query."""
        self._buffer.extend(found)
        self._dry = len(found) < asked
        self._read_at = time.monotonic()

    def attempt_ended(
        self,
        delivery: PendingDelivery,
        attempt: AttemptRecord,
        response: OutboundResponse | None,
        now: int,
        *,
        ours: bool,
    ) -> DeliveryOutcome | None:
        """Records the end of an attempt at `now`; returns the outcome that can be saved before the batch ends.

        A failure that is `ours` is not the receiver's: it spends no try and does not count against the endpoint.
        """
        succeeded = attempt.status is AttemptStatus.SUCCEEDED
        if self._soon and response and RETRY_SOON in response.headers:
            self._waits = self._soon
        is_test = delivery.event_type == EventType.WEBHOOK_TEST
        asked = retry_after(response.headers.get("retry-after", ""), now) if response and not succeeded else 0
        gone = response is not None and response.status == GONE
        outcome = self._outcome(delivery, attempt, now, asked, is_final=is_test or gone, ours=ours)
        took = time.monotonic() - self._under_way.pop(delivery.envelope_id)
        self._longest = self._longest if ours else max(self._longest or 0.0, took)
        if ours:
            self._ours = True
        elif not is_test:
            self._attempts.append(AttemptResult(succeeded, gone, asked))
        # The latest result counts: a probe that fails after a successful test shows that the endpoint still fails, and
        # bringing its queue forward would spend a try of each delivery.
        self._recovered = succeeded and (is_test or self._recovered)
        if is_test or (succeeded and not self._probing):
            return outcome
        # Saved with the endpoint's health: a probe that succeeded and was saved alone would leave the endpoint failing,
        # with nothing left to probe it by, if this worker were killed before the batch ends.
        self.stopped = self.stopped or not succeeded
        self._unsaved.append(outcome)
        return None

    def _outcome(
        self, delivery: PendingDelivery, attempt: AttemptRecord, now: int, asked: int, *, is_final: bool, ours: bool
    ) -> DeliveryOutcome:
        """Returns the outcome of an attempt; the next try waits as scheduled, or the longer `asked` (milliseconds)."""
        succeeded = attempt.status is AttemptStatus.SUCCEEDED
        # A failure here, such as a full disk, would otherwise disable the endpoints of all accounts together.
        tries = delivery.tries if ours else delivery.tries + 1
        final = succeeded or is_final or tries >= ATTEMPTS
        state = State.DELIVERED if succeeded else State.FAILED if final else State.PENDING
        due_at = now
        if not final:
            due_at += self._pause() if ours else max(wait_after(tries, self._waits, self._jitter), asked)
        return DeliveryOutcome(
            account_id=delivery.account_id,
            webhook_id=delivery.webhook_id,
            event_id=delivery.event_id,
            state=state,
            tries=tries,
            attempts=with_attempt(delivery.attempts, attempt),
            due_at=due_at,
            finished_at=None if state is State.PENDING else now,
            code=code_class(attempt.http_code),
            took=None if ours else attempt.duration_ms,
        )

    def result(self, now: int) -> LeaseResult:
        """Returns the result of the batch, to be saved with the release of its lease."""
        before = EndpointHealth(self.endpoint.consecutive_failures, self.endpoint.probe_at)
        health = health_after(before, self._attempts, now, self._waits, self._jitter)
        if health.failures >= MOST_FAILURES and not any(attempt.gone for attempt in self._attempts):
            for outcome in self._unsaved:
                outcome.state, outcome.finished_at = State.FAILED, now
        if self._ours and health.disabled_reason is None:
            health = EndpointHealth(health.failures, max(health.probe_at or 0, now + self._pause()))
        healthy = health.probe_at is None
        return LeaseResult(
            self.endpoint,
            health,
            self._unsaved,
            more=healthy and (self._probing or not self._dry),
            speed=Speed.SLOW if self.slowed else slots.speed_after(self.endpoint.speed, self._longest),
            recovered=self._recovered,
        )

    @property
    def _is_long(self) -> bool:
        return time.monotonic() - self._began > BATCH_SECONDS

    def _pause(self) -> int:
        """Returns how long an endpoint is left alone after a failure of ours, in milliseconds."""
        return wait_after(1, self._waits, self._jitter)
