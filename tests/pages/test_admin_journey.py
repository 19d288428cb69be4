"""An admin in the browser: finds an account, suspends it, restores it, retries a dead job, and reads the log of it."""

from typing import Any

import pytest

from pressroom.db import Command
from pressroom.domains.sign_in.passwords import ARGON2
from pressroom.jobs import queue
from tests.api.actors import Actor, body_of, new_client
from tests.api.conftest import MakeActor, one_engine
from tests.harness.browser import OpenTab, needs_chromium
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.pages.hands import Mouse, Scriptless
from tests.pages.reader import Page

SETTINGS = ROOMY
PASSWORD = "seven boats by the pier"
SET_PASSWORD = Command("UPDATE accounts SET password_hash = :hash WHERE id = :id")
GIVE_UP = Command("UPDATE jobs SET due_at = NULL, tries = 6, error = :error WHERE subject = :subject")
ERROR = "550 5.1.1 <b>no such mailbox</b>"
HANDS = {"script": Mouse, "no script": Scriptless}


def give_up(server: LocalServer, subject: str) -> None:
    """Enqueues a job and gives it up."""

    async def fail(tx: Any) -> None:
        await queue.enqueue(tx, "letter", subject, due_at=2**47)
        await tx.run(GIVE_UP, subject=subject, error=ERROR)

    server.run(server.runtime.db.transact(fail))


@pytest.fixture
def admin(actor: MakeActor) -> Actor:
    admin = actor().become_admin()
    values = {"id": admin.account.id, "hash": ARGON2.hash(PASSWORD)}
    admin.server.run(admin.server.runtime.db.transact(lambda tx: tx.run(SET_PASSWORD, **values)))
    return admin


@needs_chromium
@one_engine
@pytest.mark.parametrize("kind", HANDS)
def test_an_admin_suspends_restores_and_retries(
    server: LocalServer, actor: MakeActor, admin: Actor, open_tab: OpenTab, kind: str
) -> None:
    alice = actor()
    name = alice.account.username
    give_up(server, f"{name}@mail.example")
    server.clock.advance(31 * 60_000)  # so that the first act asks for the password
    tab = open_tab(server, admin, java_script_enabled=kind == "script")
    page, hand = tab.page, HANDS[kind](tab.page)

    tab.open("/admin")
    hand.press(page.get_by_role("navigation", name="Administration").get_by_role("link", name="Accounts"))
    hand.write(page.get_by_label("Begins with"), name)
    hand.press(page.get_by_role("button", name="Search"))
    hand.press(page.get_by_role("link", name=f"@{name}", exact=True))
    hand.press(page.get_by_role("link", name="Suspend", exact=True))
    hand.write(page.locator("main input[type=password]"), PASSWORD)
    hand.press(page.locator("main form button[type=submit]").first)
    hand.write(page.get_by_label("Reason"), "Advertises pills.")
    hand.press(page.get_by_role("button", name="Suspend the account"))
    page.get_by_text("The account is suspended.").wait_for()
    assert alice.web.get("/api/notifications").status_code == 401

    server.clock.advance(1)
    hand.press(page.get_by_role("link", name="Restore", exact=True))
    hand.write(page.get_by_label("Reason"), "It was a mistake.")
    hand.press(page.get_by_role("button", name="Restore the account"))
    page.get_by_text("The account is restored.").wait_for()

    server.clock.advance(1)
    hand.press(page.get_by_role("navigation", name="Administration").get_by_role("link", name="Jobs"))
    page.get_by_text(ERROR).first.wait_for()
    hand.press(page.get_by_role("button", name="Try again: letter of mail.example").first)
    page.get_by_text("The job is tried again.").wait_for()

    hand.press(page.get_by_role("navigation", name="Administration").get_by_role("link", name="Log"))
    page.wait_for_url("**/admin/log")
    rows = page.locator("table.rows tbody tr").all_inner_texts()[:3]
    for row, said in zip(rows, (("Tried a job again",), ("Restored", name), ("Suspended", name)), strict=True):
        assert all(words in row for words in (*said, f"@{admin.account.username}", "127.0.0.1")), row
    assert "It was a mistake." in rows[1]
    assert "Advertises pills." in rows[2]


def test_pages_are_for_admins_alone(server: LocalServer, actor: MakeActor, admin: Actor) -> None:
    alice = actor()
    unknown = alice.web.get("/nowhere")

    for path in ("/admin", "/admin/accounts", "/admin/jobs", "/admin/log", "/admin/settings", "/admin/invitations"):
        answer = alice.web.get(path)
        assert (answer.status_code, Page(answer.text).lines("main")) == (404, Page(unknown.text).lines("main"))
        assert admin.web.get(path).status_code == 200
        assert admin.api.get(path).status_code == 403
        with new_client(base_url=server.base_url) as nobody:
            assert nobody.get(path).headers["Location"].startswith("/login?next=")


def test_user_text_stays_escaped(actor: MakeActor, admin: Actor) -> None:
    alice = actor()
    hostile = "<script>alert(1)</script>"
    body_of(alice.web.patch("/api/auth/me", json={"displayName": hostile}))
    give_up(admin.server, f"{hostile}-{alice.account.id}")
    reason = {"reason": hostile}
    body_of(admin.web.post(f"/api/admin/accounts/{alice.account.username}/suspend", json=reason))

    for path in (f"/admin/accounts/{alice.account.username}", "/admin/jobs", "/admin/log"):
        assert hostile not in admin.web.get(path).text


def test_search_keeps_its_query(admin: Actor) -> None:
    for number in range(51):
        admin.server.account(f"quay_{number:02}")

    first = Page(admin.web.get("/admin/accounts?search=%40QUAY&by=username").text)
    further = first.tree.css_first("a[rel=next]")

    assert further is not None
    second = admin.web.get(further.attributes["href"] or "")
    assert "quay_50" in second.text
    assert "quay_49" not in second.text
    assert admin.web.get("/admin/accounts?status=nothing").status_code == 200
