"""Locks of rows that a test holds, so that a transaction stops where the test wants it."""

import asyncio
import contextlib
from collections.abc import Callable, Generator

import asyncpg

from pressroom.db import Query

WAITING = Query(
    int, "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
)
"""Counts what waits for a lock of the transaction that asks."""


@contextlib.contextmanager
def locked(url: str, statement: str) -> Generator[Callable[[], int]]:
    """Holds the locks of a statement; yields what counts the transactions that wait for them."""
    with asyncio.Runner() as runner:
        holder, watcher = (runner.run(asyncpg.connect(url)) for _ in range(2))
        runner.run(holder.execute("BEGIN"))
        runner.run(holder.execute(statement))
        waiting = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        try:
            yield lambda: runner.run(watcher.fetchval(waiting))
        finally:
            runner.run(holder.execute("ROLLBACK"))
            runner.run(holder.close())
            runner.run(watcher.close())
