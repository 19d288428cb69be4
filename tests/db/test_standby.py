"""The questions to a standby as to the database, by an address that no longer leads to the primary."""

from collections.abc import Callable
from typing import Any

import pytest

from pressroom.clock import SettableClock
from pressroom.db import Command, DatabaseAway, Query, Tx
from pressroom.db.postgres.database import open_postgres
from tests.services.postgres_cluster import PostgresCluster
from tests.services.process import wait_until

COUNT = Query(int, "SELECT count(*) FROM things")
INSERT = Command("INSERT INTO things (name) VALUES (:name)")


async def count(tx: Tx) -> int | None:
    """Finds nothing to write."""
    return await tx.one(COUNT)


async def insert(tx: Tx) -> None:
    """Writes."""
    await tx.later(INSERT, name="a")


@pytest.mark.parametrize("action", [count, insert])
def test_write_without_a_database_is_503_and_closes_the_connection(
    action: Callable[[Tx], Any], cluster: PostgresCluster, run: Callable[[Any], Any]
) -> None:
    """Also one that had nothing to write: it cannot be confirmed. The next connection may lead elsewhere."""
    cluster.primary.create_database("away")

    async def story() -> None:
        primary = await open_postgres(cluster.primary.database_url("away"), SettableClock())
        await primary.script("CREATE TABLE things (name TEXT)")
        assert await primary.transact(count) == 0
        await primary.close()
        written = cluster.primary.query("SELECT pg_current_wal_lsn()")
        assert wait_until(lambda: cluster.standbys[0].query(f"SELECT pg_last_wal_replay_lsn() >= '{written}'") == "t")
        standby = await open_postgres(cluster.standbys[0].database_url("away"), SettableClock())
        backend = Query(int, "SELECT pg_backend_pid()")
        before = await standby.one(backend)
        with pytest.raises(DatabaseAway):
            await standby.transact(action)
        assert await standby.one(backend) != before
        assert await standby.read(count) == 0
        await standby.close()

    run(story())
