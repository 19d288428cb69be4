"""Workers of a test's own, beside the one that `server.deliver()` drives."""

import asyncio
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from pressroom.domains.webhooks.delivery import DeliveryWorker
from pressroom.domains.webhooks.models import Speed
from pressroom.server.runtime import Runtime, make_worker
from tests.harness.local import LocalServer


class Worker:
    """One more worker of a server. It works in the background from `with` to the end of the block, or by `settle`."""

    def __init__(self, server: LocalServer) -> None:
        self._server = server
        self._worker = server.run(_made(server.runtime))
        self._task: asyncio.Task[None]

    def settle(self) -> None:
        """Delivers whatever is due by the clock."""
        self._server.run(self._worker.settle())

    def stop(self, seconds: float) -> None:
        """Has it begin nothing more, and end within so many seconds."""
        self._server.run(_do(lambda: self._worker.stop(seconds)))

    def uses(self, speed: Speed) -> int:
        """How many slots of a pool are in use."""
        return self._worker._slots._uses[speed].slots

    def ended(self) -> None:
        """Waits until it has ended."""
        self._server.run(_until_done(self._task))

    def __enter__(self) -> Self:
        """Begins to work."""
        self._task = self._server.run(_started(self._worker))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends it, if the test has not: held requests are given up."""
        if not self._task.done():
            self.stop(0)
        self.ended()


@contextmanager
def settling(worker: Worker | LocalServer) -> Generator[None]:
    """Delivers all that is due while the block runs, and waits for its end after it."""
    with ThreadPoolExecutor(1) as pool:
        work: Future[None] = pool.submit(worker.settle if isinstance(worker, Worker) else worker.deliver)
        yield
        work.result(120)


def wait_until(condition: Callable[[], bool], seconds: float = 120) -> None:
    """Waits for what nothing tells of: `condition` is asked every so often. Raises AssertionError."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:g} s"
        time.sleep(0.01)


async def _made(runtime: Runtime) -> DeliveryWorker:
    return make_worker(runtime)


async def _started(worker: DeliveryWorker) -> asyncio.Task[None]:
    return asyncio.create_task(worker.run())


async def _until_done(task: asyncio.Task[None]) -> None:
    await task


async def _do(what: Callable[[], None]) -> None:
    what()
