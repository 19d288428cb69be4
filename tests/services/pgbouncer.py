"""A PgBouncer for tests, in front of one PostgreSQL."""

import os
import shutil
import signal
from pathlib import Path
from typing import Literal, Self
from urllib.parse import quote

from .account import Account, folder_for, is_root, unprivileged
from .process import GuardedProcess, Lease, answers, listens
from .programs import found
from .server import Server

PoolMode = Literal["session", "transaction"]


def available() -> str | None:
    """Tell why PgBouncer cannot run here, or None if it can."""
    if found("pgbouncer") is None:
        return "pgbouncer is not installed"
    if is_root() and unprivileged() is None:
        return "PgBouncer does not run as root, and there is no account without rights to run it as"
    return None


class PgBouncer(Server):
    """A PgBouncer that lets everyone in and passes every database on to one server."""

    restart_signal = signal.SIGTERM
    kill_signal = signal.SIGKILL

    def __init__(self, folder: Path, lease: Lease, target: int = 0, mode: PoolMode = "session", pool: int = 20) -> None:
        """Describe one without starting it."""
        super().__init__(folder, lease)
        self._target, self._mode, self._pool = target, mode, pool
        self._account: Account | None = None
        self._home = folder / "pgbouncer"

    @classmethod
    def start(cls, folder: Path, target: int, *, mode: PoolMode = "session", pool: int = 20) -> Self:
        """Start one in front of the PostgreSQL on port `target`.

        Args:
            folder: for its log.
            target: the server's port on this machine.
            mode: how long a client keeps a server's connection.
            pool: connections to the server, for each database.
        """
        if reason := available():
            raise RuntimeError(reason)
        folder.mkdir(parents=True, exist_ok=True)
        bouncer = cls(folder, Lease(folder / "pgbouncer.lease"), target, mode, pool)
        if is_root():
            bouncer._account = unprivileged()
            assert bouncer._account is not None
            bouncer._home = folder_for(bouncer._account, folder)
        else:
            bouncer._home.mkdir()
        return bouncer._begin()

    @property
    def url(self) -> str:
        """The address of the database `postgres`, by way of it."""
        return self.database_url("postgres")

    def database_url(self, database: str) -> str:
        """Return the address of a database, by way of it."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{quote(database)}"

    def point_at(self, target: int) -> None:
        """Pass connections on to the server on another port, as an operator does after a fail-over."""
        self._target = target
        self._configure()
        os.kill(self.pid, signal.SIGHUP)

    def freeze(self) -> None:
        """Stop it: connections stay, and nothing answers."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on after `freeze`."""
        os.kill(self.pid, signal.SIGCONT)

    def _configure(self) -> Path:
        file = self._home / "pgbouncer.ini"
        file.write_text(
            f"[databases]\n* = host=127.0.0.1 port={self._target} user=postgres\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =\n"
            f"auth_type = any\nadmin_users = postgres\npool_mode = {self._mode}\n"
            f"default_pool_size = {self._pool}\nmax_client_conn = 1000\nserver_login_retry = 1\n"
            "ignore_startup_parameters = extra_float_digits\n"
        )
        file.chmod(0o644)
        return file

    def _spawn(self) -> GuardedProcess:
        return GuardedProcess(
            [str(found("pgbouncer")), str(self._configure())],
            log=self.log,
            lease=self._lease,
            end_signal=self.kill_signal,
            account=self._account,
            remove=[self._home],
        )

    def _ready(self, pid: int) -> bool:
        return listens(pid, self.port) and answers(self.port)

    def _remove_data(self) -> None:
        shutil.rmtree(self._home, ignore_errors=True)
