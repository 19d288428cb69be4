"""The first account, invitations and admins, through two processes at once: one of each, and never no admin."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from pressroom.domains.moderation.commands import admin as set_admin
from tests.harness.databases import in_database, settings_of
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.harness.roomy import ROOMY
from tests.harness.wire import Reply, Request, ask, decided
from tests.services.postgres import PostgresServer
from tests.services.process import wait_until
from tests.services.redis import RedisServer

Pair = tuple[ServerProcess, ServerProcess]

AT_ONCE = 20
PASSWORD = "correct horse"
ADMINS = "SELECT username_key FROM accounts WHERE is_admin AND suspended_at IS NULL ORDER BY username_key"


@pytest.fixture
def pair(
    process_server: Callable[..., ServerProcess], postgres_server: PostgresServer, redis_server: RedisServer
) -> Iterator[Pair]:
    """Two processes on one database without an account, which take invitations alone."""
    name = f"admin_race_{os.getpid()}"
    url = postgres_server.create_database(name)
    shared = {**ROOMY, "SIGNUP": "invite", "DATABASE_URL": url, "REDIS_URL": redis_server.url}
    one = process_server(**shared).migrate().start()
    two = process_server(**{**shared, "DATA_DIR": one.folder / "data"}).start()
    yield one, two
    postgres_server.drop_database(name)


def account(name: str) -> dict[str, object]:
    """What somebody fills in."""
    return {"username": name, "email": f"{name}@example.org", "password": PASSWORD}


def cookie_of(answer: Reply) -> dict[str, str]:
    """The header of the session that an answer began."""
    return {"Cookie": answer.headers["set-cookie"].partition(";")[0]}


def test_the_token_of_an_installation_makes_one_admin(pair: Pair) -> None:
    printed = re.compile(r"/setup\?token=(\S+)")
    assert wait_until(lambda: all(printed.search(each.output()) for each in pair))
    tokens = [printed.findall(each.output())[-1] for each in pair]

    answers = decided(
        [
            Request(pair[n % 2].port, "POST", "/api/setup", {}, {**account(f"first{n}"), "token": tokens[n // 2 % 2]})
            for n in range(AT_ONCE)
        ]
    )

    statuses = Counter(answer.status for answer in answers)
    assert statuses[201] == 1, statuses
    assert {*statuses} <= {201, 404, 422}, statuses
    (made,) = [answer.json()["username"] for answer in answers if answer.status == 201]
    assert rows(pair[0], "SELECT username, is_admin FROM accounts") == [(made, True)]
    assert rows(pair[0], "SELECT count(*) FROM setup_tokens") == [(0,)]
    granted = "SELECT kind FROM audit_entries WHERE kind IN ('account.created', 'admin.given') ORDER BY kind"
    assert rows(pair[0], granted) == [("account.created",), ("admin.given",)]


def test_an_invitation_makes_one_account(pair: Pair) -> None:
    admin = make_admin(pair, "root")
    invited = ask(Request(pair[1].port, "POST", "/api/admin/invitations", admin))
    assert invited.status == 201, invited
    token = invited.json()["url"].rpartition("=")[2]

    answers = decided(
        [
            Request(pair[n % 2].port, "POST", "/api/auth/signup", {}, {**account(f"guest{n}"), "invite": token})
            for n in range(AT_ONCE)
        ]
    )

    statuses = Counter(answer.status for answer in answers)
    assert statuses == {201: 1, 422: AT_ONCE - 1}
    (made,) = [answer.json()["username"] for answer in answers if answer.status == 201]
    assert rows(pair[0], "SELECT username FROM accounts WHERE NOT is_admin") == [(made,)]
    used = "SELECT a.username FROM invitations i JOIN accounts a ON a.id = i.used_by"
    assert rows(pair[0], used) == [(made,)]


def test_admins_cannot_end_each_other_or_themselves(pair: Pair) -> None:
    admins = {name: make_admin(pair, name) for name in ("ada", "ben")}

    answers = decided([request for n in range(AT_ONCE // 4) for request in ends(pair, admins, n)])

    assert Counter(answer.status for answer in answers) == {422: AT_ONCE}, answers
    assert rows(pair[0], ADMINS) == [("ada",), ("ben",)]


def test_an_admin_who_is_one_no_more_is_deleted_by_one_and_nobody_else_is(pair: Pair) -> None:
    admins = {name: make_admin(pair, name) for name in ("ada", "ben")}
    in_database(settings_of(pair[0].settings), lambda db: set_admin(db, "ben", revoke=True))

    answers = decided([request for n in range(AT_ONCE // 4) for request in ends(pair, admins, n)])

    assert {answer.status for answer in answers} <= {200, 401, 404, 422}, answers
    assert rows(pair[0], ADMINS) == [("ada",)]
    assert rows(pair[0], "SELECT count(*) FROM accounts WHERE deleted_at IS NOT NULL") == [(1,)]
    jobs = rows(pair[0], "SELECT count(*) FROM jobs WHERE kind = 'account deletion'")
    assert jobs[0][0] <= 1, "deleted once"


def make_admin(pair: Pair, name: str) -> dict[str, str]:
    """Makes an admin; the header of a session of theirs."""
    pair[0].create_account(name, PASSWORD)
    in_database(settings_of(pair[0].settings), lambda db: set_admin(db, name, revoke=False))
    answer = ask(Request(pair[0].port, "POST", "/api/auth/login", {}, {"login": name, "password": PASSWORD}))
    assert answer.status == 200, answer
    return cookie_of(answer)


def ends(pair: Pair, admins: dict[str, dict[str, str]], number: int) -> list[Request]:
    """Each deletes the own account and, through the other process, the other's."""
    one, two = (pair[(number + place) % 2].port for place in range(2))
    ada, ben = admins["ada"], admins["ben"]
    own = "/api/auth/delete"
    return [
        Request(one, "POST", own, ada, {"username": "ada", "password": PASSWORD}),
        Request(two, "POST", own, ben, {"username": "ben", "password": PASSWORD}),
        Request(two, "POST", "/api/admin/accounts/ben/delete", ada, {"username": "ben", "reason": "Over."}),
        Request(one, "POST", "/api/admin/accounts/ada/delete", ben, {"username": "ada", "reason": "Over."}),
    ]
