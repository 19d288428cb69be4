"""The owner's password, e-mail address and sessions, and what of it is in the audit log."""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from pressroom.clock import MINUTE, iso
from pressroom.db import Query
from pressroom.domains.audit.models import Source
from pressroom.domains.keys.models import Scope
from pressroom.domains.sign_in.sessions import begin_session
from tests.api.actors import Actor, body_of, refusal, rows
from tests.api.conftest import MakeActor
from tests.api.people import Person, token_of
from tests.harness.local import LocalServer

SETTINGS = {
    "TRUSTED_PROXIES": "127.0.0.1/32",
    "DEV": 1,
    "SESSION_WRITES_PER_MINUTE": 1_000,
    "SIGNUP": "open",
}
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"
NEW = "seven boats by the pier"
KINDS = Query(str, "SELECT kind FROM audit_entries WHERE account_id = :account_id ORDER BY id")

Json = dict[str, Any]


@pytest.fixture
def mira(server: LocalServer) -> Person:
    return Person(server)


def sessions(person: Person, token: str = "", **more: Any) -> list[Json]:
    answer = person.request("GET", "/api/auth/sessions", token=token or person.token, **more)
    found: list[Json] = body_of(answer)["sessions"]
    return found


def log(person: Person) -> list[Json]:
    found: list[Json] = body_of(person.request("GET", "/api/auth/log?limit=100", token=person.token))["entries"]
    return found


def kinds(person: Person) -> list[str]:
    """The entries of the log, oldest first."""
    return [entry["kind"] for entry in reversed(log(person))]


def change_password(person: Person, password: str = NEW, **more: Any) -> httpx.Response:
    return person.request("POST", "/api/auth/password", token=person.token, json={"password": password}, **more)


def test_a_new_password_ends_every_session_but_this_one(mira: Person) -> None:
    elsewhere = token_of(mira.sign_in())

    assert body_of(change_password(mira))["message"] == "The password is changed. Every other session has ended."

    assert mira.me(elsewhere).status_code == 401
    assert mira.me(mira.token).status_code == 200
    assert refusal(mira.sign_in()) == (401, "Invalid credentials")
    assert mira.sign_in(NEW).status_code == 200
    assert kinds(mira)[-3:] == ["password.changed", "sign-in.failed", "session.started"]


def test_a_password_is_changed_once_under_one_key(mira: Person) -> None:
    headers = {"Idempotency-Key": "k"}
    change_password(mira, headers=headers)
    body_of(change_password(mira, "another thing entirely", headers=headers))

    assert mira.sign_in(NEW).status_code == 200
    assert kinds(mira).count("password.changed") == 1


def test_a_password_that_is_refused_changes_nothing(mira: Person) -> None:
    before = kinds(mira)
    mira.server.clock.advance(31 * MINUTE)
    assert refusal(change_password(mira)) == (403, "Password required")
    assert refusal(change_password(mira, "short"))[0] in (400, 403)
    assert mira.sign_in().status_code == 200
    assert kinds(mira) == [*before, "session.started"]


def test_new_address_is_unconfirmed_and_the_old_one_gets_mail(mira: Person) -> None:
    kept = mira.server.runtime.mailer.kept
    assert kept is not None
    mira.server.do_jobs()
    kept.clear()
    body = {"email": f"{mira.name}@new.example"}
    account = body_of(mira.request("POST", "/api/auth/email", token=mira.token, json=body))
    mira.server.do_jobs()

    assert (account["email"], account["emailVerified"]) == (body["email"], False)
    mails = [sent.mail for sent in kept if mira.name in sent.mail.to]
    assert {mail.to: mail.subject for mail in mails} == {
        f"{mira.name}@example.org": "Your e-mail address was changed",
        body["email"]: "Confirm your e-mail address",
    }
    told = next(mail for mail in mails if mail.subject.startswith("Your"))
    assert body["email"] not in told.text
    token = next(mail for mail in mails if mail.to == body["email"]).text.partition("/verify/")[2].split()[0]
    body_of(mira.request("POST", "/api/auth/verify", json={"token": token}))
    assert mira.me(mira.token).json()["emailVerified"]
    assert kinds(mira)[-2:] == ["email.changed", "email.confirmed"]


def test_a_taken_address_is_a_conflict_and_nothing_is_mailed(mira: Person) -> None:
    other, before = Person(mira.server), kinds(mira)
    body = {"email": f"{other.name.upper()}@Example.org"}
    assert refusal(mira.request("POST", "/api/auth/email", token=mira.token, json=body)) == (409, "Conflict")
    assert kinds(mira) == before
    assert mira.me(mira.token).json()["email"] == f"{mira.name}@example.org"


def test_one_of_two_accounts_gets_an_address_wanted_at_once(server: LocalServer) -> None:
    people, wanted = [Person(server), Person(server)], {"email": f"both{server.port}@new.example"}

    async def race() -> list[httpx.Response]:
        return await asyncio.gather(
            *(
                asyncio.to_thread(each.request, "POST", "/api/auth/email", token=each.token, json=wanted)
                for each in people
            )
        )

    assert sorted(answer.status_code for answer in asyncio.run(race())) == [200, 409]
    assert sorted(kinds(each).count("email.changed") for each in people) == [0, 1]


def test_the_sessions_of_an_account_and_which_is_this_one(mira: Person) -> None:
    signed_in = mira.sign_in(headers={"User-Agent": FIREFOX}, address="203.0.113.9")
    shown = sessions(mira, token_of(signed_in))

    assert [(each["browser"], each["isCurrent"]) for each in shown] == [
        ("Firefox on Windows", True),
        ("Python", False),
    ]
    assert shown[0]["address"] == "203.0.113.9"
    assert all(len(each["id"]) == 26 and each["id"] not in mira.token for each in shown)


def test_the_last_use_is_noted_to_the_minute(mira: Person) -> None:
    server = mira.server
    server.clock.advance(5 * MINUTE)
    mira.request("GET", "/api/auth/me", token=mira.token, address="203.0.113.77")
    server.run(server.runtime.session_use.flush())
    shown = sessions(mira)[0]
    assert shown["lastSeenAt"] == iso(server.clock.now() // MINUTE * MINUTE)
    assert shown["address"] == "203.0.113.77"


def test_a_session_that_is_ended_is_refused_at_once(mira: Person) -> None:
    elsewhere = token_of(mira.sign_in(headers={"User-Agent": FIREFOX}))
    session_id = next(each["id"] for each in sessions(mira) if not each["isCurrent"])
    headers = {"Idempotency-Key": "k"}

    for _ in range(2):
        ended = mira.request("DELETE", f"/api/auth/sessions/{session_id}", token=mira.token, headers=headers)
        assert body_of(ended) == {"message": "The session has ended", "id": session_id}

    assert mira.me(elsewhere).status_code == 401
    assert [each["isCurrent"] for each in sessions(mira)] == [True]
    entry = log(mira)[0]
    assert (entry["kind"], entry["detail"]["browser"]) == ("session.ended", "Firefox on Windows")
    again = mira.request("DELETE", f"/api/auth/sessions/{session_id}", token=mira.token)
    assert refusal(again) == (404, "Not found")
    assert kinds(mira).count("session.ended") == 1


def test_all_other_sessions_are_ended_by_one_request(mira: Person) -> None:
    elsewhere = [token_of(mira.sign_in()) for _ in range(2)]
    assert body_of(mira.request("DELETE", "/api/auth/sessions", token=mira.token)) == {"ended": 2}
    assert [mira.me(token).status_code for token in elsewhere] == [401, 401]
    assert body_of(mira.request("DELETE", "/api/auth/sessions", token=mira.token)) == {"ended": 0}
    assert kinds(mira)[-1] == "sessions.ended"
    assert kinds(mira).count("sessions.ended") == 1


def test_sessions_are_listed_a_page_at_a_time(alice: Actor) -> None:
    server = alice.server
    for number in range(4):
        server.run(server.runtime.db.transact(begin_session, alice.account.id, Source(f"203.0.113.{number}")))
    seen: list[str] = []
    query: dict[str, str | int] | None = {"limit": 2}
    while query is not None:
        page = body_of(alice.web.get("/api/auth/sessions", params=query))
        seen += [each["id"] for each in page["sessions"]]
        query = {"limit": 2, "cursor": page["nextCursor"]} if page["nextCursor"] else None
    assert len(seen) == len(set(seen)) == 5
    assert seen == sorted(seen, reverse=True)


def acts(alice: Actor) -> Iterator[tuple[httpx.Response, list[str]]]:
    """Each act with its entry in the log."""
    web = alice.web
    yield web.patch("/api/auth/me", json={"bio": "a"}), ["profile.changed"]
    yield web.patch("/api/auth/me", json={"username": f"{alice.account.username}x"}), ["username.changed"]
    yield web.patch("/api/auth/me", json={"bio": "a"}), []
    yield web.patch("/api/auth/me", json={"bio": "a" * 501}), []
    made = web.post("/api/auth/api-keys", json={"label": "One", "scopes": ["posts:write"]})
    yield made, ["key.made"]
    key = f"/api/auth/api-keys/{made.json()['id']}"
    hook = web.post(f"{key}/webhooks", json={"url": "http://127.0.0.1:9/x?secret=1", "events": ["post.created"]})
    yield hook, ["endpoint.added"]
    endpoint = f"{key}/webhooks/{hook.json()['id']}"
    yield web.post(f"{endpoint}/rotate"), ["endpoint.rotated"]
    yield web.patch(endpoint, json={"events": ["comment.created"]}), ["endpoint.changed"]
    for act in ("pause", "resume"):
        yield web.post(f"{endpoint}/{act}"), [f"endpoint.{act}d"]
        yield web.post(f"{endpoint}/{act}"), []
    other = {"url": "http://127.0.0.1:9/y", "events": ["post.created"]}
    replaced = web.post(f"{endpoint}/replace", json=other)
    yield replaced, ["endpoint.removed", "endpoint.added"]
    yield web.delete(endpoint), []
    yield web.delete(f"{key}/webhooks/{replaced.json()['id']}"), ["endpoint.removed"]
    yield web.delete(key), ["key.revoked"]
    yield web.delete(key), []
    yield web.post("/api/auth/logout"), ["session.ended"]


def test_every_act_has_one_entry_and_a_refused_one_has_none(actor: MakeActor) -> None:
    alice = actor(Scope.POSTS_WRITE)
    said = len(rows(alice.server, KINDS, account_id=alice.account.id))
    for answer, expected in acts(alice):
        now = rows(alice.server, KINDS, account_id=alice.account.id)
        assert now[said:] == expected, answer.text
        said = len(now)


def test_entry_has_actor_and_address_and_no_secret(mira: Person) -> None:
    body = {"label": "Ferry bot", "scopes": ["posts:write"]}
    made = body_of(mira.request("POST", "/api/auth/api-keys", token=mira.token, json=body, address="203.0.113.50"), 201)
    hook = {"url": "http://127.0.0.1:9/services/SECRET?t=1", "events": ["post.created"]}
    path = f"/api/auth/api-keys/{made['id']}/webhooks"
    body_of(mira.request("POST", path, token=mira.token, json=hook), 201)

    entries = log(mira)

    key = next(entry for entry in entries if entry["kind"] == "key.made")
    assert (key["actor"], key["address"], key["times"]) == ("self", "203.0.113.50", 1)
    assert key["detail"] == {"keyId": made["id"], "label": "Ferry bot"}
    added = next(entry for entry in entries if entry["kind"] == "endpoint.added")
    assert added["detail"]["host"] == "127.0.0.1:9"
    assert "SECRET" not in str(entries)
    assert made["key"] not in str(entries)


def test_failed_sign_ins_are_counted_in_one_entry(mira: Person) -> None:
    for _ in range(3):
        assert refusal(mira.sign_in("wrong", address="203.0.113.66")) == (401, "Invalid credentials")
    failures = [entry for entry in log(mira) if entry["kind"] == "sign-in.failed"]
    assert [(entry["address"], entry["times"]) for entry in failures] == [("203.0.113.66", 3)]


def test_the_log_is_the_owner_s_alone(mira: Person) -> None:
    other = Person(mira.server)
    assert {entry["id"] for entry in log(mira)}.isdisjoint(entry["id"] for entry in log(other))
