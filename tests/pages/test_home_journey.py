"""Somebody new in the browser: signs up, explores, follows, reads the timeline, answers, searches, and mutes.

On a phone, and by keyboard where a page is read from top to bottom.
"""

import pytest
from playwright.sync_api import Locator, Page, expect

from pressroom.domains.explore.picking import Picker
from tests.api.actors import Actor, body_of, publish
from tests.api.conftest import MakeActor, one_engine
from tests.api.people import PASSWORD, next_number
from tests.harness.browser import OpenTab, needs_chromium
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

SETTINGS = {**ROOMY, "SIGNUP": "open"}

pytestmark = [needs_chromium, one_engine]


def signs_up(page: Page, name: str) -> None:
    """Makes an account by the form."""
    page.goto("/signup")
    page.get_by_label("User name").fill(name)
    page.get_by_label("E-mail address").fill(f"{name}@example.org")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Make the account").click()
    expect(page.get_by_text("Your account is made")).to_be_visible()


def entry(page: Page, post_id: str) -> Locator:
    """A post of the timeline or a list."""
    return page.locator(f"#post-{post_id}")


def by_keyboard(page: Page, target: Locator) -> None:
    """Reaches something with the tab key alone and presses Enter."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if target.evaluate("element => element === document.activeElement"):
            return page.keyboard.press("Enter")
    raise AssertionError("the tab key does not reach it")


def popular(server: LocalServer, actor: MakeActor) -> tuple[Actor, str]:
    """An author whom explore shows, and a post that three accounts like."""
    author, fans = actor(), [actor() for _ in range(3)]
    post = publish(author, "Setting type by lamplight #press")["id"]
    for fan in fans:
        body_of(fan.web.post(f"/api/posts/{post}/like"))
        body_of(fan.web.post(f"/api/accounts/{author.account.username}/follow"))
    server.run(Picker(server.runtime.db, server.clock).run())
    server.index()
    return author, post


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
@pytest.mark.parametrize("width", [320, 1280])
def test_newcomer_finds_follows_answers_searches_and_mutes(
    server: LocalServer, actor: MakeActor, open_tab: OpenTab, script: bool, width: int
) -> None:
    author, post = popular(server, actor)
    name = author.account.username
    page = open_tab(server, width=width, java_script_enabled=script).page
    newcomer = f"newcomer{next_number()}"
    signs_up(page, newcomer)
    expect(page.get_by_role("heading", name="Your timeline is empty")).to_be_visible()

    page.goto("/explore")
    expect(entry(page, post)).to_contain_text("Setting type by lamplight")
    page.get_by_role("button", name=f"Follow @{name}").first.click()
    expect(page.get_by_role("button", name=f"Follow @{name}")).to_have_count(0)

    page.goto("/")
    expect(entry(page, post)).to_contain_text("Setting type by lamplight")
    by_keyboard(page, entry(page, post).locator("button[data-key=like]"))
    expect(entry(page, post).locator("button[data-key=like]")).to_have_attribute("aria-pressed", "true")

    page.goto(f"/post/{post}")
    page.locator("#write textarea").fill("Which ink do you use?")
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.locator("li.comment")).to_contain_text("Which ink do you use?")

    told = open_tab(server, author, width=width, java_script_enabled=script).page
    told.goto("/notifications")
    expect(told.locator("main")).to_contain_text(f"{newcomer} commented")
    expect(told.locator("main")).to_contain_text("liked your post")

    page.goto("/search")
    page.get_by_role("searchbox", name="Words, names or hashtags").fill("lamplight")
    page.keyboard.press("Enter")
    expect(entry(page, post)).to_contain_text("Setting type by lamplight")

    page.goto("/")
    entry(page, post).locator(".more > summary").click()
    entry(page, post).get_by_role("button", name=f"Mute @{name}").click()
    expect(entry(page, post)).to_have_count(0)
    page.goto("/search?q=lamplight")
    expect(entry(page, post)).to_have_count(0)
    page.goto("/settings/privacy?list=mutes")
    page.get_by_role("button", name=f"Unmute @{name}").click()
    expect(page.get_by_role("button", name=f"Unmute @{name}")).to_have_count(0)
    page.goto("/")
    expect(entry(page, post)).to_have_count(1)


def test_more_posts_continue_in_place_and_back_leads_to_the_same_place(actor: MakeActor, open_tab: OpenTab) -> None:
    alice = actor()
    for number in range(45):
        publish(alice, f"Number {number}")
    tab = open_tab(alice.server, alice)
    page = tab.page
    tab.open("/")
    entries = page.locator("[data-entries] > article")
    expect(entries).to_have_count(20)

    page.get_by_role("link", name="Load more").click()
    expect(entries).to_have_count(40)
    expect(entries.nth(20)).to_be_focused()
    page.get_by_role("link", name="Load more").click()
    expect(entries).to_have_count(45)
    expect(page.get_by_role("link", name="Load more")).to_have_count(0)

    page.evaluate("scrollTo(0, 3000)")
    tab.open("/settings")
    page.go_back()
    expect(entries).to_have_count(45)
    page.wait_for_function("scrollY === 3000")


def test_new_posts_are_announced_while_the_page_is_open(actor: MakeActor, open_tab: OpenTab) -> None:
    alice, bob = actor(), actor()
    body_of(alice.web.post(f"/api/accounts/{bob.account.username}/follow"))
    publish(alice, "Earlier")
    tab = open_tab(alice.server, alice)
    page = tab.page
    page.clock.install()
    tab.open("/")
    expect(page.locator("[data-new]")).to_be_hidden()
    alice.server.clock.advance(1_000)
    for _ in range(2):
        publish(bob, "Later")

    page.clock.run_for(60_000)

    expect(page.locator("[data-new] a")).to_have_text("2 new posts")
    page.locator("[data-new] a").click()
    expect(page.locator("[data-entries] > article")).to_have_count(3)
