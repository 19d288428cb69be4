"""The cost of a redelivery follows its results, however many events of other kinds happened in between."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

import pytest

from pressroom.clock import SettableClock
from pressroom.db import Command, Database, Tx
from pressroom.domains.events.models import EventType
from pressroom.domains.webhooks.actions.deliveries import preview
from pressroom.domains.webhooks.models import REDELIVERED, Redelivery, RedeliveryPreview
from pressroom.ids import new_id
from tests.harness.plans import Asked, Noting, opened_for_plans
from tests.harness.subscribed import make_endpoint

pytestmark = pytest.mark.xdist_group("scale")

MANY: Final = 100_000
MOST_WORK: Final = 2_000
"""Far less than any walk through the many."""
MOST_WORK_EACH: Final = 150
"""Of each event that is found; far less than a look at each of the others."""

EVENTS: Final = Command(
    "INSERT INTO events (id, account_id, type, data, created_at)"
    " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
    " SELECT CAST(:time AS TEXT) || '0000000' || CAST(:first + i AS TEXT), CAST(:account_id AS TEXT),"
    " CAST(:type AS TEXT), '{}', 1 FROM n"
)

DELIVERIES: Final = Command(
    "INSERT INTO deliveries (account_id, webhook_id, event_id, envelope_id, event_type, state, redelivery, tries,"
    " attempts, due_at, code) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
    " SELECT CAST(:account_id AS TEXT), CAST(:webhook_id AS TEXT), CAST(:time AS TEXT) || '0000000' ||"
    " CAST(:first + i AS TEXT), 'evt_' || CAST(i AS TEXT), 'post.created', 'delivered', FALSE, 1, '[]', 1, '2xx' FROM n"
)

Previewed = tuple[RedeliveryPreview, list[list[float]]]
Fill = Callable[[Database], Coroutine[Any, Any, tuple[str, str, str]]]


async def fill_partly(db: Database) -> tuple[str, str, str]:
    """Makes an endpoint that has had a hundred thousand posts and has not had three comments after them."""
    account_id, key_id, webhook_id = await make_endpoint(db, EventType.COMMENT_CREATED, EventType.POSTCLIP_CREATED)

    async def put(tx: Tx) -> None:
        common = {"account_id": account_id, "time": new_id(tx.now)[:10]}
        posts = {**common, "first": 10**8, "count": MANY}
        await tx.run(EVENTS, type=EventType.POST_CREATED, **posts)
        await tx.run(DELIVERIES, webhook_id=webhook_id, **posts)
        await tx.run(EVENTS, type=EventType.COMMENT_CREATED, **{**common, "first": 2 * 10**8, "count": 3})

    await db.transact(put)
    return account_id, key_id, webhook_id


async def fill_fully(db: Database) -> tuple[str, str, str]:
    """Makes an endpoint that a redelivery sends all of a thousand posts to, each of which it has had."""
    account_id, key_id, webhook_id = await make_endpoint(db, EventType.POST_CREATED)

    async def put(tx: Tx) -> None:
        posts = {"account_id": account_id, "time": new_id(tx.now)[:10], "first": 10**8, "count": REDELIVERED}
        await tx.run(EVENTS, type=EventType.POST_CREATED, **posts)
        await tx.run(DELIVERIES, webhook_id=webhook_id, **posts)

    await db.transact(put)
    return account_id, key_id, webhook_id


def preview_on(
    request: pytest.FixtureRequest, folder: Path, fill: Fill, engine_name: str, *, counted: bool
) -> Previewed:
    """Returns what the preview of all that the endpoint chose finds, and the work of its statements, each way of each.

    `counted`: the engine has statistics of its tables.
    """
    kind = engine_name if counted else f"{engine_name} without statistics"
    name = f"redelivery_{fill.__name__}"
    with opened_for_plans(request, folder, kind, name, fill, {"events", "deliveries"}) as opened:
        asked: list[Asked] = []
        wanted = Redelivery(0, SettableClock().now(), list(EventType))
        account_id, key_id, webhook_id = opened.filled
        found = opened.run(
            opened.db.read(lambda tx: preview(Noting(tx, asked), account_id, key_id, webhook_id, wanted))
        )
        return found, [[cost.work for cost in opened.run(opened.engine.explain(each))] for each in asked]


@pytest.mark.parametrize("engine", ["sqlite", "sqlite without statistics", "postgres"])
def test_three_comments_among_a_hundred_thousand_posts_are_found_by_an_index(
    request: pytest.FixtureRequest, tmp_path: Path, engine: str
) -> None:
    counted = "without" not in engine

    found, works = preview_on(request, tmp_path, fill_partly, engine.split()[0], counted=counted)

    assert [(each.event, each.count) for each in found.kinds] == [(EventType.COMMENT_CREATED, 3)]
    assert max(work for each in works for work in each) < MOST_WORK, works


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_thousand_deliveries_of_a_new_account_are_not_compared_each_with_each(
    request: pytest.FixtureRequest, tmp_path: Path, engine: str
) -> None:
    found, works = preview_on(request, tmp_path, fill_fully, engine, counted=False)

    assert [(each.event, each.count) for each in found.kinds] == [(EventType.POST_CREATED, REDELIVERED)]
    assert max(work for each in works for work in each) < REDELIVERED * MOST_WORK_EACH, works
