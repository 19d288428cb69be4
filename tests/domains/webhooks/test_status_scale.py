"""How an endpoint does costs the same among a hundred deliveries and among a hundred thousand: by plans and work."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest

from pressroom.db import Command, Database, Tx
from pressroom.db.migrate import migrate
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.events.models import EventType
from pressroom.domains.keys.actions import create_key
from pressroom.domains.keys.models import NewKey, Scope
from pressroom.domains.webhooks.actions.endpoints import add_webhook, get_statistics, get_status, list_statuses
from pressroom.domains.webhooks.models import COUNTED, NewWebhook
from pressroom.domains.webhooks.queries.statistics import COUNTS
from tests.harness.plans import KINDS, Asked, Cost, Engine, Noting, opened_for_plans

pytestmark = pytest.mark.xdist_group("scale")

FEW, MANY = 100, 100_000
LIMIT: Final = 1.5
"""How many times the work among few deliveries it may be among many."""

WALK: Final = 10_000
"""Less work than any walk through the many."""

PORTION: Final = 20_000

FILL: Final = Command(
    "INSERT INTO deliveries (account_id, webhook_id, event_id, envelope_id, event_type, state, code, redelivery, tries,"
    " attempts, due_at) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
    " SELECT CAST(:account_id AS TEXT), CAST(:webhook_id AS TEXT), '01KW2F3B6E0000000' || CAST(:first + i AS TEXT),"
    " 'evt_', CASE WHEN :first + i = 100000007 THEN 'webhook.test' ELSE 'post.created' END, CAST(:state AS TEXT),"
    " '2xx', FALSE, 1, '[]', 1 FROM n"
)
FILL_HOURS: Final = Command(
    "INSERT INTO webhook_hours (account_id, webhook_id, hour, {columns}) WITH RECURSIVE n(i) AS"
    " (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
    " SELECT CAST(:account_id AS TEXT), CAST(:webhook_id AS TEXT), i, {ones} FROM n".replace(
        "{columns}", ", ".join(COUNTS)
    ).replace("{ones}", ", ".join("1" for _ in COUNTS))
)
"""Counts of hours long ago, as many as there are deliveries."""

FIRST: Final = 100_000_000
"""The start of the number in an event's id."""


@dataclass(frozen=True, slots=True)
class Endpoints:
    """A database with an account; its endpoints have few or many deliveries that ended or wait."""

    db: Database
    engine: Engine
    account_id: str
    key_ids: dict[int, str]
    webhook_ids: dict[tuple[str, int], str]
    run: Callable[[Any], Any]

    def ask(self, read: Callable[[Tx], Awaitable[Any]]) -> tuple[Any, list[Asked]]:
        """The result of an action, and its statements."""
        asked: list[Asked] = []
        return self.run(self.db.read(lambda tx: read(Noting(tx, asked)))), asked

    def status(self, state: str, size: int) -> tuple[Any, list[Asked]]:
        """How one endpoint does."""
        return self.ask(lambda tx: get_status(tx, self.account_id, self.key_ids[size], self.webhook_ids[state, size]))

    def costs(self, asked: list[Asked]) -> list[tuple[Asked, list[Cost]]]:
        """What each statement takes."""
        return [(each, self.run(self.engine.explain(each))) for each in asked]


async def fill(db: Database) -> tuple[str, dict[int, str], dict[tuple[str, int], str]]:
    """Makes the account, a key for each size, and its two endpoints."""
    await migrate(db)
    account = await db.transact(create_account, NewAccount("alice", "alice@example.org", "hash", "Alice"))
    keys: dict[int, str] = {}
    hooks: dict[tuple[str, int], str] = {}
    for size in (FEW, MANY):
        key, _ = await db.transact(create_key, account.id, NewKey("key", [Scope.POSTS_WRITE]))
        keys[size] = key.id
        for state in ("delivered", "pending"):
            new = NewWebhook(f"https://{state}.example.org/", [EventType.POST_CREATED])
            webhook, _ = await db.transact(add_webhook, account.id, key.id, new)
            hooks[state, size] = webhook.id
            for first in range(0, size, PORTION):
                await db.transact(put_deliveries, account.id, webhook.id, state, first, min(PORTION, size))
    return account.id, keys, hooks


async def put_deliveries(tx: Tx, account_id: str, webhook_id: str, state: str, first: int, count: int) -> None:
    """Puts so many deliveries, of events numbered from `first` on."""
    await tx.run(FILL, account_id=account_id, webhook_id=webhook_id, state=state, first=FIRST + first, count=count)


@pytest.fixture(scope="module", params=KINDS)
def endpoints(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoints]:
    """The endpoints on each engine; SQLite's also as the server leaves it, without statistics."""
    folder = tmp_path_factory.mktemp("status")
    with opened_for_plans(request, folder, request.param, "status", fill, {"deliveries"}) as opened:
        account_id, key_ids, webhook_ids = opened.filled
        yield Endpoints(opened.db, opened.engine, account_id, key_ids, webhook_ids, opened.run)


@pytest.mark.parametrize("state", ["delivered", "pending"])
def test_status_query_uses_indexes_only(endpoints: Endpoints, state: str) -> None:
    for asked, costs in endpoints.costs(endpoints.status(state, MANY)[1]):
        for cost in costs:
            assert cost.walked == [], f"{asked.command.text}\n{cost.plan}"


def test_status_cost_is_independent_of_ended_deliveries(endpoints: Endpoints) -> None:
    few = endpoints.costs(endpoints.status("delivered", FEW)[1])
    many = endpoints.costs(endpoints.status("delivered", MANY)[1])

    assert [asked.command for asked, _ in few] == [asked.command for asked, _ in many]
    assert len(many) <= 5
    for way in range(len(few[0][1])):
        little, much = (sum(costs[way].work for _, costs in statements) for statements in (few, many))
        assert much <= LIMIT * little


def test_count_of_pending_deliveries_ends_at_its_bound(endpoints: Endpoints) -> None:
    found, asked = endpoints.status("pending", MANY)

    assert found.figures.waiting == COUNTED + 1
    assert sum(max(cost.work for cost in costs) for _, costs in endpoints.costs(asked)) < 2 * WALK


def test_the_figures_of_a_key_are_one_statement(endpoints: Endpoints) -> None:
    found, asked = endpoints.ask(lambda tx: list_statuses(tx, endpoints.account_id, endpoints.key_ids[MANY]))

    assert [(figures.latest, figures.delivered) for _, figures in found] == [(100, 0), (100, 100)]
    assert len(asked) == 3
    for each, costs in endpoints.costs(asked):
        for cost in costs:
            assert "deliveries" not in " ".join(cost.walked), f"{each.command.text}\n{cost.plan}"
            assert cost.work < 2 * WALK


def test_statistics_cost_is_independent_of_older_hours(endpoints: Endpoints) -> None:
    costs: list[float] = []
    for size in (FEW, MANY):
        webhook_id = endpoints.webhook_ids["delivered", size]
        counts = {"account_id": endpoints.account_id, "webhook_id": webhook_id, "count": size}
        endpoints.run(endpoints.db.transact(lambda tx, counts=counts: tx.run(FILL_HOURS, **counts)))
        key_id = endpoints.key_ids[size]
        _, asked = endpoints.ask(
            lambda tx, key=key_id, one=webhook_id: get_statistics(tx, endpoints.account_id, key, one)
        )
        assert len(asked) == 4
        costs.append(sum(max(cost.work for cost in taken) for _, taken in endpoints.costs(asked)))

    assert costs[1] <= LIMIT * costs[0] + 100


def test_the_last_test_is_found_behind_all_others(endpoints: Endpoints) -> None:
    found, _ = endpoints.status("delivered", MANY)
    assert found.last_test.event_id.endswith(f"{FIRST + 7}")
