"""The page of notifications: unread ones first, with words and a link for each; hidden ones stay hidden."""

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from pressroom.db import Command
from pressroom.domains.keys.actions import revoke_key
from pressroom.domains.keys.models import RevokedBy
from pressroom.domains.notifications.actions import notify
from pressroom.domains.notifications.models import NotificationType
from tests.api.actors import Actor, body_of, follow, publish
from tests.api.conftest import MakeActor
from tests.harness.browser import OpenTab, needs_chromium
from tests.harness.roomy import ROOMY

SETTINGS = {**ROOMY, "DEV": 1}
INBOX = "/notifications"
UNREAD = f"header .places a[href='{INBOX}'] .tally"


def page(actor: Actor, path: str = INBOX) -> LexborHTMLParser:
    """A page as an actor sees it."""
    response = actor.web.get(path)
    assert response.status_code == 200, response.text
    return LexborHTMLParser(response.text)


def entries(tree: LexborHTMLParser) -> list[LexborNode]:
    """The notifications on a page, as they stand."""
    return tree.css(".notices > li")


def text(node: LexborNode, selector: str) -> str:
    """What stands in a part of an entry, on one line."""
    part = node.css_first(selector)
    assert part is not None, node.html
    return " ".join(part.text().split())


def mention(author: Actor, whom: Actor, words: str = "see this", **fields: object) -> str:
    """Publishes a post that names somebody; its id."""
    return str(publish(author, f"@{whom.account.username}, {words}", **fields)["id"])


def counted(tree: LexborHTMLParser) -> str | None:
    """The unread count in the header; None when there is none."""
    node = tree.css_first(UNREAD)
    return node.text() if node else None


def press(actor: Actor, tree: LexborHTMLParser, action: str) -> LexborHTMLParser:
    """Sends the form of an action as it stands on the page; the page that follows."""
    form = tree.css_first(f"form[action='{action}']")
    assert form is not None, action
    fields = {node.attributes["name"] or "": node.attributes["value"] or "" for node in form.css("input")}
    response = actor.web.post(action, data=fields)
    assert response.status_code == 303, response.text
    return page(actor, response.headers["Location"])


def test_every_type_has_its_words_and_its_link(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = mention(bob, alice, "<b>see</b> this")
    follow(bob, alice)
    path = f"/api/auth/api-keys/{alice.record.id}/webhooks"
    made = body_of(alice.web.post(path, json={"url": "https://8.8.8.8/hook?a=b&amp", "events": ["post.created"]}), 201)
    db, run = alice.server.runtime.db, alice.server.run
    disabled = NotificationType.WEBHOOK_DISABLED
    run(db.transact(lambda tx: notify(tx, alice.account.id, disabled, webhook_id=made["id"])))
    run(db.transact(lambda tx: notify(tx, alice.account.id, disabled, webhook_id="gone")))
    run(db.transact(revoke_key, alice.record.id, RevokedBy.ADMIN, "leaked"))
    asked = NotificationType.FOLLOW_REQUESTED
    run(db.transact(lambda tx: notify(tx, alice.account.id, asked, actor_id=bob.account.id)))
    run(db.transact(lambda tx: notify(tx, alice.account.id, NotificationType.MODERATION, post_id=post)))

    tree = page(alice)

    texts = [text(node, ".says") for node in entries(tree)]
    who = f"{bob.account.display_name} @{bob.account.username}"
    assert texts == [
        "An admin of this server has made a decision about your content: view the decision.",
        f"{who} asks to follow you.",
        "Your API key test key was revoked, not by you.",
        "A webhook endpoint was disabled after five failures in a row, and has been removed since.",
        "A webhook endpoint was disabled after five failures in a row: https://8.8.8.8/hook?a=b&amp",
        f"{who} follows you.",
        f"{who} mentioned you in a post.",
    ]
    links = {link.attributes["href"] or "" for link in tree.css(".notices .says a")}
    profile = f"/@{bob.account.username}"
    key = f"/settings/keys/{alice.record.id}"
    assert links - {"/follows", "/decisions"} == {profile, key, f"{key}/webhooks/{made['id']}", f"/post/{post}"}
    for link in links:
        assert alice.web.get(link).status_code == 200, link
    assert text(entries(tree)[-1], ".words") == f"@{alice.account.username}, <b>see</b> this"
    assert counted(tree) == "7 unread"


def test_acts_on_posts_have_words_links_and_texts(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice, "The <b>ferry</b>")
    path = f"/api/posts/{post['id']}"
    own = body_of(alice.web.post(f"{path}/comments", json={"content": "Which pier?"}), 201)
    first = body_of(bob.web.post(f"{path}/comments", json={"content": "At <i>last</i>"}), 201)
    reply = body_of(bob.web.post(f"{path}/comments", json={"content": "Pier four", "parentId": own["id"]}), 201)
    for who in (carol, bob):
        body_of(who.web.post(f"{path}/like"))
    body_of(bob.web.post(f"{path}/bounce"), 201)
    quote = body_of(bob.web.post(f"{path}/bounce", json={"content": "Look"}), 201)

    tree = page(alice)

    who = f"{bob.account.display_name} @{bob.account.username}"
    assert [(text(node, ".says"), text(node, ".words")) for node in entries(tree)] == [
        (f"{who} quoted your post.", "Look"),
        (f"{who} bounced your post.", "The <b>ferry</b>"),
        (f"{who} and 1 other liked your post.", "The <b>ferry</b>"),
        (f"{who} replied to your comment.", "Pier four"),
        (f"{who} commented on your post.", "At <i>last</i>"),
    ]
    links = [[link.attributes["href"] or "" for link in node.css(".says a")][-1] for node in entries(tree)]
    assert links[:3] == [f"/post/{quote['id']}", f"/post/{post['id']}", f"/post/{post['id']}"]
    for link, comment in zip(links[3:], (reply, first), strict=True):
        assert link.endswith(f"#comment-{comment['id']}")
        assert comment["content"].partition("<")[0].strip() in alice.web.get(link).text
    body_of(alice.web.patch(path, json={"visibility": "PRIVATE"}))
    body_of(alice.web.delete(f"/api/comments/{first['id']}"))
    assert len(entries(page(alice))) == 4


def test_admins_see_how_many_reports_wait(actor: MakeActor) -> None:
    alice, bob, admin = actor(), actor(), actor().become_admin()
    before = page(admin, "/admin").css("nav a[href='/admin/reports'] .tally")
    waiting = int(before[0].text().split()[0]) if before else 0
    subject = {"type": "post", "id": publish(alice)["id"], "reason": "An address."}
    body_of(bob.web.post("/api/reports", json=subject), 202)

    tree = page(admin)
    (told,) = [node for node in entries(tree) if "report" in text(node, ".says")]
    assert text(told, ".says") == "A report waits for a decision: view the report."
    link = told.css_first(".says a")
    assert link is not None
    assert admin.web.get(link.attributes["href"] or "").status_code == 200
    assert page(admin, "/admin").css("nav a[href='/admin/reports'] .tally")[0].text() == f"{waiting + 1} open"


def test_settings_are_chosen_on_their_page(actor: MakeActor) -> None:
    alice = actor()
    tree = page(alice, "/settings/notifications")
    assert tree.css("select[name='follow.requested'] option[selected]")[0].attributes["value"] == "app"
    assert not tree.css("select[name='report.made']")
    assert "Confirm your e-mail address first" in (tree.html or "")

    form = {"follow.requested": "off", "like": "mail", "idempotency_key": "one"}
    for _ in range(2):
        assert alice.web.post("/settings/notifications", data=form).status_code == 303
    refused = alice.web.post("/settings/notifications", data={"like": "sms"})

    assert refused.status_code == 400
    assert "Choose from what is offered." in refused.text
    tree = page(alice, "/settings/notifications?done=notification-settings-saved")
    chosen = [tree.css(f"select[name='{name}'] option[selected]")[0].attributes["value"] for name in list(form)[:2]]
    assert chosen == ["off", "mail"]
    assert page(actor().become_admin(), "/settings/notifications").css("select[name='report.made']")


def test_unread_ones_come_first_and_are_marked(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    for number in range(3):
        mention(bob, alice, f"number {number}")
    tree = page(alice)
    assert [text(node, ".words")[-1] for node in entries(tree)] == ["2", "1", "0"]
    middle = entries(tree)[1].attributes["id"] or ""

    tree = press(alice, tree, f"{INBOX}/{middle.removeprefix('notification-')}/read")

    assert [text(node, ".words")[-1] for node in entries(tree)] == ["2", "0", "1"]
    assert [bool(node.css("form")) for node in entries(tree)] == [True, True, False]
    assert counted(tree) == "2 unread"
    mention(bob, alice, "number 3")
    tree = press(alice, tree, f"{INBOX}/read")
    assert [text(node, ".words")[-1] for node in entries(tree)] == ["3", "2", "1", "0"]
    assert counted(tree) == "1 unread", "what arrived meanwhile stays unread"
    tree = press(alice, tree, f"{INBOX}/read")
    assert counted(tree) is None
    assert not tree.css("main form")


def test_pages_lead_through_all_of_them_once(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    for number in range(30):
        mention(bob, alice, f"number {number:02}")
    newest_read = page(alice).css("input[name=upTo]")[0].attributes["value"]
    body_of(alice.web.post("/api/notifications/read", json={"upTo": newest_read}))
    for number in range(30, 53):
        mention(bob, alice, f"number {number:02}")

    path, seen = INBOX, list[str]()
    while path:
        tree = page(alice, path)
        seen += [text(node, ".words")[-2:] for node in entries(tree)]
        more = tree.css_first("a[rel=next]")
        path = f"{INBOX}{more.attributes['href']}" if more else ""

    assert seen == [f"{number:02}" for number in range(52, -1, -1)]


@pytest.mark.parametrize("how", ["private", "deleted", "unfollowed", "suspended"])
def test_posts_that_became_hidden_are_not_shown(actor: MakeActor, how: str) -> None:
    alice, bob = actor(), actor()
    follow(alice, bob)
    post = mention(bob, alice, "a secret", visibility="FOLLOWERS")
    assert "a secret" in page(alice).html  # type: ignore[operator]
    match how:
        case "private":
            body_of(bob.web.patch(f"/api/posts/{post}", json={"visibility": "PRIVATE"}))
        case "deleted":
            body_of(bob.web.delete(f"/api/posts/{post}"))
        case "unfollowed":
            body_of(alice.web.delete(f"/api/accounts/{bob.account.username}/follow"))
        case _:
            suspend = Command("UPDATE accounts SET suspended_at = 1 WHERE id = :id")
            alice.server.run(alice.server.runtime.db.transact(lambda tx: tx.run(suspend, id=bob.account.id)))

    tree = page(alice)

    assert "a secret" not in (tree.html or "")
    assert not tree.css(f"a[href='/post/{post}']")
    if how == "suspended":
        assert bob.account.username not in (tree.html or "")
        assert counted(tree) is None


@pytest.mark.parametrize(
    ("query", "status"),
    [("?before=~", 200), ("?read=~", 200), ("?x=1", 200), ("?before=x", 400), ("?before=", 400), ("?read='--", 400)],
)
def test_any_query_is_answered(actor: MakeActor, query: str, status: int) -> None:
    assert actor().web.get(f"{INBOX}{query}").status_code == status


@needs_chromium
@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_in_a_browser(actor: MakeActor, open_tab: OpenTab, script: bool) -> None:  # the parameter
    alice, bob = actor(), actor()
    for number in range(2):
        mention(bob, alice, f"number {number}")
    tab = open_tab(alice.server, alice, java_script_enabled=script)
    tab.open("/settings")
    assert tab.page.locator(UNREAD).inner_text().startswith("2")

    tab.page.locator(f"header a[href='{INBOX}']").click()
    tab.page.get_by_role("button", name="Mark as read", exact=True).first.click()
    tab.page.wait_for_url("**done=notifications-read")
    assert tab.page.locator(UNREAD).inner_text().startswith("1")
    tab.page.get_by_role("button", name="Mark all as read").click()
    tab.page.locator("h2", has_text="All read").wait_for()
    assert tab.page.locator(UNREAD).count() == 0
