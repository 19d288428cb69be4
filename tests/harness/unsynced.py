"""SQLite without fsync in the process of the tests, as their PostgreSQL runs: no test cuts the power of this one."""

import contextlib
from collections.abc import Generator
from pathlib import Path

from pressroom.db.sqlite import database
from pressroom.db.sqlite.tx import SqliteConnection

_connect = database.connect


def forgo_fsync() -> None:
    """Lets every connection that this process opens from now on commit without waiting for the disk.

    Each commit waits a millisecond or more otherwise. Server processes are programs of their own and keep
    `synchronous = FULL`: those that tests kill, and those whose disk loses unsynced writes.
    """
    database.connect = _connect_unsynced  # The server has no setting for it, which would cost somebody their posts.


@contextlib.contextmanager
def with_fsync() -> Generator[None]:
    """Opens connections as the server does, for a test of the fsync itself."""
    database.connect = _connect
    try:
        yield
    finally:
        database.connect = _connect_unsynced


def _connect_unsynced(file: Path) -> SqliteConnection:
    connection = _connect(file)
    connection.execute("PRAGMA synchronous = OFF").fetchall()
    return connection
