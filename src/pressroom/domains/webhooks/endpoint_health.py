"""When an endpoint is probed, and when it is disabled (docs/webhooks.md#retries). Pure.

The unit is the batch: what was sent to one endpoint under one lease. After its first failure a batch sends nothing
more, so attempts that were in flight at that moment and fail too count as the same failure.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from pressroom.domains.webhooks.retry import wait_after

MOST_FAILURES: Final = 5
"""Failures in a row that disable an endpoint."""

GONE: Final = 410
"""The status with which an endpoint says that it is gone: it is disabled at once."""


class EndpointHealth(msgspec.Struct, frozen=True):
    """How many failures in a row an endpoint has had, and when the next probe is (milliseconds), for which all waits.

    `disabled_reason` is set when it has just been disabled.
    """

    failures: int
    probe_at: int | None = None
    disabled_reason: str | None = None


class AttemptResult(msgspec.Struct, frozen=True):
    """How one attempt of a batch ended. `asked`: for how many milliseconds the receiver asked to be left alone."""

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
    failures = 1 if any(attempt.succeeded for attempt in attempts) else before.failures + 1
    if failures >= MOST_FAILURES:
        return EndpointHealth(failures, None, f"{MOST_FAILURES} deliveries in a row failed.")
    asked = max(attempt.asked for attempt in attempts)
    return EndpointHealth(failures, now + max(wait_after(failures, waits, jitter), asked))
