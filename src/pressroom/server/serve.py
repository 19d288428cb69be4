"""The server process: starts the application and its workers on one event loop, and stops them without loss."""

import asyncio
import contextlib
import gc
import os
import re
import resource
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from enum import StrEnum
from functools import partial
from typing import Any, Final

from pressroom import tracing
from pressroom.db import DatabaseAway, DatabaseNotReached
from pressroom.domains.accounts.models import Caller
from pressroom.domains.media.confinement import check_confinement, find_confinement, hide_memory
from pressroom.domains.media.jobs import sweep_folders
from pressroom.domains.webhooks.queries.leases import forget_leases
from pressroom.errors import SettingError, Unavailable
from pressroom.jobs import queue
from pressroom.logs import Log
from pressroom.operations.permissions import close_to_others
from pressroom.server import figures
from pressroom.server.app import create_app
from pressroom.server.runtime import Runtime, make_job_worker, make_worker, open_runtime
from pressroom.server.slow_steps import SlowStepLog, SlowSteps
from pressroom.server.sole_counter import alone_on_file, sole_counter
from pressroom.settings import Settings
from pressroom.web.observed import traced
from pressroom.web.pipeline import Pipeline
from pressroom.web.server import make_server

DRAIN_SECONDS: Final = 7.0
"""Seconds that a stop waits for requests under way. Closing takes the rest of the ten seconds."""

RECORD_SECONDS: Final = 1.0
"""Seconds of DRAIN_SECONDS that are reserved for storing the results of deliveries."""

QUIET_SECONDS: Final = 0.5
"""Seconds without a request under way after which a stop closes idle connections."""

SWITCH_SECONDS: Final = 0.0005
"""Seconds until another thread that waits for the interpreter gets it.

The server's sockets and the COMMIT have threads of their own. By Python's default each of their steps would wait for
5 ms while somebody's page is rendered.
"""

RETRY_SECONDS: Final = 0.5
TELL_SECONDS: Final = 300.0
"""How often it is logged again why the database is waited for."""


class Part(StrEnum):
    """The only part of the work that a process does."""

    API = "api"
    WORKER = "worker"


async def serve(
    settings: Settings,
    log: Log,
    announce: Callable[[Runtime], Awaitable[None]],
    *,
    only: Part | None = None,
    place: int | None = None,
    concurrency: int | None = None,
) -> None:
    """Serves and delivers until SIGTERM or SIGINT, then finishes running work and flushes the write-behind.

    `only` leaves the other part to other processes. `announce` is awaited before the first request is served. A server
    with a `place` among siblings shares its port with them, and stops when its standard input ends. At most
    `concurrency` deliveries are under way at once. Raises SettingError when it cannot start.
    """
    if only is Part.WORKER and settings.database_url.startswith("sqlite:///"):
        raise SettingError("A worker of its own needs PostgreSQL (PRESSROOM_DATABASE_URL); on SQLite, serve delivers.")
    _raise_file_limit()
    with _recording(settings, place), alone_on_file(settings):
        if place is None and only is not Part.WORKER:
            check_port_is_free(settings.host, settings.port)  # once that of the metrics is taken: it may be the same
        _close_to_others(settings, log)
        _log_confinement(settings, log)
        stopping = asyncio.Event()
        _stop_on_signals(stopping, sibling=place is not None)
        runtime = await _open_when_reachable(settings, log, stopping)
        if runtime is None:
            log.close()
            return
        watching = await _watch_steps(settings, log)
        looking = asyncio.create_task(figures.look_on(runtime)) if place in (None, 0) else None
        try:
            async with _tracing(settings, log):
                await _work(runtime, announce, only, stopping, concurrency)
        finally:
            if looking is not None:
                looking.cancel()
            if watching is not None:
                watching.stop()
            await runtime.close()


def _close_to_others(settings: Settings, log: Log) -> None:
    """Removes other users' access to the server's files, and logs which they had."""
    if closed := close_to_others(settings):
        log.warning("files were open to other users of this machine; access removed", files=" ".join(map(str, closed)))


async def _watch_steps(settings: Settings, log: Log) -> SlowSteps | None:
    """Watches the running event loop for slow steps, if that is wanted."""
    if not settings.slow_step_ms:
        return None
    watching = SlowSteps(settings.slow_step_ms / 1_000, SlowStepLog(log))
    await watching.start()
    return watching


def _recording(settings: Settings, place: int | None) -> contextlib.AbstractContextManager[None]:
    """Records metrics, if a setting asks for them, and serves them if no parent does. Raises SettingError."""
    if settings.metrics_port is None:
        return contextlib.nullcontext()
    from pressroom.metrics.prometheus import recording

    return recording(settings, place or 0, exposed=place is None)


@contextlib.asynccontextmanager
async def _tracing(settings: Settings, log: Log) -> AsyncGenerator[None]:
    """Traces, if that is wanted. Raises SettingError without the packages for it."""
    if settings.tracing_endpoint is None:
        yield
        return
    try:
        from pressroom.tracing.otlp import OtlpTracer

        tracer = tracing.tracer = OtlpTracer(settings.tracing_endpoint, log)
    except ImportError:
        raise SettingError("PRESSROOM_TRACING_ENDPOINT needs the extra: pip install 'pressroom[tracing]'.") from None
    except ValueError as error:
        raise SettingError(f"Tracing cannot begin with the OTEL_… variables that are set: {error}") from None
    try:
        yield
    finally:
        tracing.tracer = None
        await tracer.close()


async def _work(
    runtime: Runtime,
    announce: Callable[[Runtime], Awaitable[None]],
    only: Part | None,
    stopping: asyncio.Event,
    concurrency: int | None,
) -> None:
    """Serves and delivers, or does one of these, until the stop."""
    if only is Part.WORKER:
        await announce(runtime)
        _tell_ready()
        await _deliver(runtime, stopping, concurrency)
        return
    if only is Part.API and runtime.db.engine == "sqlite":
        runtime.log.warning("no webhooks are delivered: no other process can open this database")
    if runtime.settings.redis_url is not None:
        await runtime.limiter.ping()  # logs that Redis is away
    async with sole_counter(runtime, stopping):
        await announce(runtime)
        _freeze_heap()
        sys.setswitchinterval(SWITCH_SECONDS)
        drained = asyncio.Event()
        delivering = asyncio.create_task(_deliver(runtime, drained, concurrency)) if only is None else None
        if delivering is not None:
            delivering.add_done_callback(lambda _: stopping.set())
        try:
            await _serve(runtime, stopping, drained)
        finally:
            drained.set()
            if delivering is not None:
                await delivering


def _freeze_heap() -> None:
    """Takes the objects of the start out of every later garbage collection.

    It stays until the end anyway, and walking it stops all requests for some 20 ms each time.
    """
    gc.collect()
    gc.freeze()


def check_port_is_free(host: str, port: int) -> None:
    """Raises SettingError when the port is in use or the address is invalid.

    The server's own sockets share their port, so a second server would take half the requests without an error.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "this is no address"
        raise SettingError(f"Cannot listen on {host}:{port}: {reason}. Set PRESSROOM_HOST or PRESSROOM_PORT.") from None


def _log_confinement(settings: Settings, log: Log) -> None:
    """Logs whether children that decode media are fully confined. Raises SettingError if they must be and are not."""
    found = find_confinement()
    check_confinement(found, full=settings.media_confinement)
    state = {"landlock": found.landlock, "seccomp": found.seccomp}
    if found.is_full:
        log.info("children that decode media are fully confined", **state)
        return
    log.warning("children that decode media are NOT fully confined: see docs/media.md#confinement", **state)
    # Without Landlock, a child of the same user could read this process's memory.
    hide_memory()


async def _open_when_reachable(settings: Settings, log: Log, stopping: asyncio.Event) -> Runtime | None:
    """Opens the runtime as soon as the database answers; returns None when the stop comes first.

    So machines can be started in any order. Why it is waited for is logged at once, and now and then. An embedded
    database (SQLite) is not waited for.
    """
    loop = asyncio.get_running_loop()
    tell_at = loop.time()
    while not stopping.is_set():
        try:
            return await _unless_stopped(open_runtime(settings, log), stopping)
        except (DatabaseNotReached, DatabaseAway) as error:
            if settings.database_url.startswith("sqlite:///"):
                raise
            if loop.time() >= tell_at:
                log.warning("waiting for the database; not ready until it answers", error=error.message)
                tell_at = loop.time() + TELL_SECONDS
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), RETRY_SECONDS)
    return None


async def _unless_stopped(opening: Coroutine[Any, Any, Runtime], stopping: asyncio.Event) -> Runtime | None:
    """Returns what `opening` returns, or None when the stop comes first; `opening` is cancelled then."""
    task, stopped = asyncio.create_task(opening), asyncio.create_task(stopping.wait())
    await asyncio.wait([task, stopped], return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    task.cancel()  # no effect once it is done
    await asyncio.wait([task])
    return None if task.cancelled() else task.result()


def _tell_ready() -> None:
    """Tells the service manager that started this process, if one did, that it serves (sd_notify)."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, contextlib.suppress(OSError):
        manager.setblocking(False)
        # An @ stands for the NUL that begins an abstract address.
        manager.sendto(b"READY=1", re.sub("^@", "\0", address))


def _raise_file_limit() -> None:
    """Raises the limit of open files and sockets to the hard limit; many systems start with 1,024."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):  # some systems report no limit but have one
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _stop_on_signals(stopping: asyncio.Event, *, sibling: bool) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    if sibling:
        try:
            loop.add_reader(sys.stdin, lambda: os.read(sys.stdin.fileno(), 64) or stopping.set())
        except OSError:
            raise SettingError("--place is for the processes that serve --workers starts.") from None


async def _deliver(runtime: Runtime, stopping: asyncio.Event, concurrency: int | None) -> None:
    """Delivers webhooks and runs jobs until the stop, then finishes running work. Its end stops the process."""
    try:
        await _forget_leases(runtime)
        deliveries = make_worker(runtime, concurrency)
        workers = (deliveries, make_job_worker(runtime))
        working = [asyncio.create_task(worker.run()) for worker in workers]
        stopped = asyncio.create_task(stopping.wait())
        runtime.log.info("delivering", leases=deliveries.token)
        await asyncio.wait([*working, stopped], return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        for worker in workers:
            worker.stop(DRAIN_SECONDS - RECORD_SECONDS)
        _, late = await asyncio.wait(working, timeout=DRAIN_SECONDS)
        if late:
            runtime.log.warning("stopped before every result was stored")
        for task in late:
            task.cancel()
        for task in working:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        runtime.log.info("delivery stopped")
    finally:
        stopping.set()


async def _forget_leases(runtime: Runtime) -> None:
    """Releases leases and removes temporary files of a killed process. SQLite only: no other process uses it then."""
    if runtime.db.engine != "sqlite":
        return
    await asyncio.to_thread(sweep_folders, runtime.settings.data_dir, 0)
    try:
        await runtime.db.transact(forget_leases)
        await runtime.db.transact(queue.forget_leases)
    except Unavailable as error:
        runtime.log.warning("leases could not be released; they will expire", error=error.message)


async def _serve(runtime: Runtime, stopping: asyncio.Event, drained: asyncio.Event) -> None:
    """Serves until the stop, and on for the drain; sets `drained` when it takes no more requests."""
    settings = runtime.settings
    app = create_app(runtime)
    served = app if tracing.tracer is None else traced(app, tracing.tracer, settings.trusted_proxies)
    server = make_server(served, settings)
    server.on_startup(
        partial(runtime.log.info, "listening", address=settings.base_url, host=settings.host, port=settings.port)
    )
    server.on_startup(_tell_ready)
    serving = asyncio.create_task(server.serve())
    stopped = asyncio.create_task(stopping.wait())
    await asyncio.wait([serving, stopped], return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    stopping.set()
    runtime.log.info("stopping")
    runtime.draining = True
    await asyncio.wait([serving], timeout=runtime.settings.drain_seconds)
    drained.set()
    runtime.streams.close()  # Readers who wait for events would keep the stop waiting.
    server.stop()
    if not await _drained(serving, app):
        runtime.log.warning("stopped before every request was finished")
        serving.cancel()


async def _drained(serving: asyncio.Task[None], app: Pipeline[Caller]) -> bool:
    """Waits for requests under way; returns whether all finished in time."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + DRAIN_SECONDS
    while loop.time() < deadline:
        finished, _ = await asyncio.wait([serving], timeout=QUIET_SECONDS)
        if finished:
            serving.result()
            return True
        if app.under_way == 0:
            serving.cancel()
            return True
    return False
