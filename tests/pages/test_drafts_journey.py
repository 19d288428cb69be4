"""Writing with script: kept while one types, in two tabs at once, completed by keyboard, with files that do not fit."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Dialog, expect

from tests.api.actors import Actor, Json, body_of, follow
from tests.harness.browser import OpenTab, needs_chromium
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.pages.files import picture

pytestmark = needs_chromium

QUIET = 1_600
"""Milliseconds without a key after which the text is saved."""

both_widths = pytest.mark.parametrize("width", [1280, 390])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    server = LocalServer(tmp_path_factory.mktemp("drafts"), **ROOMY).start()
    yield server
    server.stop()


def drafts(who: Actor) -> list[Json]:
    found: list[Json] = body_of(who.web.get("/api/drafts"))["drafts"]
    return found


def posts(who: Actor) -> list[Json]:
    found: list[Json] = body_of(who.web.get("/api/posts"))["posts"]
    return found


@both_widths
def test_text_is_kept_while_one_types_and_published_by_keyboard(
    server: LocalServer, open_tab: OpenTab, width: int
) -> None:
    alice = Actor(server)
    tab = open_tab(server, alice, width=width)
    tab.open("/compose")
    page = tab.page
    page.locator("#f-content").fill("Half a thought")
    expect(page.locator("[data-saved]")).to_have_text("Saved")
    assert [each["content"] for each in drafts(alice)] == ["Half a thought"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.locator("#f-content").press_sequentially(", and the rest")
    with page.expect_navigation(url="**/?done=post-published"):
        page.keyboard.press("Control+Enter")

    assert [each["content"] for each in posts(alice)] == ["Half a thought, and the rest"]
    assert [each["state"] for each in drafts(alice)] == ["published"]


def test_text_typed_while_a_draft_is_saved_follows_it(server: LocalServer, open_tab: OpenTab) -> None:
    alice = Actor(server)
    tab = open_tab(server, alice)
    page = tab.page
    page.clock.install()
    tab.open("/compose")
    with page.expect_response("**/api/drafts/*"), tab.holding("**/api/drafts"):
        page.locator("#f-content").fill("One")
        with page.expect_request("**/api/drafts"):
            page.clock.run_for(QUIET)
        page.locator("#f-content").fill("One and two")
        page.clock.run_for(QUIET)
        assert [each.method for each in tab.requests if "/api/drafts" in each.url] == ["POST"]

    assert [each["content"] for each in drafts(alice)] == ["One and two"]


def test_second_tab_sees_both_texts(server: LocalServer, open_tab: OpenTab) -> None:
    alice = Actor(server)
    draft = body_of(alice.web.post("/api/drafts", json={"content": "One"}), 201)
    first, second = (open_tab(server, alice) for _ in range(2))
    for tab in (first, second):
        tab.open(f"/compose?draft={draft['id']}")
    first.page.locator("#f-content").fill("Two, of the first tab")
    expect(first.page.locator("[data-saved]")).to_have_text("Saved")

    second.page.locator("#f-content").fill("Two, of the second tab")

    panel = second.page.locator("[data-conflict]")
    expect(panel).to_contain_text("Two, of the first tab")
    assert second.page.locator("#f-content").input_value() == "Two, of the second tab"
    panel.get_by_role("button", name="Keep both").click()
    expect(second.page.locator("[data-saved]")).to_have_text("Saved")
    assert drafts(alice)[0]["content"] == "Two, of the first tab\n\nTwo, of the second tab"
    second.reports.clear()  # A browser complains of the 409.


def test_names_and_emoji_are_completed_by_keyboard(server: LocalServer, open_tab: OpenTab) -> None:
    alice, bob = Actor(server), Actor(server)
    follow(alice, bob)
    tab = open_tab(server, alice)
    tab.open("/compose")
    field = tab.page.locator("#f-content")
    field.press_sequentially(f"Hello @{bob.account.username[:6]}")
    expect(tab.page.locator(".completions [role=option]").first).to_contain_text(bob.account.username)
    tab.page.keyboard.press("Enter")
    field.press_sequentially("look :fox")
    expect(tab.page.locator(".completions [role=option]").first).to_contain_text("fox")
    tab.page.keyboard.press("Tab")

    assert field.input_value().startswith(f"Hello @{bob.account.username} look")
    assert field.input_value().rstrip().endswith("\U0001f98a")


def test_too_large_file_is_named_and_asked_about(server: LocalServer, open_tab: OpenTab, tmp_path: Path) -> None:
    alice = Actor(server)
    large = tmp_path / "holiday.mp4"
    with large.open("wb") as file:
        file.truncate(60 * 1024 * 1024)
    tab = open_tab(server, alice)
    tab.open("/compose")
    page = tab.page
    page.locator("#f-content").fill("Our holiday")
    page.locator("summary", has_text="Media").click()
    page.locator("#f-media-all").set_input_files(large)
    expect(page.get_by_role("alert")).to_contain_text("holiday.mp4 is not part of the post")
    asked: list[str] = []

    def refuse(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page.once("dialog", refuse)
    page.get_by_role("button", name="Publish", exact=True).click()

    assert "holiday.mp4" in asked[0]
    assert posts(alice) == []
    page.once("dialog", lambda dialog: dialog.accept())
    with page.expect_navigation(url="**/?done=post-published"):
        page.get_by_role("button", name="Publish", exact=True).click()
    assert len(posts(alice)) == 1


def test_poll_beside_a_file_is_named_when_it_is_chosen(server: LocalServer, open_tab: OpenTab, tmp_path: Path) -> None:
    alice = Actor(server)
    fox = tmp_path / "fox.png"
    fox.write_bytes(picture()[1])
    tab = open_tab(server, alice, width=390)
    tab.open("/compose")
    page = tab.page
    page.locator("summary", has_text="Poll").click()
    page.locator("#f-poll-options").fill("The fox\nThe heron")
    page.locator("summary", has_text="Media").click()
    page.locator("#f-media-all").set_input_files(fox)

    expect(page.get_by_role("alert")).to_contain_text("a poll or files, not both")
    page.get_by_role("button", name="Remove: fox.png").click()
    expect(page.locator("[data-alert]")).to_be_hidden()


@both_widths
@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_post_is_scheduled_and_published_from_the_list(
    server: LocalServer, open_tab: OpenTab, width: int, script: bool
) -> None:
    alice = Actor(server)
    tab = open_tab(server, alice, width=width, java_script_enabled=script)
    tab.open("/compose")
    page = tab.page
    page.locator("#f-content").fill("Tomorrow")
    page.locator("summary", has_text="Time").click()
    page.locator("#f-publishAt").fill("2027-03-01T08:00")
    page.get_by_role("button", name="Schedule", exact=True).click()
    expect(page.get_by_role("heading", name="Scheduled")).to_be_visible()
    assert [each["state"] for each in drafts(alice)] == ["scheduled"]

    page.get_by_role("button", name="Publish now").click()
    expect(page.get_by_text("Your post is published.")).to_be_visible()
    assert [each["content"] for each in posts(alice)] == ["Tomorrow"]
