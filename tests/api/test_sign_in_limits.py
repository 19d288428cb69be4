"""How often a password may be given, right or wrong, and how many sessions that makes."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from pressroom.clock import HOUR, MINUTE
from pressroom.db import Command, Query, Tx
from pressroom.db.postgres.tx import PostgresTx
from pressroom.db.sqlite.tx import SqliteTx
from pressroom.domains.sign_in.attempts import SignInAttempt, SignInLimits, attempt_sign_in, forget_failures
from pressroom.domains.sign_in.links import issue_reset
from pressroom.domains.sign_in.sessions import begin_session
from pressroom.errors import TooManyAttempts
from tests.api.people import PASSWORD, Person, new_address, next_number, token_of
from tests.harness.local import LocalServer

SETTINGS = {
    "TRUSTED_PROXIES": "127.0.0.1/32",
    "SIGN_IN_FAILURES_PER_ACCOUNT": 3,
    "SIGN_IN_FAILURES_PER_ADDRESS": 100,
    "SIGN_INS_PER_ACCOUNT": 5,
    "SIGN_INS_PER_ADDRESS": 8,
}

READ_OR_WRITTEN = {"sign_in_attempts", "accounts", "known_addresses", "two_factor", "audit_entries"}
SESSIONS = Query(int, "SELECT count(*) FROM sessions WHERE account_id = :account_id")


@pytest.fixture
def mira(server: LocalServer) -> Person:
    return Person(server)


def label(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json().get("error", "")


def test_right_passwords_of_an_account_are_limited(mira: Person) -> None:
    assert [mira.sign_in().status_code for _ in range(5)] == [200] * 5

    refused = mira.sign_in()

    assert label(refused) == (429, "Too many attempts")
    assert refused.json()["retryAfter"] == 900
    assert refused.headers["Retry-After"] == "900"
    assert "set-cookie" not in refused.headers
    assert mira.me(mira.token).status_code == 200, "sessions go on"
    mira.server.clock.advance(15 * MINUTE)
    assert mira.sign_in().status_code == 200


def test_refused_right_password_is_not_hashed(mira: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(5):
        mira.sign_in()
    hasher, verified = mira.server.runtime.passwords.hasher, []
    monkeypatch.setattr(type(hasher), "verify", lambda *given: verified.append(given))

    assert {mira.sign_in().status_code for _ in range(5)} == {429}
    assert verified == []


def test_right_passwords_from_an_address_are_limited(server: LocalServer) -> None:
    address = new_address()
    people = [Person(server) for _ in range(9)]

    answers = [person.sign_in(address=address) for person in people]

    assert [answer.status_code for answer in answers] == [200] * 8 + [429]
    assert people[8].sign_in().status_code == 200, "from elsewhere it may"


def test_right_passwords_at_once_are_limited_exactly(mira: Person) -> None:
    with ThreadPoolExecutor(3) as threads:
        answers = list(threads.map(lambda _: mira.sign_in(), range(12)))

    assert sorted(answer.status_code for answer in answers) == [200] * 5 + [429] * 7


def test_attempts_that_were_checked_at_once_are_counted_exactly(mira: Person) -> None:
    limits = SignInLimits(failures_per_account=3, failures_per_address=5, per_account=2, per_address=100)

    def attempt(login: str, client: str) -> SignInAttempt:
        return mira.server.run(mira.server.runtime.db.transact(attempt_sign_in, login, client, limits))

    def succeed(attempt: SignInAttempt) -> None:
        attempt.is_verified = True
        mira.server.run(mira.server.runtime.db.transact(forget_failures, attempt))

    address, unknown = new_address(), [f"nobody{next_number()}" for _ in range(3)]
    for login in [unknown[0]] * 3 + [unknown[1]] * 2:
        attempt(login, address)
    for login, client in ((unknown[0], new_address()), (unknown[2], address)):
        with pytest.raises(TooManyAttempts):
            attempt(login, client)

    attempts = [attempt(mira.name, new_address()) for _ in range(3)]
    assert [each.is_locked for each in attempts] == [False] * 3
    assert attempt(f"{mira.name}@example.org", new_address()).is_locked
    succeed(attempts[0])
    succeed(attempts[1])
    with pytest.raises(TooManyAttempts):
        succeed(attempts[2])
    with pytest.raises(TooManyAttempts):
        attempt(mira.name, new_address())


def test_failures_do_not_count_as_right_passwords(mira: Person) -> None:
    for _ in range(2):
        assert [mira.sign_in("wrong").status_code for _ in range(2)] == [401, 401]
        assert mira.sign_in().status_code == 200
    assert [mira.sign_in().status_code for _ in range(4)] == [200, 200, 200, 429]


def confirm(person: Person) -> httpx.Response:
    return person.request("POST", "/api/auth/confirm", token=person.token, json={"password": PASSWORD})


def change(person: Person) -> httpx.Response:
    return person.request("POST", "/api/auth/password", token=person.token, json={"password": PASSWORD})


@pytest.mark.parametrize("act", [confirm, change])
def test_passwords_given_in_a_session_are_limited(mira: Person, act: Callable[[Person], httpx.Response]) -> None:
    assert [act(mira).status_code for _ in range(6)] == [200] * 5 + [429]
    assert label(act(mira)) == (429, "Too many attempts")
    mira.server.clock.advance(15 * MINUTE)
    assert act(mira).status_code == 200


def test_new_passwords_by_link_are_limited(mira: Person) -> None:
    def reset() -> int:
        token = mira.server.run(mira.server.runtime.db.transact(issue_reset, mira.name))
        return mira.request("POST", "/api/auth/reset", json={"token": token, "password": PASSWORD}).status_code

    assert [reset() for _ in range(6)] == [200] * 5 + [429]
    mira.server.clock.advance(15 * MINUTE)
    assert reset() == 200


class Again(Person):
    """The same person, in a session that needs no password."""

    def __init__(self, person: Person) -> None:
        self.server, self.name, self.address = person.server, person.name, person.address
        account_id = person.signed_up.json()["id"]
        self.token = self.server.run(self.server.runtime.db.transact(begin_session, account_id))


def test_failures_at_a_name_tell_nothing_of_its_mail_address(mira: Person) -> None:
    mail, unknown = f"{mira.name}@example.org", f"nobody{next_number()}@example.org"
    strange = new_address()
    for _ in range(4):
        mira.sign_in("wrong", address=strange)
    assert label(mira.sign_in("wrong", mira.name.upper(), address=strange)) == (429, "Too many attempts")

    known_answers = [mira.sign_in("wrong", mail, address=new_address()) for _ in range(5)]
    unknown_answers = [mira.sign_in("wrong", unknown, address=new_address()) for _ in range(5)]

    assert [answer.status_code for answer in known_answers] == [401] * 3 + [429] * 2
    assert [answer.content for answer in known_answers] == [answer.content for answer in unknown_answers]


def test_guesses_at_an_account_are_limited_over_both_its_logins(mira: Person) -> None:
    for _ in range(3):
        mira.sign_in("wrong", address=new_address())

    by_mail = mira.sign_in(login=f"{mira.name}@example.org", address=new_address())

    assert label(by_mail) == (401, "Invalid credentials"), "not even the right password is looked at"
    assert mira.sign_in(login=f"{mira.name}@example.org").status_code == 200, "where it is known it is"


def test_success_forgives_failures_of_both_logins(mira: Person) -> None:
    mail = f"{mira.name}@example.org"
    assert [mira.sign_in("wrong", login).status_code for login in (mail, mira.name)] == [401, 401]
    assert mira.sign_in().status_code == 200
    assert [mira.sign_in("wrong", mail).status_code for _ in range(2)] == [401, 401]
    assert mira.sign_in(login=mail).status_code == 200


def test_sign_ins_of_known_and_unknown_logins_take_the_same_statements(
    mira: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def note(method: Callable[..., Any]) -> Callable[..., Any]:
        async def noted(tx: Tx, command: Command, **values: Any) -> Any:
            if READ_OR_WRITTEN & set(command.text.split()):
                asked.append(command.text)
            return await method(tx, command, **values)

        return noted

    for engine in (SqliteTx, PostgresTx):
        for name in ("one", "all", "run", "later", "require"):
            if name in vars(engine):
                monkeypatch.setattr(engine, name, note(getattr(engine, name)))

    def statements(login: str) -> list[str]:
        asked.clear()
        assert mira.sign_in("wrong", login, address=new_address()).status_code == 401
        return [*asked]

    known = statements(mira.name)

    assert known == statements(f"nobody{next_number()}") == statements(f"{mira.name}@example.org")
    assert len(known) > 8


def test_new_password_forgets_failures_of_both_logins(mira: Person) -> None:
    mail = f"{mira.name}@example.org"
    for login in (mira.name, mail):
        for _ in range(4):
            mira.sign_in("wrong", login)
    assert mira.sign_in(login=mail).status_code == 429

    assert change(mira).status_code == 200

    assert mira.sign_in(login=mail).status_code == 200
    assert mira.sign_in().status_code == 200


def test_51st_session_ends_the_oldest(mira: Person) -> None:
    db, account_id = mira.server.runtime.db, mira.signed_up.json()["id"]
    tokens = [mira.token]
    for _ in range(48):
        mira.server.clock.advance(1)
        tokens.append(mira.server.run(db.transact(begin_session, account_id)))
    tokens.append(token_of(mira.sign_in()))
    assert {mira.me(token).status_code for token in tokens} == {200}

    tokens.append(token_of(mira.sign_in()))

    assert [mira.me(token).status_code for token in tokens] == [401] + [200] * 50
    assert mira.server.run(db.one(SESSIONS, account_id=account_id)) == 50
    log = mira.request("GET", "/api/auth/log", token=tokens[-1]).json()["entries"]
    assert [(entry["kind"], entry["actor"]) for entry in log[:2]] == [
        ("session.ended", "service"),
        ("session.started", "self"),
    ]


def test_sign_ins_at_once_make_no_more_than_50_sessions(
    twins: tuple[LocalServer, LocalServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    mira = Person(twins[0])
    account_id = mira.signed_up.json()["id"]
    for _ in range(49):
        twins[0].run(twins[0].runtime.db.transact(begin_session, account_id))
    for server in twins:
        for name, value in {"sign_ins_per_account": 1000, "sign_in_failures_per_account": 1000}.items():
            monkeypatch.setattr(server.settings, name, value)
            monkeypatch.setattr(server.runtime.settings, name, value)

    def sign_in(number: int) -> int:
        there = Again.__new__(Again)
        there.server, there.name, there.address = twins[number % 2], mira.name, new_address()
        return there.sign_in().status_code

    with ThreadPoolExecutor(12) as threads:
        assert set(threads.map(sign_in, range(24))) == {200}

    assert twins[0].run(twins[0].runtime.db.one(SESSIONS, account_id=account_id)) == 50


def test_email_addresses_of_others_that_an_account_asks_for_are_limited(server: LocalServer) -> None:
    mira, olga = Person(server), Person(server)

    def ask(email: str) -> httpx.Response:
        return mira.request("POST", "/api/auth/email", token=mira.token, json={"email": email})

    assert [ask(f"{mira.name}.{n}@example.org").status_code for n in range(5)] == [200] * 5, "these are not counted"
    assert [ask(f"{olga.name}@example.org").status_code for _ in range(10)] == [409] * 10

    for email in (f"{olga.name}@example.org", f"{mira.name}.9@example.org"):
        assert label(ask(email)) == (429, "Too many attempts")
    assert ask(email).json()["limit"] == "email_changes_per_hour"
    server.clock.advance(HOUR)
    assert label(ask(email)) == (403, "Password required")
