"""Slow steps of an event loop are named, quick ones are not."""

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop

from pressroom.server.slow_steps import SlowStep, SlowSteps, stack_of

SLOW = 0.02


def spin(seconds: float) -> None:
    """Keeps the loop busy for so much CPU time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(1_000))


def in_steps() -> Coroutine[Any, Any, None]:
    async def work() -> None:
        for _ in range(100):
            spin(SLOW / 20)
            await asyncio.sleep(0)

    return work()


async def in_one_step() -> None:
    spin(4 * SLOW)


async def in_one_c_call() -> None:
    """Holds the interpreter's lock in a single call."""
    sum(range(10_000_000))


async def in_a_callback() -> None:
    done = asyncio.Event()

    def call() -> None:
        spin(4 * SLOW)
        done.set()

    asyncio.get_running_loop().call_soon(call)
    await done.wait()


async def in_many_tasks() -> None:
    await asyncio.gather(*(in_steps() for _ in range(3)))


def watched(work: Callable[[], Coroutine[Any, Any, None]], reported: list[SlowStep] | None = None) -> list[SlowStep]:
    """Returns the slow steps of some work, measured by CPU time; `reported` grows while the work goes on."""
    reported = [] if reported is None else reported

    async def story() -> None:
        cpu = time.pthread_getcpuclockid(threading.get_ident())
        steps = SlowSteps(SLOW, reported.append, lambda: time.clock_gettime(cpu))
        await steps.start()
        await asyncio.create_task(work())
        for _ in range(3):  # A step is reported at the next looks after its end.
            await asyncio.sleep(SLOW)
        steps.stop()
        await asyncio.sleep(0)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(story())
    return reported


@pytest.mark.parametrize(
    ("work", "function"), [(in_one_step, spin), (in_a_callback, spin), (in_one_c_call, in_one_c_call)]
)
def test_slow_step_is_reported_with_its_function(
    work: Callable[[], Coroutine[Any, Any, None]], function: Callable[..., None]
) -> None:
    reported: list[SlowStep] = []

    async def until_reported() -> None:
        # On a busy machine the watching thread may get no processor before a step has ended, and misses it.
        while not reported:
            await work()
            await asyncio.sleep(SLOW)

    watched(until_reported, reported)

    assert {step.function for step in reported} == {f"{__name__}.{function.__name__}"}
    assert reported[0].seconds >= SLOW


@pytest.mark.parametrize("work", [in_steps, in_many_tasks])
def test_quick_steps_are_not_reported(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    assert watched(work) == []


@pytest.mark.parametrize("collects", [True, False])
def test_stack_of_a_thread_is_read_whole_and_leaves_collections_as_they_were(collects: bool) -> None:
    begun, ended = threading.Event(), threading.Event()

    def outer() -> None:
        inner()

    def inner() -> None:
        begun.set()
        ended.wait()

    thread = threading.Thread(target=outer)
    thread.start()
    begun.wait()
    try:
        if not collects:
            gc.disable()
        names = [frame.f_code.co_name for frame in stack_of(thread.ident or 0)]
        assert gc.isenabled() is collects
    finally:
        gc.enable()
        ended.set()
        thread.join()

    assert names[names.index("outer") :][:2] == ["outer", "inner"]
    assert stack_of(0) == []
