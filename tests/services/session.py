"""One server of each kind for a whole test run, however many pytest-xdist workers it has."""

import json
import os
import tempfile
from pathlib import Path
from typing import Final, Literal, overload

from .postgres import PostgresServer
from .process import Lease, alone, answers, runs
from .redis import RedisServer
from .seaweed import SeaweedServer

SERVERS: Final[dict[str, type[PostgresServer] | type[RedisServer] | type[SeaweedServer]]] = {
    "postgres": PostgresServer,
    "redis": RedisServer,
    "seaweed": SeaweedServer,
}


@overload
def session_server(tmp_root: Path, kind: Literal["postgres"]) -> PostgresServer: ...
@overload
def session_server(tmp_root: Path, kind: Literal["redis"]) -> RedisServer: ...
@overload
def session_server(tmp_root: Path, kind: Literal["seaweed"]) -> SeaweedServer: ...
def session_server(
    tmp_root: Path, kind: Literal["postgres", "redis", "seaweed"]
) -> PostgresServer | RedisServer | SeaweedServer:
    """Return this run's server of a kind, starting it if no other worker has.

    `tmp_root` is a folder of this run that all workers have in common (see `run_folder`). The server ends
    soon after the last worker has stopped its handle or has died; a handle cannot kill or restart it.
    """
    lease = Lease(tmp_root / f"{kind}.lease")
    server_class = SERVERS[kind]
    try:
        with alone(tmp_root / f"{kind}.gate"):
            if noted := lease.read():
                about = json.loads(noted)
                server = server_class.attach(Path(about["folder"]), lease, about["port"])
                if runs(about["pid"]) and answers(server.port):
                    return server
            folder = Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=tmp_root))
            if server_class is PostgresServer:
                server = PostgresServer.start(folder, cache=tmp_root, lease=lease)
            else:
                server = server_class.start(folder, lease=lease)
            lease.note(json.dumps({"folder": str(folder), "port": server.port, "pid": server.pid}))
            server.share()
            return server
    except BaseException:
        lease.release()
        raise


def run_folder(basetemp: Path) -> Path:
    """Return the folder all workers of this run share, given `tmp_path_factory.getbasetemp()` of any."""
    return basetemp.parent if "PYTEST_XDIST_WORKER" in os.environ else basetemp
