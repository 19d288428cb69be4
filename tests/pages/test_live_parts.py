"""The parts of real pages that keep themselves up to date, in a browser whose clock the test moves."""

import pytest
from playwright.sync_api import Locator

from tests.api.actors import Actor
from tests.api.conftest import one_engine
from tests.harness.browser import OpenTab, Tab, needs_chromium
from tests.harness.receiver import answer
from tests.webhooks.clocked import post
from tests.webhooks.conftest import MakeEndpoint, endpoint, receiver
from tests.webhooks.endpoints import DELIVERING, Endpoint

__all__ = ["endpoint", "receiver"]

SETTINGS = DELIVERING
pytestmark = [needs_chromium, one_engine]

POLL = 2_100
"""Milliseconds in which a part asks once."""

ROW = ".delivery-list > li"


@pytest.fixture
def watched(alice: Actor, endpoint: MakeEndpoint, open_tab: OpenTab) -> tuple[Endpoint, Tab]:
    """An endpoint that was sent twelve posts, and its page in a tab that stands still."""
    hook = endpoint("post.created")
    post(alice, 12)
    alice.server.deliver()
    tab = open_tab(alice.server, alice)
    tab.page.clock.install()
    tab.open(f"/settings/keys/{hook.key_id}/webhooks/{hook.id}")
    return hook, tab


def poll(tab: Tab, part: str = "deliveries", status: int = 200) -> None:
    """Lets a part ask once, which must be answered so, and waits until the page has taken the answer."""
    with tab.page.expect_response(f"**/{part}") as answered:
        tab.page.clock.run_for(POLL)
    assert answered.value.status == status


def in_sight(element: Locator) -> float:
    """Where an element stands in the window."""
    box = element.bounding_box()
    assert box is not None
    return box["y"]


def test_a_poll_leaves_focus_open_rows_and_place(watched: tuple[Endpoint, Tab], alice: Actor) -> None:
    hook, tab = watched
    rows = tab.page.locator(ROW)
    assert rows.count() == 12
    read = rows.nth(9)
    read.locator("summary").click()
    link = read.get_by_role("link", name="Open")
    link.focus()
    link.evaluate("element => element.scrollIntoView({ block: 'center' })")
    place, seen, at = read.get_attribute("id"), in_sight(link), tab.page.evaluate("scrollY")
    assert at > 0

    poll(tab, status=204)
    assert tab.page.evaluate("scrollY") == at
    hook.behave(answer(500))
    post(alice)
    alice.server.deliver()
    poll(tab)
    tab.wait("document.querySelectorAll('.delivery-list > li').length === 13")

    assert "no answer" in (rows.first.text_content() or "") or "500" in (rows.first.text_content() or "")
    assert rows.nth(10).get_attribute("id") == place
    assert tab.page.locator(f"{ROW} details[open]").count() == 1
    assert rows.nth(10).locator("details[open] a:focus").count() == 1
    assert abs(in_sight(rows.nth(10).get_by_role("link", name="Open")) - seen) < 2, "it stays under the reader's eyes"


def test_page_polls_for_ten_minutes_and_resumes_on_request(watched: tuple[Endpoint, Tab], alice: Actor) -> None:
    _, tab = watched
    poll(tab, status=204)
    stopped = tab.page.locator("[data-live-stopped='deliveries']")
    assert stopped.is_hidden()

    tab.page.clock.fast_forward(11 * 60_000)
    tab.page.clock.run_for(POLL)
    stopped.wait_for(state="visible")
    asked = len(tab.requests)
    post(alice)
    alice.server.deliver()
    tab.page.clock.run_for(20_000)
    assert len(tab.requests) == asked
    assert tab.page.locator(ROW).count() == 12

    stopped.get_by_role("button", name="Go on").click()
    poll(tab)
    tab.wait("document.querySelectorAll('.delivery-list > li').length === 13")
    assert stopped.is_hidden()
    assert tab.page.locator("[data-live-stopped='endpoint-head']").is_visible(), "each part has a button of its own"


def test_a_page_asks_no_more_once_its_key_has_ended(watched: tuple[Endpoint, Tab], alice: Actor) -> None:
    _, tab = watched
    alice.web.delete(f"/api/auth/api-keys/{alice.record.id}")
    alice.server.deliver()
    poll(tab, "head")
    tab.page.clock.run_for(POLL)
    tab.wait("document.querySelectorAll('[data-live-over]').length === 2")

    asked = len(tab.requests)
    tab.page.clock.run_for(20_000)
    assert len(tab.requests) == asked
    assert tab.page.locator("[data-live-stopped]:visible").count() == 0


def test_actions_follow_the_state_of_the_endpoint(watched: tuple[Endpoint, Tab], alice: Actor) -> None:
    hook, tab = watched
    test = tab.page.get_by_role("button", name="Send test")
    assert test.is_visible()
    hook.behave(answer(410))
    post(alice)
    alice.server.deliver()
    poll(tab, "head")
    test.wait_for(state="detached")

    assert tab.page.get_by_role("link", name="Redeliver").count() == 0
    assert "disabled endpoint receives no events" in (tab.page.locator("#why-no-test").text_content() or "")
    delivery = hook.deliveries()[-1]
    tab.open(f"/settings/keys/{hook.key_id}/webhooks/{hook.id}/deliveries/{delivery['id']}")
    assert tab.page.get_by_role("button", name="Send again").count() == 0


def test_the_time_of_expiry_shows_with_its_choice(alice: Actor, open_tab: OpenTab) -> None:
    tab = open_tab(alice.server, alice)
    tab.open("/settings/keys/new")
    time = tab.page.get_by_label("Time of expiry")
    assert time.is_hidden()

    tab.page.get_by_label("At a time of your choice").check()
    assert time.is_visible()
    tab.page.get_by_label("Never", exact=True).check()
    assert time.is_hidden()


def test_no_line_to_copy_lies_under_its_button(watched: tuple[Endpoint, Tab]) -> None:
    hook, tab = watched
    tab.open(f"/settings/keys/{hook.key_id}/webhooks/{hook.id}/deliveries/{hook.deliveries()[0]['id']}")
    tab.page.get_by_text("Copy as curl").click()
    for width in (1280, 320):
        tab.page.set_viewport_size({"width": width, "height": 800})
        for block in tab.page.locator(".copyable.block").all():
            text, button = block.locator("pre").bounding_box(), block.locator("button").bounding_box()
            assert text is not None
            assert button is not None
            apart = button["x"] >= text["x"] + text["width"] or button["y"] + button["height"] <= text["y"]
            assert apart, (width, text, button)


def test_a_key_that_is_shown_once_outlives_the_session(alice: Actor, open_tab: OpenTab) -> None:
    """A part of its page that is led to the sign-in stops: to load the page again would lose the key."""
    tab = open_tab(alice.server, alice)
    tab.page.clock.install()
    tab.open("/settings/keys/new")
    tab.page.get_by_label("Label", exact=True).fill("Ferry bot")
    tab.page.get_by_label("Publish and edit posts", exact=True).check()
    tab.page.get_by_role("button", name="Create the key").click()
    shown = tab.page.locator(".copyable code").first
    key = shown.text_content() or ""
    assert key.startswith("svc_live_")
    session = tab.session
    tab.context.clear_cookies()

    tab.page.clock.run_for(POLL)
    stopped = tab.page.locator("[data-live-stopped]")
    stopped.wait_for(state="visible")
    assert shown.text_content() == key
    assert tab.page.url.endswith("/settings/keys/new")

    tab.sign_in(session)
    stopped.get_by_role("button", name="Go on").click()
    with tab.page.expect_response("**/first-use") as answered:
        tab.page.clock.run_for(POLL)
    assert answered.value.status == 204
    assert shown.text_content() == key
