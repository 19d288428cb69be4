"""The server process: one event loop, the application, and a stop that loses nothing."""

import asyncio
import contextlib
import fcntl
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from pathlib import Path
from typing import Final

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

from pressroom.app import create_app
from pressroom.db import Query, Value
from pressroom.db.postgres import PostgresDatabase
from pressroom.errors import SettingError
from pressroom.logs import Log
from pressroom.runtime import Runtime, open_runtime
from pressroom.settings import Settings

DRAIN_SECONDS: Final = 9.0
"""How long a stop waits for requests under way; closing takes the rest of the ten seconds."""

HEADERS_MILLISECONDS: Final = 10_000
"""How long a client may take to send the head of a request."""

TAKE_ALONE: Final = Query(bool, "SELECT pg_try_advisory_lock(7238002)")
ALONE_PATIENCE: Final = 3.0

_ALONE: Final = (
    "Another Pressroom serves this database already. Rate limits would be counted twice:"
    " set PRESSROOM_REDIS_URL to run several."
)


async def serve(
    settings: Settings, log: Log, announce: Callable[[Runtime], Awaitable[None]], *, worker: bool = False
) -> None:
    """Serves until SIGTERM or SIGINT, finishes what is under way, writes down what was held back.

    `announce` is awaited just before the first request is taken. A `worker` shares its port with its
    siblings, and stops when its standard input ends. Raises SettingError when it cannot start.
    """
    if not worker:
        check_port_is_free(settings.host, settings.port)
    with _alone_on_file(settings):
        runtime = await open_runtime(settings, log)
        try:
            async with _alone_on_postgres(runtime):
                await announce(runtime)
                await _serve(runtime, worker=worker)
        finally:
            await runtime.close()


def check_port_is_free(host: str, port: int) -> None:
    """Raises SettingError when the address cannot be listened on.

    The server's own sockets share their port, so that a second server would quietly take half the requests.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        reason = error.strerror or str(error)
        raise SettingError(f"Cannot listen on {host}:{port}: {reason}. Set PRESSROOM_HOST or PRESSROOM_PORT.") from None


def make_server(runtime: Runtime) -> Server:
    """The HTTP server of this process, not yet started."""
    settings = runtime.settings
    return Server(
        create_app(runtime),
        address=str(socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0][4][0]),
        port=settings.port,
        interface=Interfaces.ASGINL,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=HEADERS_MILLISECONDS),
        websockets=False,
        backlog=1024,
        log_enabled=False,
    )


async def _serve(runtime: Runtime, *, worker: bool) -> None:
    settings, loop = runtime.settings, asyncio.get_running_loop()
    server = make_server(runtime)
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    if worker:
        loop.add_reader(sys.stdin, lambda: os.read(sys.stdin.fileno(), 64) or stopping.set())
    serving = asyncio.create_task(server.serve())
    stopped = asyncio.create_task(stopping.wait())
    runtime.log.event("listening", address=settings.base_url, host=settings.host, port=settings.port)
    await asyncio.wait([serving, stopped], return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    runtime.log.event("stopping")
    server.stop()
    _, late = await asyncio.wait([serving], timeout=DRAIN_SECONDS)
    if late:
        runtime.log.event("stopped before every request was finished")
        serving.cancel()
    else:
        serving.result()


@contextlib.contextmanager
def _alone_on_file(settings: Settings) -> Generator[None]:
    """An embedded database is served by one process."""
    if not settings.database_url.startswith("sqlite:///"):
        yield
        return
    file = Path(settings.database_url.removeprefix("sqlite:///") + ".lock")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        lock = file.open("w")
    except OSError as error:
        raise SettingError(f"PRESSROOM_DATA_DIR: cannot write {file}: {error.strerror}.") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise SettingError(_ALONE.replace("set PRESSROOM_REDIS_URL", "move to PostgreSQL and Redis")) from None
        yield


@contextlib.asynccontextmanager
async def _alone_on_postgres(runtime: Runtime) -> AsyncGenerator[None]:
    """Without Redis, PostgreSQL too is served by one API process: the lock lives as long as its connection."""
    if not isinstance(runtime.db, PostgresDatabase) or runtime.settings.redis_url:
        yield
        return
    async with runtime.db.pool.acquire() as connection:
        deadline = asyncio.get_running_loop().time() + ALONE_PATIENCE
        while not await _first(connection.fetchrow(TAKE_ALONE.numbered)):
            # A process that was just killed keeps its lock until PostgreSQL notices.
            if asyncio.get_running_loop().time() > deadline:
                raise SettingError(_ALONE)
            await asyncio.sleep(0.05)
        yield


async def _first(row: Awaitable[Sequence[Value] | None]) -> Value:
    columns = await row
    return columns[0] if columns else None
