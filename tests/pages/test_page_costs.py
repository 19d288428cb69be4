"""A page of the owner costs the same beside a hundred posts and deliveries and beside a hundred thousand."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import apsw
import httpx
import pytest

from pressroom.db import Command, Tx
from pressroom.db.sqlite import SqliteDatabase
from pressroom.domains.accounts.actions import begin_session
from pressroom.domains.events.models import EventType
from pressroom.domains.webhooks.actions.endpoints import add_webhook
from pressroom.domains.webhooks.models import NewWebhook
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

pytestmark = pytest.mark.xdist_group("scale")

FEW, MANY = 100, 100_000
STATEMENTS: Final = 10
LIMIT: Final = 1.5
"""How many times the steps beside few it may be beside many."""

W: Final = "/settings/keys/{key}/webhooks/{webhook}"
PAGES: Final = (
    *("/", "/settings/keys", "/settings/keys/new", "/settings/keys/{key}", "/settings/keys/{key}/revoke"),
    *(W, f"{W}?state=failed", f"{W}?state=held", f"{W}?code=4xx", f"{W}/deliveries", f"{W}/head"),
    *(f"{W}/deliveries/{{delivery}}", f"{W}/redeliver", f"{W}/rotate", f"{W}/replace", f"{W}/remove"),
    *("/settings/security", "/@{username}"),
)

FILL: Final = (
    Command(
        "INSERT INTO deliveries (account_id, webhook_id, event_id, envelope_id, event_type, state, redelivery, tries,"
        " attempts, due_at) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
        " SELECT :account_id, :webhook_id, '01KW2F3B6E' || printf('%016d', i),"
        " 'evt_' || printf('%036d', i), 'post.created', 'failed', FALSE, 1, '[]', 1 FROM n"
    ),
    Command(
        "INSERT INTO events (id, account_id, type, created_at, data, key_id)"
        " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
        " SELECT '01KW2F3B6E' || printf('%016d', i), :account_id, 'post.created', 1, '{}', NULL FROM n"
    ),
    Command(
        "INSERT INTO posts (id, account_id, content, type, visibility, created_at, updated_at)"
        " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
        " SELECT :account_id || i, :account_id, 'x', 'POST', 'PUBLIC', i, i FROM n"
    ),
)


@dataclass(frozen=True, slots=True)
class Owner:
    """An owner with a key, an endpoint, and so many posts and deliveries."""

    ids: dict[str, str]
    token: str


@dataclass(slots=True)
class Cost:
    """What a page asked of the database: its statements, and steps of SQLite's virtual machine."""

    statements: list[str]
    steps: int


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    server = LocalServer(tmp_path_factory.mktemp("costs"), **ROOMY).start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def owners(server: LocalServer) -> dict[int, Owner]:
    owners = {size: make_owner(server, size) for size in (FEW, MANY)}
    server.run(server.runtime.schedule.stop())
    return owners


def make_owner(server: LocalServer, size: int) -> Owner:
    """Makes an owner and fills the tables."""
    db = server.runtime.db
    account = server.account(f"owner{size}")
    key, _ = server.key(account)
    new = NewWebhook("https://receiver.example/", [EventType.POST_CREATED])
    webhook, _ = server.run(db.transact(add_webhook, account.id, key.id, new))

    async def fill(tx: Tx) -> None:
        for command in FILL:
            values = {"account_id": account.id, "webhook_id": webhook.id, "count": size}
            await tx.run(command, **{name: values[name] for name in command.names})

    server.run(db.transact(fill))
    ids = {"key": key.id, "webhook": webhook.id, "username": account.username, "delivery": f"evt_{1:036d}"}
    return Owner(ids, server.run(db.transact(begin_session, account.id)))


def cost(server: LocalServer, owner: Owner, page: str) -> Cost:
    """Opens a page twice, and returns what the second time cost."""
    db = server.runtime.db
    assert isinstance(db, SqliteDatabase)
    cost = Cost([], 0)

    def note(told: dict[str, object]) -> None:
        status = told["stmt_status"]
        assert isinstance(status, dict)
        cost.statements.append(str(told["sql"]))
        cost.steps += int(status["SQLITE_STMTSTATUS_VM_STEP"])

    async def trace(*, on: bool) -> None:
        for connection in (db._reader, db._writer):
            connection.trace_v2(apsw.SQLITE_TRACE_PROFILE if on else 0, note if on else None)  # type: ignore[attr-defined]

    with httpx.Client(base_url=server.base_url, cookies={"session": owner.token}) as web:
        for on in (False, True):
            server.run(trace(on=on))
            response = web.get(page.format_map(owner.ids))
            server.run(trace(on=False))
            assert response.status_code == 200, response.text
    cost.statements = [each for each in cost.statements if each not in ("BEGIN", "COMMIT")]
    return cost


@pytest.mark.parametrize("page", PAGES)
def test_a_page_costs_the_same_beside_a_hundred_thousand(
    server: LocalServer, owners: dict[int, Owner], page: str
) -> None:
    few, many = (cost(server, owners[size], page) for size in (FEW, MANY))

    assert len(many.statements) <= STATEMENTS, "\n".join(many.statements)
    assert len(many.statements) == len(few.statements)
    assert many.steps <= LIMIT * few.steps
