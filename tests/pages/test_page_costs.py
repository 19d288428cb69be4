"""A page of the owner costs the same beside a hundred posts and deliveries and beside a hundred thousand."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import apsw
import asyncpg
import httpx
import pytest

from pressroom.db import Command, Tx
from pressroom.db.postgres import PostgresDatabase, PostgresTx
from pressroom.db.sqlite import SqliteDatabase
from pressroom.domains.accounts.actions import begin_session
from pressroom.domains.events.models import EventType
from pressroom.domains.webhooks.actions.endpoints import add_webhook
from pressroom.domains.webhooks.models import NewWebhook
from tests.conftest import database_settings
from tests.harness.local import LocalServer
from tests.harness.plans import Asked, Postgres
from tests.harness.plans import Cost as StatementCost
from tests.harness.roomy import ROOMY

pytestmark = pytest.mark.xdist_group("scale")

FEW, MANY = 100, 100_000
STATEMENTS: Final = 10
LIMIT: Final = 1.5
"""How many times the steps beside few it may be beside many."""

W: Final = "/settings/keys/{key}/webhooks/{webhook}"
PAGES: Final = (
    *("/", "/clips", "/settings/keys", "/settings/keys/new", "/settings/keys/{key}", "/settings/keys/{key}/revoke"),
    *(W, f"{W}?state=failed", f"{W}?state=held", f"{W}?code=4xx", f"{W}/deliveries", f"{W}/head"),
    *(f"{W}/deliveries/{{delivery}}", f"{W}/redeliver", f"{W}/rotate", f"{W}/replace", f"{W}/remove"),
    *("/saved", "/hubs", "/follows", "/follows?list=followers", "/follows?list=requests", "/follows?list=sent"),
    *("/settings/security", "/@{username}", "/@{username}/clips", "/notifications", "/notifications?read=01KW2F3B6E1"),
    *("/settings/data", "/settings/data/delete"),
    *("/settings/security/password", "/settings/security/email", "/settings/log", "/settings/profile"),
)

LARGE: Final = {"clips", "deliveries", "events", "media", "posts"}


FILL: Final = (
    Command(
        "INSERT INTO notifications (id, account_id, type, actor_id, created_at, read_at)"
        " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
        " SELECT '01KW2F3B6E' || substr('0000000000000000' || CAST(i AS TEXT), length(CAST(i AS TEXT)) + 1),"
        " :account_id, 'mention', :account_id, 1,"
        " CASE WHEN i % 10 = 0 THEN 1 END FROM n"
    ),
    Command(
        "INSERT INTO deliveries (account_id, webhook_id, event_id, envelope_id, event_type, state, redelivery, tries,"
        " attempts, due_at) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
        " SELECT :account_id, :webhook_id,"
        " '01KW2F3B6E' || substr('0000000000000000' || CAST(i AS TEXT), length(CAST(i AS TEXT)) + 1),"
        " 'evt_' || substr('000000000000000000000000000000000000' || CAST(i AS TEXT), length(CAST(i AS TEXT)) + 1),"
        " 'post.created', 'failed', FALSE, 1, '[]', 1 FROM n"
    ),
    Command(
        "INSERT INTO events (id, account_id, type, created_at, data, key_id)"
        " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
        " SELECT '01KW2F3B6E' || substr('0000000000000000' || CAST(i AS TEXT), length(CAST(i AS TEXT)) + 1),"
        " :account_id, 'post.created', 1, '{}', NULL FROM n"
    ),
    Command(
        "INSERT INTO posts (id, account_id, content, type, visibility, created_at, updated_at)"
        " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
        " SELECT :account_id || CAST(i AS TEXT), :account_id, 'x', 'POST', 'PUBLIC', i, i FROM n"
    ),
    Command(
        "INSERT INTO clips (id, account_id, caption, visibility, created_at)"
        " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
        " SELECT :account_id || 'C' || CAST(i AS TEXT), :account_id, 'x', 'PUBLIC', i FROM n"
    ),
    Command(
        "INSERT INTO media (id, account_id, owner_id, position, token, kind, status, created_at)"
        " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
        " SELECT :account_id || 'M' || CAST(i AS TEXT), :account_id, :account_id || 'C' || CAST(i AS TEXT), 0,"
        " :account_id || CAST(i AS TEXT), 'video/mp4', 'READY', i FROM n"
    ),
    Command(
        "INSERT INTO audit_entries (account_id, id, kind, at, times, actor, address, detail)"
        " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
        " SELECT :account_id,"
        " '01KW2F3B6E' || substr('0000000000000000' || CAST(i AS TEXT), length(CAST(i AS TEXT)) + 1),"
        " 'key.made', i, 1, 'self', '', '{}' FROM n"
    ),
    Command(
        "INSERT INTO sessions (account_id, token_hash, id, created_at, renewed_at, expires_at)"
        " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
        " SELECT :account_id, :account_id || CAST(i AS TEXT),"
        " '01KW2F3B6E' || substr('0000000000000000' || CAST(i AS TEXT), length(CAST(i AS TEXT)) + 1),"
        " 1, 1, 4000000000000 FROM n"
    ),
)


@dataclass(frozen=True, slots=True)
class Owner:
    """An owner with a key, an endpoint, and so many posts and deliveries."""

    ids: dict[str, str]
    token: str


@dataclass(slots=True)
class Cost:
    """What a page asked of the database: its statements, and their work in each way of carrying them out.

    On SQLite work is steps of its virtual machine; `walked` is what PostgreSQL looks through from end to end.
    """

    statements: list[str]
    work: list[float]
    walked: list[str] = field(default_factory=list)


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    settings = {**ROOMY, **database_settings(request, request.param)}
    server = LocalServer(tmp_path_factory.mktemp("costs"), **settings).start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def owners(server: LocalServer) -> dict[int, Owner]:
    owners = {size: make_owner(server, size) for size in (FEW, MANY)}
    server.run(server.runtime.schedule.stop())
    server.run(server.runtime.db.script("ANALYZE"))
    return owners


def make_owner(server: LocalServer, size: int) -> Owner:
    """Makes an owner and fills the tables."""
    db = server.runtime.db
    account = server.account(f"owner{size}")
    key, _ = server.key(account)
    new = NewWebhook("https://receiver.example/", [EventType.POST_CREATED])
    webhook, _ = server.run(db.transact(add_webhook, account.id, key.id, new))

    async def fill(tx: Tx, command: Command) -> None:
        values = {"account_id": account.id, "webhook_id": webhook.id, "count": size}
        await tx.run(command, **{name: values[name] for name in command.names})

    for command in FILL:
        server.run(db.transact(fill, command))
    ids = {"key": key.id, "webhook": webhook.id, "username": account.username, "delivery": f"evt_{1:036d}"}
    return Owner(ids, server.run(db.transact(begin_session, account.id)))


def cost(server: LocalServer, owner: Owner, page: str) -> Cost:
    """Opens a page twice, and returns what the second time cost."""
    is_sqlite = isinstance(server.runtime.db, SqliteDatabase)
    with httpx.Client(base_url=server.base_url, cookies={"session": owner.token}) as web:

        def view() -> None:
            response = web.get(page.format_map(owner.ids))
            assert response.status_code == 200, response.text

        view()
        return _sqlite_cost(server, view) if is_sqlite else _postgres_cost(server, view)


def _sqlite_cost(server: LocalServer, view: Callable[[], None]) -> Cost:
    db = server.runtime.db
    assert isinstance(db, SqliteDatabase)
    cost = Cost([], [0])

    def note(told: dict[str, object]) -> None:
        status = told["stmt_status"]
        assert isinstance(status, dict)
        if told["sql"] not in ("BEGIN", "COMMIT"):
            cost.statements.append(str(told["sql"]))
            cost.work[0] += int(status["SQLITE_STMTSTATUS_VM_STEP"])

    async def trace(*, on: bool) -> None:
        for connection in (db._reader, db._writer):
            connection.trace_v2(apsw.SQLITE_TRACE_PROFILE if on else 0, note if on else None)  # type: ignore[attr-defined]

    server.run(trace(on=True))
    view()
    server.run(trace(on=False))
    return cost


def _postgres_cost(server: LocalServer, view: Callable[[], None]) -> Cost:
    """Notes what is asked, and has PostgreSQL carry it out again by a plan for these values and by one for any."""
    asked: list[Asked] = []
    with pytest.MonkeyPatch.context() as patch:
        for where, name in ((PostgresTx, "one"), (PostgresTx, "all"), (PostgresTx, "run"), (PostgresDatabase, "one")):
            patch.setattr(where, name, _noting(getattr(where, name), asked))
        view()

    async def explain() -> list[list[StatementCost]]:
        connection = await asyncpg.connect(str(server.settings.database_url))
        try:
            return [await Postgres(connection, LARGE).explain(each) for each in asked]
        finally:
            await connection.close()

    ways = list(zip(*asyncio.run(explain()), strict=True))
    return Cost(
        [each.command.text for each in asked],
        [sum(each.work for each in way) for way in ways],
        [walk for way in ways for each in way for walk in each.walked],
    )


def _noting(method: Callable[..., Any], asked: list[Asked]) -> Callable[..., Any]:
    async def noted(db: Any, command: Command, **values: Any) -> Any:
        asked.append(Asked(command, values))
        return await method(db, command, **values)

    return noted


@pytest.mark.parametrize("page", PAGES)
def test_a_page_costs_the_same_beside_a_hundred_thousand(
    server: LocalServer, owners: dict[int, Owner], page: str
) -> None:
    few, many = (cost(server, owners[size], page) for size in (FEW, MANY))

    assert 0 < len(many.statements) <= STATEMENTS, "\n".join(many.statements)
    assert many.statements == few.statements
    assert many.walked == []
    for little, much in zip(few.work, many.work, strict=True):
        assert much <= LIMIT * little
