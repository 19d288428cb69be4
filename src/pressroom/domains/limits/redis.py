"""Rate limits in Redis, shared by all API processes: one call of a script per request."""

import asyncio
import time
from collections.abc import Callable
from importlib.resources import files
from typing import Final, cast

import redis.exceptions
from redis.crc import key_slot

from pressroom.clock import DAY, MINUTE, Clock
from pressroom.domains.limits.models import Left, Rates, Verdict
from pressroom.domains.limits.redis_connection import open_redis
from pressroom.domains.limits.redis_script import RedisScript
from pressroom.errors import Unavailable
from pressroom.settings.addresses import RedisKind, parse_redis

AT_ONCE: Final = 64
"""Calls under way; more wait, and fail when their time is over."""

PAUSE: Final = 0.1
"""Seconds between two calls while Redis is away: all others are refused at once, without a connection."""


class RedisLimiter:
    """The limiter of several API processes. It uses the clock of Redis, because those of the machines may differ.

    Methods raise Unavailable while Redis is away: without it nothing can be counted (docs/operations.md#redis).

    Args:
        rates: The limits of every key.
        url: Where Redis is, as in PRESSROOM_REDIS_URL.
        timeout: Seconds that a call may take in all.
        clock: Replaces the clock of Redis, in tests.
        monotonic: Returns seconds that never run backwards.
        installation: Its name, which begins each key in Redis (docs/operations.md#several-installations).
    """

    def __init__(
        self,
        rates: Rates,
        url: str,
        timeout: float,
        clock: Clock | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        installation: str = "pressroom",
    ) -> None:
        self.rates = rates
        self._timeout = timeout
        self._clock = clock
        self._monotonic = monotonic
        address = parse_redis(url)
        self._redis = open_redis(address, timeout / max(1, len(address.nodes)))
        text = (files("pressroom.domains.limits") / "windows.lua").read_text("utf-8")
        self._script = RedisScript(self._redis, text)
        self._installation = installation
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._is_cluster = address.kind is RedisKind.CLUSTER
        self._try_at: dict[int, float] = {}
        """The time of the next call to an unavailable node, by hash slot of a cluster, else by 0."""

    async def attempt(self, key_id: str, *, is_post: bool, rates: Rates | None = None) -> Verdict:
        """Charges one request of a key, or of something else with its own `rates`, and returns the verdict."""
        return await self._call(key_id, rates or self.rates, is_post=is_post, charge=True)

    async def peek(self, key_id: str, *, is_post: bool, rates: Rates | None = None) -> Verdict:
        """Returns the state of the key's windows; charges nothing."""
        return await self._call(key_id, rates or self.rates, is_post=is_post, charge=False)

    async def look(self, key_id: str, rates: Rates | None = None) -> tuple[Left, Left]:
        """Returns the remaining requests of the key's minute and 24 hours; charges nothing."""
        rates = rates or self.rates
        answer = await self._run(key_id, rates, is_post=False, charge=False)
        used, reset_at, total, first = int(answer[1]), int(answer[2]), int(answer[6]), int(answer[7])
        return (
            Left(rates.per_minute, max(0, rates.per_minute - used), reset_at if used else None),
            Left(rates.per_day, max(0, rates.per_day - total), (first + 1) * MINUTE + DAY if first >= 0 else None),
        )

    async def flush(self) -> None:
        """Does nothing: the counts are in Redis."""

    async def ping(self) -> str | None:
        """Raises Unavailable when Redis does not count. Returns None."""
        await self._run("ping", self.rates, is_post=False, charge=False)
        return None

    async def close(self) -> None:
        """Closes the connections."""
        await self._redis.aclose()

    async def _call(self, key_id: str, rates: Rates, *, is_post: bool, charge: bool) -> Verdict:
        answer = await self._run(key_id, rates, is_post=is_post, charge=charge)
        now, used, reset_at, refused_by, free_at, abused, total, _, day_frees_at, posts, posts_free_at = answer
        return Verdict(
            int(now),
            max(0, rates.per_minute - int(used)),
            int(reset_at),
            max(0, rates.per_day - int(total)),
            int(day_frees_at),
            max(0, rates.posts_per_minute - int(posts)) if is_post else 0,
            int(posts_free_at),
            cast("bytes", refused_by).decode() or None,
            int(free_at),
            bool(abused),
        )

    async def _run(self, key_id: str, rates: Rates, *, is_post: bool, charge: bool) -> list[bytes | int]:
        """Returns the reply of the script; see windows.lua."""
        keys = [
            # The braces are a hash tag of Redis Cluster: all windows of a key lie on one node, as a script demands.
            f"{self._installation}:{{{key_id}}}:{part}"
            for part in ("attempts", "posts", "day", "total", "refusals")
        ]
        arguments: list[str | int] = [
            self._clock.now() if self._clock else "",
            int(is_post),
            int(charge),
            rates.per_minute,
            rates.per_day,
            rates.posts_per_minute,
            rates.abuse_refusals,
            rates.abuse_window,
        ]
        slot = key_slot(key_id.encode()) if self._is_cluster else 0
        # Without this, each request would wait for its own time-out, and thousands would connect at once when Redis
        # returns.
        if slot in self._try_at:
            self._check_pause(slot)
        try:
            # The wait for a slot counts too, so that no request waits longer than the setting says.
            async with asyncio.timeout(self._timeout), self._slots:
                answer = await self._script.call(keys, arguments)
        except (redis.exceptions.RedisError, OSError) as error:
            self._try_at[slot] = self._monotonic() + PAUSE
            raise _away() from error
        self._try_at.pop(slot, None)
        return answer

    def _check_pause(self, slot: int) -> None:
        """Raises Unavailable until the next try of an unavailable node is due."""
        now = self._monotonic()
        if now < self._try_at[slot]:
            raise _away()
        # This caller is the probe; those that come during its call are still refused.
        self._try_at[slot] = now + PAUSE


def _away() -> Unavailable:
    return Unavailable("The rate limiter cannot be reached right now.")
