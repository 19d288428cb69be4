"""The limiter in Redis: its use of connections, and how often it tries a Redis that is away."""

import asyncio
import uuid
from typing import Any, cast

import psutil
import pytest

from pressroom.clock import DAY, MINUTE, SettableClock
from pressroom.domains.limits.models import Rates
from pressroom.domains.limits.redis import PAUSE, RedisLimiter
from pressroom.errors import Unavailable
from tests.services.redis import RedisServer

RATES = Rates()


def test_a_limiter_that_is_closed_holds_no_connection(redis_server: RedisServer) -> None:
    async def use() -> tuple[int, int]:
        limiter = RedisLimiter(RATES, redis_server.url, 5)
        await limiter.ping()
        used = connections_to(redis_server.port)
        await limiter.close()
        return used, connections_to(redis_server.port)

    before = connections_to(redis_server.port)
    assert asyncio.run(use()) == (before + 1, before)


def test_keys_in_redis_outlive_their_windows(redis_server: RedisServer) -> None:
    async def use() -> None:
        clock, key_id = SettableClock(), uuid.uuid4().hex
        limiter = RedisLimiter(RATES, redis_server.url, 5, clock)

        async def life(part: str) -> int:
            return await limiter._redis.pttl(f"pressroom:{{{key_id}}}:{part}")

        await limiter.attempt(key_id, is_post=True)
        for part in ("attempts", "posts"):
            assert await life(part) > MINUTE
        for part in ("day", "total"):
            assert await life(part) > DAY + MINUTE
        clock.advance(DAY)
        await limiter.attempt(key_id, is_post=False)
        clock.advance(MINUTE)
        await limiter.peek(key_id, is_post=False)  # drops the first minute from the day, and writes the total anew
        assert await life("total") > DAY + MINUTE
        await limiter.close()

    asyncio.run(use())


def test_attempts_count_at_the_millisecond_of_the_clock_of_redis(redis_server: RedisServer) -> None:
    async def use() -> None:
        limiter = RedisLimiter(RATES, redis_server.url, 5)

        async def time() -> int:
            seconds, microseconds = cast("tuple[int, int]", await cast("Any", limiter._redis).time())
            return seconds * 1000 + microseconds // 1000

        before = await time()
        verdict = await limiter.attempt(uuid.uuid4().hex, is_post=False)
        assert before <= verdict.now <= await time()
        await limiter.close()

    asyncio.run(use())


def test_limiter_without_redis_is_unavailable() -> None:
    async def use() -> None:
        limiter = RedisLimiter(RATES, "redis://127.0.0.1:1", 5)
        for _ in range(2):
            with pytest.raises(Unavailable):
                await limiter.attempt("key", is_post=False)
        with pytest.raises(Unavailable):
            await limiter.ping()
        await limiter.close()

    asyncio.run(use())


def test_a_redis_that_is_away_is_tried_ten_times_a_second() -> None:
    asyncio.run(count_connections())


async def count_connections() -> None:
    """Sends 20 requests in each of 5 pauses to what hangs up at once: each costs one call, which connects twice."""
    now, seen = 0.0, 0

    def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal seen
        seen += 1
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1")
    port = server.sockets[0].getsockname()[1]
    limiter = RedisLimiter(RATES, f"redis://127.0.0.1:{port}", 5, monotonic=lambda: now)
    async with server:
        for pause in range(1, 6):
            for _ in range(20):
                with pytest.raises(Unavailable):
                    await limiter.attempt("key", is_post=False)
            assert seen == 2 * pause
            now += PAUSE
        await limiter.close()


def connections_to(port: int) -> int:
    """How many connections this process has to a port."""
    established = psutil.Process().net_connections("tcp")
    return sum(bool(each.raddr) and each.raddr.port == port for each in established)
