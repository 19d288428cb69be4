"""Questions in a dialog above the page that they were asked from, and toasts; without script the same pages as ever."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from tests.api.actors import Actor, body_of, publish
from tests.harness.browser import Chromium, OpenTab, Tab, needs_chromium
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

pytestmark = [needs_chromium]


@pytest.fixture
def server(local_server: Callable[..., LocalServer]) -> LocalServer:
    return local_server(**ROOMY)


@pytest.fixture
def alice(server: LocalServer) -> Iterator[Actor]:
    made = Actor(server)
    yield made
    for client in made.clients():
        client.close()


def opened(tab: Tab, who: Actor, path: str) -> Tab:
    """A page of somebody who is signed in."""
    tab.sign_in(who.token).open(path)
    return tab


def ask_to_delete(tab: Tab, post_id: str) -> None:
    """Opens the menu of a post's card by keyboard, and its question."""
    summary = tab.page.locator(f"#post-{post_id} .more > summary")
    summary.focus()
    summary.press("Enter")
    tab.page.locator(f"#post-{post_id} .more-items").get_by_role("link", name="Delete").press("Enter")
    tab.page.get_by_role("dialog", name="Delete this post?").wait_for()


@pytest.mark.parametrize("width", [390, 1280])
def test_post_is_deleted_from_a_list_without_leaving_it(
    server: LocalServer, alice: Actor, open_tab: OpenTab, width: int
) -> None:
    first, second = publish(alice, "The first")["id"], publish(alice, "The second")["id"]
    tab = opened(open_tab(server), alice, f"/@{alice.account.username}")
    tab.show(width)
    page, dialog = tab.page, tab.page.get_by_role("dialog")

    ask_to_delete(tab, second)
    expect(dialog.get_by_role("link", name="Keep it")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.locator(f"#post-{second} .more > summary")).to_be_focused()
    ask_to_delete(tab, second)
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    assert {post["id"] for post in body_of(alice.web.get("/api/posts"))["posts"]} == {first, second}

    ask_to_delete(tab, second)
    dialog.get_by_role("button", name="Delete this post").press("Enter")

    expect(page.locator("#said")).to_have_text("The post is deleted.")
    expect(page.locator("#said")).to_be_in_viewport()
    expect(page.locator(f"#post-{second}")).to_have_count(0)
    expect(page.locator(f"#post-{first}")).to_be_focused()
    assert page.url.endswith(f"/@{alice.account.username}")
    assert [post["id"] for post in body_of(alice.web.get("/api/posts"))["posts"]] == [first]
    assert tab.reports == []


def test_question_that_is_refused_stays_open_with_the_reason(
    server: LocalServer, alice: Actor, open_tab: OpenTab
) -> None:
    post_id = publish(alice, "Gone meanwhile")["id"]
    tab = opened(open_tab(server), alice, f"/@{alice.account.username}")
    ask_to_delete(tab, post_id)
    assert alice.web.delete(f"/api/posts/{post_id}").status_code == 200

    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Delete this post").click()

    expect(dialog.get_by_role("alert")).to_contain_text("no such post")
    tab.forgive_status(404)
    assert tab.reports == []


def test_comment_and_draft_are_deleted_in_place(server: LocalServer, alice: Actor, open_tab: OpenTab) -> None:
    post_id = publish(alice)["id"]
    body_of(alice.web.post(f"/api/posts/{post_id}/comments", json={"content": "A remark"}), 201)
    body_of(alice.web.post("/api/drafts", json={"content": "Not yet"}), 201)
    tab = opened(open_tab(server), alice, f"/post/{post_id}")
    page, dialog = tab.page, tab.page.get_by_role("dialog")

    page.get_by_role("link", name="Delete the comment").click()
    dialog.get_by_role("button", name="Delete the comment").click()
    expect(page.locator("#said")).to_have_text("The comment is deleted.")
    expect(page.get_by_text("A remark")).to_have_count(0)

    tab.open("/drafts")
    page.get_by_role("link", name="Delete", exact=True).click()
    dialog.get_by_role("button", name="Delete this draft").click()
    expect(page.locator("#done")).to_have_text("The draft is deleted.")
    expect(page.get_by_role("heading", name="No drafts yet")).to_be_visible()
    assert tab.reports == []


def test_post_is_deleted_from_its_own_page_without_script(
    server: LocalServer, alice: Actor, chromium: Chromium
) -> None:
    post_id = publish(alice, "No script")["id"]
    with chromium.tab(server.base_url, java_script_enabled=False) as tab:
        page = opened(tab, alice, f"/post/{post_id}").page
        page.locator(".more > summary").first.click()
        page.get_by_role("link", name="Delete", exact=True).click()
        page.get_by_role("button", name="Delete this post").click()

        expect(page.locator("#done")).to_have_text("The post is deleted.")
    assert body_of(alice.web.get("/api/posts"))["posts"] == []


def test_save_shows_a_toast_for_six_seconds(server: LocalServer, alice: Actor, open_tab: OpenTab) -> None:
    post_id = publish(alice)["id"]
    tab = opened(open_tab(server), alice, f"/@{alice.account.username}")
    tab.page.clock.install()

    tab.page.locator(f"#post-{post_id}").get_by_role("button", name="Save").click()

    line = tab.page.locator("#said")
    expect(line).to_have_text("Saved. Your menu lists what you saved.")
    expect(line).to_have_class("said shown")
    tab.page.clock.run_for(6_000)
    expect(line).to_have_text("")
    expect(line).to_have_class("said")
    assert tab.reports == []
