"""One turn: what is sent to one endpoint from one lease, at most 8 deliveries at a time."""

import asyncio
import time
from collections import deque
from typing import Final

import msgspec

from pressroom import __version__
from pressroom.clock import SECOND, Clock, iso
from pressroom.domains.events.models import EventType
from pressroom.domains.webhooks import slots
from pressroom.domains.webhooks.actions.leasing import Batch, BatchResult
from pressroom.domains.webhooks.envelope import envelope
from pressroom.domains.webhooks.models import BODIES, LOGGED, Attempt, AttemptStatus, Speed, State
from pressroom.domains.webhooks.queries.leases import Leased, Outcome, PendingDelivery
from pressroom.domains.webhooks.retry import (
    ATTEMPTS,
    GONE,
    AttemptResult,
    EndpointHealth,
    health_after,
    retry_after,
    wait_after,
)
from pressroom.domains.webhooks.signing import sign
from pressroom.outbound import OutboundResponse

WIDTH: Final = 8
"""Deliveries to one endpoint that are in flight together."""

LENGTH: Final = 64
"""Deliveries of one turn at the most; then others have theirs."""

TURN_SECONDS: Final = 1.0
"""After this a turn begins nothing more, however little it has sent: slow endpoints must not keep places of others."""

FRESH_SECONDS: Final = 0.1
"""How long what was read may wait for its turn to be sent before it is read again."""

RETRY_SOON: Final = "x-service-retry-soon"
"""The header by which `pressroom listen --fail` asks for short waits; heeded in development mode alone."""

_USER_AGENT: Final = f"Pressroom/{__version__}"
_attempts = msgspec.json.Decoder(list[Attempt])
_encoder = msgspec.json.Encoder()


class DeliveryBatch:
    """A turn while it runs. Deliveries are taken one by one, until one fails, the turn is over or nothing is due."""

    def __init__(self, turn: Batch, waits: list[int], jitter: float, soon: list[int] | None = None) -> None:
        self.leased: Final[Leased] = turn.leased
        self.slowed = False
        """Whether it was moved among the slow."""

        self.watch: asyncio.Handle
        """What looks whether it is to be moved there."""

        self.stopped = False
        self.filling = asyncio.Lock()
        self.after = ""
        """The event of the delivery that was taken last."""

        self._most = len(turn.waiting) if turn.probing else LENGTH
        self._taken = 0
        self._dry = turn.probing or len(turn.waiting) < WIDTH
        self._buffer = deque([*turn.tests, *turn.waiting])
        self._began = self._read_at = time.monotonic()
        self._probing = turn.probing
        self._waits = waits
        self._soon = soon
        self._jitter = jitter
        self._endings: list[AttemptResult] = []
        self._failed: list[Outcome] = []
        self._ours = False
        self._under_way: dict[str, float] = {}
        self._longest: float | None = None

    @property
    def width(self) -> int:
        """How many deliveries it would have in flight together."""
        return min(WIDTH, len(self._buffer)) if self._dry else WIDTH

    def begins(self, waiting: PendingDelivery) -> None:
        """Takes note that an attempt begins."""
        self._under_way[waiting.envelope_id] = time.monotonic()

    def seconds_until_slow(self) -> float | None:
        """Seconds until the oldest attempt under way counts as slow, 0 or less when it does; None if there is none."""
        began = next(iter(self._under_way.values()), None)
        return None if began is None else slots.SLOW_SECONDS - (time.monotonic() - began)

    def forget_stale(self) -> None:
        """Forgets what was read a while ago: meanwhile the endpoint may have gone, or got another secret."""
        if self._buffer and time.monotonic() - self._read_at > FRESH_SECONDS:
            self._buffer.clear()
            self._dry = False

    def take(self) -> PendingDelivery | None:
        """The next delivery of those that were read."""
        if self.stopped or not self._buffer or self._is_long:
            return None
        waiting = self._buffer.popleft()
        if waiting.event_type != EventType.WEBHOOK_TEST:
            self._taken += 1
            self.after = waiting.event_id
        return waiting

    def room(self) -> int:
        """How many deliveries are to be read; 0 when there are none, or must not be."""
        return 0 if self.stopped or self._dry or self._is_long else min(WIDTH, self._most - self._taken)

    def fill(self, found: list[PendingDelivery], asked: int) -> None:
        """Takes up what was read when `asked` were asked for."""
        self._buffer.extend(found)
        self._dry = len(found) < asked
        self._read_at = time.monotonic()

    def ended(
        self, waiting: PendingDelivery, attempt: Attempt, answer: OutboundResponse | None, now: int, *, ours: bool
    ) -> Outcome | None:
        """Takes note of how an attempt ended at `now`; what can be written down before the turn ends.

        A failure that is `ours` is not the receiver's: it spends no try, and does not count against the endpoint.
        """
        succeeded = attempt.status is AttemptStatus.SUCCEEDED
        if self._soon and answer and RETRY_SOON in answer.headers:
            self._waits = self._soon
        is_test = waiting.event_type == EventType.WEBHOOK_TEST
        asked = retry_after(answer.headers.get("retry-after", ""), now) if answer and not succeeded else 0
        gone = answer is not None and answer.status == GONE
        tries = waiting.tries if ours else waiting.tries + 1
        if succeeded:
            state, due_at = State.DELIVERED, now
        elif is_test or gone or tries >= ATTEMPTS:
            state, due_at = State.FAILED, now
        elif ours:
            state, due_at = State.PENDING, now + self._pause()
        else:
            state, due_at = State.PENDING, now + max(wait_after(tries, self._waits, self._jitter), asked)
        outcome = Outcome(
            account_id=waiting.account_id,
            webhook_id=waiting.webhook_id,
            event_id=waiting.event_id,
            state=state,
            tries=tries,
            attempts=_with_attempt(waiting.attempts, attempt),
            due_at=due_at,
            finished_at=None if state is State.PENDING else now,
        )
        took = time.monotonic() - self._under_way.pop(waiting.envelope_id)
        self._longest = self._longest if ours else max(self._longest or 0.0, took)
        if ours:
            self._ours = True
        elif not is_test:
            self._endings.append(AttemptResult(succeeded, gone, asked))
        if succeeded or is_test:
            return outcome
        self.stopped = True
        self._failed.append(outcome)
        return None

    def end(self, now: int) -> BatchResult:
        """What the turn came to."""
        before = EndpointHealth(self.leased.consecutive_failures, self.leased.probe_at)
        standing = health_after(before, self._endings, now, self._waits, self._jitter)
        if standing.failures >= ATTEMPTS and not any(ending.gone for ending in self._endings):
            for outcome in self._failed:
                outcome.state, outcome.finished_at = State.FAILED, now
        if self._ours and standing.disabled_reason is None:
            standing = EndpointHealth(standing.failures, max(standing.probe_at or 0, now + self._pause()))
        healthy = standing.probe_at is None
        return BatchResult(
            self.leased,
            standing,
            self._failed,
            more=healthy and (self._probing or not self._dry),
            speed=Speed.SLOW if self.slowed else slots.speed_after(self.leased.speed, self._longest),
        )

    @property
    def _is_long(self) -> bool:
        return time.monotonic() - self._began > TURN_SECONDS

    def _pause(self) -> int:
        """How long an endpoint is left alone after a failure of ours, in milliseconds."""
        return wait_after(1, self._waits, self._jitter)


def request_of(waiting: PendingDelivery, now: int) -> tuple[dict[str, str], bytes]:
    """Headers and body of an attempt at `now` (milliseconds); time and signature are fresh on each."""
    body = envelope(waiting.envelope_id, waiting.event_id, waiting.event_type, waiting.data)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": _USER_AGENT,
        "X-Service-Signature": sign(waiting.secret, now // SECOND, body),
        "X-Service-Event": waiting.event_type,
        "X-Service-Delivery-Id": waiting.envelope_id,
    }
    return headers, body


def attempt_of(
    waiting: PendingDelivery, answer: OutboundResponse | None, error: str | None, clock: Clock, at: int
) -> Attempt:
    """An attempt that began at `at` and has just ended: with an answer, or with the reason why there is none."""
    succeeded = answer is not None and 200 <= answer.status < 300
    return Attempt(
        number=waiting.tries + 1,
        at=iso(at),
        status=AttemptStatus.SUCCEEDED if succeeded else AttemptStatus.FAILED,
        http_code=answer.status if answer else None,
        error=None if succeeded else error or _refusal(answer),
        duration_ms=max(0, clock.now() - at),
        response_body=_text(answer.body) if answer else None,
    )


def _refusal(answer: OutboundResponse | None) -> str | None:
    if answer is None:
        return None
    if 300 <= answer.status < 400:
        return f"The endpoint answered {answer.status}: redirects are not followed. Add the address it leads to."
    return f"The endpoint answered {answer.status}."


def _text(body: bytes) -> str:
    """An answer's beginning as text that every database takes."""
    return body.decode("utf-8", "replace").replace("\x00", "\ufffd")


def _with_attempt(before: str, attempt: Attempt) -> str:
    if before == "[]":
        return _encoder.encode([attempt]).decode()
    earlier = _attempts.decode(before)
    attempt.number = earlier[-1].number + 1
    for old in earlier[: -BODIES + 1]:
        old.response_body = None
    return _encoder.encode([*earlier, attempt][-LOGGED:]).decode()
