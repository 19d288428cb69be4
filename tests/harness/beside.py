"""Long-running commands beside a server: `pressroom worker`, `pressroom listen`, a server that does one part alone."""

import itertools
import time
from types import TracebackType
from typing import Self

from tests.harness.forks import fork
from tests.harness.process import DEADLINE, ServerProcess

_numbers = itertools.count()


class Command(ServerProcess):
    """A command with the settings of a server, started and ended by `with`.

    `ready` is what it says once it is at work; without it the command is one that listens where the server does.
    """

    def __init__(self, server: ServerProcess, *arguments: str, ready: str = "") -> None:
        folder = server.folder / f"{arguments[0]}{next(_numbers)}"
        super().__init__(folder, **server.settings)
        self._arguments = arguments
        self._ready = ready

    def launch(self, *arguments: str) -> None:
        """Starts it without waiting."""
        self.folder.mkdir(parents=True, exist_ok=True)
        arguments = (*self._arguments, *arguments)
        self.process = fork(arguments, folder=self.folder, environment=self.environment, log=self.log)

    def start(self, *arguments: str) -> Self:
        """Starts it and waits until it is at work."""
        if not self._ready:
            super().start(*arguments)
            return self
        said = self.output().count(self._ready)
        self.launch(*arguments)
        return self.wait_for(self._ready, said + 1)

    def restart(self) -> Self:
        """Starts it after an end, and waits as little as possible."""
        if self._ready:
            return self.start()
        super().restart()
        return self

    def wait_for(self, text: str, times: int = 1) -> Self:
        """Waits until it has said something so often."""
        deadline = time.monotonic() + DEADLINE
        while self.output().count(text) < times:
            assert not self.ended, f"{self._arguments} ended:\n{self.output()}"
            assert time.monotonic() < deadline, f"{text!r} was not said {times} times:\n{self.output()}"
            time.sleep(0.01)
        return self

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()


def api_alone(server: ServerProcess) -> Command:
    """`serve --only api`, with the settings of a server that is not started itself."""
    return Command(server, "serve", "--only", "api")


def worker(server: ServerProcess, *arguments: str) -> Command:
    """`pressroom worker` beside a server."""
    return Command(server, "worker", *arguments, ready='"delivering"')
