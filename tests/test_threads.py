"""Calls in threads: a cancelled caller goes on only when nothing of the call does."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pressroom.threads import MadeOnce, run_to_end


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


def test_cancellation_asks_the_work_to_stop() -> None:
    async def story() -> None:
        began, stop, told = threading.Event(), threading.Event(), list[bool]()

        def work() -> None:
            began.set()
            told.append(stop.wait(60))  # without a bound, work that is never told would hang the run

        call = asyncio.create_task(run_to_end(work, stop=stop))
        await asyncio.to_thread(began.wait)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert told == [True]

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


def test_a_value_is_made_once_however_many_ask_for_it_at_the_same_time() -> None:
    made: list[object] = []

    def make() -> object:
        made.append(object())
        return made[-1]

    async def story() -> None:
        value = MadeOnce(make)
        found = await asyncio.gather(*(value.get() for _ in range(20)))
        assert {id(each) for each in [*found, await value.get()]} == {id(made[0])}

    asyncio.run(story())
    assert len(made) == 1


def test_a_value_that_could_not_be_made_is_tried_again() -> None:
    outcomes: list[object] = [OSError("not now"), 7]

    def make() -> object:
        outcome = outcomes.pop(0)
        if isinstance(outcome, OSError):
            raise outcome
        return outcome

    async def story() -> None:
        value = MadeOnce(make)
        with pytest.raises(OSError, match="not now"):
            await value.get()
        assert await value.get() == 7

    asyncio.run(story())
    assert not outcomes


def test_cancelled_waiter_leaves_value_to_others() -> None:
    async def story() -> None:
        go_on = threading.Event()

        def make() -> int:
            go_on.wait()
            return 7

        value = MadeOnce(make)
        impatient, patient = asyncio.create_task(value.get()), asyncio.create_task(value.get())
        await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.sleep(0)
        go_on.set()
        assert await patient == 7
        assert impatient.cancelled()

    asyncio.run(story())
