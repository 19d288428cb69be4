"""Pages of admins cost the same beside 20,000 accounts and jobs and beside a hundred thousand."""

from collections.abc import Callable
from typing import Final

import apsw
import pytest

from pressroom.db import Command, Tx
from pressroom.db.sqlite.database import SqliteDatabase
from tests.api.actors import Actor
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

pytestmark = pytest.mark.xdist_group("scale")

FEW, MANY = 20_000, 100_000
"""More than an overview counts."""

STATEMENTS: Final = 10
LIMIT: Final = 1.5
PAGES: Final = (
    *("/admin", "/admin/accounts", "/admin/accounts?search=harbour", "/admin/accounts?search=h&by=email"),
    *("/admin/accounts?status=suspended", "/admin/accounts?status=admin", "/admin/accounts/harbour7"),
    *("/admin/jobs", "/admin/log", "/admin/invitations"),
)
FILL: Final = (
    Command(
        "INSERT INTO accounts (id, username, username_key, email, email_key, password_hash, display_name, verified,"
        " email_verified, is_private, is_creator, total_followers, total_following, total_posts, created_at,"
        " updated_at) WITH RECURSIVE n(i) AS (SELECT :first UNION ALL SELECT i + 1 FROM n WHERE i < :last)"
        " SELECT '01AAAAAAAA' || printf('%016d', i), 'harbour' || i, 'harbour' || i,"
        " 'h' || i || '@example.org', 'h' || i || '@example.org', '!', 'x', FALSE, FALSE, FALSE, FALSE, 0, 0, 0, 1, 1"
        " FROM n"
    ),
    Command(
        "INSERT INTO jobs (id, kind, subject, account_id, tries, due_at, leased_until, created_at)"
        " WITH RECURSIVE n(i) AS (SELECT :first UNION ALL SELECT i + 1 FROM n WHERE i < :last)"
        " SELECT '01AAAAAAAA' || printf('%016d', i), 'letter', i, '', 0,"
        " CASE WHEN i % 2 = 0 THEN 9000000000000 END, 0, 1 FROM n"
    ),
    Command(
        "INSERT INTO stored_media (account_id, bytes)"
        " WITH RECURSIVE n(i) AS (SELECT :first UNION ALL SELECT i + 1 FROM n WHERE i < :last)"
        " SELECT '01AAAAAAAA' || printf('%016d', i), 1 FROM n"
    ),
)


def fill(server: LocalServer, first: int, last: int) -> None:
    """Inserts accounts and jobs with these numbers."""

    async def insert(tx: Tx) -> None:
        for command in FILL:
            await tx.run(command, first=first, last=last)

    server.run(server.runtime.db.transact(insert))


def cost(admin: Actor, page: str) -> tuple[int, int]:
    """Opens a page twice; how many statements, and steps of SQLite's virtual machine, the second time took."""
    db = admin.server.runtime.db
    assert isinstance(db, SqliteDatabase)
    steps: list[int] = []

    def note(told: dict[str, object]) -> None:
        status = told["stmt_status"]
        assert isinstance(status, dict)
        if told["sql"] not in ("BEGIN", "COMMIT"):
            steps.append(int(status["SQLITE_STMTSTATUS_VM_STEP"]))

    async def trace(*, on: bool) -> None:
        for connection in (db._reader, db._writer):
            connection.trace_v2(apsw.SQLITE_TRACE_PROFILE if on else 0, note if on else None)  # type: ignore[attr-defined]

    for on in (False, True):
        admin.server.run(trace(on=on))
        answer = admin.web.get(page)
        admin.server.run(trace(on=False))
        assert answer.status_code == 200, answer.text
    return len(steps), sum(steps)


def test_pages_cost_the_same_beside_a_hundred_thousand(local_server: Callable[..., LocalServer]) -> None:
    server = local_server(**ROOMY)
    admin = Actor(server).become_admin()
    server.run(server.runtime.schedule.stop())
    fill(server, 1, FEW)
    few = {page: cost(admin, page) for page in PAGES}
    fill(server, FEW + 1, MANY)

    for page in PAGES:
        statements, steps = cost(admin, page)
        assert statements == few[page][0] <= STATEMENTS, page
        assert steps <= LIMIT * few[page][1], page
