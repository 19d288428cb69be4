"""Rate limits in Redis, shared by all API processes: one call of a script per request."""

from importlib.resources import files
from typing import cast

import redis.asyncio
import redis.exceptions

from pressroom.clock import DAY, MINUTE, Clock
from pressroom.domains.limits.models import Left, Rates, Verdict
from pressroom.errors import Unavailable

PATIENCE = 1.0
"""Seconds to wait for Redis."""


class RedisLimiter:
    """The limiter of several API processes. Goes by Redis's clock, because those of the machines may differ.

    `clock` replaces it in tests. Methods raise Unavailable while Redis is away: without it nothing can be counted.
    """

    def __init__(self, rates: Rates, url: str, clock: Clock | None = None) -> None:
        self.rates = rates
        self._clock = clock
        # A burst waits for a connection instead of failing for want of one.
        pool = redis.asyncio.BlockingConnectionPool.from_url(  # pyright: ignore[reportUnknownMemberType]  # untyped options
            url, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE, max_connections=64, timeout=PATIENCE
        )
        self._redis = redis.asyncio.Redis.from_pool(pool)  # which closes it too
        self._script = self._redis.register_script(
            (files("pressroom.domains.limits") / "windows.lua").read_text("utf-8")
        )

    async def attempt(self, key_id: str, *, is_post: bool, rates: Rates | None = None) -> Verdict:
        """Charges one request of a key, or of something else with its own `rates`, and returns the verdict."""
        return await self._call(key_id, rates or self.rates, is_post=is_post, charge=True)

    async def peek(self, key_id: str) -> Verdict:
        """Returns the state of the key's minute window; charges nothing."""
        return await self._call(key_id, self.rates, is_post=False, charge=False)

    async def look(self, key_id: str) -> tuple[Left, Left]:
        """Returns what is left of the key's minute and 24 hours; charges nothing."""
        rates = self.rates
        answer = await self._run(key_id, rates, is_post=False, charge=False)
        used, reset_at, total, first = int(answer[1]), int(answer[2]), int(answer[6]), int(answer[7])
        return (
            Left(rates.per_minute, max(0, rates.per_minute - used), reset_at if used else None),
            Left(rates.per_day, max(0, rates.per_day - total), (first + 1) * MINUTE + DAY if first >= 0 else None),
        )

    async def flush(self) -> None:
        """Does nothing: Redis stores what it counts."""

    async def ping(self) -> None:
        """Raises Unavailable when Redis does not answer."""
        try:
            await self._redis.execute_command("PING")  # pyright: ignore[reportUnknownMemberType]  # untyped answer
        except (redis.exceptions.RedisError, OSError) as error:
            raise Unavailable("The rate limiter cannot be reached right now.") from error

    async def close(self) -> None:
        """Closes the connections."""
        await self._redis.aclose()

    async def _call(self, key_id: str, rates: Rates, *, is_post: bool, charge: bool) -> Verdict:
        answer = await self._run(key_id, rates, is_post=is_post, charge=charge)
        now, used, reset_at, refused_by, free_at, abused = answer[:6]
        return Verdict(
            int(now),
            max(0, rates.per_minute - int(used)),
            int(reset_at),
            cast("bytes", refused_by).decode() or None,
            int(free_at),
            bool(abused),
        )

    async def _run(self, key_id: str, rates: Rates, *, is_post: bool, charge: bool) -> list[bytes | int]:
        """Returns what the script answers; see windows.lua."""
        keys = [f"pressroom:{{{key_id}}}:{part}" for part in ("attempts", "posts", "day", "total", "refusals")]
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
        try:
            return cast("list[bytes | int]", await self._script(keys, arguments))
        except (redis.exceptions.RedisError, OSError) as error:
            raise Unavailable("The rate limiter cannot be reached right now.") from error
