"""Calls in threads: a cancelled caller goes on only when nothing of the call does."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pressroom.threads import run_to_end


def test_a_result_and_an_exception_come_back() -> None:
    async def story() -> None:
        assert await run_to_end(lambda: 7) == 7
        with pytest.raises(ZeroDivisionError):
            await run_to_end(lambda: 1 // 0)

    asyncio.run(story())


def test_a_cancellation_waits_for_the_end_however_often_it_comes() -> None:
    async def story() -> None:
        began, go_on, ended = threading.Event(), threading.Event(), threading.Event()

        def work() -> None:
            began.set()
            go_on.wait()
            ended.set()
            raise OSError("nobody hears of this")

        call = asyncio.create_task(run_to_end(work))
        await asyncio.to_thread(began.wait)
        for _ in range(2):
            call.cancel()
            await asyncio.sleep(0)
            assert not call.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert ended.is_set()

    asyncio.run(story())


def test_a_cancellation_tells_the_work_to_stop() -> None:
    async def story() -> None:
        began, stop = threading.Event(), threading.Event()

        def work() -> None:
            began.set()
            stop.wait()

        call = asyncio.create_task(run_to_end(work, stop=stop))
        await asyncio.to_thread(began.wait)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(story())


@pytest.mark.parametrize("may_stop", [True, False])
def test_work_that_no_thread_has_begun_is_abandoned_only_if_it_may_be(may_stop: bool) -> None:
    async def story() -> None:
        pool, began, go_on, done = ThreadPoolExecutor(1), threading.Event(), threading.Event(), threading.Event()

        def ahead() -> None:
            began.set()
            go_on.wait()

        first = asyncio.create_task(run_to_end(ahead, pool))
        await asyncio.to_thread(began.wait)
        second = asyncio.create_task(run_to_end(done.set, pool, threading.Event() if may_stop else None))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert second.done() == may_stop
        go_on.set()
        await first
        with pytest.raises(asyncio.CancelledError):
            await second
        pool.shutdown()
        assert done.is_set() != may_stop

    asyncio.run(story())
