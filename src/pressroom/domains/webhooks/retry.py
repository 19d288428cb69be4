"""When to try again, and when to give up (docs/webhooks.md#retries). Pure.

The unit is the turn: what was sent to one endpoint from one lease. After its first failure a turn starts nothing
more, so attempts that were in flight at that moment and fail too are the same failure.
"""

from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from typing import Final

import msgspec

from pressroom.clock import DAY, SECOND

ATTEMPTS: Final = 5
"""Attempts of one delivery, and failures in a row that disable an endpoint."""

JITTER: Final = 0.1
"""Waits are longer or shorter by up to this part, so that endpoints that failed together do not return together."""

LONGEST_WAIT: Final = DAY
"""The most that a receiver's Retry-After can put off the next attempt, in milliseconds."""

GONE: Final = 410


def wait_after(failures: int, waits: Sequence[int], jitter: float) -> int:
    """Milliseconds until the next attempt after so many failures in a row; `jitter` from -1 to 1."""
    return round(waits[min(failures, len(waits)) - 1] * (1 + JITTER * jitter))


def retry_after(header: str, now: int) -> int:
    """What a receiver's Retry-After asks for, in milliseconds from `now`; 0 when it makes no sense."""
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


class EndpointHealth(msgspec.Struct, frozen=True):
    """How an endpoint stands: failures in a row, and until when (milliseconds) all but a probe wait.

    `disabled_reason` is set when it has just been disabled.
    """

    failures: int
    probe_at: int | None = None
    disabled_reason: str | None = None


class AttemptResult(msgspec.Struct, frozen=True):
    """How one attempt of a turn ended. `asked` is the time in milliseconds that the receiver asked to be left alone."""

    succeeded: bool
    gone: bool = False
    asked: int = 0


def health_after(
    before: EndpointHealth, endings: Sequence[AttemptResult], now: int, waits: Sequence[int], jitter: float
) -> EndpointHealth:
    """How an endpoint stands at `now` after a turn, its attempts in the order in which they ended.

    `waits` are the milliseconds between attempts, `jitter` goes from -1 to 1.
    """
    if not endings:
        return before
    if any(ending.gone for ending in endings):
        return EndpointHealth(before.failures + 1, None, "The endpoint answered 410 Gone.")
    if endings[-1].succeeded:
        return EndpointHealth(0)
    failures = 1 if any(ending.succeeded for ending in endings) else before.failures + 1
    if failures >= ATTEMPTS:
        return EndpointHealth(failures, None, f"{ATTEMPTS} deliveries in a row failed.")
    asked = max(ending.asked for ending in endings)
    return EndpointHealth(failures, now + max(wait_after(failures, waits, jitter), asked))
