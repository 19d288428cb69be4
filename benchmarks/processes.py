"""The processes of a run: the real server, the bare one, and whatever they are measured with."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Final, TypeVar

import msgspec
import psutil

from benchmarks.figures import Measured
from benchmarks.load import Load

T = TypeVar("T")

DEADLINE: Final = 20.0
ROOT: Final = Path(__file__).parent.parent

RAISED: Final = {
    "REQUESTS_PER_MINUTE": 1_000_000,
    "REQUESTS_PER_DAY": 1_000_000_000,
    "POSTS_PER_MINUTE": 1_000_000,
    "DAILY_CONTENT_QUOTA": 1_000_000_000,
}
"""Limits that refuse nothing. Every other setting has its default."""


class Server:
    """A server process that has begun to answer. `started` and `answered` are seconds since it was spawned.

    `answered` is that of the first answer to `key`; without a key, the same as `started`.
    """

    def __init__(
        self, arguments: list[str], port: int, log: Path, key: str, settings: dict[str, object], source: Path = ROOT
    ) -> None:
        ours = {f"PRESSROOM_{name}": str(value) for name, value in settings.items()}
        ours["PYTHONPATH"] = str(source / "src")
        ours["PYTHONDONTWRITEBYTECODE"] = ""  # compiled once, as an installation is
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")}
        spawned = time.perf_counter()
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *arguments],
                env={**kept, **ours}, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors,
            )  # fmt: skip
        self.port = port
        try:
            self._wait_for(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            self.started = time.perf_counter() - spawned
            if key:
                bearer = f"GET /api/auth/me HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
                self._wait_for(f"{bearer}Connection: close\r\n\r\n".encode())
            self.answered = time.perf_counter() - spawned
        except BaseException:
            self.stop()
            raise
        self._measured = psutil.Process(self._process.pid)

    @property
    def pid(self) -> int:
        """Its process's number."""
        return self._process.pid

    @property
    def cpu_seconds(self) -> float:
        """CPU time that it and the processes that it started have used so far, in and out of the kernel."""
        times = [each.cpu_times() for each in (self._measured, *self._measured.children())]
        return sum(each.user + each.system for each in times)

    @property
    def megabytes(self) -> float:
        """Its resident memory, in units of 1,048,576 bytes."""
        return self._measured.memory_info().rss / 1024**2

    @property
    def peak_megabytes(self) -> float:
        """The most memory that it had resident at any time so far."""
        status = Path(f"/proc/{self._process.pid}/status").read_text("utf-8")
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024

    def stop(self) -> None:
        """Ends it as an operator would."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(DEADLINE)

    def _wait_for(self, request: bytes) -> None:
        deadline = time.monotonic() + DEADLINE
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise RuntimeError(f"{self._process.args} ended with {self._process.returncode}; see benchmarks/out")
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=2) as connection:
                    connection.sendall(request)
                    if connection.recv(65_536).startswith((b"HTTP/1.1 200 ", b"HTTP/1.1 404 ")):
                        return
            except OSError:
                pass
            time.sleep(0.005)
        raise RuntimeError(f"{self._process.args} did not answer within {DEADLINE:g} s")


def real_server(folder: Path, key: str, *, source: Path = ROOT, **more: object) -> Server:
    """`pressroom serve` on the database in `folder`, its access log going to a file; `more` are settings.

    `source` is the checkout that it is run from.
    """
    port = free_port()
    settings: dict[str, object] = {"DATA_DIR": folder, "PORT": port, **RAISED, **more}
    return Server(["pressroom", "serve"], port, folder / "server.log", key, settings, source)


def bare_server(folder: Path, key: str) -> Server:
    """The limit of HTTP."""
    port = free_port()
    return Server(["benchmarks.limit_http", "--port", str(port)], port, folder / "bare.log", key, {})


def measure(module: str, *arguments: object, answer: type[T]) -> T:
    """Runs a module of this package to its end; the `answer` that it printed as JSON."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=answer)


def measure_load(server: Server, kind: str, *arguments: object) -> Measured:
    """Loads a server once."""
    before = server.cpu_seconds
    load = measure("load", kind, "--port", server.port, *arguments, answer=Load)
    return Measured(load, (server.cpu_seconds - before) / load.answered * 1e6)


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def load_average() -> float:
    """How many processes wanted a core during the last minute."""
    return os.getloadavg()[0]
