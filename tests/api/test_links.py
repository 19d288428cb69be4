"""Forgotten passwords and e-mail addresses to confirm, over HTTP and by mail."""

import itertools
from collections.abc import Callable, Iterator

import httpx
import pytest

from pressroom.clock import DAY, HOUR, MINUTE
from pressroom.db import Query, Tx
from pressroom.domains.moderation.actions import suspend_account
from pressroom.domains.sign_in import two_factor
from pressroom.domains.sign_in.links import issue_reset
from pressroom.domains.sign_in.queries import two_factor as factors
from pressroom.domains.sign_in.tokens import Purpose, issue_token
from tests.api.actors import body_of, nobody, objections, refusal, rows
from tests.api.tables import held
from tests.harness.local import LocalServer
from tests.harness.mail_server import MailServer

PASSWORD = "nine plums and a kettle"
OTHER = "ten plums and a kettle"
MAILS = MailServer()
SETTINGS = {
    "SMTP_URL": MAILS.url,
    "MAIL_FROM": "The Press <press@news.example>",
    "TRUSTED_PROXIES": "127.0.0.1/32",
    "ACCESS_LOG": 1,
}
ERRORS = Query(str, "SELECT error FROM jobs WHERE due_at IS NULL")
WAITING = Query(int, "SELECT count(*) FROM jobs WHERE due_at IS NOT NULL")

_numbers = itertools.count(1)


@pytest.fixture(autouse=True, scope="module")
def listening() -> Iterator[None]:
    """Takes mail."""
    MAILS.start()
    yield
    MAILS.stop()


@pytest.fixture(autouse=True)
def _empty() -> None:
    MAILS.received.clear()
    MAILS.tried.clear()
    MAILS.begun.clear()


def send(server: LocalServer, path: str, cookie: str = "", client: str = "", **body: str) -> httpx.Response:
    headers = {"X-Forwarded-For": client or f"198.51.100.{next(_numbers) % 250}"}
    headers |= {"Cookie": cookie} if cookie else {}
    return nobody.post(f"{server.base_url}/api/auth/{path}", json=body, headers=headers)


def sign_up(server: LocalServer, email: str = "") -> tuple[str, str]:
    """Signs somebody up; the user name, and the cookie of the session."""
    name = f"reader{next(_numbers)}"
    answer = send(server, "signup", username=name, email=email or f"{name}@example.org", password=PASSWORD)
    assert answer.status_code == 201, answer.text
    return name, answer.headers["set-cookie"].partition(";")[0]


def me(server: LocalServer, cookie: str) -> httpx.Response:
    return nobody.get(f"{server.base_url}/api/auth/me", headers={"Cookie": cookie})


def mailed(server: LocalServer, page: str) -> str:
    """The token of the one mail that jobs send now."""
    MAILS.received.clear()
    server.do_jobs()
    (mail,) = MAILS.received
    return mail.token(page)


def forgotten(server: LocalServer, name: str) -> str:
    """The token of the mail to somebody who forgot a password."""
    server.do_jobs()
    body_of(send(server, "forgot", email=f"{name}@example.org"))
    return mailed(server, "reset")


def test_a_forgotten_password_is_set_by_the_link_in_a_mail(server: LocalServer) -> None:
    name, cookie = sign_up(server)
    server.do_jobs()
    MAILS.received.clear()
    assert "on its way" in body_of(send(server, "forgot", email=f"{name.upper()}@example.org"))["message"]
    server.do_jobs()

    (mail,) = MAILS.received
    assert (mail["To"], mail["From"]) == (f"{name}@example.org", "The Press <press@news.example>")
    assert (mail.sender, mail.recipients) == ("press@news.example", [f"{name}@example.org"])
    assert (mail["Subject"], mail["Auto-Submitted"]) == ("Set a new password", "auto-generated")
    assert f"{server.base_url}{mail.link('reset')}" in mail.text
    token = mail.token("reset")

    assert "sign in" in body_of(send(server, "reset", token=token, password=OTHER))["message"]
    assert me(server, cookie).status_code == 401, "all sessions have ended"
    assert refusal(send(server, "login", login=name, password=PASSWORD)) == (401, "Invalid credentials")
    account = body_of(send(server, "login", login=name, password=OTHER))
    assert account["emailVerified"] is True, "whoever has the link has read the mail"
    assert objections(send(server, "reset", token=token, password=OTHER)) == [("token", "not_allowed")]
    assert token not in server.stream.getvalue()


def test_the_answer_is_the_same_whether_there_is_such_an_account(server: LocalServer) -> None:
    there, _ = sign_up(server)
    suspended = server.account()
    server.run(server.runtime.db.transact(suspend_account, suspended.username))
    server.do_jobs()
    MAILS.received.clear()
    answers: list[httpx.Response] = []
    written: list[list[str]] = []
    for name in (there, "nobody-at-all", suspended.username):
        before = held(server)
        answers.append(send(server, "forgot", email=f"{name}@example.org"))
        after = held(server)
        written.append(sorted(table for table in after if after[table].rows != before[table].rows))
        server.do_jobs()

    assert [answer.status_code for answer in answers] == [200] * 3
    assert len({answer.content for answer in answers}) == 1
    assert written[0] == written[1] == written[2], "what is written tells nothing either"
    assert [mail["To"] for mail in MAILS.received] == [f"{there}@example.org"]
    assert (rows(server, WAITING), rows(server, ERRORS)) == ([0], [])


def test_mails_to_one_address_and_requests_from_one_are_limited(server: LocalServer) -> None:
    name, _ = sign_up(server)
    for email in (f"{name}@example.org", "not-there@example.org"):
        for _ in range(3):
            assert send(server, "forgot", email=email).status_code == 200
            server.clock.advance(MINUTE)
        limited = send(server, "forgot", email=email.upper())
        assert refusal(limited) == (429, "Too many attempts")
        assert (limited.json()["retryAfter"], limited.headers["Retry-After"]) == (57 * 60, str(57 * 60))
        assert "3 mails an hour" in limited.json()["message"]
        assert limited.json()["limit"] == "mails_per_hour"
    server.clock.advance(HOUR)
    assert send(server, "forgot", email=f"{name}@example.org").status_code == 200

    client = f"203.0.113.{next(_numbers)}"
    answers = [send(server, "forgot", client=client, email=f"a{number}@example.org") for number in range(21)]
    assert [answer.status_code for answer in answers] == [200] * 20 + [429]
    server.do_jobs()


@pytest.mark.parametrize("token", ["", "x", "A" * 43, "\u00e4" * 100])
def test_invalid_link_changes_nothing(server: LocalServer, token: str) -> None:
    before = held(server)
    for path in ("reset", "verify", "login/link"):
        body = {"token": token, **({"password": OTHER} if path == "reset" else {})}
        assert objections(send(server, path, **body)) == [("token", "not_allowed")]
    assert held(server) == before


def test_a_link_is_good_for_an_hour_and_a_second_one_too(server: LocalServer) -> None:
    name, _ = sign_up(server)
    first = forgotten(server, name)
    server.clock.advance(HOUR - 1)
    second = forgotten(server, name)
    server.clock.advance(1)
    assert objections(send(server, "reset", token=first, password=OTHER)) == [("token", "not_allowed")]
    assert send(server, "reset", token=second, password=OTHER).status_code == 200


def test_a_new_password_ends_the_other_links(server: LocalServer) -> None:
    name, _ = sign_up(server)
    first, second = forgotten(server, name), forgotten(server, name)
    assert send(server, "reset", token=first, password=OTHER).status_code == 200
    assert objections(send(server, "reset", token=second, password=PASSWORD)) == [("token", "not_allowed")]
    assert send(server, "login", login=name, password=OTHER).status_code == 200


def test_a_link_of_an_operator_sets_a_password_and_verifies_nothing(server: LocalServer) -> None:
    name, cookie = sign_up(server)
    token = server.run(server.runtime.db.transact(issue_reset, name.upper()))
    assert send(server, "reset", token=token, password=OTHER).status_code == 200
    assert me(server, cookie).status_code == 401
    assert body_of(send(server, "login", login=name, password=OTHER))["emailVerified"] is False


def test_the_address_is_verified_by_the_mail_at_sign_up(server: LocalServer) -> None:
    server.do_jobs()
    name, cookie = sign_up(server)
    assert me(server, cookie).json()["emailVerified"] is False
    server.clock.advance(DAY)
    token = mailed(server, "verify")
    (mail,) = MAILS.received
    assert (mail["To"], mail["Subject"]) == (f"{name}@example.org", "Confirm your e-mail address")

    server.clock.advance(DAY - 1)
    assert "confirmed" in body_of(send(server, "verify", token=token))["message"]
    assert me(server, cookie).json()["emailVerified"] is True, "the session goes on"
    assert objections(send(server, "verify", token=token)) == [("token", "not_allowed")]
    assert token not in server.stream.getvalue()

    assert objections(send(server, "verify/send", cookie)) == [("email", "not_allowed")]


def test_a_link_ends_with_its_day(server: LocalServer) -> None:
    server.do_jobs()
    _, cookie = sign_up(server)
    token = mailed(server, "verify")
    server.clock.advance(DAY)
    assert objections(send(server, "verify", token=token)) == [("token", "not_allowed")]
    assert me(server, cookie).json()["emailVerified"] is False


def test_it_is_sent_again_three_times_an_hour(server: LocalServer) -> None:
    server.do_jobs()
    _, cookie = sign_up(server)
    tokens = [mailed(server, "verify")]
    for _ in range(2):
        assert "on its way" in body_of(send(server, "verify/send", cookie))["message"]
        tokens.append(mailed(server, "verify"))
    limited = send(server, "verify/send", cookie)
    assert refusal(limited) == (429, "Too many attempts")
    assert limited.json()["retryAfter"] == 3600
    server.clock.advance(HOUR)
    assert send(server, "verify/send", cookie).status_code == 200
    tokens.append(mailed(server, "verify"))

    assert len(set(tokens)) == 4
    assert send(server, "verify", token=tokens[1]).status_code == 200, "each is good until one was used"
    assert objections(send(server, "verify", token=tokens[2])) == [("token", "not_allowed")]
    assert refusal(send(server, "verify/send")) == (401, "Not signed in")


def test_account_verified_meanwhile_gets_no_mail(server: LocalServer) -> None:
    server.do_jobs()
    _, cookie = sign_up(server)
    token = mailed(server, "verify")
    send(server, "verify/send", cookie)
    send(server, "verify", token=token)
    MAILS.received.clear()
    server.do_jobs()
    assert (MAILS.received, rows(server, WAITING)) == ([], [0])


def test_a_link_signs_in_once(server: LocalServer) -> None:
    account = server.account()
    token = server.run(server.runtime.db.transact(issue_token, account.id, Purpose.SIGN_IN))
    answer = send(server, "login/link", token=token)
    assert body_of(answer)["id"] == account.id
    assert me(server, answer.headers["set-cookie"].partition(";")[0]).status_code == 200
    assert objections(send(server, "login/link", token=token)) == [("token", "not_allowed")]


def test_a_link_signs_nobody_in_around_two_factor_sign_in(server: LocalServer) -> None:
    account = server.account()
    token = server.run(server.runtime.db.transact(issue_token, account.id, Purpose.SIGN_IN))

    async def turn_on(tx: Tx) -> None:
        await two_factor.begin(tx, account.id, "A" * 32)
        assert await factors.enable(tx, account.id, "A" * 32, 1)

    server.run(server.runtime.db.transact(turn_on))
    assert objections(send(server, "login/link", token=token)) == [("token", "not_allowed")]


@pytest.mark.parametrize(
    "email", ["r\u00e9d\u00e9@example.org", "reader@m\u00fcnchen.example", "!#$%&'*+/=?^_`{|}~-@example.org"]
)
def test_addresses_with_other_letters_are_reached(server: LocalServer, email: str) -> None:
    server.do_jobs()
    local, _, domain = email.partition("@")
    email = f"{local}{next(_numbers)}@{domain}"
    sign_up(server, email)
    assert mailed(server, "verify")
    expected = email.replace("m\u00fcnchen", "xn--mnchen-3ya")
    assert MAILS.received[0].recipients == [expected]


def test_server_without_mail_refuses_links(server: LocalServer, local_server: Callable[..., LocalServer]) -> None:
    plain = local_server()
    _, cookie = sign_up(plain)
    for answer in (send(plain, "forgot", email="somebody@example.org"), send(plain, "verify/send", cookie)):
        assert refusal(answer) == (404, "Not found")
        assert "Ask its operator" in answer.json()["message"]
    assert rows(plain, WAITING) == [0], "and a sign-up enqueues nothing"
