"""Shared code of the PostgreSQL and the Redis server: life, death and a port that stays the same."""

import abc
import signal
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from .ports import free_port
from .process import DEADLINE, GuardedProcess, Lease, ServerFailedError, tail, wait_until

PORT_ATTEMPTS = 10


class Server(abc.ABC):
    """A server on 127.0.0.1; a context manager that stops it at the end."""

    restart_signal: ClassVar[signal.Signals]
    kill_signal: ClassVar[signal.Signals]

    def __init__(self, folder: Path, lease: Lease) -> None:
        """Describe a server without starting it: its log is kept in `folder`."""
        self.port = 0
        self.log = folder / "server.log"
        self._lease = lease
        self._process: GuardedProcess | None = None
        self._mine = True

    @classmethod
    def attach(cls, folder: Path, lease: Lease, port: int) -> Self:
        """Describe a shared server that another process started in `folder`."""
        server = cls(folder, lease)
        server.port = port
        server._mine = False
        return server

    @property
    @abc.abstractmethod
    def url(self) -> str:
        """The address to connect to."""

    def _free_port(self) -> int:
        """A port that nothing listens on."""
        return free_port()

    @abc.abstractmethod
    def _spawn(self) -> GuardedProcess:
        """Start the process on `self.port`."""

    @abc.abstractmethod
    def _ready(self, pid: int) -> bool:
        """Tell whether the server with this process number, and no other on the same port, takes queries."""

    @abc.abstractmethod
    def _remove_data(self) -> None:
        """Remove the server's data."""

    @property
    def pid(self) -> int:
        """The number of the server's process; only of a server that this object may kill."""
        return self._own_process().pid

    def kill(self) -> None:
        """End the server at once, dropping every connection; `restart` brings it back."""
        self._own_process().end(self.kill_signal)

    def restart(self) -> None:
        """Stop the server in good order if it runs, and start it again on the same port."""
        self._own_process().end(self.restart_signal)
        self._launch()

    def stop(self) -> None:
        """End the server for good and remove its data; of a shared one, only give up this share."""
        if self._process is not None:
            self._process.end(self.kill_signal)
            self._process = None
        if self._mine:
            self._remove_data()
        self._lease.release()

    def share(self) -> None:
        """Leave the server to all who hold the lease: it ends with the last of them."""
        self._own_process().disown()
        self._process = None
        self._mine = False

    def _begin(self) -> Self:
        for attempt in range(1, PORT_ATTEMPTS + 1):
            self.port = self._free_port()
            try:
                self._launch()
            except BaseException as error:
                taken = isinstance(error, ServerFailedError) and "address already in use" in str(error).lower()
                if taken and attempt < PORT_ATTEMPTS:
                    self.log.unlink()
                    continue
                self.stop()
                raise
            break
        return self

    def _launch(self) -> None:
        process = self._process = self._spawn()
        in_time = wait_until(lambda: not process.alive() or self._ready(process.pid))
        if not process.alive():
            raise ServerFailedError(f"the server ended while starting: {tail(self.log)}")
        if not in_time:
            raise ServerFailedError(f"the server did not come up in {DEADLINE:g} s: {tail(self.log)}")

    def _own_process(self) -> GuardedProcess:
        if self._process is None:
            raise RuntimeError("the server is shared or stopped: start one of your own to kill or restart it")
        return self._process

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
