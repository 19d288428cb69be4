"""Starting a server under a guard, so that it never outlives those who use it."""

import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

import psutil

from . import guard
from .account import Account

DEADLINE = 60.0
PAUSE = 0.005


class ServerFailedError(RuntimeError):
    """A server that ended, or did not come up in time; carries the end of its log."""


class Lease:
    """This process's share in a server: as long as anyone holds one, the server lives."""

    def __init__(self, path: Path) -> None:
        """Take a share by the file at `path`; waits while a guard is clearing away after the last user."""
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        self._held = True
        fcntl.flock(self._file, fcntl.LOCK_SH)

    def read(self) -> str:
        """Return the notes of the server's starter, or an empty text."""
        return os.pread(self._file, 4096, 0).decode()

    def note(self, text: str) -> None:
        """Leave a text for the next users; the guard wipes it when the server goes."""
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, text.encode(), 0)

    def release(self) -> None:
        """Give the share back; again is harmless."""
        if self._held:
            self._held = False
            os.close(self._file)


@contextlib.contextmanager
def alone(path: Path) -> Generator[None, None, None]:
    """Run a block while no other process is in a block of the same `path`."""
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def answers(port: int) -> bool:
    """Tell whether anything listens on a loopback port."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=DEADLINE).close()
    except OSError:
        return False
    return True


def listens(pid: int, port: int) -> bool:
    """Tell whether a process, and no other, listens on a TCP port."""
    try:
        connections = psutil.Process(pid).net_connections("tcp4")
    except psutil.Error:
        return False
    return any(each.laddr.port == port and each.status == psutil.CONN_LISTEN for each in connections)


def runs(pid: int) -> bool:
    """Tell whether there is a process with this number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def clean_environment() -> dict[str, str]:
    """Return the environment without the variables that steer PostgreSQL's programs."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")}


def wait_until(condition: Callable[[], bool], seconds: float = DEADLINE) -> bool:
    """Try `condition` again and again; returns whether it came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE)
    return True


class GuardedProcess:
    """A server process and the guard that is its parent."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path,
        lease: Lease,
        end_signal: signal.Signals,
        account: Account | None = None,
        remove: Sequence[Path] = (),
    ) -> None:
        """Start `command` with its output in `log`; `remove` goes with it if all users vanish unannounced."""
        order: guard.Order = {
            "command": list(command),
            "uid": account and account.uid,
            "gid": account and account.gid,
            "lease": str(lease.path),
            "end_signal": end_signal,
            "remove": [str(path) for path in remove],
        }
        with log.open("ab") as output:
            self._guard = subprocess.Popen(
                [sys.executable, "-I", "-S", guard.__file__, json.dumps(order)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=output,
                env=clean_environment(),
                cwd="/",
                start_new_session=True,  # Ctrl-C is for pytest, whose teardown still needs the server.
            )
        assert self._guard.stdout is not None
        with self._guard.stdout as reply:
            number = reply.readline().strip()
        if not number:
            self._guard.wait()
            raise ServerFailedError(f"{command[0]} could not be run: {tail(log)}")
        self.pid = int(number)

    def alive(self) -> bool:
        """Tell whether the server still runs."""
        return self._guard.poll() is None

    def end(self, with_signal: signal.Signals) -> None:
        """Send a signal that ends the server, and wait until it and its guard are gone."""
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, with_signal)
        try:
            self._guard.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            os.kill(self.pid, signal.SIGKILL)
            self._guard.wait()
            raise

    def disown(self) -> None:
        """Leave the server to its guard, which may outlive this process."""
        self._guard.returncode = 0  # Or Popen would warn that the child still runs.


def tail(log: Path, characters: int = 2_000) -> str:
    """Return the last part of a log file."""
    return log.read_text(errors="replace")[-characters:]
