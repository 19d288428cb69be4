"""`serve --workers N`: starts N server processes on one port, replaces those that die, and stops them all."""

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Final

from pressroom.errors import SettingError
from pressroom.logs import Log
from pressroom.outbound import check_development
from pressroom.server.serve import Part, check_port_is_free
from pressroom.settings import Settings

STOP_SECONDS: Final = 12.0
RESPAWN_SECONDS: Final = 1.0
CANNOT_START: Final = 2
"""Exit status of a worker that cannot start with its settings."""

SETTLING_SECONDS: Final = 60.0
"""How long after the start a worker that cannot start ends all: the settings are wrong. Later it is started again: the
database may be away for a while."""


def supervise(settings: Settings, log: Log, workers: int, only: Part | None) -> int:
    """Runs `workers` servers, or `only` a part of each, until SIGTERM or SIGINT.

    Returns the exit status. Raises SettingError.
    """
    check_development(settings)
    if only is Part.WORKER:
        if settings.database_url.startswith("sqlite:///"):
            raise SettingError(f"{workers} workers need PostgreSQL (PRESSROOM_DATABASE_URL).")
    else:
        if settings.database_url.startswith("sqlite:///") or not settings.redis_url:
            raise SettingError(
                f"{workers} workers need PostgreSQL (PRESSROOM_DATABASE_URL) and Redis (PRESSROOM_REDIS_URL),"
                " so that limits are counted once."
            )
    with _exposing(settings) as note_end:
        if only is not Part.WORKER:
            check_port_is_free(settings.host, settings.port)
        return _supervise(settings, log, workers, only, note_end)


def _exposing(settings: Settings) -> contextlib.AbstractContextManager[Callable[[int], None]]:
    """Serves the metrics of all workers, if a setting asks; yields a function for the place of one that ended."""
    if settings.metrics_port is None:
        return contextlib.nullcontext(lambda _place: None)
    from pressroom.metrics.prometheus import exposing

    return exposing(settings)


def _supervise(settings: Settings, log: Log, workers: int, only: Part | None, note_end: Callable[[int], None]) -> int:
    """Starts the workers and replaces those that die. Returns the exit status."""
    stopping: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _frame: stopping.append(received))
    children = [_start(only, place) for place in range(workers)]
    first = list(children)
    settled = time.monotonic() + SETTLING_SECONDS
    status = 0
    while not stopping:
        time.sleep(0.1)
        for place, child in enumerate(children):
            code = child.poll()
            # Started again, it would fail again: the settings are the same.
            if code == CANNOT_START and child in first and time.monotonic() < settled:
                stopping.append(0)
                status = CANNOT_START
            elif code is not None and not stopping:
                log.error("worker died", pid=child.pid, status=code)
                note_end(place)
                # A worker that dies at once, over and over, must not take a whole core by starting.
                time.sleep(RESPAWN_SECONDS)
                if not stopping:
                    children[place] = _start(only, place)
    _stop(children, STOP_SECONDS + settings.drain_seconds)
    return status


def _start(only: Part | None, place: int) -> "subprocess.Popen[bytes]":
    # The worker's standard input is a pipe from this process, which closes when this process ends in any way.
    command = [sys.executable, "-m", "pressroom", "serve", "--place", str(place), *(["--only", only] if only else [])]
    return subprocess.Popen(command, stdin=subprocess.PIPE)  # noqa: S603  # our own program


def _stop(children: "list[subprocess.Popen[bytes]]", seconds: float) -> None:
    deadline = time.monotonic() + seconds
    for child in children:
        if child.poll() is None:
            child.terminate()
    for child in children:
        try:
            child.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
