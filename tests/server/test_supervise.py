"""The process that starts several servers and replaces those that die."""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from pressroom.logs import Log
from pressroom.server import supervise
from pressroom.server.serve import Part
from pressroom.settings import Settings

WORKS = "import time; time.sleep(60)"
DIES = "raise SystemExit(1)"


class StoppingAtDeath(io.StringIO):
    """A log at whose word of a dead worker the supervisor is asked to stop: it waits then, to replace the worker."""

    def write(self, line: str, /) -> int:
        if "worker died" in line:
            os.kill(os.getpid(), signal.SIGTERM)
        return super().write(line)


@pytest.fixture
def handlers() -> Iterator[None]:
    """Puts back the handlers of signals that a supervisor sets."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("handlers")
def test_a_stop_amid_the_pause_starts_no_worker_in_place_of_a_dead_one(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def start(_only: Part | None, _place: int) -> "subprocess.Popen[bytes]":
        started.append(subprocess.Popen([sys.executable, "-c", WORKS if started else DIES]))
        return started[-1]

    monkeypatch.setattr(supervise, "_start", start)
    log = StoppingAtDeath()
    settings = Settings({"PRESSROOM_DATABASE_URL": "postgresql://localhost/none"})
    assert supervise.supervise(settings, Log(requests=False, stream=log), 2, Part.WORKER) == 0
    assert "worker died" in log.getvalue()
    assert [child.poll() for child in started] == [1, -signal.SIGTERM]
