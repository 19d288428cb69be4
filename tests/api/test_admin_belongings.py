"""What admins do to one key or one endpoint of an account: by the API, on the pages, in the log, told to the owner."""

import pytest

from tests.api.actors import Actor, Json, body_of, events, field_errors, publish, refusal
from tests.api.conftest import MakeActor
from tests.api.tables import held
from tests.harness.roomy import ROOMY
from tests.pages.reader import Page

SETTINGS = ROOMY
WHY = "It floods the hub."
PUBLIC = "https://8.8.8.8/hook"


@pytest.fixture
def admin(actor: MakeActor) -> Actor:
    return actor().become_admin()


def hook_of(who: Actor) -> str:
    """An endpoint of the actor's key; its id."""
    body = {"url": PUBLIC, "events": ["post.created", "apikey.revoked"]}
    made = body_of(who.web.post(f"/api/auth/api-keys/{who.record.id}/webhooks", json=body), 201)
    return str(made["id"])


def revoking(who: Actor) -> str:
    return f"/admin/accounts/{who.account.username}/keys/{who.record.id}/revoke"


def disabling(who: Actor, hook: str) -> str:
    return f"/admin/accounts/{who.account.username}/keys/{who.record.id}/webhooks/{hook}/disable"


def newest_act(admin: Actor) -> Json:
    """The newest entry of the log of admins."""
    entry: Json = body_of(admin.web.get("/api/admin/log?limit=1"))["entries"][0]
    return entry


def told(who: Actor) -> list[str]:
    return [each["type"] for each in body_of(who.web.get("/api/notifications"))["notifications"]]


def send(admin: Actor, path: str, *, by_page: bool, reason: str = WHY) -> int:
    """Does it by the API or by the form of the page; the status."""
    admin.server.clock.advance(1)
    if not by_page:
        return admin.web.post(f"/api{path}", json={"reason": reason}).status_code
    assert admin.web.get(path).status_code == 200
    return admin.web.post(path, data={"reason": reason}).status_code


@pytest.mark.parametrize("by_page", [False, True])
def test_a_key_is_revoked(actor: MakeActor, admin: Actor, by_page: bool) -> None:
    alice = actor()
    hook_of(alice)
    account = admin.web.get(f"/admin/accounts/{alice.account.username}").text
    assert Page(account).has(f"a[href='{revoking(alice)}']")

    assert send(admin, revoking(alice), by_page=by_page) == (303 if by_page else 200)

    assert refusal(alice.api.get("/api/auth/me")) == (401, "API key revoked")
    shown = body_of(alice.web.get(f"/api/auth/api-keys/{alice.record.id}"))
    assert (shown["revokedBy"], shown["reason"]) == ("admin", WHY)
    assert len(events(alice, "apikey.revoked")) == 1
    assert told(alice) == ["key.revoked"]
    entry = newest_act(admin)
    assert (entry["kind"], entry["username"], entry["detail"]["reason"]) == ("key.revoked", alice.account.username, WHY)
    assert not Page(admin.web.get(f"/admin/accounts/{alice.account.username}").text).has(f"a[href='{revoking(alice)}']")
    before = held(alice.server)
    assert send(admin, revoking(alice), by_page=by_page) == 409
    assert held(alice.server) == before


@pytest.mark.parametrize("by_page", [False, True])
def test_an_endpoint_is_disabled(actor: MakeActor, admin: Actor, by_page: bool) -> None:
    alice = actor()
    hook, other = hook_of(alice), hook_of(alice)
    publish(alice)

    assert send(admin, disabling(alice, hook), by_page=by_page) == (303 if by_page else 200)

    path = f"/api/auth/api-keys/{alice.record.id}/webhooks"
    shown = body_of(alice.web.get(f"{path}/{hook}"))
    assert (shown["status"], shown["disabledReason"]) == ("disabled", WHY)
    assert body_of(alice.web.get(f"{path}/{other}"))["status"] == "enabled"
    states = [each["state"] for each in body_of(alice.web.get(f"{path}/{hook}/deliveries"))["deliveries"]]
    assert states == ["held"]
    publish(alice)
    assert len(body_of(alice.web.get(f"{path}/{hook}/deliveries"))["deliveries"]) == 1
    assert told(alice) == ["webhook.disabled"]
    assert alice.post().status_code == 201
    entry = newest_act(admin)
    assert (entry["kind"], entry["detail"]) == ("endpoint.disabled", {"webhookId": hook, "reason": WHY})
    assert "Disabled an endpoint" in admin.web.get("/admin/log").text
    before = held(alice.server)
    assert send(admin, disabling(alice, hook), by_page=by_page) == 409
    assert held(alice.server) == before


def test_unknown_file_is_404(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    hook = hook_of(alice)
    wrong = [
        revoking(alice).replace(alice.account.username, bob.account.username),
        revoking(alice).replace(alice.record.id, "0" * 26),
        disabling(alice, hook).replace(alice.record.id, bob.record.id),
        disabling(alice, hook).replace(alice.account.username, bob.account.username),
        disabling(alice, "0" * 26),
    ]
    before = held(alice.server)
    for path in wrong:
        assert admin.web.post(f"/api{path}", json={"reason": WHY}).status_code == 404, path
        assert admin.web.get(path).status_code == 404, path
    for path in (revoking(alice), disabling(alice, hook)):
        for reason in ("", " ", "x" * 501):
            assert [field for field, _ in field_errors(admin.web.post(f"/api{path}", json={"reason": reason}))] == [
                "reason"
            ]
        refused = admin.web.post(path, data={"reason": ""})
        assert refused.status_code == 400
        assert Page(refused.text).has("#f-reason[aria-invalid]")
        assert bob.web.get(path).status_code == 404
        assert bob.web.post(f"/api{path}", json={"reason": WHY}).status_code == 404
    assert held(alice.server) == before


def test_sent_twice_it_is_done_once(actor: MakeActor, admin: Actor) -> None:
    alice = actor()
    hook, once = hook_of(alice), {"Idempotency-Key": "once"}
    for path in (disabling(alice, hook), revoking(alice)):
        first = admin.web.post(f"/api{path}", json={"reason": WHY}, headers=once)
        assert first.status_code == 200, first.text
        before = held(alice.server)
        again = admin.web.post(f"/api{path}", json={"reason": WHY}, headers=once)
        assert (again.status_code, again.headers["Idempotent-Replayed"]) == (200, "true")
        assert again.json() == first.json()
        assert held(alice.server) == before
