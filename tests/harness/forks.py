"""Server processes forked off one that has everything imported: each starts in a tenth of the time.

A fork is a process like any other: a number, a folder, an environment and files of its own, ended by the signals of
real ones. It runs `pressroom` with the arguments given, from the same modules. The mother has one thread and has opened
nothing, so that nothing is shared. Started as a program, this module is the mother.
"""

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn


class Fork:
    """A process that was forked off, used like a `subprocess.Popen`."""

    def __init__(self, mother: "_Mother", pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._mother = mother
        self._ended = os.pidfd_open(pid)

    def poll(self) -> int | None:
        """Returns the exit status, if it has ended."""
        return self._status(0)

    def wait(self, timeout: float | None = None) -> int:
        """Waits `timeout` seconds at most for its end; returns the exit status. Raises TimeoutExpired."""
        status = self._status(timeout)
        if status is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        return status

    def send_signal(self, number: int) -> None:
        """Sends it a signal, if it has not ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Asks it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Ends it."""
        self.send_signal(signal.SIGKILL)

    def _status(self, timeout: float | None) -> int | None:
        if self.returncode is None:
            with contextlib.closing(select.epoll(1)) as waiting:
                waiting.register(self._ended, select.EPOLLIN)
                if not waiting.poll(timeout):
                    return None
            self.returncode = self._mother.ask({"status_of": self.pid})
            os.close(self._ended)
        return self.returncode


def fork(
    arguments: Sequence[str], *, folder: Path, environment: Mapping[str, str], log: Path, errors: Path | None = None
) -> Fork:
    """Starts `pressroom` with these arguments in a folder.

    Its output goes to the end of `log`, and its errors to that of `errors`, `log` if there is none.
    """
    mother = _mother()
    files = {"log": str(log), "errors": str(errors or log)}
    order = {"arguments": list(arguments), "folder": str(folder), "environment": dict(environment), **files}
    return Fork(mother, mother.ask(order))


def run(
    arguments: Sequence[str], *, folder: Path, environment: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """Returns how `pressroom` ended, and its output, at most `timeout` seconds later. Raises TimeoutExpired."""
    with tempfile.TemporaryDirectory() as kept:
        log, errors = Path(kept) / "out", Path(kept) / "err"
        process = fork(arguments, folder=folder, environment=environment, log=log, errors=errors)
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        return subprocess.CompletedProcess(arguments, status, log.read_text("utf-8"), errors.read_text("utf-8"))


class _Mother:
    """The process that forks; it ends with this one."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "tests.harness.forks", str(theirs.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        self._stream = ours.makefile("rwb")
        ours.close()
        atexit.register(self.close)

    def ask(self, order: Mapping[str, Any]) -> int:
        """Returns the number that an order is answered with."""
        self._stream.write(json.dumps(order).encode() + b"\n")
        self._stream.flush()
        return int(self._stream.readline())

    def close(self) -> None:
        """Has it end."""
        self._stream.close()
        self._process.wait()


@functools.cache
def _mother() -> _Mother:
    return _Mother()


def serve(control: socket.socket) -> None:
    """Forks as ordered, until nobody is left who could order."""
    # Everything that serving needs, but for granian, whose allocator has a thread.
    for name in ("server.app", "cli", "server.routes", "logs"):
        importlib.import_module(f"pressroom.{name}")

    # Made once for all of them: half of the work of a start.
    sys.modules["pressroom.server.routes"].describe_api(sys.modules["pressroom.settings"].Settings({}))
    threads = list(Path("/proc/self/task").iterdir())
    assert len(threads) == 1, "a process with threads cannot be forked safely"
    gc.collect()
    gc.freeze()
    with control, control.makefile("rwb") as stream:
        for line in stream:
            order = json.loads(line)
            if "status_of" in order:
                _, status = os.waitpid(order["status_of"], 0)
                reply = os.waitstatus_to_exitcode(status)
            elif (reply := os.fork()) == 0:
                os.close(control.detach())
                _become(order)
            stream.write(b"%d\n" % reply)
            stream.flush()


def _become(order: Mapping[str, Any]) -> NoReturn:
    """Turns a fresh fork into the ordered process, and never returns."""
    status = 1
    try:
        for number, name in ((1, "log"), (2, "errors")):
            file = os.open(order[name], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            os.dup2(file, number)
            os.close(file)
        os.chdir(order["folder"])
        os.environ.clear()
        os.environ.update(order["environment"])
        from pressroom.cli import main

        main(order["arguments"], prog_name="pressroom")
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
