"""A filter that matches none of a hundred thousand deliveries costs what one does that matches all: by its work."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest

from pressroom.db import Command, Database, Tx
from pressroom.domains.events.models import EventType
from pressroom.domains.webhooks.actions.deliveries import get_delivery, list_deliveries
from pressroom.domains.webhooks.models import CodeClass, DeliveryFilter, State
from pressroom.ids import BEYOND
from tests.harness.plans import KINDS, Asked, Cost, Engine, Noting, opened_for_plans
from tests.harness.subscribed import make_endpoint

pytestmark = pytest.mark.xdist_group("scale")

MANY: Final = 100_000
PAGE: Final = 21
LIMIT: Final = 1.5
"""How many times the work of the whole list a filter may be, for each range of the index that it reads."""

FILL: Final = Command(
    "INSERT INTO deliveries (account_id, webhook_id, event_id, envelope_id, event_type, state, redelivery, tries,"
    " attempts, due_at, code) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
    " SELECT CAST(:account_id AS TEXT), CAST(:webhook_id AS TEXT), '01KW2F3B6E000000000' || CAST(1000000 + i AS TEXT),"
    " 'evt_' || CAST(i AS TEXT), 'post.created', CAST(:state AS TEXT), FALSE, 1, '[]', 1, CAST(:code AS TEXT) FROM n"
)

FILTERS: Final = [
    DeliveryFilter(state=state, event=event, code=code)
    for state in (None, *State)
    for event in (None, EventType.POST_CREATED, EventType.COMMENT_CREATED)
    for code in (None, CodeClass.SUCCESS, CodeClass.SERVER_ERROR, CodeClass.NONE)
]


@dataclass(frozen=True, slots=True)
class Listed:
    """A database with an endpoint that has a hundred thousand deliveries, all alike."""

    db: Database
    engine: Engine
    named: tuple[str, str, str]
    run: Callable[[Any], Any]

    def page(self, wanted: DeliveryFilter) -> tuple[int, list[tuple[Asked, list[Cost]]]]:
        """How many deliveries a filter shows, and what each statement takes."""
        asked: list[Asked] = []

        async def read(tx: Tx) -> int:
            return len(await list_deliveries(Noting(tx, asked), *self.named, wanted, BEYOND, PAGE))

        found = self.run(self.db.read(read))
        return found, [(each, self.run(self.engine.explain(each))) for each in asked]


async def fill(db: Database, state: State, code: CodeClass) -> tuple[str, str, str]:
    """Makes an account, a key and an endpoint with its deliveries."""
    account_id, key_id, webhook_id = await make_endpoint(db, EventType.POST_CREATED)

    async def put(tx: Tx) -> None:
        await tx.run(FILL, account_id=account_id, webhook_id=webhook_id, state=state, code=code, count=MANY)

    await db.transact(put)
    return account_id, key_id, webhook_id


@pytest.fixture(scope="module", params=KINDS)
def engine_kind(request: pytest.FixtureRequest) -> str:
    """The engines; SQLite's also as the server leaves it, without statistics."""
    return str(request.param)


@pytest.fixture(
    scope="module",
    params=[
        (State.DELIVERED, CodeClass.SUCCESS),
        (State.FAILED, CodeClass.SERVER_ERROR),
        (State.PENDING, CodeClass.UNTRIED),
    ],
    ids=["delivered", "failed", "pending"],
)
def listed(
    request: pytest.FixtureRequest, engine_kind: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Listed]:
    """An endpoint whose deliveries are all of one state."""
    folder, name = tmp_path_factory.mktemp("filters"), f"filters_{request.param[0]}"
    with opened_for_plans(
        request, folder, engine_kind, name, lambda db: fill(db, *request.param), {"deliveries"}
    ) as opened:
        yield Listed(opened.db, opened.engine, opened.filled, opened.run)


def test_no_filter_costs_more_than_its_page(listed: Listed) -> None:
    """Of a hundred thousand rows none reads more than the rows it shows, and a look at each range of the index."""
    whole, costs = listed.page(DeliveryFilter())
    assert whole == PAGE
    ways = range(len(costs[0][1]))
    page = [sum(each[way].work for _, each in costs) for way in ways]

    for wanted in FILTERS:
        found, costs = listed.page(wanted)
        assert found in (0, PAGE), wanted
        assert len(costs) <= 3
        for way in ways:
            work = sum(each[way].work for _, each in costs)
            assert work <= 8 * LIMIT * page[way], (wanted, found, work, page[way])
        for asked, each in costs[2:]:
            assert all("deliveries" not in " ".join(cost.walked) for cost in each), (wanted, asked.command.text)


def test_a_delivery_is_found_by_its_envelope(listed: Listed) -> None:
    asked: list[Asked] = []
    listed.run(listed.db.read(lambda tx: get_delivery(Noting(tx, asked), *listed.named, f"evt_{MANY // 2}")))

    costs = [cost for each in asked for cost in listed.run(listed.engine.explain(each))]

    assert any("deliveries_envelope" in cost.indexes for cost in costs)
    assert sum(cost.work for cost in costs) < 500
