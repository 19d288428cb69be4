"""Retries of a delivery, probes of a failing endpoint, and its end (docs/webhooks.md#retries). Pure.

The waits themselves are a setting, PRESSROOM_WEBHOOK_RETRY_WAITS.

The unit of an endpoint's health is the batch: the deliveries to one endpoint under one lease. After its first failure a
batch sends nothing more, so attempts that were in flight at that moment and fail too count as the same failure.
"""

from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from typing import Final

import msgspec

from pressroom.clock import DAY, SECOND

ATTEMPTS: Final = 5
"""Attempts of one delivery."""

JITTER: Final = 0.1
"""Waits vary by up to this part, so that endpoints that failed together are not tried together."""

LONGEST_WAIT: Final = DAY
"""The longest wait that a receiver's Retry-After can ask for, in milliseconds."""

MOST_FAILURES: Final = 5
"""Failures in a row that disable an endpoint."""

GONE: Final = 410
"""The status of a removed receiver: its endpoint is disabled at once."""


class EndpointHealth(msgspec.Struct, frozen=True):
    """An endpoint's failures in a row, and the time of the next probe (milliseconds), which delays its whole queue.

    `disabled_reason` is set when it has just been disabled.
    """

    failures: int
    probe_at: int | None = None
    disabled_reason: str | None = None


class AttemptResult(msgspec.Struct, frozen=True):
    """The result of one attempt of a batch. `asked`: the wait in milliseconds that the receiver asked for."""

    succeeded: bool
    gone: bool = False
    asked: int = 0


def health_after(
    before: EndpointHealth, attempts: Sequence[AttemptResult], now: int, waits: Sequence[int], jitter: float
) -> EndpointHealth:
    """Returns the health of an endpoint at `now` after a batch, its attempts in the order in which they ended.

    `waits` are the milliseconds between attempts, `jitter` goes from -1 to 1.
    """
    if not attempts:
        return before
    if any(attempt.gone for attempt in attempts):
        return EndpointHealth(before.failures + 1, None, "The endpoint answered 410 Gone.")
    if attempts[-1].succeeded:
        return EndpointHealth(0)
    # A success before the failure ends the row of earlier failures. Failures of one batch count once: they were in
    # flight together, and a short outage would otherwise disable a busy endpoint at once.
    failures = 1 if any(attempt.succeeded for attempt in attempts) else before.failures + 1
    if failures >= MOST_FAILURES:
        return EndpointHealth(failures, None, f"{MOST_FAILURES} deliveries in a row failed.")
    asked = max(attempt.asked for attempt in attempts)
    return EndpointHealth(failures, now + max(wait_after(failures, waits, jitter), asked))


def wait_after(failures: int, waits: Sequence[int], jitter: float) -> int:
    """Returns the milliseconds until the next attempt after so many failures in a row; `jitter` from -1 to 1."""
    return round(waits[min(failures, len(waits)) - 1] * (1 + JITTER * jitter))


def retry_after(header: str, now: int) -> int:
    """Returns the wait of a receiver's Retry-After in milliseconds from `now`; 0 when it cannot be read."""
    text = header.strip()
    if text.isascii() and text.isdigit():
        return min(int(text[:10]) * SECOND, LONGEST_WAIT)
    try:
        moment = parsedate_to_datetime(text[:100])
    except (ValueError, OverflowError, IndexError, TypeError):
        return 0
    if moment.tzinfo is None:
        return 0
    return max(0, min(int(moment.timestamp() * SECOND) - now, LONGEST_WAIT))
