"""Checks the rate limits before a route runs: one attempt counts in all windows of its key."""

from typing import Final, NamedTuple, Protocol

from pressroom import metrics
from pressroom.clock import DAY, MINUTE, SECOND, seconds_until
from pressroom.domains.limits.models import Left, Rates, Verdict
from pressroom.errors import Limit, RateLimited
from pressroom.settings import Settings
from pressroom.web.asgi import HeaderList

DIGITS: Final = 4_096
"""Numbers whose digits are kept."""


class Spent(NamedTuple):
    """The limits that a request spends besides requests: posts per minute, content per day."""

    is_post: bool = False
    is_content: bool = False


class Limiter(Protocol):
    """Counts requests in rolling windows, in memory or in Redis (docs/limits.md#storage-of-counts)."""

    rates: Rates

    async def attempt(self, key_id: str, *, is_post: bool, rates: Rates | None = None) -> Verdict:
        """Charges one request of a key and returns whether the windows admit it.

        Args:
            key_id: The key, or something else that is limited, such as an account.
            is_post: Whether the limit of posts applies as well.
            rates: The limits, where they are not those of every key.
        """
        ...

    async def peek(self, key_id: str, *, is_post: bool, rates: Rates | None = None) -> Verdict:
        """Returns the state of the key's windows; charges nothing."""
        ...

    async def look(self, key_id: str, rates: Rates | None = None) -> tuple[Left, Left]:
        """Returns the remaining requests of the key's minute and 24 hours; charges nothing."""
        ...

    async def flush(self) -> None:
        """Saves the counts for the next start."""
        ...

    async def ping(self) -> str | None:
        """Returns a notice for the operator while some requests cannot be counted. Raises Unavailable if none can."""
        ...

    async def close(self) -> None:
        """Saves the counts and releases the limiter's resources."""
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


class _Digits(dict[int, bytes]):
    """Numbers as they are sent. They repeat from request to request, and to format one costs more than to find it."""

    def __missing__(self, number: int) -> bytes:
        # Emptied as a whole: to track which number was used last would cost more than to format it.
        if len(self) >= DIGITS:
            self.clear()
        text = self[number] = b"%d" % number
        return text


class RateHeaders:
    """Makes the header fields that tell the state of a key's limits (docs/limits.md#headers).

    Args:
        rates: The limits of every key.
        content_per_day: Posts, clips and bounces of an account by key per UTC day.
    """

    def __init__(self, rates: Rates, content_per_day: int) -> None:
        self._limit = (b"x-ratelimit-limit", b"%d" % rates.per_minute)
        self._policies = {
            Spent(is_post, is_content): (b"ratelimit-policy", _policy(rates, content_per_day, is_post, is_content))
            for is_post in (False, True)
            for is_content in (False, True)
        }
        self._digits = _Digits()

    def of(self, verdict: Verdict, spent: Spent) -> HeaderList:
        """Returns the X-RateLimit headers and the fields RateLimit-Policy and RateLimit of a response."""
        now, digits = verdict.now - 999, self._digits  # so that seconds are rounded up
        remaining = digits[verdict.remaining]
        state = b'"requests_per_minute";r=%b;t=%b, "requests_per_day";r=%d;t=%b' % (
            remaining,
            digits[(verdict.reset_at - now) // 1000],
            verdict.day_remaining,
            digits[(verdict.day_frees_at - now) // 1000],
        )
        # Without the rest of the day's content: only the write's transaction knows it, and reading it would cost every
        # request one more statement.
        if spent.is_post:
            posts = (verdict.posts_remaining, (verdict.posts_frees_at - now) // 1000)
            state += b', "posts_per_minute";r=%d;t=%d' % posts
        return [
            self._limit,
            (b"x-ratelimit-remaining", remaining),
            (b"x-ratelimit-reset", digits[(verdict.reset_at + 999) // 1000]),
            self._policies[spent],
            (b"ratelimit", state),
        ]


def _policy(rates: Rates, content_per_day: int, is_post: bool, is_content: bool) -> bytes:
    """Returns RateLimit-Policy for a route that counts as a post and spends the content quota, or not."""
    limits = [
        (Limit.REQUESTS_PER_MINUTE, rates.per_minute, MINUTE),
        (Limit.REQUESTS_PER_DAY, rates.per_day, DAY),
    ]
    if is_post:
        limits.append((Limit.POSTS_PER_MINUTE, rates.posts_per_minute, MINUTE))
    if is_content:
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
