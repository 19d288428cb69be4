"""One-time tokens: good once, for a while, and for one thing."""

import pytest

from pressroom.clock import DAY, HOUR, MINUTE
from pressroom.db import Query
from pressroom.domains.moderation.actions import suspend_account
from pressroom.domains.sign_in.credentials import set_password
from pressroom.domains.sign_in.queries.tokens import delete_tokens, purge_tokens
from pressroom.domains.sign_in.tokens import Purpose, consume_token, find_token, issue_token
from tests.api.actors import rows
from tests.harness.local import LocalServer

STORED = Query(str, "SELECT token_hash FROM one_time_tokens WHERE account_id = :account_id")


def issue(server: LocalServer, account_id: str, purpose: Purpose = Purpose.RESET, email: str | None = None) -> str:
    return server.run(server.runtime.db.transact(issue_token, account_id, purpose, email=email))


def holds(server: LocalServer, token: str, purpose: Purpose = Purpose.RESET) -> bool:
    return server.run(server.runtime.db.read(find_token, token, purpose)) is not None


def consume(server: LocalServer, token: str, purpose: Purpose = Purpose.RESET) -> str | None:
    return server.run(server.runtime.db.transact(consume_token, token, purpose))


def test_it_is_good_once(server: LocalServer) -> None:
    account = server.account()
    token = issue(server, account.id)

    assert len(token) == 43
    assert token not in rows(server, STORED, account_id=account.id)
    assert holds(server, token)
    assert [consume(server, token) for _ in range(2)] == [account.id, None]
    assert not holds(server, token)


@pytest.mark.parametrize(
    ("purpose", "life"),
    [(Purpose.RESET, HOUR), (Purpose.VERIFY, DAY), (Purpose.SIGN_IN, HOUR), (Purpose.SIGN_IN_CODE, 10 * MINUTE)],
)
def test_it_ends(server: LocalServer, purpose: Purpose, life: int) -> None:
    account = server.account()
    token = issue(server, account.id, purpose)
    server.clock.advance(life - 1)
    assert holds(server, token, purpose)
    server.clock.advance(1)
    assert not holds(server, token, purpose)
    assert consume(server, token, purpose) is None

    server.run(server.runtime.db.transact(purge_tokens, 100))
    assert rows(server, STORED, account_id=account.id) == []


def test_it_is_good_for_one_thing(server: LocalServer) -> None:
    token = issue(server, server.account().id)
    others = [purpose for purpose in Purpose if purpose is not Purpose.RESET]

    assert [consume(server, token, purpose) for purpose in others] == [None] * len(others)
    assert [consume(server, wrong) for wrong in ("", "x" * 10_000, token[:-1], f"{token} ")] == [None] * 4
    assert holds(server, token)


def test_it_holds_while_the_account_has_the_address(server: LocalServer) -> None:
    account = server.account()
    assert holds(server, issue(server, account.id, email=account.email))
    assert not holds(server, issue(server, account.id, email="earlier@example.org"))


def test_a_new_password_and_a_suspension_end_all(server: LocalServer) -> None:
    db = server.runtime.db
    account, suspended, other = (server.account() for _ in range(3))
    kept, signing_in, reset, gone = (
        issue(server, other.id),
        issue(server, account.id, Purpose.SIGN_IN),
        issue(server, account.id),
        issue(server, suspended.id),
    )
    server.run(db.transact(delete_tokens, account.id, Purpose.SIGN_IN.value))
    assert not holds(server, signing_in, Purpose.SIGN_IN)
    assert holds(server, reset)

    server.run(db.transact(set_password, account.id, "no hash"))
    server.run(db.transact(suspend_account, suspended.username))
    assert [holds(server, token) for token in (reset, gone, kept)] == [False, False, True]
    assert rows(server, STORED, account_id=suspended.id) == []
