"""The server as users run it: a process of its own, on real sockets, that can be killed."""

import contextlib
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from pressroom.db.migrate import migrate
from pressroom.domains.keys import commands as keys
from pressroom.domains.sign_up import commands as accounts
from tests.harness.databases import in_database, settings_of
from tests.harness.forks import Fork, fork, run
from tests.harness.roomy import CROWDED
from tests.services.ports import free_port

DEADLINE = 60.0
PRESSROOM = [sys.executable, "-m", "pressroom"]


class ServerProcess:
    """`pressroom serve` in a folder of its own. Settings are given by their names without the prefix."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.folder = folder
        self.port = int(str(settings.pop("PORT", free_port())))
        self.base_url = f"http://127.0.0.1:{self.port}"
        self.settings: dict[str, object] = {**CROWDED, "DATA_DIR": folder / "data", "PORT": self.port, **settings}
        self.log = folder / "server.log"
        self.process: subprocess.Popen[bytes] | Fork | None = None
        self.program = PRESSROOM
        self.forks_commands = True
        self.config = folder / "pressroom.toml"

    @property
    def environment(self) -> dict[str, str]:
        """The process's whole environment."""
        ours = {f"PRESSROOM_{name}": str(value) for name, value in self.settings.items()}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")}
        return {**kept, **ours}

    @property
    def pid(self) -> int:
        """The process's number."""
        assert self.process is not None
        return self.process.pid

    @property
    def ended(self) -> bool:
        """Whether the process has come to its end, by itself or otherwise."""
        return self.process is None or self.process.poll() is not None

    def start(self, *arguments: str) -> "ServerProcess":
        """Starts it and waits until it is ready."""
        self.launch(*arguments)
        deadline = time.monotonic() + DEADLINE
        while time.monotonic() < deadline:
            assert self.process is not None
            if self.process.poll() is not None:
                raise AssertionError(f"the server ended with {self.process.returncode}:\n{self.output()}")
            if self._is_ready():
                return self
            time.sleep(0.01)
        raise AssertionError(f"the server is not ready after {DEADLINE} s:\n{self.output()}")

    def restart(self) -> "ServerProcess":
        """Starts it after an end and waits for no more than that it listens: for tests that start it often."""
        self.launch()
        deadline = time.monotonic() + DEADLINE
        while time.monotonic() < deadline:
            assert self.process is not None
            if self.process.poll() is not None:
                raise AssertionError(f"the server ended with {self.process.returncode}:\n{self.output()}")
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=2):
                return self
            time.sleep(0.01)
        raise AssertionError(f"the server does not listen after {DEADLINE} s:\n{self.output()}")

    def launch(self, *arguments: str) -> None:
        """Starts it without waiting."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.program == PRESSROOM:
            self.process = fork(["serve", *arguments], folder=self.folder, environment=self.environment, log=self.log)
            return
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self.program, "serve", *arguments],
                cwd=self.folder,
                env=self.environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )

    def command(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs another `pressroom` command with the same settings."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.program == PRESSROOM and self.forks_commands:
            done = run(arguments, folder=self.folder, environment=self.environment, timeout=60)
            if check:
                done.check_returncode()
            return done
        return subprocess.run(
            [*self.program, *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=check,
            timeout=60,
        )

    def migrate(self) -> "ServerProcess":
        """Brings its database up to date; an embedded one sees to that itself."""
        if "DATABASE_URL" in self.settings:
            in_database(settings_of(self.settings), migrate)
        return self

    def create_account(self, username: str = "alice", password: str = "correct horse") -> str:
        """Makes an account as the command line does, without a process of its own; its id."""
        email = f"{username}@example.org"
        return in_database(settings_of(self.settings), lambda db: accounts.create(db, username, email, password))

    def create_key(self, username: str = "alice", *scopes: str, label: str = "test") -> str:
        """Makes a key as the command line does, without a process of its own; the key."""
        wanted = list(scopes or ("posts:write",))
        return in_database(settings_of(self.settings), lambda db: keys.create(db, username, label, wanted, None, []))

    def stop(self) -> int:
        """Ends it as an operator would; its exit status."""
        return self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Ends it as a power cut would."""
        self._end(signal.SIGKILL)

    def terminate(self) -> None:
        """Asks it to end as an operator would, without waiting for that."""
        assert self.process is not None
        self.process.terminate()

    def wait(self, seconds: float = DEADLINE) -> int:
        """Waits until it has ended by itself; its exit status."""
        assert self.process is not None
        status = self.process.wait(seconds)
        self.process = None
        return status

    def output(self) -> str:
        """All that it printed and logged, as whole lines: it may be writing the next."""
        text = self.log.read_text("utf-8", "replace") if self.log.exists() else ""
        return text[: text.rfind("\n") + 1]

    def printed_key(self) -> str:
        """The key that development mode printed."""
        found = re.search(r"svc_live_[0-9A-Za-z]{38}", self.output())
        assert found
        return found[0]

    def _is_ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _end(self, number: signal.Signals) -> int:
        if self.process is None:
            return 0
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)
        status = self.process.wait(DEADLINE)
        self.process = None
        return status
