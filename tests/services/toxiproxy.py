"""Toxiproxy for tests: TCP links that can be cut, slowed and reset. `make tools` builds it."""

import http.client
import json
import signal
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Literal, Self

from .ports import free_port
from .process import DEADLINE, GuardedProcess, Lease, ServerFailedError, listens
from .programs import found
from .server import Server

Kind = Literal["latency", "bandwidth", "slow_close", "timeout", "reset_peer", "slicer", "limit_data"]


def program() -> Path | None:
    """Return where the program is, if there is one: $TOXIPROXY, else what `make tools` made."""
    return found("toxiproxy-server", "TOXIPROXY")


def available() -> str | None:
    """Tell why Toxiproxy cannot run here, or None if it can."""
    return None if program() is not None else "there is no toxiproxy-server: run `make tools`, which needs go"


@dataclass(frozen=True)
class Link:
    """A way to a server, that listens on `port` of this machine."""

    name: str
    port: int
    server: "Toxiproxy"

    def poison(self, kind: Kind, *, share: float = 1.0, upstream: bool = False, **attributes: int) -> str:
        """Add a toxic to it; returns its name.

        Args:
            kind: as Toxiproxy calls it.
            share: of the connections made from now on that have it, 0 to 1.
            upstream: it works on the client's bytes, rather than on the server's.
            attributes: as Toxiproxy calls them: `latency=5_000` (ms), `timeout=0` (ms), `bytes=100`.
        """
        stream = "upstream" if upstream else "downstream"
        toxic = {
            "name": f"{kind}_{stream}",
            "type": kind,
            "stream": stream,
            "toxicity": share,
            "attributes": attributes,
        }
        self.server.ask("POST", f"/proxies/{self.name}/toxics", toxic)
        return f"{kind}_{stream}"

    def cure(self, toxic: str) -> None:
        """Take a toxic away again."""
        self.server.ask("DELETE", f"/proxies/{self.name}/toxics/{toxic}")

    def cut(self) -> None:
        """End every connection and refuse others."""
        self.server.ask("POST", f"/proxies/{self.name}", {"enabled": False})

    def mend(self) -> None:
        """Take connections again after `cut`."""
        self.server.ask("POST", f"/proxies/{self.name}", {"enabled": True})

    def point_at(self, target: int) -> None:
        """Lead to another port of this machine; ends every connection."""
        self.server.ask("POST", f"/proxies/{self.name}", {"upstream": f"127.0.0.1:{target}"})


class Toxiproxy(Server):
    """A Toxiproxy, whose `port` is that of its HTTP interface."""

    restart_signal = signal.SIGTERM
    kill_signal = signal.SIGKILL

    @classmethod
    def start(cls, folder: Path) -> Self:
        """Start one without links, with its log in `folder`."""
        if reason := available():
            raise RuntimeError(reason)
        folder.mkdir(parents=True, exist_ok=True)
        return cls(folder, Lease(folder / "toxiproxy.lease"))._begin()

    @property
    def url(self) -> str:
        """The address of its HTTP interface."""
        return f"http://127.0.0.1:{self.port}"

    def link(self, target: int) -> Link:
        """Make a way to a port of this machine."""
        port = free_port()
        name = f"to{target}by{port}"
        proxy = {"name": name, "listen": f"127.0.0.1:{port}", "upstream": f"127.0.0.1:{target}", "enabled": True}
        self.ask("POST", "/proxies", proxy)
        return Link(name, port, self)

    def ask(self, method: str, path: str, body: object = None) -> None:
        """Send its HTTP interface a request that it is to grant."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            answer = connection.getresponse()
            if answer.status >= HTTPStatus.BAD_REQUEST:
                raise ServerFailedError(f"Toxiproxy refuses {method} {path}: {answer.read().decode()}")
        finally:
            connection.close()

    def _spawn(self) -> GuardedProcess:
        command = [str(program()), "-host", "127.0.0.1", "-port", str(self.port)]
        return GuardedProcess(command, log=self.log, lease=self._lease, end_signal=self.kill_signal)

    def _ready(self, pid: int) -> bool:
        return listens(pid, self.port)

    def _remove_data(self) -> None:
        """There is none."""
