"""`serve --workers N`: starts N server processes on one port, replaces those that die, and stops them all."""

import signal
import subprocess
import sys
import time
from typing import Final

from pressroom.errors import SettingError
from pressroom.logs import Log
from pressroom.outbound import check_development
from pressroom.serve import Part, check_port_is_free
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
        check_port_is_free(settings.host, settings.port)
    stopping: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _frame: stopping.append(received))
    children = [_start(only) for _ in range(workers)]
    first = list(children)
    settled = time.monotonic() + SETTLING_SECONDS
    status = 0
    while not stopping:
        time.sleep(0.1)
        for place, child in enumerate(children):
            code = child.poll()
            if code == CANNOT_START and child in first and time.monotonic() < settled:
                stopping.append(0)
                status = CANNOT_START
            elif code is not None and not stopping:
                log.error("worker died", pid=child.pid, status=code)
                time.sleep(RESPAWN_SECONDS)
                if not stopping:
                    children[place] = _start(only)
    _stop(children)
    return status


def _start(only: Part | None) -> "subprocess.Popen[bytes]":
    # The worker's standard input is a pipe from this process, which closes when this process ends in whatever way.
    command = [sys.executable, "-m", "pressroom", "serve", "--sibling", *(["--only", only] if only else [])]
    return subprocess.Popen(command, stdin=subprocess.PIPE)  # noqa: S603  # our own program


def _stop(children: "list[subprocess.Popen[bytes]]") -> None:
    deadline = time.monotonic() + STOP_SECONDS
    for child in children:
        if child.poll() is None:
            child.terminate()
    for child in children:
        try:
            child.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
