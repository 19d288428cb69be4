"""A PostgreSQL primary and its standbys, each of which can be killed, frozen, promoted and started again."""

import contextlib
import ctypes
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

import psutil

from .postgres import PostgresServer, run_program
from .process import Lease, wait_until

IPC_RMID = 0


class PostgresNode(PostgresServer):
    """One server of a cluster, known to the others as `name`."""

    name = ""

    @classmethod
    def follow(cls, primary: "PostgresNode", folder: Path, name: str) -> Self:
        """Start a standby of `primary`, from a copy of its data; `folder` is for its log."""
        folder.mkdir(parents=True, exist_ok=True)
        node = cls(folder, Lease(folder / "postgres.lease"))
        node.name = name
        node._settings = dict(primary._settings)
        try:
            node._settle(folder)
            source = f"host=127.0.0.1 port={primary.port} user=postgres application_name={name}"
            copy = ["--pgdata", str(node._data), "-R", "--checkpoint=fast", "--no-sync", "--wal-method=stream"]
            run_program([str(node._binaries / "pg_basebackup"), "--dbname", source, *copy], node._account)
        except BaseException:
            node.stop()
            raise
        return node._begin()

    def set(self, name: str, value: str) -> None:
        """Change a setting of the running server that needs no restart."""
        self.query(f"ALTER SYSTEM SET {name} = '{value}'")
        self.query("SELECT pg_reload_conf()")

    def query(self, statement: str) -> str:
        """Return the result of a statement, as text."""
        options = ["--no-psqlrc", "--no-password", "--tuples-only", "--no-align", "--dbname", self.url]
        return run_program([str(self._binaries / "psql"), *options, "--command", statement]).strip()

    def received(self) -> int:
        """Return how far in the log of writes this standby has come, in bytes."""
        return int(self.query("SELECT pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')::bigint"))

    def is_standby(self) -> bool:
        """Tell whether it follows another and takes no writes."""
        return self.query("SELECT pg_is_in_recovery()") == "t"

    def crash(self) -> None:
        """End it and all its processes by SIGKILL; `start_again` brings it back with its data."""
        family = self._family()
        for each in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
        self._own_process().end(signal.SIGKILL)
        wait_until(lambda: all(map(_has_ended, family)))
        self._remove_shared_memory()

    def freeze(self) -> None:
        """Stop all its processes, as a machine that hangs: connections stay, and nothing answers."""
        for each in self._family():
            with contextlib.suppress(psutil.NoSuchProcess):
                each.suspend()

    def thaw(self) -> None:
        """Let its processes go on after `freeze`."""
        for each in self._family():
            with contextlib.suppress(psutil.NoSuchProcess):
                each.resume()

    def start_again(self) -> None:
        """Start it after `crash` or `kill`, on its port and with its data."""
        self._launch()

    def promote(self) -> None:
        """Make this standby a primary; returns when it takes writes."""
        command = [str(self._binaries / "pg_ctl"), "promote", "--pgdata", str(self._data), "--wait"]
        run_program(command, self._account)

    def follow_instead(self, primary: "PostgresNode") -> None:
        """Let this standby follow another primary from now on."""
        self.set("primary_conninfo", f"host=127.0.0.1 port={primary.port} user=postgres application_name={self.name}")

    def stop(self) -> None:
        """End it for good and remove its data, also when it is frozen."""
        if self._process is not None and self._process.alive():
            self.thaw()
        super().stop()

    @property
    def _data(self) -> Path:
        return self._home / "data"

    def _family(self) -> list[psutil.Process]:
        try:
            parent = psutil.Process(self.pid)
            # The parent first: frozen, it begins no other.
            return [parent, *parent.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def _remove_shared_memory(self) -> None:
        """Free the system's resources of a killed server until it starts again, should it never do so."""
        words = (self._data / "postmaster.pid").read_text().splitlines()[6].split()
        ctypes.CDLL(None).shmctl(int(words[1]), IPC_RMID, None)


class PostgresCluster:
    """A primary and standbys; a context manager that ends them all.

    `primary` is the one that was made first, until `fail_over`; `standbys` are those that follow it.
    """

    def __init__(self, primary: PostgresNode, standbys: Sequence[PostgresNode], *, synchronous: bool) -> None:
        """Describe nodes that run."""
        self.primary = primary
        self.standbys = list(standbys)
        self.nodes = [primary, *standbys]
        self._synchronous = synchronous

    @classmethod
    def start(
        cls,
        folder: Path,
        *,
        standbys: int = 2,
        synchronous: bool = True,
        settings: Mapping[str, str] | None = None,
        cache: Path | None = None,
    ) -> Self:
        """Start a primary and so many standbys.

        Args:
            folder: for the nodes' logs.
            standbys: how many follow the primary.
            synchronous: a COMMIT returns once any one standby has it (`ANY 1`).
            settings: further settings of PostgreSQL, for each node.
            cache: see `PostgresServer.start`.
        """
        with contextlib.ExitStack() as stack:
            primary = PostgresNode.start(folder / "node1", settings=settings, cache=cache)
            primary.name = "node1"
            stack.enter_context(primary)
            names = [f"node{number}" for number in range(2, standbys + 2)]
            following = [stack.enter_context(PostgresNode.follow(primary, folder / name, name)) for name in names]
            cluster = cls(primary, following, synchronous=synchronous)
            cluster.wait_for_standbys()
            if synchronous:
                cluster._demand_copies()
            stack.pop_all()
            return cluster

    def url(self, database: str = "postgres") -> str:
        """Return an address that names all nodes, the first primary first."""
        return several_hosts([node.port for node in self.nodes], database)

    def wait_for_standbys(self) -> None:
        """Return when every standby receives the primary's log."""
        statement = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
        if not wait_until(lambda: int(self.primary.query(statement)) >= len(self.standbys)):
            raise RuntimeError("a standby does not follow its primary")

    def fail_over(self) -> PostgresNode:
        """Promote the standby that has received most, let the others follow it; returns the new primary.

        The old primary is to be away: see `PostgresNode.crash`, `freeze`.
        """
        promoted = max(self.standbys, key=PostgresNode.received)
        promoted.promote()
        self.primary = promoted
        self.standbys.remove(promoted)
        for each in self.standbys:
            each.follow_instead(promoted)
        if self._synchronous:
            self._demand_copies()
        return promoted

    def stop(self) -> None:
        """End all nodes and remove their data."""
        for node in self.nodes:
            node.stop()

    def _demand_copies(self) -> None:
        others = ", ".join(node.name for node in self.nodes if node is not self.primary)
        self.primary.set("synchronous_standby_names", f"ANY 1 ({others})")
        shown = "SHOW synchronous_standby_names"
        if not wait_until(lambda: self.primary.query(shown) == f"ANY 1 ({others})"):
            raise RuntimeError("the primary does not ask for a synchronous standby")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def several_hosts(ports: Sequence[int], database: str) -> str:
    """Return a URL of PostgreSQL that names several servers of this machine."""
    hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
    return f"postgresql://postgres@{hosts}/{quote(database)}"


def _has_ended(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
