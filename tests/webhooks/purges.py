"""A server's purges, and their times."""

from collections.abc import Awaitable, Callable

from pressroom.db import Tx
from pressroom.domains.webhooks.actions.retention import (
    purge_deliveries,
    purge_events,
    purge_paused,
    sweep_endpoints,
)
from pressroom.jobs.sweeps import run_batches
from tests.harness.local import LocalServer

Purge = Callable[[Tx, int], Awaitable[int]]


def clean_up(server: LocalServer) -> None:
    """Does a server's work of every minute."""
    for purge in (purge_deliveries, purge_paused, purge_events, sweep_endpoints):
        server.run(run_batches(server.runtime.db, purge))


def one_batch(server: LocalServer, purge: Purge, size: int) -> int:
    return server.run(server.runtime.db.transact(purge, size))
