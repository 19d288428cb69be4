"""Every write takes an Idempotency-Key, those of the signed-in owner too: one effect, one answer."""

import json
from itertools import product

import httpx
import pytest

from pressroom.db import Query
from pressroom.domains.sign_in.sessions import begin_session
from pressroom.server.routes import API_ROUTES
from tests.api.actors import Actor, body_of, field_errors, new_client, rows
from tests.api.conftest import MakeActor, one_engine
from tests.api.tables import held
from tests.harness.roomy import ROOMY
from tests.harness.writes import SETTINGS as TAKING
from tests.harness.writes import WRITES, People, Write, replay_of

SETTINGS = {**ROOMY, **TAKING}
ELSEWHERE = {
    *("upload_post", "upload_draft_media", "publish_clip", "set_avatar", "remove_avatar", "set_cover", "remove_cover"),
    *("sign_out", "confirm_password"),
    *("verify_account", "set_limits", "suspend_account", "restore_account", "delete_account", "retry_job"),
    *("revoke_key_of", "disable_webhook_of"),
    *("make_invitation", "revoke_invitation", "decide_report", "create_block", "delete_block"),
    *("exclude_from_explore", "include_in_explore", "publish_text"),
    *("request_export", "delete_own_account"),
    *("begin_two_factor", "confirm_two_factor", "renew_recovery_codes", "remove_two_factor"),
    *("end_session", "end_other_sessions", "add_passkey", "rename_passkey", "remove_passkey", "confirm_with_passkey"),
}
"""Routes with tests of their own: here, in tests/media, and in modules of their subject."""

WITHOUT_ACCOUNT = {
    *("sign_up", "set_up", "sign_in", "sign_in_by_link", "forgot_password", "reset_password", "verify_email"),
    *("begin_passkey_sign_in", "sign_in_with_passkey"),
}
WITHOUT_EFFECT = {"preview_redelivery", "preview_post", "begin_passkey", "begin_passkey_confirmation"}
STORED = Query(str, "SELECT body FROM idempotent_answers WHERE account_id = :account_id AND path = :path")

WITH_BODIES = {
    *("create_post", "edit_post", "create_comment", "vote", "set_audience", "edit_me", "create_key", "create_webhook"),
    "edit_key",
    *("redeliver_events", "create_hub", "replace_webhook", "edit_webhook", "edit_clip", "edit_comment"),
    *("change_password", "change_email", "read_notifications", "create_report", "set_filters"),
    *("edit_notification_settings", "create_draft", "edit_draft"),
}

every_write = pytest.mark.parametrize("name", list(WRITES))


def send(web: httpx.Client, write: Write, key: str = "k", **more: object) -> httpx.Response:
    """Sends a write of the signed-in owner under an Idempotency-Key; `more` goes into the body."""
    body = {**(write.body or {}), **more}
    return web.request(write.method, write.path, json=body or None, headers={"Idempotency-Key": key})


def test_every_write_takes_a_key_and_is_tried_here() -> None:
    writes = {route.name: route for route in API_ROUTES if route.method != "GET"}

    assert {name for name, route in writes.items() if not route.idempotent} <= WITHOUT_ACCOUNT | WITHOUT_EFFECT
    assert {name for name, route in writes.items() if route.idempotent} == {*WRITES, *ELSEWHERE}
    assert {name for name in WRITES if writes[name].takes and not writes[name].body_optional} == WITH_BODIES


@every_write
def test_a_repeated_write_has_one_effect_and_the_same_answer(actor: MakeActor, name: str) -> None:
    alice, bob = actor(), actor()
    write = WRITES[name](People(alice.web, bob.web))
    first = send(alice.web, write)
    after_first = held(alice.server)

    replays = [send(alice.web, write) for _ in range(2)]

    assert first.status_code == write.status, first.text
    assert "Idempotent-Replayed" not in first.headers
    for replay in replays:
        assert (replay.status_code, replay.headers["Idempotent-Replayed"]) == (200, "true")
        assert "Idempotent-Body-Differs" not in replay.headers
        assert replay.json() == replay_of(first.json())
        assert replay.headers.get("Location") == first.headers.get("Location")
    assert held(alice.server) == after_first


@pytest.mark.parametrize("name", sorted(WITH_BODIES))
def test_replay_with_another_body_is_marked(actor: MakeActor, name: str) -> None:
    alice, bob = actor(), actor()
    write = WRITES[name](People(alice.web, bob.web))
    first = send(alice.web, write)
    after_first = held(alice.server)

    # A space more is another body: its bytes are compared, not its meaning.
    headers = {"Idempotency-Key": "k", "Content-Type": "application/json"}
    body = json.dumps(write.body, indent=1)
    replay = alice.web.request(write.method, write.path, content=body, headers=headers)

    assert (replay.status_code, replay.headers["Idempotent-Replayed"]) == (200, "true")
    assert replay.headers["Idempotent-Body-Differs"] == "true"
    assert replay.json() == replay_of(first.json())
    assert held(alice.server) == after_first


def test_a_bounce_and_a_quote_under_one_key_differ(alice: Actor) -> None:
    post = body_of(alice.web.post("/api/posts", json={"content": "Hello"}), 201)
    bounce = Write("POST", f"/api/posts/{post['id']}/bounce", None)
    send(alice.web, bounce)

    assert send(alice.web, bounce, content="A quote").headers["Idempotent-Body-Differs"] == "true"
    assert "Idempotent-Body-Differs" not in send(alice.web, bounce).headers


@one_engine
def test_an_invalid_key_is_refused(actor: MakeActor, subtests: pytest.Subtests) -> None:
    for name, key in product(WRITES, ("", "a b", "k" * 256, "ü")):
        with subtests.test(f"{name} {key[:3]}"):
            alice, bob = actor(), actor()
            write = WRITES[name](People(alice.web, bob.web))
            before = held(alice.server)

            headers = {b"Idempotency-Key": key.encode()}
            answer = alice.web.request(write.method, write.path, json=write.body, headers=headers)

            assert field_errors(answer) == [("header.Idempotency-Key", "invalid_format")]
            assert held(alice.server) == before


@one_engine
@pytest.mark.parametrize("path", ["/api/auth/signup", "/api/auth/login", "/api/auth/logout"])
def test_invalid_key_is_refused_on_routes_without_keys(alice: Actor, path: str) -> None:
    answer = alice.web.post(path, json={}, headers={"Idempotency-Key": "a b"})

    assert ("header.Idempotency-Key", "invalid_format") in field_errors(answer)


def test_no_new_api_key_is_stored(alice: Actor) -> None:
    write = Write("POST", "/api/auth/api-keys", {"label": "One", "scopes": ["posts:write"]})

    made = body_of(send(alice.web, write), 201)

    assert made["key"].startswith("svc_live_")
    stored = rows(alice.server, STORED, account_id=alice.account.id, path=write.path)
    assert len(stored) == 1
    assert made["key"] not in stored[0]
    assert '"key":null' in stored[0]


def test_a_refused_write_may_be_corrected_under_its_key(alice: Actor) -> None:
    taken = body_of(
        alice.web.post("/api/hubs", json={"name": "Club", "slug": f"s-{alice.account.id[-8:].lower()}"}), 201
    )
    hub = {"name": "Club", "slug": taken["slug"]}
    headers = {"Idempotency-Key": "k"}

    assert alice.web.post("/api/hubs", json=hub, headers=headers).status_code == 409
    hub["slug"] += "x"
    made = alice.web.post("/api/hubs", json=hub, headers=headers)

    assert made.status_code == 201
    assert "Idempotent-Replayed" not in made.headers


def test_a_toggle_under_another_key_is_another_write(alice: Actor) -> None:
    post = body_of(alice.web.post("/api/posts", json={"content": "Hello"}), 201)["id"]
    like, unlike = Write("POST", f"/api/posts/{post}/like"), Write("DELETE", f"/api/posts/{post}/like")

    assert [body_of(send(alice.web, write))["liked"] for write in (like, unlike, like)] == [True, False, True]
    assert body_of(alice.web.get(f"/api/posts/{post}"))["stats"]["likes"] == 0, "the third was a replay"
    assert body_of(send(alice.web, like, "k2"))["liked"] is True
    assert body_of(alice.web.get(f"/api/posts/{post}"))["stats"]["likes"] == 1


def test_replayed_sign_out_ends_the_session(alice: Actor) -> None:
    headers = {"Idempotency-Key": "k"}
    second = alice.server.run(alice.server.runtime.db.transact(begin_session, alice.account.id))
    other = new_client(base_url=alice.server.base_url, headers={"Cookie": f"session={second}"})

    first = alice.web.post("/api/auth/logout", headers=headers)
    again = other.post("/api/auth/logout", headers=headers)

    assert (first.status_code, again.status_code) == (200, 200)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers["Set-Cookie"] == first.headers["Set-Cookie"]
    assert [client.get("/api/notifications").status_code for client in (alice.web, other)] == [401, 401]
    other.close()
