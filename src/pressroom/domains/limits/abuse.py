"""When a key is revoked because its program does not heed refusals (docs/limits.md#abuse). Pure."""

from collections.abc import Sequence

from pressroom.domains.limits.models import Rates


def is_abuse(refusals: Sequence[int], now: int, rates: Rates) -> bool:
    """Returns whether the latest refusals, at these times (milliseconds), the last at `now`, amount to abuse."""
    return len(refusals) >= rates.abuse_refusals and now - refusals[-rates.abuse_refusals] < rates.abuse_window


def abuse_reason(rates: Rates) -> str:
    """Returns why the key was revoked, for its owner and in the event."""
    return f"{rates.abuse_refusals:,} refused requests within {rates.abuse_window // 1000:,} seconds."
