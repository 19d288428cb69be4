"""Pages of notifications look at a bounded number of those that are hidden, since who caused them is suspended."""

from collections.abc import Iterator
from typing import Final

import pytest

from pressroom.db import Command
from pressroom.db.sqlite.database import SqliteDatabase
from pressroom.domains.sign_in.sessions import begin_session
from tests.conftest import database_settings
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.pages.costs import LIMIT, STATEMENTS, Owner, cost

pytestmark = pytest.mark.xdist_group("scale")

FEW, MANY = 2_000, 20_000
"""More than a page looks at."""

PAGES: Final = ("/notifications", "/notifications?read=~", "/api/notifications?limit=20")

FLOOD: Final = Command(
    "INSERT INTO notifications (id, account_id, type, actor_id, created_at, read_at)"
    " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
    " SELECT '01KW2F3B6E' || substr('0000000000000000' || CAST(i AS TEXT), length(CAST(i AS TEXT)) + 1),"
    " :account_id, 'mention', :actor_id, 1, CASE WHEN i % 2 = 0 THEN 1 END FROM n"
)
"""Half of them are read."""

SUSPEND: Final = Command("UPDATE accounts SET suspended_at = 1 WHERE id = :id")


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def flooded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[LocalServer, dict[int, Owner]]]:
    """A server, and who was notified so often by an account that is suspended now."""
    settings = {**ROOMY, **database_settings(request, request.param)}
    server = LocalServer(tmp_path_factory.mktemp("flooded"), **settings).start()
    db, actor = server.runtime.db, server.account()
    owners: dict[int, Owner] = {}
    for size in (FEW, MANY):
        account = server.account()
        values = {"account_id": account.id, "actor_id": actor.id, "count": size}
        server.run(db.transact(lambda tx, values=values: tx.run(FLOOD, **values)))
        owners[size] = Owner({}, server.run(db.transact(begin_session, account.id)))
    server.run(db.transact(lambda tx: tx.run(SUSPEND, id=actor.id)))
    server.run(server.runtime.schedule.stop())
    if not isinstance(db, SqliteDatabase):  # which gathers no statistics by itself
        server.run(db.script("ANALYZE"))
    yield server, owners
    server.stop()


@pytest.mark.parametrize("page", PAGES)
def test_acts_of_a_suspended_account_are_read_in_part(flooded: tuple[LocalServer, dict[int, Owner]], page: str) -> None:
    server, owners = flooded

    few, many = (cost(server, owners[size], page) for size in (FEW, MANY))

    assert 0 < len(many.statements) <= STATEMENTS, "\n".join(many.statements)
    for little, much in zip(few.work, many.work, strict=True):
        assert much <= LIMIT * little
