"""The pages of keys cost the same beside a hundred ended keys and beside a hundred thousand: by plans and work."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest

from pressroom.clock import DAY, HOUR, SettableClock
from pressroom.db import Command, Database, Tx
from pressroom.db.migrate import migrate
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.keys.actions import create_key, list_by_status, read_first_use, read_usage
from pressroom.domains.keys.models import NewKey, Scope
from pressroom.ids import BEYOND
from tests.harness.plans import KINDS, Asked, Cost, Engine, Noting, opened_for_plans

pytestmark = pytest.mark.xdist_group("scale")

FEW, MANY = 100, 100_000
LIMIT: Final = 1.5
"""How many times the work beside few keys it may be beside many."""

FILL_KEYS: Final = Command(
    "INSERT INTO api_keys (id, account_id, secret_hash, key_prefix, label, scopes, ip_allowlist, created_at,"
    " expires_at, revoked_at) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
    " SELECT :account_id || CAST(1000000 + i AS TEXT),"
    " CAST(:account_id AS TEXT), :account_id || CAST(i AS TEXT), 'p', 'l', 's', '', 1,"
    " CASE WHEN i % 2 = 0 THEN 2 END, CASE WHEN i % 2 = 1 THEN 2 END FROM n"
)

FILL_USAGE: Final = Command(
    "INSERT INTO api_key_usage (key_id, hour, accepted, limited, refused, failed)"
    " SELECT id, CAST(:hour AS BIGINT), 1, 1, 1, 1 FROM api_keys WHERE account_id = :account_id"
)

FILL_REFUSALS: Final = Command(
    "INSERT INTO api_key_refusals (key_id, id, refused_at, method, route, status, label, address, request_id)"
    " SELECT id, 'r', CAST(:now AS BIGINT), 'GET', '/', 404, 'Not found', '::1', 'x' FROM api_keys"
    " WHERE account_id = :account_id"
)

FILL_HOURS: Final = Command(
    "INSERT INTO api_key_usage (key_id, hour, accepted, limited, refused, failed)"
    " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
    " SELECT CAST(:key_id AS TEXT), :hour - i, 1, 1, 1, 1 FROM n"
)


@dataclass(frozen=True, slots=True)
class Keys:
    """A database with two accounts: their ended keys are few and many, three of each are active."""

    db: Database
    engine: Engine
    account_ids: dict[int, str]
    key_ids: dict[int, str]
    run: Callable[[Any], Any]

    def cost(self, read: Callable[..., Awaitable[Any]], size: int, *more: Any) -> list[tuple[Asked, list[Cost]]]:
        """What each statement of an action takes."""
        asked: list[Asked] = []
        self.run(self.db.read(lambda tx: read(Noting(tx, asked), self.account_ids[size], *more)))
        return [(each, self.run(self.engine.explain(each))) for each in asked]


async def fill_account(tx: Tx, account_id: str, count: int) -> None:
    """Gives an account so many ended keys, each with usage and a refusal."""
    await tx.run(FILL_KEYS, account_id=account_id, count=count)
    await tx.run(FILL_USAGE, account_id=account_id, hour=tx.now // HOUR)
    await tx.run(FILL_REFUSALS, account_id=account_id, now=tx.now)


async def fill_hours(tx: Tx, key_id: str) -> None:
    """Gives a key usage in each hour before this one that is kept."""
    await tx.run(FILL_HOURS, key_id=key_id, hour=tx.now // HOUR, count=31 * 24)


async def fill(db: Database) -> tuple[dict[int, str], dict[int, str]]:
    """Makes both accounts, each with a key that was used in every hour that is kept."""
    await migrate(db)
    accounts: dict[int, str] = {}
    keys: dict[int, str] = {}
    for size in (FEW, MANY):
        account = await db.transact(create_account, NewAccount(f"a{size}", f"{size}@example.org", "hash"))
        accounts[size] = account.id
        await db.transact(fill_account, account.id, size)
        new = NewKey("key", [Scope.POSTS_WRITE])
        (key, _), *_ = [await db.transact(create_key, account.id, new) for _ in range(3)]
        keys[size] = key.id
        await db.transact(fill_hours, key.id)
    return accounts, keys


@pytest.fixture(scope="module", params=KINDS)
def keys(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keys]:
    """The keys on each engine; SQLite's also as the server leaves it, without statistics."""
    folder = tmp_path_factory.mktemp("keys")
    with opened_for_plans(
        request, folder, request.param, "keys", fill, {"api_keys", "api_key_usage", "api_key_refusals"}
    ) as opened:
        account_ids, key_ids = opened.filled
        yield Keys(opened.db, opened.engine, account_ids, key_ids, opened.run)


READS: Final[dict[str, tuple[Callable[..., Awaitable[Any]], Callable[[Keys, int], tuple[Any, ...]], int]]] = {
    "the list": (list_by_status, lambda _keys, _size: (BEYOND, 21), 2),
    "the form": (list_by_status, lambda _keys, _size: (BEYOND, 0), 2),
    "a key": (read_usage, lambda keys, size: (keys.key_ids[size],), 5),
    "the first use": (read_first_use, lambda keys, size: (keys.key_ids[size], keys.key_ids[size]), 4),
}


@pytest.mark.parametrize("name", READS)
def test_statement_cost_is_independent_of_other_rows(keys: Keys, name: str) -> None:
    read, more, statements = READS[name]
    few, many = (keys.cost(read, size, *more(keys, size)) for size in (FEW, MANY))

    assert len(few) == len(many) <= statements
    for asked, costs in many:
        for cost in costs:
            walked = [walk for walk in cost.walked if "TEMP B-TREE" not in walk]  # of rows found by an index
            assert walked == [], f"{asked.command.text}\n{cost.plan}"
    for way in range(len(few[0][1])):
        little, much = (sum(costs[way].work for _, costs in found) for found in (few, many))
        assert much <= LIMIT * little


def test_full_month_of_usage_adds_up(keys: Keys) -> None:
    usage = keys.run(keys.db.read(read_usage, keys.account_ids[MANY], keys.key_ids[MANY]))

    assert [period.total for period in usage.hours] == [4] * 23 + [0]
    assert [period.total for period in usage.days[:-1]] == [4 * 24] * 29
    assert usage.days[-1].starts_at == SettableClock().now() // DAY * DAY
