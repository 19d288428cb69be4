"""An operator's acts on accounts: nothing of a suspended one is shown, and nobody acts in its name."""

import json
from typing import Any

import httpx
import pytest

from pressroom.db import Query
from pressroom.domains.moderation import actions as moderation
from pressroom.domains.moderation.models import SUSPENDED
from tests.api.actors import Actor, body_of, events, follow, new_client, nobody, publish, refusal
from tests.api.bad_endpoints import PUBLIC
from tests.api.conftest import MakeActor
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY
PASSWORD = "nine plums and a kettle"
SESSIONS = Query(int, "SELECT count(*) FROM sessions WHERE account_id = :account_id")
KEPT = Query(
    str,
    "SELECT username || '|' || email || '|' || display_name || '|' || coalesce(bio, '-') || '|' || password_hash"
    " FROM accounts WHERE id = :account_id",
)


def operate(who: Actor, verb: Any, **more: object) -> None:
    """The action of the operator's command."""
    who.server.run(who.server.runtime.db.transact(verb, who.account.username, **more))
    who.server.do_jobs()


def suspend(who: Actor) -> None:
    operate(who, moderation.suspend_account)


def status(client: httpx.Client, base_url: str, path: str) -> int:
    return client.get(base_url + path).status_code


def set_password(who: Actor) -> None:
    password_hash = who.server.run(who.server.runtime.passwords.hash(PASSWORD, "test"))
    operate(who, moderation.set_password, password_hash=password_hash)


def sign_in(who: Actor, password: str = PASSWORD) -> httpx.Response:
    login = {"login": who.account.username, "password": password}
    return nobody.post(f"{who.server.base_url}/api/auth/login", json=login)


def test_the_next_request_is_refused(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    other_key = alice.server.key(alice.account)[1]
    publish(alice)

    suspend(alice)

    assert refusal(alice.web.get("/api/auth/me")) == (401, "Missing API key")
    assert refusal(alice.web.post("/api/posts", json={"content": "x"})) == (401, "Missing API key")
    for key in (alice.key, other_key):
        answer = nobody.get(f"{alice.server.base_url}/api/auth/me", headers={"Authorization": f"Bearer {key}"})
        assert refusal(answer) == (401, "API key revoked")
    assert body_of(bob.api.get("/api/auth/me"))["id"] == bob.account.id
    told = events(alice, "apikey.revoked")
    assert [each["apiKey"]["revokedBy"] for each in told] == ["admin", "admin"]
    assert {each["apiKey"]["reason"] for each in told} == {SUSPENDED}

    suspend(alice)
    assert len(events(alice, "apikey.revoked")) == 2, "suspending once more changes nothing"


def test_only_the_right_password_learns_of_it(actor: MakeActor) -> None:
    alice = actor()
    set_password(alice)
    assert sign_in(alice).status_code == 200
    suspend(alice)

    for _ in range(30):  # the right password is no failure, however often
        assert refusal(sign_in(alice)) == (403, "Account suspended")
    assert refusal(sign_in(alice, "a wrong password")) == (401, "Invalid credentials")
    assert alice.server.run(alice.server.runtime.db.one(SESSIONS, account_id=alice.account.id)) == 0

    operate(alice, moderation.restore_account)
    assert sign_in(alice).status_code == 200


def test_nothing_of_it_is_shown_until_it_is_restored(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    tag, name = f"tag{alice.account.username}", alice.account.username
    hub = body_of(bob.web.post("/api/hubs", json={"name": "Hub", "slug": f"hub-{name}"}), 201)
    body_of(alice.web.post(f"/api/hubs/{hub['id']}/membership"))
    post = publish(alice, f"Hello #{tag}", hubId=hub["id"])
    quote = body_of(bob.web.post(f"/api/posts/{post['id']}/bounce", json={"content": "Look"}), 201)
    bobs = publish(bob)
    comment = body_of(alice.web.post(f"/api/posts/{bobs['id']}/comments", json={"content": "Spam"}), 201)
    reply = body_of(
        bob.web.post(f"/api/posts/{bobs['id']}/comments", json={"content": "No", "parentId": comment["id"]}), 201
    )
    follow(alice, bob)
    base = alice.server.base_url

    def shown() -> dict[str, object]:
        oembed = f"/oembed?url={base}/post/{post['id']}"
        visitors = [nobody, bob.web]
        found = body_of(nobody.get(f"{base}/api/posts/{bobs['id']}/comments"))["comments"]
        return {
            "profile": [status(who, base, f"/@{name}") for who in visitors],
            "permalink": [status(who, base, f"/post/{post['id']}") for who in visitors],
            "read": [status(who, base, f"/api/posts/{post['id']}") for who in visitors],
            "like": [bob.web.post(f"/api/posts/{post['id']}/like").status_code],
            "follow": [bob.web.post(f"/api/accounts/{name}/follow").status_code],
            "oembed": [status(nobody, base, oembed)],
            "tag": post["id"] in nobody.get(f"{base}/tag/{tag}").text,
            "hub": post["id"] in nobody.get(f"{base}/hub/hub-{name}").text,
            "in a quote": (body_of(bob.web.get(f"/api/posts/{quote['id']}"))["originalPost"] or {}).get("id"),
            "comments": [each["id"] for each in found],
            "on the page": [each in nobody.get(f"{base}/post/{bobs['id']}").text for each in ("Spam", "No")],
            "followers": [each["id"] for each in body_of(bob.web.get("/api/followers"))["followers"]],
            "told": [each["type"] for each in body_of(bob.web.get("/api/notifications"))["notifications"]],
        }

    everything = shown()
    assert everything["profile"] == everything["permalink"] == everything["read"] == [200, 200]

    suspend(alice)
    assert shown() == {
        "profile": [404, 404],
        "permalink": [404, 404],
        "read": [404, 404],
        "like": [404],
        "follow": [404],
        "oembed": [404],
        "tag": False,
        "hub": False,
        "in a quote": None,
        "comments": [reply["id"]],
        "on the page": [False, True],
        "followers": [],
        "told": [],
    }
    parent = {"content": "Hm", "parentId": comment["id"]}
    assert bob.web.post(f"/api/posts/{bobs['id']}/comments", json=parent).status_code == 422

    operate(alice, moderation.restore_account)
    again = shown()
    assert again == everything
    key = {"Authorization": f"Bearer {alice.key}"}
    assert refusal(nobody.get(f"{base}/api/auth/me", headers=key)) == (401, "API key revoked")


def test_its_posts_leave_tag_pages_before_any_job_is_done(actor: MakeActor) -> None:
    alice = actor()
    tag = f"tag{alice.account.username}"
    post = publish(alice, f"Hello #{tag}")

    alice.server.run(alice.server.runtime.db.transact(moderation.suspend_account, alice.account.username))

    assert post["id"] not in nobody.get(f"{alice.server.base_url}/tag/{tag}").text


def test_suspended_account_is_neither_listed_nor_notified_of(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    suspend(alice)
    publish(bob, f"Hello @{alice.account.username}")
    custom = publish(bob, visibility="CUSTOM")

    answer = bob.web.put(f"/api/posts/{custom['id']}/audience", json={"usernames": [alice.account.username]})

    assert answer.status_code == 422
    operate(alice, moderation.restore_account)
    set_password(alice)
    session = sign_in(alice).cookies["session"]
    with new_client(headers={"Cookie": f"session={session}"}) as web:
        told = body_of(web.get(f"{alice.server.base_url}/api/notifications"))["notifications"]
    assert [each["type"] for each in told] == ["key.revoked"]


def test_the_endpoints_hear_of_the_revocation_and_of_nothing_after_it(actor: MakeActor) -> None:
    alice = actor()
    body = {"url": PUBLIC, "events": ["post.created", "apikey.revoked"]}
    body_of(alice.web.post(f"/api/auth/api-keys/{alice.record.id}/webhooks", json=body), 201)

    suspend(alice)

    queued = Query(str, "SELECT event_type FROM deliveries WHERE account_id = :account_id")
    closed = Query(str, "SELECT id FROM webhooks WHERE account_id = :account_id AND closed_at IS NOT NULL")
    db, account_id = alice.server.runtime.db, alice.account.id
    assert alice.server.run(db.read(lambda tx: tx.all(queued, account_id=account_id))) == ["apikey.revoked"]
    assert len(alice.server.run(db.read(lambda tx: tx.all(closed, account_id=account_id)))) == 1


def test_a_new_password_ends_sessions_and_opens_a_locked_account(actor: MakeActor) -> None:
    alice = actor()
    set_password(alice)
    *_, last = [sign_in(alice, "a wrong password") for _ in range(12)]
    assert refusal(last) == (429, "Too many attempts")
    session = alice.server.run(alice.server.runtime.db.one(SESSIONS, account_id=alice.account.id))
    assert session == 0, "the session before the first password is gone"

    set_password(alice)

    assert sign_in(alice).status_code == 200


def test_a_deleted_account_leaves_nothing_of_a_person(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    set_password(alice)
    session = sign_in(alice).cookies["session"]
    with new_client(headers={"Cookie": f"session={session}"}) as web:
        body_of(web.patch(f"{alice.server.base_url}/api/auth/me", json={"bio": "All about me", "displayName": "Al"}))
    post = publish(alice)
    name, email = alice.account.username, alice.account.email

    operate(alice, moderation.delete_account)

    row = alice.server.run(alice.server.runtime.db.one(KEPT, account_id=alice.account.id))
    assert row == "[deleted]||Deleted account|-|!"
    base = alice.server.base_url
    paths = (f"/@{name}", f"/post/{post['id']}", "/@deleted", "/@[deleted]")
    assert [status(nobody, base, path) for path in paths] == [410, 410, 404, 404]
    for password in (PASSWORD, "no account has this password", "!"):
        for login in (name, email, "[deleted]", f":{alice.account.id}"):
            answer = nobody.post(f"{base}/api/auth/login", json={"login": login, "password": password})
            assert refusal(answer) == (401, "Invalid credentials")
    assert refusal(nobody.get(f"{base}/api/auth/me", headers={"Authorization": f"Bearer {alice.key}"})) == (
        401,
        "API key revoked",
    )
    assert refusal(bob.web.patch("/api/auth/me", json={"username": name.upper()})) == (409, "Conflict")
    alice.server.clock.advance(91 * 24 * 3600 * 1000)
    dave = Actor(alice.server)
    assert body_of(dave.web.patch("/api/auth/me", json={"username": name.upper()}))["username"] == name.upper()
    for client in dave.clients():
        client.close()


@pytest.mark.parametrize("verb", [moderation.restore_account, moderation.suspend_account])
def test_a_deleted_account_is_nobody_s(actor: MakeActor, verb: Any) -> None:
    alice = actor()
    operate(alice, moderation.delete_account)

    with pytest.raises(Exception, match="There is no account"):
        operate(alice, verb)


def test_two_accounts_can_be_deleted(server: LocalServer, actor: MakeActor) -> None:
    for alice in (actor(), actor()):
        operate(alice, moderation.delete_account)
    assert json.dumps(server.stream.getvalue()).count("Traceback") == 0
