"""A page of the owner costs the same beside a hundred posts and deliveries and beside a hundred thousand."""

from collections.abc import Iterator
from typing import Final

import pytest

from pressroom.db import Command, Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.events.models import EventType
from pressroom.domains.explore.picking import Picker
from pressroom.domains.hubs.actions import create_hub
from pressroom.domains.hubs.models import NewHub
from pressroom.domains.sign_in.sessions import begin_session
from pressroom.domains.webhooks.actions.endpoints import add_webhook
from pressroom.domains.webhooks.models import NewWebhook
from tests.conftest import database_settings
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.pages.costs import LIMIT, STATEMENTS, Owner, cost

pytestmark = pytest.mark.xdist_group("scale")

FEW, MANY = 100, 100_000
PORTION = 5_000
"""Rows that one statement inserts: a database on a busy machine must finish it within its time."""

W: Final = "/settings/keys/{key}/webhooks/{webhook}"
PAGES: Final = (
    *("/", "/clips", "/settings/keys", "/settings/keys/new", "/settings/keys/{key}", "/settings/keys/{key}/revoke"),
    *(W, f"{W}?state=failed", f"{W}?state=held", f"{W}?code=4xx", f"{W}/deliveries", f"{W}/head"),
    *(
        f"{W}/deliveries/{{delivery}}",
        f"{W}/redeliver",
        f"{W}/rotate",
        f"{W}/replace",
        f"{W}/remove",
        f"{W}/edit",
        f"{W}/samples",
        "/settings/webhooks",
    ),
    *(
        "/explore",
        "/saved",
        "/hubs",
        "/follows",
        "/follows?list=followers",
        "/follows?list=requests",
        "/follows?list=sent",
    ),
    *(
        "/settings/security",
        "/@{username}",
        "/@{username}/clips",
        "/notifications",
        "/notifications?read=01KW2F3B6E1000000000000000",
    ),
    *("/post/{post}", "/hub/{hub}", "/settings/data", "/settings/data/delete"),
    *("/settings/security/password", "/settings/security/email", "/settings/log", "/settings/profile"),
)


FILL: Final = (
    Command(
        "INSERT INTO notifications (id, account_id, type, actor_id, created_at, read_at)"
        " WITH RECURSIVE n(i) AS (SELECT CAST(:first AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < :last)"
        " SELECT '01KW2F3B6E' || substr('0000000000000000' || CAST(i AS TEXT), length(CAST(i AS TEXT)) + 1),"
        " :account_id, 'mention', :account_id, 1,"
        " CASE WHEN i % 10 = 0 THEN 1 END FROM n"
    ),
    Command(
        "INSERT INTO deliveries (account_id, webhook_id, event_id, envelope_id, event_type, state, code, redelivery,"
        " tries, attempts, due_at)"
        " WITH RECURSIVE n(i) AS (SELECT CAST(:first AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < :last)"
        " SELECT :account_id, :webhook_id,"
        " '01KW2F3B6E' || substr('0000000000000000' || CAST(i AS TEXT), length(CAST(i AS TEXT)) + 1),"
        " 'evt_' || substr('000000000000000000000000000000000000' || CAST(i AS TEXT), length(CAST(i AS TEXT)) + 1),"
        " 'post.created', 'failed', '2xx', FALSE, 1, '[]', 1 FROM n"
    ),
    Command(
        "INSERT INTO events (id, account_id, type, created_at, data, key_id)"
        " WITH RECURSIVE n(i) AS (SELECT CAST(:first AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < :last)"
        " SELECT '01KW2F3B6E' || substr('0000000000000000' || CAST(i AS TEXT), length(CAST(i AS TEXT)) + 1),"
        " :account_id, 'post.created', 1, '{}', NULL FROM n"
    ),
    Command(
        "INSERT INTO posts (id, account_id, content, type, visibility, created_at, updated_at, hub_id)"
        " WITH RECURSIVE n(i) AS (SELECT CAST(:first AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < :last)"
        " SELECT :account_id || CAST(i AS TEXT), :account_id, 'x', 'POST', 'PUBLIC', i, i, :hub_id FROM n"
    ),
    Command(
        "INSERT INTO clips (id, account_id, caption, visibility, created_at)"
        " WITH RECURSIVE n(i) AS (SELECT CAST(:first AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < :last)"
        " SELECT :account_id || 'C' || CAST(i AS TEXT), :account_id, 'x', 'PUBLIC', i FROM n"
    ),
    Command(
        "INSERT INTO media (id, account_id, owner_id, position, token, kind, status, stored_bytes, created_at)"
        " WITH RECURSIVE n(i) AS (SELECT CAST(:first AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < :last)"
        " SELECT :account_id || 'M' || CAST(i AS TEXT), :account_id, :account_id || 'C' || CAST(i AS TEXT), 0,"
        " :account_id || CAST(i AS TEXT), 'video/mp4', 'READY', 0, i FROM n"
    ),
    Command(
        "INSERT INTO audit_entries (account_id, id, kind, at, times, actor, address, detail)"
        " WITH RECURSIVE n(i) AS (SELECT CAST(:first AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < :last)"
        " SELECT :account_id,"
        " '01KW2F3B6E' || substr('0000000000000000' || CAST(i AS TEXT), length(CAST(i AS TEXT)) + 1),"
        " 'key.made', i, 1, 'self', '', '{}' FROM n"
    ),
    Command(
        "INSERT INTO sessions (account_id, token_hash, id, agent, address, created_at, confirmed_at, renewed_at,"
        " seen_at, expires_at)"
        " WITH RECURSIVE n(i) AS (SELECT CAST(:first AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < :last)"
        " SELECT :account_id, :account_id || CAST(i AS TEXT),"
        " '01KW2F3B6E' || substr('0000000000000000' || CAST(i AS TEXT), length(CAST(i AS TEXT)) + 1),"
        " '', '', 1, 0, 1, 0, 4000000000000 FROM n"
    ),
)

COMMENT: Final = Command(
    "INSERT INTO comments (id, account_id, post_id, thread_id, content, created_at)"
    " WITH RECURSIVE n(i) AS (SELECT CAST(:first AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < :last)"
    " SELECT substr(:account_id, 1, 10) || substr(:account_id, 18) || CAST(1000000 + i AS TEXT),"
    " :account_id, :account_id || '1',"
    " substr(:account_id, 1, 10) || substr(:account_id, 18) || CAST(1000000 + i AS TEXT), 'x', i FROM n"
)
DISCUSS: Final = Command("UPDATE posts SET comments = :last WHERE account_id = :account_id AND id = :account_id || '1'")


HUBS: Final = Command(
    "INSERT INTO hubs (id, account_id, slug, name, members, created_at)"
    " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)"
    " SELECT 'quiet' || CAST(i AS TEXT), :account_id, 'quiet' || CAST(i AS TEXT), 'Quiet', 0, 1 FROM n"
)
"""Hubs without posts: a planner that knows of two in all may take them first, and sort what it joins them with."""


BOUNCES: Final = Command(
    "INSERT INTO posts (id, account_id, type, visibility, original_id, created_at, updated_at)"
    " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
    " SELECT 'bounce' || CAST(i AS TEXT), :account_id, 'SHARE', 'PUBLIC', 'original' || CAST(i AS TEXT), 1, 1 FROM n"
)
"""A planner that knows of no bounce may walk through an index of them, since it is empty."""


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    settings = {**ROOMY, **database_settings(request, request.param)}
    server = LocalServer(tmp_path_factory.mktemp("costs"), **settings).start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def owners(server: LocalServer) -> dict[int, Owner]:
    owners = {size: make_owner(server, size) for size in (FEW, MANY)}
    db, founder = server.runtime.db, server.account()
    for command in (HUBS, BOUNCES):
        server.run(db.transact(lambda tx, command=command: tx.run(command, account_id=founder.id)))
    server.run(server.runtime.schedule.stop())
    server.run(Picker(db, server.clock).run())
    server.run(db.script("ANALYZE"))
    return owners


def make_owner(server: LocalServer, size: int) -> Owner:
    """Makes an owner and fills the tables."""
    db = server.runtime.db
    account = server.account(f"owner{size}")
    key, _ = server.key(account)
    new = NewWebhook("https://receiver.example/", [EventType.POST_CREATED])
    webhook, _ = server.run(db.transact(add_webhook, account.id, key.id, new))
    hub = server.run(db.transact(create_hub, Caller(account), NewHub("Hub", f"hub-{size}")))
    session = server.run(db.transact(begin_session, account.id))  # After the others it would end all but 50 of them.

    async def fill(tx: Tx, command: Command, first: int, last: int) -> None:
        ids = {"account_id": account.id, "webhook_id": webhook.id, "hub_id": hub.id}
        values: dict[str, str | int] = {**ids, "first": first, "last": last}
        await tx.run(command, **{name: values[name] for name in command.names})

    for command in FILL:
        for done in range(0, size, PORTION):
            server.run(db.transact(fill, command, done + 1, min(done + PORTION, size)))
    for command in (COMMENT, DISCUSS):
        server.run(db.transact(fill, command, 1, min(2 * size, 20_000)))
    ids = {"key": key.id, "webhook": webhook.id, "username": account.username, "delivery": f"evt_{1:036d}"}
    ids |= {"post": f"{account.id}1", "hub": hub.slug}
    return Owner(ids, session)


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
