"""Readers report visible things; admins decide about it, and the owner reads decision and reason."""

import json

import httpx
import pytest

from pressroom.domains.audit.queries import list_admin_entries
from pressroom.domains.moderation import actions as moderation
from pressroom.domains.reports import actions as reports
from pressroom.domains.reports import queries
from pressroom.domains.reports.models import RETENTION
from pressroom.ids import BEYOND
from tests.api.actors import Actor, Json, body_of, field_errors, follow, nobody, objections, publish, refusal
from tests.api.conftest import MakeActor
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY
WHY = "It shows where somebody lives."


def report(who: Actor, subject: str, subject_id: str, reason: str = WHY) -> httpx.Response:
    return who.web.post("/api/reports", json={"type": subject, "id": subject_id, "reason": reason})


@pytest.fixture
def admin(actor: MakeActor) -> Actor:
    """Somebody with the rights of an admin."""
    return actor().become_admin()


def decide(
    admin: Actor, case_id: str, decision: str, reason: str = "Addresses are not for everybody."
) -> httpx.Response:
    answer = admin.web.post(f"/api/admin/reports/{case_id}/decision", json={"decision": decision, "reason": reason})
    admin.server.do_jobs()
    return answer


def waiting(admin: Actor) -> list[Json]:
    """The cases that wait."""
    cases: list[Json] = []
    cursor = ""
    while cursor is not None:
        page = body_of(admin.web.get("/api/admin/reports", params={"cursor": cursor} if cursor else {}))
        cases += page["reports"]
        cursor = page["nextCursor"]
    return cases


def case_of(who: Actor, subject_id: str) -> Json:
    return next(case for case in waiting(who) if case["subjectId"] == subject_id)


def test_report_keeps_the_reported_text(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice, "Number 12, the green door.")

    made = body_of(report(bob, "post", post["id"]), 202)

    assert (made["type"], made["subjectId"], made["reason"]) == ("post", post["id"], WHY)
    alice.api.patch(f"/api/posts/{post['id']}", json={"content": "Nothing at all."})
    assert "the green door" in case_of(admin, post["id"])["material"]["content"]


def test_two_readers_report_one_case_and_one_reader_once(actor: MakeActor, admin: Actor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice)

    first = body_of(report(bob, "post", post["id"]), 202)
    again = body_of(report(bob, "post", post["id"], "Another reason."), 202)
    body_of(report(carol, "post", post["id"]), 202)

    assert again == first
    assert case_of(admin, post["id"])["reports"] == 2


@pytest.mark.parametrize("visibility", ["FOLLOWERS", "CONNECTIONS", "PRIVATE", "CUSTOM"])
def test_hidden_post_cannot_be_reported(actor: MakeActor, visibility: str) -> None:
    alice, bob = actor(), actor()
    post = publish(alice, visibility=visibility)

    assert refusal(report(bob, "post", post["id"])) == (404, "Not found")


def test_follower_reports_a_followers_post(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    follow(bob, alice)
    post = publish(alice, visibility="FOLLOWERS")

    body_of(report(bob, "post", post["id"]), 202)


def test_reporting_oneself_is_refused(actor: MakeActor) -> None:
    alice = actor()

    assert objections(report(alice, "account", alice.account.id)) == [("id", "not_allowed")]
    assert objections(report(alice, "post", publish(alice)["id"])) == [("id", "not_allowed")]


def test_bad_reports_name_every_fault(actor: MakeActor) -> None:
    bob = actor()

    assert field_errors(report(bob, "hub", "", "x" * 501)) == [
        ("type", "invalid_choice"),
        ("id", "too_short"),
        ("reason", "too_long"),
    ]
    assert field_errors(report(bob, "post", "x", " \u2003")) == [("reason", "too_short")]


def test_reports_that_wait_are_bounded(actor: MakeActor, admin: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "OPEN_REPORTS", 2)
    alice, bob = actor(), actor()
    posts = [publish(alice)["id"] for _ in range(3)]

    for post_id in posts[:2]:
        body_of(report(bob, "post", post_id), 202)
    assert objections(report(bob, "post", posts[2])) == [("body", "too_many")]

    body_of(decide(admin, case_of(admin, posts[0])["id"], "dismissed"))
    body_of(report(bob, "post", posts[2]), 202)


def test_a_hidden_post_is_its_authors_alone_until_it_is_shown(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    follow(bob, alice)
    post = publish(alice, "A #green door.")
    body_of(report(bob, "post", post["id"]), 202)
    case_id = case_of(admin, post["id"])["id"]

    body_of(decide(admin, case_id, "hidden"))

    assert bob.web.get(f"/api/posts/{post['id']}").status_code == 404
    assert body_of(alice.web.get(f"/api/posts/{post['id']}"))["visibility"] == "PRIVATE"
    widened = alice.api.patch(f"/api/posts/{post['id']}", json={"visibility": "PUBLIC"})
    assert objections(widened) == [("visibility", "not_allowed")]
    body_of(alice.api.patch(f"/api/posts/{post['id']}", json={"content": "A #blue door."}))
    assert "blue" not in nobody.get(f"{alice.server.base_url}/tag/blue").text.partition("<main")[2].replace("#blue", "")

    body_of(decide(admin, case_id, "shown", "It says nothing of an address now."))
    body_of(alice.api.patch(f"/api/posts/{post['id']}", json={"visibility": "PUBLIC"}))
    assert bob.web.get(f"/api/posts/{post['id']}").status_code == 200


def test_owner_reads_the_decision_and_its_reason(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice, "Number 12, the green door.")
    body_of(report(bob, "post", post["id"]), 202)

    body_of(decide(admin, case_of(admin, post["id"])["id"], "deleted", "Addresses are not for everybody."))

    (told,) = body_of(alice.web.get("/api/decisions"))["decisions"]
    assert (told["decision"], told["reason"]) == ("deleted", "Addresses are not for everybody.")
    assert (told["subjectId"], told["content"]) == (post["id"], "Number 12, the green door.")
    assert "username" not in told
    (notified,) = body_of(alice.web.get("/api/notifications"))["notifications"]
    assert (notified["type"], notified["postId"], notified["actor"]) == ("moderation", post["id"], None)
    assert alice.api.get(f"/api/posts/{post['id']}").status_code == 404
    assert body_of(bob.web.get("/api/decisions"))["decisions"] == []


def test_an_account_is_suspended_by_decision(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    body_of(report(bob, "account", alice.account.id), 202)

    body_of(decide(admin, case_of(admin, alice.account.id)["id"], "suspended"))

    assert alice.web.get("/api/auth/me").status_code == 401
    assert refusal(report(bob, "account", alice.account.id)) == (404, "Not found")


def test_dismissed_report_is_silent_and_may_be_made_again(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    body_of(report(bob, "post", post["id"]), 202)
    first = case_of(admin, post["id"])["id"]

    body_of(decide(admin, first, "dismissed"))

    assert body_of(alice.web.get("/api/decisions"))["decisions"] == []
    assert body_of(alice.web.get("/api/notifications"))["notifications"] == []
    body_of(report(bob, "post", post["id"]), 202)
    assert case_of(admin, post["id"])["id"] != first


def test_a_decision_is_final(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    body_of(report(bob, "post", post["id"]), 202)
    case_id = case_of(admin, post["id"])["id"]
    body_of(decide(admin, case_id, "deleted"))

    for decision in ("hidden", "shown", "deleted", "suspended", "dismissed"):
        assert objections(decide(admin, case_id, decision)) == [("decision", "not_allowed")]


def test_a_bounce_is_deleted_rather_than_hidden(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    bounce = body_of(alice.api.post(f"/api/posts/{publish(alice)['id']}/bounce"), 201)
    body_of(report(bob, "post", bounce["id"]), 202)
    case_id = case_of(admin, bounce["id"])["id"]

    assert objections(decide(admin, case_id, "hidden")) == [("decision", "not_allowed")]
    body_of(decide(admin, case_id, "deleted"))


def test_case_of_a_deleted_subject_can_be_decided(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    body_of(report(bob, "post", post["id"]), 202)
    body_of(alice.api.delete(f"/api/posts/{post['id']}"))
    case_id = case_of(admin, post["id"])["id"]

    assert objections(decide(admin, case_id, "hidden")) == [("decision", "not_allowed")]
    assert body_of(decide(admin, case_id, "deleted"))["decision"] == "deleted"


def test_a_decision_is_in_the_log_of_admin_acts(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    body_of(report(bob, "post", post["id"]), 202)

    body_of(decide(admin, case_of(admin, post["id"])["id"], "hidden", "Why not."))

    entries = admin.server.run(admin.server.runtime.db.read(list_admin_entries, BEYOND, 100))
    (entry,) = [each for each in entries if each.account_id == alice.account.id and each.kind == "content.hidden"]
    assert (entry.kind, entry.admin, entry.address) == ("content.hidden", admin.account.username, "127.0.0.1")
    assert json.loads(entry.detail) == {"type": "post", "id": post["id"], "reason": "Why not."}


@pytest.mark.parametrize("path", ["/api/admin/reports", "/api/admin/blocks"])
def test_for_others_the_routes_of_admins_are_not_there(actor: MakeActor, path: str) -> None:
    alice = actor()

    assert refusal(alice.web.get(path)) == (404, "Not found")
    assert refusal(alice.api.get(path)) == (403, "Session required")
    assert refusal(nobody.get(alice.server.base_url + path)) == (401, "Not signed in")


def test_a_list_of_reports_by_state(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    body_of(report(bob, "post", post["id"]), 202)
    case_id = case_of(admin, post["id"])["id"]
    opened = body_of(admin.web.get(f"/api/admin/reports/{case_id}"))
    assert [(each["username"], each["reason"]) for each in opened["reasons"]] == [(bob.account.username, WHY)]

    body_of(decide(admin, case_id, "dismissed"))

    assert case_id not in [case["id"] for case in waiting(admin)]
    decided = body_of(admin.web.get("/api/admin/reports?state=decided&limit=100"))["reports"]
    assert case_id in [case["id"] for case in decided]
    assert field_errors(admin.web.get("/api/admin/reports?state=all")) == [("state", "invalid_choice")]


def test_a_case_goes_a_year_after_its_decision(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    body_of(report(bob, "post", post["id"]), 202)
    case_id = case_of(admin, post["id"])["id"]
    body_of(decide(admin, case_id, "dismissed"))
    purge = admin.server.runtime.db.transact

    admin.server.run(purge(reports.purge_cases, 500))
    assert admin.web.get(f"/api/admin/reports/{case_id}").status_code == 200
    admin.server.clock.advance(RETENTION + 1)
    admin.server.run(purge(reports.purge_cases, 500))
    assert admin.server.run(admin.server.runtime.db.read(queries.find_case, case_id)) is None


def test_an_admin_is_not_suspended_by_a_report(actor: MakeActor, admin: Actor) -> None:
    boss, bob = actor().become_admin(), actor()
    body_of(report(bob, "account", boss.account.id), 202)

    case_id = case_of(admin, boss.account.id)["id"]

    assert objections(decide(admin, case_id, "suspended")) == [("decision", "not_allowed")]
    body_of(decide(admin, case_id, "dismissed"))


def test_a_repeated_decision_is_one(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    body_of(report(bob, "post", post["id"]), 202)
    path = f"/api/admin/reports/{case_of(admin, post['id'])['id']}/decision"
    body, once = {"decision": "deleted", "reason": "Once."}, {"Idempotency-Key": "once"}

    first = admin.web.post(path, json=body, headers=once)
    again = admin.web.post(path, json=body, headers=once)

    assert (again.status_code, again.headers["Idempotent-Replayed"]) == (200, "true")
    assert again.json() == first.json()
    assert len(body_of(alice.web.get("/api/decisions"))["decisions"]) == 1


def test_a_comment_is_reported_and_deleted(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    comment = body_of(bob.api.post(f"/api/posts/{post['id']}/comments", json={"content": "Buy pills."}), 201)
    body_of(report(alice, "comment", comment["id"]), 202)
    case = case_of(admin, comment["id"])
    assert (case["material"]["content"], case["username"]) == ("Buy pills.", bob.account.username)

    assert objections(decide(admin, case["id"], "hidden")) == [("decision", "not_allowed")]
    body_of(decide(admin, case["id"], "deleted", "No pills here."))

    assert body_of(alice.web.get(f"/api/posts/{post['id']}/comments"))["comments"] == []
    assert body_of(alice.web.get(f"/api/posts/{post['id']}"))["stats"]["comments"] == 0
    (told,) = body_of(bob.web.get("/api/decisions"))["decisions"]
    assert (told["type"], told["reason"]) == ("comment", "No pills here.")


def test_a_comment_under_a_post_that_is_not_seen_is_not_there(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice, visibility="PRIVATE")
    comment = body_of(alice.api.post(f"/api/posts/{post['id']}/comments", json={"content": "Mine."}), 201)

    assert refusal(report(bob, "comment", comment["id"])) == (404, "Not found")


def test_a_comment_of_a_suspended_account_is_deleted_for_good(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    comment = body_of(bob.api.post(f"/api/posts/{post['id']}/comments", json={"content": "Buy pills."}), 201)
    body_of(report(alice, "comment", comment["id"]), 202)
    case_id = case_of(admin, comment["id"])["id"]
    operate = admin.server.runtime.db.transact
    admin.server.run(operate(moderation.suspend_account, bob.account.username))
    assert objections(decide(admin, case_id, "suspended")) == [("decision", "not_allowed")]

    body_of(decide(admin, case_id, "deleted", "No pills here."))

    admin.server.run(operate(moderation.restore_account, bob.account.username))
    assert body_of(alice.web.get(f"/api/posts/{post['id']}/comments"))["comments"] == []


def test_log_of_the_owner_has_every_decision_but_a_dismissal(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    for decisions in (("dismissed",), ("hidden", "shown"), ("deleted",)):
        post = publish(alice)
        body_of(report(bob, "post", post["id"]), 202)
        case_id = case_of(admin, post["id"])["id"]
        for decision in decisions:
            body_of(decide(admin, case_id, decision))

    kinds = [entry["kind"] for entry in body_of(alice.web.get("/api/auth/log"))["entries"]]
    assert {"content.hidden", "content.shown", "content.deleted"} <= set(kinds)
    assert "report.dismissed" not in kinds
    assert alice.web.get("/settings/log").status_code == 200
    assert admin.web.get("/admin/log").status_code == 200


def test_admin_s_own_case_is_refused(actor: MakeActor, admin: Actor) -> None:
    bob, other = actor(), actor().become_admin()
    post = publish(admin)
    body_of(report(bob, "post", post["id"]), 202)
    path = f"/api/admin/reports/{case_of(admin, post['id'])['id']}"

    assert body_of(admin.web.get(path))["reasons"] == []
    assert len(body_of(other.web.get(path))["reasons"]) == 1
    assert objections(decide(admin, path.rpartition("/")[2], "dismissed")) == [("body", "not_allowed")]
    assert bob.account.username not in admin.web.get(path.removeprefix("/api")).text
    body_of(decide(other, path.rpartition("/")[2], "dismissed"))


def test_report_keeps_its_final_state(actor: MakeActor, admin: Actor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice, "A lovely flower")
    body_of(report(bob, "post", post["id"]), 202)
    body_of(alice.api.patch(f"/api/posts/{post['id']}", json={"content": "A threat"}))
    body_of(report(carol, "post", post["id"]), 202)
    body_of(alice.api.delete(f"/api/posts/{post['id']}"))

    path = f"/api/admin/reports/{case_of(admin, post['id'])['id']}"
    reasons = body_of(admin.web.get(path))["reasons"]

    assert [(each["material"] or {}).get("content") for each in reasons] == [None, "A threat"]
    assert "A threat" in admin.web.get(path.removeprefix("/api")).text
