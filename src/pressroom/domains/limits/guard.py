"""Checks the rate limits before a route runs: one attempt counts in all windows of its key."""

from typing import Protocol

from pressroom import metrics
from pressroom.clock import SECOND, seconds_until
from pressroom.domains.limits.models import Left, Rates, Verdict
from pressroom.errors import RateLimited
from pressroom.settings import Settings
from pressroom.web.asgi import HeaderList


class Limiter(Protocol):
    """Counts requests in rolling windows, in memory or in Redis (docs/limits.md#where-they-are-kept)."""

    rates: Rates

    async def attempt(self, key_id: str, *, is_post: bool, rates: Rates | None = None) -> Verdict:
        """Charges one request of a key and returns whether the windows admit it.

        With `rates` of its own, `key_id` names something else that is limited, such as an account.
        """
        ...

    async def peek(self, key_id: str) -> Verdict:
        """Returns the state of the key's minute window; charges nothing."""
        ...

    async def look(self, key_id: str) -> tuple[Left, Left]:
        """Returns what is left of the key's minute and 24 hours; charges nothing."""
        ...

    async def flush(self) -> None:
        """Saves what was counted, for the next start."""
        ...

    async def ping(self) -> None:
        """Raises Unavailable while the limiter cannot count."""
        ...

    async def close(self) -> None:
        """Saves what was counted and releases its resources."""
        ...


def rates_of(settings: Settings) -> Rates:
    """Returns the rates of every key, from the settings."""
    return Rates(
        per_minute=settings.requests_per_minute,
        per_day=settings.requests_per_day,
        posts_per_minute=settings.posts_per_minute,
        abuse_refusals=settings.abuse_refusals,
        abuse_window=settings.abuse_window_seconds * SECOND,
    )


def session_rates_of(settings: Settings) -> Rates:
    """Returns the rates of writes by accounts that are signed in, from the settings."""
    return Rates(
        per_minute=settings.session_writes_per_minute,
        per_day=0,
        posts_per_minute=1,
        abuse_refusals=1,
        abuse_window=0,
        what="writes",
    )


def account_subject(account_id: str) -> str:
    """Returns the name of an account's windows. It differs from every key's id."""
    return f"account:{account_id}"


def headers_of(verdict: Verdict, rates: Rates) -> HeaderList:
    """Returns the three X-RateLimit headers (docs/limits.md#headers)."""
    return [
        (b"x-ratelimit-limit", b"%d" % rates.per_minute),
        (b"x-ratelimit-remaining", b"%d" % verdict.remaining),
        (b"x-ratelimit-reset", b"%d" % -(-verdict.reset_at // 1000)),
    ]


def check_admitted(verdict: Verdict, rates: Rates) -> None:
    """Raises RateLimited when the verdict is a refusal, and names the limit (docs/limits.md#rolling-windows)."""
    if metrics.recorder is not None:
        metrics.recorder.verdict(rates.what, verdict.refused_by)
    if verdict.refused_by is None:
        return
    seconds = seconds_until(verdict.free_at, verdict.now)
    raise RateLimited(
        f"The limit of {rates.sentence(verdict.refused_by)} is reached; try again in {seconds} s, not before.",
        seconds,
    )
