"""When a delivery is tried again (docs/webhooks.md#retries). Pure.

The waits themselves are a setting, PRESSROOM_WEBHOOK_RETRY_WAITS.
"""

from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from typing import Final

from pressroom.clock import DAY, SECOND

ATTEMPTS: Final = 5
"""Attempts of one delivery."""

JITTER: Final = 0.1
"""Waits vary by up to this part, so that endpoints that failed together are not tried together."""

LONGEST_WAIT: Final = DAY
"""The longest wait that a receiver's Retry-After can ask for, in milliseconds."""


def wait_after(failures: int, waits: Sequence[int], jitter: float) -> int:
    """Returns the milliseconds until the next attempt after so many failures in a row; `jitter` from -1 to 1."""
    return round(waits[min(failures, len(waits)) - 1] * (1 + JITTER * jitter))


def retry_after(header: str, now: int) -> int:
    """Returns what a receiver's Retry-After asks for, in milliseconds from `now`; 0 when it cannot be read."""
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
