"""Finding expired events costs the same however many deliveries are pending: by its work."""

from pathlib import Path
from typing import Final

import pytest

from pressroom.db import Command, Database, Tx
from pressroom.domains.events.models import EventType
from pressroom.domains.webhooks.queries.retention import list_expired_events
from tests.harness.plans import Asked, Noting, opened_for_plans
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
    kind = engine_name if statistics else f"{engine_name} without statistics"
    name = f"retention_{statistics}"
    with opened_for_plans(request, tmp_path, kind, name, fill, {"events", "deliveries"}) as opened:
        asked: list[Asked] = []
        read = opened.db.read(lambda tx: list_expired_events(Noting(tx, asked), before="1", batch=500))
        found = opened.run(read)
        costs = [cost for each in asked for cost in opened.run(opened.engine.explain(each))]

    assert len(found) == EXPIRED - 1, "an event that is still to be delivered is listed, or one that is not lacks"
    assert costs
    for cost in costs:
        assert cost.work < EXPIRED * MOST_WORK_EACH, cost.plan
