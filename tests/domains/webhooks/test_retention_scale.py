"""Finding expired events costs the same however many deliveries are pending: by its work."""

import asyncio
import os
from pathlib import Path
from typing import Final

import asyncpg
import pytest

from pressroom.clock import SettableClock
from pressroom.db import Command, Database, Tx
from pressroom.db.postgres.database import open_postgres
from pressroom.db.sqlite.database import connect, open_sqlite
from pressroom.domains.events.models import EventType
from pressroom.domains.webhooks.queries.retention import list_expired_events
from tests.harness.plans import UNHURRIED, Asked, Engine, Noting, Postgres, Sqlite
from tests.harness.subscribed import make_endpoint

pytestmark = pytest.mark.xdist_group("scale")

PENDING: Final = 20_000
EXPIRED: Final = 300
MOST_WORK_EACH: Final = 150
"""Of each event that is found; far less than a look at each of the pending deliveries."""

_NUMBERS: Final = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"

EVENTS: Final = Command(
    f"INSERT INTO events (id, account_id, type, data, created_at) {_NUMBERS}"  # noqa: S608  # our own
    " SELECT '0 old ' || CAST(i AS TEXT), CAST(:account_id AS TEXT), 'post.created', '{}', i FROM n"
)

DELIVERIES: Final = Command(
    "INSERT INTO deliveries (account_id, webhook_id, event_id, envelope_id, event_type, state, code, redelivery, tries,"  # noqa: S608  # our own
    f" attempts, due_at) {_NUMBERS} SELECT CAST(:account_id AS TEXT), CAST(:webhook_id AS TEXT), 'new ' ||"
    " CAST(i AS TEXT), 'evt_' || CAST(i AS TEXT), 'post.created', 'pending', '', FALSE, 1, '[]', 1 FROM n"
)

PENDS: Final = Command("UPDATE deliveries SET event_id = '0 old 1' WHERE event_id = 'new 1'")


async def fill(db: Database) -> None:
    """Makes an endpoint with everything still to be delivered, an expired event among it."""
    account_id, _, webhook_id = await make_endpoint(db, EventType.POST_CREATED)

    async def put(tx: Tx) -> None:
        await tx.run(EVENTS, account_id=account_id, count=EXPIRED)
        await tx.run(DELIVERIES, account_id=account_id, webhook_id=webhook_id, count=PENDING)
        await tx.run(PENDS)

    await db.transact(put)


@pytest.mark.parametrize("statistics", [True, False], ids=["with statistics", "without"])
@pytest.mark.parametrize("engine_name", ["sqlite", "postgres"])
def test_expired_events_are_not_compared_with_each_pending_delivery(
    request: pytest.FixtureRequest, tmp_path: Path, engine_name: str, statistics: bool
) -> None:
    with asyncio.Runner() as runner:
        if engine_name == "postgres":
            url = request.getfixturevalue("postgres_server").create_database(f"retention_{os.getpid()}_{statistics}")
            db: Database = runner.run(open_postgres(url, SettableClock(), options=UNHURRIED))
            connection = runner.run(asyncpg.connect(url))
            engine: Engine = Postgres(connection, {"events", "deliveries"})
        else:
            db, connection = open_sqlite(tmp_path / "pressroom.db", SettableClock()), None
            engine = Sqlite(connect(tmp_path / "pressroom.db"))
        runner.run(fill(db))
        if statistics:
            runner.run(db.script("ANALYZE"))
        asked: list[Asked] = []
        found = runner.run(db.read(lambda tx: list_expired_events(Noting(tx, asked), before="1", batch=500)))
        costs = [cost for each in asked for cost in runner.run(engine.explain(each))]
        if connection is not None:
            runner.run(connection.close())
        runner.run(db.close())

    assert len(found) == EXPIRED - 1, "an event that is still to be delivered is listed, or one that is not lacks"
    assert costs
    for cost in costs:
        assert cost.work < EXPIRED * MOST_WORK_EACH, cost.plan
