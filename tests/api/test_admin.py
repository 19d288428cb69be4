"""What admins see and do: for others the routes are not there, and every act is in the log with its reason."""

from typing import Any, Final

import pytest

from pressroom.db import Command, Query
from pressroom.domains.moderation import actions as moderation
from pressroom.domains.shared_state.models import SecretName
from pressroom.jobs import queue
from pressroom.server.routes import API_ROUTES
from pressroom.web.access import AdminOnly
from tests.api.actors import Actor, body_of, field_errors, new_client, objections, publish, refusal, rows
from tests.api.conftest import MakeActor
from tests.api.tables import held
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

SETTINGS = {**ROOMY, "SMTP_URL": "smtp://postmaster:sesame@mail.example:587"}
NOTHING_HERE: Final = {
    "error": "Not found",
    "message": "There is nothing at this address. The API reference is at /docs.",
}
KILL: Final = Command("UPDATE jobs SET due_at = NULL, tries = 6, error = :error WHERE subject = :subject")
DUE: Final = Query(int, "SELECT tries FROM jobs WHERE subject = :subject AND due_at IS NOT NULL")
WHY: Final = "Advertises pills."


@pytest.fixture
def admin(actor: MakeActor) -> Actor:
    return actor().become_admin()


def one(who: Actor, act: str = "") -> str:
    """The address of an account, or of an act on it."""
    return f"/api/admin/accounts/{who.account.username}{act and '/' + act}"


def later(admin: Actor) -> Actor:
    """The same admin, a moment later: entries of one millisecond have no order."""
    admin.server.clock.advance(1)
    return admin


def log(admin: Actor) -> list[dict[str, Any]]:
    """The entries of the log, newest first."""
    entries: list[dict[str, Any]] = body_of(admin.web.get("/api/admin/log?limit=100"))["entries"]
    return entries


def dead_job(server: LocalServer, kind: str, subject: str, error: str = "It broke.") -> str:
    """The id of a job that was given up."""

    async def kill(tx: Any) -> None:
        await queue.enqueue(tx, kind, subject, due_at=2**50)
        await tx.run(KILL, subject=subject, error=error)

    server.run(server.runtime.db.transact(kill))
    found: list[str] = rows(server, Query(str, "SELECT id FROM jobs WHERE subject = :subject"), subject=subject)
    return found[0]


def test_for_others_nothing_is_there(actor: MakeActor, admin: Actor) -> None:
    alice, bob = actor(), actor()
    before = held(alice.server)

    for route in API_ROUTES:
        if isinstance(route.access, AdminOnly):
            path = route.path.replace("{username}", bob.account.username).replace("{id}", "x")
            answer = alice.web.request(route.method, path, content=b"{")
            assert body_of(answer, 404) == NOTHING_HERE, route.name
            assert refusal(admin.api.request(route.method, path)) == (403, "Session required"), route.name
    assert held(alice.server) == before


def test_former_admin_gets_404_from_next_request(admin: Actor) -> None:
    body_of(admin.web.get("/api/admin/overview"))

    db = admin.server.runtime.db
    admin.server.run(db.transact(moderation.set_admin, admin.account.username, is_admin=False))

    assert body_of(admin.web.get("/api/admin/overview"), 404) == NOTHING_HERE


def test_overview_counts_rows_and_pending_work(actor: MakeActor, admin: Actor) -> None:
    alice = actor()
    before = body_of(admin.web.get("/api/admin/overview"))
    publish(alice)
    actor()
    dead_job(admin.server, "counted", "overview-1")

    after = body_of(admin.web.get("/api/admin/overview"))

    for name in ("accounts", "newAccounts", "posts", "newPosts"):
        assert after[name]["count"] == before[name]["count"] + 1, name
        assert after[name]["more"] is False
    assert after["jobs"]["dead"]["count"] == before["jobs"]["dead"]["count"] + 1
    assert after["engine"] == admin.server.runtime.db.engine


def test_accounts_are_found_by_the_beginning_of_their_names(actor: MakeActor, admin: Actor) -> None:
    server = admin.server
    names = ["Zebra_a", "zebra_b", "zebra_c", "zebr"]
    for name in names:
        server.account(name)

    found, cursor, page = [], "", {}
    for _ in range(2):
        page = body_of(admin.web.get(f"/api/admin/accounts?username=ZEBRA&limit=2{cursor}"))
        found += [each["username"] for each in page["accounts"]]
        cursor = f"&cursor={page['nextCursor']}"
    assert found == ["Zebra_a", "zebra_b", "zebra_c"]
    assert page["nextCursor"] is None

    by_email = body_of(admin.web.get("/api/admin/accounts?email=zebr@"))["accounts"]
    assert [each["username"] for each in by_email] == ["zebr"]
    assert body_of(admin.web.get("/api/admin/accounts?username=%25"))["accounts"] == []
    assert body_of(admin.web.get("/api/admin/accounts?username=%F0%9F%98%80"))["accounts"] == []


def test_accounts_are_listed_by_status(actor: MakeActor, admin: Actor) -> None:
    suspended, deleted = actor(), actor()
    body_of(admin.web.post(one(suspended, "suspend"), json={"reason": WHY}))
    name = deleted.account.username
    body_of(admin.web.post(one(deleted, "delete"), json={"username": name, "reason": WHY}))

    def listed(status: str) -> list[str]:
        accounts = body_of(admin.web.get(f"/api/admin/accounts?status={status}&limit=100"))["accounts"]
        return [each["id"] for each in accounts]

    assert suspended.account.id in listed("suspended")
    assert deleted.account.id not in listed("suspended")
    assert deleted.account.id in listed("deleted")
    assert admin.account.id in listed("admin")
    newest = body_of(admin.web.get("/api/admin/accounts?limit=100"))["accounts"]
    assert [each["id"] for each in newest] == sorted((each["id"] for each in newest), reverse=True)


@pytest.mark.parametrize(
    ("query", "field", "code"),
    [
        ("status=asleep", "status", "invalid_choice"),
        ("status=admin&username=a", "username", "not_allowed"),
        ("username=a&email=b", "email", "not_allowed"),
        (f"username={'a' * 255}", "username", "too_long"),
        ("cursor=x", "cursor", "invalid_format"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(admin: Actor, query: str, field: str, code: str) -> None:
    assert field_errors(admin.web.get(f"/api/admin/accounts?{query}")) == [(field, code)]


def test_account_is_shown_with_its_belongings(actor: MakeActor, admin: Actor) -> None:
    alice = actor()
    endpoint = {"url": "https://8.8.8.8/hook?token=sesame", "events": ["post.created"]}
    body_of(alice.web.post(f"/api/auth/api-keys/{alice.record.id}/webhooks", json=endpoint), 201)

    answer = admin.web.get(one(alice))

    shown = body_of(answer)
    assert (shown["id"], shown["status"], shown["activeKeys"]) == (alice.account.id, "active", 1)
    assert [key["id"] for key in shown["keys"]] == [alice.record.id]
    assert [each["url"] for each in shown["webhooks"]] == ["https://8.8.8.8/hook?…"]
    assert alice.key not in answer.text
    assert "whsec_" not in answer.text


def test_a_suspension_and_its_end_are_in_the_log(actor: MakeActor, admin: Actor) -> None:
    alice = actor()

    suspended = body_of(later(admin).web.post(one(alice, "suspend"), json={"reason": WHY}))

    assert suspended["status"] == "suspended"
    assert alice.web.get("/api/notifications").status_code == 401
    assert refusal(admin.web.post(one(alice, "suspend"), json={"reason": WHY})) == (409, "Conflict")
    restored = body_of(later(admin).web.post(one(alice, "restore"), json={"reason": "A mistake."}))
    assert restored["status"] == "active"
    assert refusal(admin.web.post(one(alice, "restore"), json={"reason": WHY})) == (409, "Conflict")
    latest = log(admin)[:2]
    assert [entry["kind"] for entry in latest] == ["account.restored", "account.suspended"]
    assert [entry["detail"] for entry in latest] == [{"reason": "A mistake."}, {"reason": WHY}]
    for entry in latest:
        assert entry["admin"] == admin.account.username
        assert entry["username"] == alice.account.username
        assert (entry["actor"], entry["address"]) == ("admin", "127.0.0.1")


def test_an_account_is_deleted_once_its_name_was_typed(actor: MakeActor, admin: Actor) -> None:
    alice = actor()
    name = alice.account.username
    before = held(alice.server)

    wrong = admin.web.post(one(alice, "delete"), json={"username": "another", "reason": WHY})

    assert objections(wrong) == [("username", "invalid_choice")]
    assert held(alice.server) == before
    body_of(later(admin).web.post(one(alice, "delete"), json={"username": name.upper(), "reason": WHY}))
    assert admin.web.get(one(alice)).status_code == 404
    entry = log(admin)[0]
    assert (entry["kind"], entry["accountId"], entry["detail"]) == (
        "account.deleted",
        alice.account.id,
        {"reason": WHY},
    )


def test_no_admin_is_lost(actor: MakeActor, admin: Actor) -> None:
    other = actor().become_admin()

    for who in (admin, other):
        name, before = who.account.username, held(admin.server)
        for answer in (
            admin.web.post(one(who, "suspend"), json={"reason": WHY}),
            admin.web.post(one(who, "delete"), json={"username": name, "reason": WHY}),
        ):
            assert objections(answer) == [("username", "not_allowed")]
        assert held(admin.server) == before


def test_an_account_is_verified(actor: MakeActor, admin: Actor) -> None:
    alice = actor()
    for verified in (True, False):
        body = {"verified": verified, "emailVerified": verified, "reason": WHY}
        body_of(later(admin).web.patch(one(alice), json=body))
        me = body_of(alice.web.get("/api/auth/me"))
        assert (me["verified"], me["emailVerified"]) == (verified, verified)
    assert [entry["kind"] for entry in log(admin)[:2]] == ["account.verified"] * 2
    before = log(admin)
    refused = body_of(later(admin).web.patch(one(alice), json={"reason": WHY}), 400)
    assert [(each["field"], each["code"]) for each in refused["details"]] == [("body", "required")]
    assert log(admin) == before


def test_an_act_sent_twice_is_done_once(actor: MakeActor, admin: Actor) -> None:
    alice = actor()
    headers = {"Idempotency-Key": "once"}
    job = dead_job(admin.server, "twice", "twice-1")
    acts: list[tuple[str, str, dict[str, Any] | None]] = [
        ("PATCH", one(alice), {"verified": True, "emailVerified": True, "reason": WHY}),
        ("POST", one(alice, "suspend"), {"reason": WHY}),
        ("POST", one(alice, "restore"), {"reason": WHY}),
        ("POST", one(alice, "delete"), {"username": alice.account.username, "reason": WHY}),
        ("POST", f"/api/admin/jobs/{job}/retry", None),
    ]
    for method, path, body in acts:
        first = admin.web.request(method, path, json=body, headers=headers)
        assert first.status_code == 200, first.text
        before = held(admin.server)
        again = admin.web.request(method, path, json=body, headers=headers)
        assert (again.status_code, again.headers["Idempotent-Replayed"]) == (200, "true")
        assert again.json() == first.json()
        assert held(admin.server) == before


def test_a_dead_job_is_tried_again(admin: Actor) -> None:
    server = admin.server
    job = dead_job(server, "letters", "secret-name@mail.example", error="x" * 5_000)

    shown = next(each for each in body_of(admin.web.get("/api/admin/jobs"))["dead"] if each["id"] == job)

    assert (shown["kind"], shown["subject"], shown["tries"]) == ("letters", "mail.example", 6)
    assert shown["canBeRetried"] is True
    body_of(later(admin).web.post(f"/api/admin/jobs/{job}/retry"))
    assert rows(server, DUE, subject="secret-name@mail.example") == [0]
    waiting = {each["kind"]: each for each in body_of(admin.web.get("/api/admin/jobs"))["queues"]}
    assert waiting["letters"]["waiting"] == {"count": 1, "more": False}
    assert refusal(admin.web.post(f"/api/admin/jobs/{job}/retry")) == (404, "Not found")
    entry = log(admin)[0]
    assert (entry["kind"], entry["accountId"]) == ("job.retried", None)
    assert entry["detail"] == {"jobId": job, "job": "letters", "subject": "mail.example"}


def test_dead_job_is_tried_again_from_its_page(admin: Actor) -> None:
    job = dead_job(admin.server, "page letters", "mira@mail.example")

    answer = later(admin).web.post(f"/admin/jobs/{job}/retry")

    assert (answer.status_code, answer.headers["location"]) == (303, "/admin/jobs?done=job-retried")
    assert rows(admin.server, DUE, subject="mira@mail.example") == [0]


def test_a_file_that_failed_is_not_processed_again(admin: Actor) -> None:
    job = dead_job(admin.server, "media", "01KW1H3V9C5Q2Z7M4X8N6B0T1R")
    before = held(admin.server)

    answer = admin.web.post(f"/api/admin/jobs/{job}/retry")

    assert objections(answer) == [("id", "not_allowed")]
    assert held(admin.server) == before


def test_lists_of_jobs_and_of_the_log_are_paged(admin: Actor) -> None:
    jobs = [dead_job(admin.server, "paged", f"paged-{number}") for number in range(3)]
    for job in jobs:
        body_of(admin.web.post(f"/api/admin/jobs/{job}/retry"))
        dead_job(admin.server, "paged", f"again-{job}")

    for path, name in (("/api/admin/jobs", "dead"), ("/api/admin/log", "entries")):
        whole = [each["id"] for each in body_of(admin.web.get(f"{path}?limit=100"))[name]][:3]
        paged, cursor = [], ""
        for _ in range(3):
            page = body_of(admin.web.get(f"{path}?limit=1{cursor}"))
            paged += [each["id"] for each in page[name]]
            cursor = f"&cursor={page['nextCursor']}"
        assert paged == whole, path


def test_operator_s_commands_are_in_the_log(actor: MakeActor, admin: Actor) -> None:
    alice = actor()
    db = alice.server.runtime.db
    later(admin).server.run(db.transact(moderation.suspend_account, alice.account.username, WHY))

    entry = log(admin)[0]

    assert (entry["actor"], entry["admin"], entry["address"]) == ("operator", None, "")
    assert (entry["kind"], entry["detail"]) == ("account.suspended", {"reason": WHY})


def test_an_act_wants_a_recent_password(admin: Actor, actor: MakeActor) -> None:
    alice = actor()
    admin.server.clock.advance(31 * 60_000)

    for path in (one(alice, "suspend"), one(alice, "restore"), one(alice, "delete"), "/api/admin/jobs/x/retry"):
        answer = admin.web.post(path, json={"reason": WHY, "username": alice.account.username})
        assert answer.status_code == 403
    assert body_of(admin.web.get(one(alice)))["status"] == "active"


def test_settings_are_shown_without_secrets(admin: Actor) -> None:
    answer = admin.web.get("/api/admin/settings")

    shown = {each["name"]: each for each in body_of(answer)["settings"]}
    assert shown["PRESSROOM_SMTP_URL"]["value"] == "smtp://…@mail.example:587"
    assert shown["PRESSROOM_SMTP_URL"]["isGiven"] is True
    assert shown["PRESSROOM_HOST"] == {
        "name": "PRESSROOM_HOST",
        "value": "127.0.0.1",
        "isGiven": False,
        "help": "Address to listen on.",
    }
    assert "sesame" not in answer.text
    assert admin.server.secret(SecretName.MEDIA) not in answer.text
    with new_client(base_url=admin.server.base_url) as nobody:
        assert nobody.get("/api/admin/settings").status_code == 401
