"""Checks the rate limits before a route runs: one attempt counts in all windows of its key."""

from typing import Protocol

from pressroom import metrics
from pressroom.clock import DAY, MINUTE, SECOND, seconds_until
from pressroom.domains.limits.models import Left, Rates, Verdict
from pressroom.errors import Limit, RateLimited
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

    async def peek(self, key_id: str, *, is_post: bool) -> Verdict:
        """Returns the state of the key's windows; charges nothing."""
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
        minute_limit=Limit.SESSION_WRITES_PER_MINUTE,
    )


def account_subject(account_id: str) -> str:
    """Returns the name of an account's windows. It differs from every key's id."""
    return f"account:{account_id}"


class RateHeaders:
    """Makes the header fields that tell the state of a key's limits (docs/limits.md#headers).

    Args:
        rates: The limits of every key.
        content_per_day: Posts, clips and bounces of an account by key per UTC day.
    """

    def __init__(self, rates: Rates, content_per_day: int) -> None:
        self._limit = (b"x-ratelimit-limit", b"%d" % rates.per_minute)
        self._policies = {
            (is_post, spends_content): (b"ratelimit-policy", _policy(rates, content_per_day, is_post, spends_content))
            for is_post in (False, True)
            for spends_content in (False, True)
        }

    def of(self, verdict: Verdict, *, is_post: bool, spends_content: bool) -> HeaderList:
        """Returns the X-RateLimit headers and the fields RateLimit-Policy and RateLimit of a response."""
        now, remaining = verdict.now, b"%d" % verdict.remaining
        state = b'"requests_per_minute";r=%b;t=%d, "requests_per_day";r=%d;t=%d' % (
            remaining,
            (verdict.reset_at - now + 999) // SECOND,
            verdict.day_remaining,
            (verdict.day_frees_at - now + 999) // SECOND,
        )
        if is_post:
            posts = (verdict.posts_remaining, (verdict.posts_frees_at - now + 999) // SECOND)
            state += b', "posts_per_minute";r=%d;t=%d' % posts
        return [
            self._limit,
            (b"x-ratelimit-remaining", remaining),
            (b"x-ratelimit-reset", b"%d" % ((verdict.reset_at + 999) // SECOND)),
            self._policies[is_post, spends_content],
            (b"ratelimit", state),
        ]


def _policy(rates: Rates, content_per_day: int, is_post: bool, spends_content: bool) -> bytes:
    """Returns RateLimit-Policy for a route that counts as a post and spends the content quota, or not."""
    limits = [
        (Limit.REQUESTS_PER_MINUTE, rates.per_minute, MINUTE),
        (Limit.REQUESTS_PER_DAY, rates.per_day, DAY),
    ]
    if is_post:
        limits.append((Limit.POSTS_PER_MINUTE, rates.posts_per_minute, MINUTE))
    if spends_content:
        limits.append((Limit.CONTENT_PER_DAY, content_per_day, DAY))
    return ", ".join(f'"{limit}";q={most};w={window // SECOND}' for limit, most, window in limits).encode()


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
        rates.name(verdict.refused_by),
    )
