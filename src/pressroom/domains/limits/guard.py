"""What stands before every keyed route: one look at all the windows of the key."""

from typing import Protocol

from pressroom.clock import SECOND, seconds_until
from pressroom.domains.limits.models import Rates, Verdict
from pressroom.errors import RateLimited
from pressroom.settings import Settings
from pressroom.web.asgi import HeaderList


class Limiter(Protocol):
    """Where the windows are kept: in memory or in Redis."""

    rates: Rates

    async def attempt(self, key_id: str, *, is_post: bool, rates: Rates | None = None) -> Verdict:
        """Charges one request of a key and says what the windows make of it.

        With `rates` of its own, `key_id` is the name of something else that is limited.
        """
        ...

    async def peek(self, key_id: str) -> Verdict:
        """The state of the key's minute; charges nothing."""
        ...

    async def flush(self) -> None:
        """Makes what was counted survive a restart."""
        ...

    async def ping(self) -> None:
        """Raises Unavailable when the windows cannot be reached."""
        ...

    async def close(self) -> None:
        """Flushes and lets go."""
        ...


def rates_of(settings: Settings) -> Rates:
    """The rates that the operator set."""
    return Rates(
        per_minute=settings.requests_per_minute,
        per_day=settings.requests_per_day,
        posts_per_minute=settings.posts_per_minute,
        abuse_refusals=settings.abuse_refusals,
        abuse_window=settings.abuse_window_seconds * SECOND,
    )


def session_rates_of(settings: Settings) -> Rates:
    """The rates of what is written signed in."""
    return Rates(
        per_minute=settings.session_writes_per_minute,
        per_day=0,
        posts_per_minute=1,
        abuse_refusals=1,
        abuse_window=0,
        what="writes",
    )


def account_subject(account_id: str) -> str:
    """The name of an account's windows, of which no key has one."""
    return f"account:{account_id}"


def headers_of(verdict: Verdict, rates: Rates) -> HeaderList:
    """The three X-RateLimit headers (docs/limits.md#headers)."""
    return [
        (b"x-ratelimit-limit", b"%d" % rates.per_minute),
        (b"x-ratelimit-remaining", b"%d" % verdict.remaining),
        (b"x-ratelimit-reset", b"%d" % -(-verdict.reset_at // 1000)),
    ]


def check_admitted(verdict: Verdict, rates: Rates) -> None:
    """Raises RateLimited, naming the limit that bound, when the windows refused (docs/limits.md#rolling-windows)."""
    if verdict.refused_by is None:
        return
    seconds = seconds_until(verdict.free_at, verdict.now)
    raise RateLimited(
        f"The limit of {rates.sentence(verdict.refused_by)} is reached; try again in {seconds} s, not before.",
        seconds,
    )
