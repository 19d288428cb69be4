"""The connections that the limiter keeps: none gives an answer to another's question, and dead ones are replaced."""

import asyncio
import contextlib
import itertools
import os
import signal
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import psutil
import pytest
import redis
from redis.asyncio import Connection, RedisCluster

from pressroom.clock import SettableClock
from pressroom.domains.limits.models import Rates
from pressroom.domains.limits.redis import PAUSE, RedisLimiter
from pressroom.errors import Unavailable
from tests.services.redis import RedisServer, available

pytestmark = pytest.mark.skipif(available() is not None, reason=str(available()))

KEYS = 20
RATES = Rates(per_minute=100)
EXPECTED = [RATES.per_minute - number for number in range(KEYS)]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis of the test's own."""
    with RedisServer.start(tmp_path / "redis") as server:
        yield server


@contextlib.asynccontextmanager
async def counted(server: RedisServer, timeout: float = 10) -> AsyncGenerator[RedisLimiter, None]:
    """A limiter with a connection for each key, each key with another count; a call while it pauses comes later."""
    later = itertools.count(0, 10 * PAUSE)
    limiter = RedisLimiter(RATES, server.url, timeout, SettableClock(), lambda: next(later))
    await limiter.ping()  # which loads the script
    await left(limiter)
    assert connections_to(server) == KEYS
    for number in range(KEYS):
        for _ in range(number):
            await limiter.attempt(f"key{number}", is_post=False)
    yield limiter
    assert await left(limiter) == EXPECTED
    assert connections_to(server) <= KEYS
    await limiter.close()
    assert connections_to(server) == 0


async def left(limiter: RedisLimiter) -> list[int]:
    """The rest of each key's minute, all asked at once."""
    verdicts = await asyncio.gather(*(limiter.peek(f"key{number}", is_post=False) for number in range(KEYS)))
    return [verdict.remaining for verdict in verdicts]


def connections_to(server: RedisServer) -> int:
    """How many connections this process has to a server."""
    established = psutil.Process().net_connections("tcp")
    return sum(bool(each.raddr) and each.raddr.port == server.port for each in established)


def test_late_reply_is_not_given_to_another_call(server: RedisServer) -> None:
    async def use() -> None:
        async with counted(server, 2) as limiter:
            os.kill(server.pid, signal.SIGSTOP)
            try:
                calls = [limiter.peek("key7", is_post=False) for _ in range(KEYS)]
                outcomes = await asyncio.gather(*calls, return_exceptions=True)
            finally:
                os.kill(server.pid, signal.SIGCONT)
            assert all(isinstance(outcome, Unavailable) for outcome in outcomes)

    asyncio.run(use())


def test_cancelled_call_leaves_no_reply_to_another(server: RedisServer) -> None:
    async def use() -> None:
        async with counted(server) as limiter:
            os.kill(server.pid, signal.SIGSTOP)
            try:
                calls = [asyncio.create_task(limiter.peek("key7", is_post=False)) for _ in range(KEYS)]
                await asyncio.sleep(0)  # they have sent, and wait
                for call in calls:
                    call.cancel()
                await asyncio.wait(calls)
            finally:
                os.kill(server.pid, signal.SIGCONT)
            assert all(call.cancelled() for call in calls)

    asyncio.run(use())


def test_connections_that_redis_closed_are_opened_again(server: RedisServer) -> None:
    async def use() -> None:
        async with counted(server):
            with redis.Redis(port=server.port) as other:
                assert other.client_kill_filter(_type="normal", skipme=True) >= KEYS

    asyncio.run(use())


CLOSED = RuntimeError("unable to perform operation on <TCPTransport closed=True reading=False>; the handler is closed")
GONE = AttributeError("'NoneType' object has no attribute 'writelines'")


@pytest.mark.parametrize("fault", [CLOSED, GONE], ids=["closed", "gone"])
@pytest.mark.parametrize("kind", ["redis", "redis+cluster"])
def test_a_fault_of_the_client_s_call_is_unavailable(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch, fault: Exception, kind: str
) -> None:
    """As redis-py fails on a connection that ends under it. Later calls are made on other connections."""

    async def fail(*_: object, **__: object) -> None:
        raise fault

    async def use() -> None:
        later = itertools.count(0, 10 * PAUSE)
        url = f"{kind}://127.0.0.1:{server.port}"
        limiter = RedisLimiter(RATES, url, 10, SettableClock(), lambda: next(later))
        with monkeypatch.context() as patch:
            if kind == "redis":
                patch.setattr(Connection, "send_packed_command", fail)
            else:
                patch.setattr(RedisCluster, "execute_command", fail)
            for call in (limiter.ping, lambda: limiter.attempt("key", is_post=False)):
                with pytest.raises(Unavailable) as raised:
                    await call()
                assert raised.value.__cause__ is not None
                assert raised.value.__cause__.__cause__ is fault, "the log shows what failed"
        if kind == "redis":
            assert (await limiter.attempt("key", is_post=False)).refused_by is None
        await limiter.close()

    asyncio.run(use())


def test_own_error_is_not_reported_as_an_unavailable_redis(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def use() -> None:
        limiter = RedisLimiter(RATES, server.url, 10)
        monkeypatch.setattr("pressroom.domains.limits.redis_script.PACK", lambda _: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            await limiter.attempt("key", is_post=False)
        await limiter.close()

    asyncio.run(use())


def test_a_script_that_redis_forgot_is_loaded_again(server: RedisServer) -> None:
    async def use() -> None:
        async with counted(server):
            with redis.Redis(port=server.port) as other:
                other.script_flush()

    asyncio.run(use())


def test_a_redis_that_takes_no_writes_counts_as_away_until_it_does(server: RedisServer) -> None:
    async def use() -> None:
        async with counted(server) as limiter:
            with redis.Redis(port=server.port) as other:
                other.replicaof("127.0.0.1", "1")
                for _ in range(3):
                    with pytest.raises(Unavailable):
                        await limiter.attempt("other", is_post=False)
                other.replicaof("NO", "ONE")

    asyncio.run(use())
