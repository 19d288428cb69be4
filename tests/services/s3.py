"""A real S3 server for tests, across real sockets: moto's, which keeps objects in memory."""

import importlib.util
import signal
import sys
from pathlib import Path
from typing import Self

import httpx
import psutil

from .process import GuardedProcess, Lease
from .server import Server

ACCESS_KEY = "AKIAPRESSROOMTESTS"
SECRET_KEY = "tests/only+secret"
REGION = "eu-central-1"
PROGRAM = "from moto.server import main; main()"


def available() -> str | None:
    """Tell why S3 cannot run here, or None if it can."""
    if importlib.util.find_spec("moto") is None:
        return "the package moto[s3,server] is not installed"
    return None


class S3Server(Server):
    """An S3 server that keeps nothing on disk: `kill` and `restart` empty it. It takes any credentials."""

    restart_signal = signal.SIGTERM
    kill_signal = signal.SIGKILL

    @classmethod
    def start(cls, folder: Path, *, lease: Lease | None = None) -> Self:
        """Start a server with its log in `folder`."""
        if reason := available():
            raise RuntimeError(reason)
        folder.mkdir(parents=True, exist_ok=True)
        return cls(folder, lease or Lease(folder / "s3.lease"))._begin()

    @property
    def url(self) -> str:
        """The endpoint."""
        return f"http://127.0.0.1:{self.port}"

    def create_bucket(self, name: str) -> None:
        """Make an empty bucket."""
        httpx.put(f"{self.url}/{name}", timeout=20).raise_for_status()

    def _spawn(self) -> GuardedProcess:
        command = [sys.executable, "-c", PROGRAM, "-H", "127.0.0.1", "-p", str(self.port)]
        return GuardedProcess(command, log=self.log, lease=self._lease, end_signal=self.kill_signal)

    def _remove_data(self) -> None:
        """There is none."""

    def _ready(self, pid: int) -> bool:
        try:
            listening = any(
                each.laddr.port == self.port and each.status == psutil.CONN_LISTEN
                for each in psutil.Process(pid).net_connections("tcp4")
            )
            if listening:
                # The first answer takes a second or two: the server loads its modules.
                httpx.get(f"{self.url}/moto-api/data.json", timeout=20).raise_for_status()
        except (psutil.Error, httpx.HTTPError):
            return False
        return listening
