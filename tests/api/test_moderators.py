"""What moderators see and do: reports, posts and accounts, and of all other pages and routes of admins nothing."""

from typing import Final

import pytest

from pressroom.domains.moderation.actions import set_moderator
from pressroom.server.routes import API_ROUTES, PAGE_ROUTES
from pressroom.web.access import AdminOnly, AdminPage
from tests.api.actors import Actor, body_of, objections, publish, refusal
from tests.api.conftest import MakeActor
from tests.api.tables import held
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY
WHY: Final = "Advertises pills."
ONE: Final = "/admin/accounts/{username}"

FOR_MODERATORS: Final = {
    *(
        f"GET /api{path}"
        for path in ("/admin/reports", "/admin/reports/{id}", "/admin/accounts", ONE, "/admin/explore")
    ),
    *(f"POST /api{path}" for path in ("/admin/reports/{id}/decision", f"{ONE}/suspend", f"{ONE}/restore")),
    *("GET /api/admin/explore", "POST /api/admin/explore", "DELETE /api/admin/explore/{id}"),
    *(f"GET {path}" for path in ("/admin/reports", "/admin/reports/{id}", "/admin/reports/{id}/files/{mediaId}")),
    *("POST /admin/reports/{id}", "GET /admin/accounts", f"GET {ONE}"),
    *(f"{method} {ONE}/{act}" for method in ("GET", "POST") for act in ("suspend", "restore")),
    *("GET /admin/explore", "POST /admin/explore", "POST /admin/explore/{id}/remove"),
}
"""Every route of admins that is there for moderators. A new one is theirs only once it stands here."""


@pytest.fixture
def moderator(actor: MakeActor) -> Actor:
    who = actor()
    db = who.server.runtime.db
    who.server.run(db.transact(set_moderator, who.account.username, is_moderator=True))
    return who


def test_other_routes_of_admins_are_not_there_for_moderators(actor: MakeActor, moderator: Actor) -> None:
    bob = actor()
    before, found = held(bob.server), set[str]()

    for route in (*API_ROUTES, *PAGE_ROUTES):
        if not isinstance(route.access, AdminOnly | AdminPage):
            continue
        path = route.path.replace("{username}", bob.account.username).replace("{id}", "x").replace("{name}", "rules")
        answer = moderator.web.request(route.method, path, content=b"{")
        known = f"{route.method} {route.path}"
        if known in FOR_MODERATORS:
            found.add(known)
            assert "There is nothing at this address" not in answer.text, known
        else:
            assert answer.status_code == 404, known

    assert found == FOR_MODERATORS
    assert held(bob.server) == before


def test_moderator_is_notified_of_a_report_and_decides(actor: MakeActor, moderator: Actor) -> None:
    author, reader = actor(), actor()
    post = publish(author)
    body_of(reader.web.post("/api/reports", json={"type": "post", "id": post["id"], "reason": WHY}), 202)

    (notice,) = body_of(moderator.web.get("/api/notifications"))["notifications"]
    assert notice["type"] == "report.made"
    (case,) = body_of(moderator.web.get("/api/admin/reports"))["reports"]
    decision = {"decision": "deleted", "reason": WHY}
    body_of(moderator.web.post(f"/api/admin/reports/{case['id']}/decision", json=decision))

    assert reader.web.get(f"/api/posts/{post['id']}").status_code == 404


def test_moderator_suspends_accounts_but_those_of_admins_and_moderators(actor: MakeActor, moderator: Actor) -> None:
    bob, admin, other = actor(), actor().become_admin(), actor()
    db = other.server.runtime.db
    other.server.run(db.transact(set_moderator, other.account.username, is_moderator=True))

    for who in (admin, other, moderator):
        path = f"/api/admin/accounts/{who.account.username}/suspend"
        assert objections(moderator.web.post(path, json={"reason": WHY})) == [("username", "not_allowed")]
    path = f"/api/admin/accounts/{bob.account.username}"
    assert body_of(moderator.web.post(f"{path}/suspend", json={"reason": WHY}))["status"] == "suspended"
    assert body_of(moderator.web.post(f"{path}/restore", json={"reason": WHY}))["status"] == "active"
    entry = body_of(admin.web.get("/api/admin/log"))["entries"][0]
    assert (entry["kind"], entry["admin"]) == ("account.restored", moderator.account.username)


def test_moderator_sees_no_keys_of_an_account(actor: MakeActor, moderator: Actor) -> None:
    bob, admin = actor(), actor().become_admin()
    path = f"/api/admin/accounts/{bob.account.username}"

    assert body_of(admin.web.get(path))["keys"]
    assert body_of(moderator.web.get(path))["keys"] == []
    shown = moderator.web.get(f"/admin/accounts/{bob.account.username}").text
    assert "/suspend" in shown
    assert not [
        act for act in ("/verify", "/limits", "/delete", "/revoke", "API keys") if act in shown.split("<main")[1]
    ]


def test_rights_of_a_moderator_end_with_the_next_request(moderator: Actor) -> None:
    assert moderator.web.get("/api/admin/reports").status_code == 200
    db = moderator.server.runtime.db
    moderator.server.run(db.transact(set_moderator, moderator.account.username, is_moderator=False))
    assert refusal(moderator.web.get("/api/admin/reports")) == (404, "Not found")


def test_moderators_are_listed(actor: MakeActor, moderator: Actor) -> None:
    admin = actor().become_admin()
    listed = body_of(admin.web.get("/api/admin/accounts?status=moderator"))["accounts"]
    assert moderator.account.username in [each["username"] for each in listed]
    assert {each["isModerator"] for each in listed} == {True}
