"""Typed text stays, with script: in the form of a reply, and after the sign-in when a session ended meanwhile."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Route, expect

from tests.api.actors import Actor, body_of, publish
from tests.harness.browser import Chromium, needs_chromium
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

pytestmark = needs_chromium

TYPED = "Tides and ferries, \U0001f98a every morning"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    server = LocalServer(tmp_path_factory.mktemp("typed"), **ROOMY).start()
    yield server
    server.stop()


@pytest.mark.parametrize(
    ("path", "field", "button"),
    [
        ("/", "#f-content", "Publish"),
        ("/post/{post}", "#f-content", "Comment"),
        ("/settings/profile", "#f-bio", "Save"),
    ],
)
def test_typed_text_is_shown_again(server: LocalServer, chromium: Chromium, path: str, field: str, button: str) -> None:
    alice, bob = Actor(server), Actor(server)
    here = path.format(post=publish(alice)["id"])
    for reader, expected in ((alice, TYPED), (bob, "")):
        with chromium.tab(server.base_url) as tab:
            page = tab.sign_in(alice.token).page
            tab.open(here)
            if here == "/":
                page.locator("details.writing > summary").click()
            page.locator(field).fill(TYPED)
            page.context.clear_cookies()
            page.get_by_role("button", name=button, exact=True).click()
            expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
            tab.sign_in(reader.token)
            tab.open(here)
            assert page.locator(field).input_value() == expected
            tab.open("/settings")
            tab.open(here)
            assert page.evaluate("Object.keys(sessionStorage)") == []
            tab.reports.clear()


def test_text_typed_during_a_fetch_of_the_form_is_kept(server: LocalServer, chromium: Chromium) -> None:
    alice = Actor(server)
    post = publish(alice)["id"]
    body_of(alice.web.post(f"/api/posts/{post}/comments", json={"content": "One"}), 201)
    held: list[Route] = []
    with chromium.tab(server.base_url) as tab:
        page = tab.sign_in(alice.token).page
        tab.open(f"/post/{post}")
        page.route("**/*reply=*", lambda route: held.append(route))  # noqa: PLW0108  # Playwright wants a function
        with page.expect_request("**/*reply=*"):
            page.get_by_role("link", name=f"Reply to {alice.account.display_name}").click()
        page.locator("#f-content").fill(TYPED)
        held.pop().continue_()

        reply = page.get_by_role("textbox", name=f"Reply to {alice.account.display_name}")
        expect(reply).to_have_value(TYPED)
        expect(page.locator("#f-content-count")).to_have_text(f"{500 - len(TYPED)} left")

        page.get_by_role("link", name="Cancel").click()
        expect(page.get_by_role("textbox", name="Your comment")).to_have_value("")


def test_a_reply_comes_back_as_the_reply_that_it_was(server: LocalServer, chromium: Chromium) -> None:
    alice = Actor(server)
    path = f"/api/posts/{publish(alice)['id']}/comments"
    comments = [body_of(alice.web.post(path, json={"content": each}), 201)["id"] for each in ("One", "Two")]
    here = f"/post/{path.split('/')[3]}"
    with chromium.tab(server.base_url) as tab:
        page = tab.sign_in(alice.token).page
        tab.open(here)
        page.locator(f"#comment-{comments[1]}").get_by_role("link", name="Reply").click()
        page.get_by_role("button", name="Reply", exact=True).wait_for()
        page.locator("#f-content").fill(TYPED)
        page.context.clear_cookies()
        page.get_by_role("button", name="Reply", exact=True).click()
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        back = parse_qs(urlsplit(page.url).query)["next"][0]

        tab.sign_in(alice.token)
        tab.open(back)

        assert page.locator("#f-content").input_value() == TYPED
        assert page.locator("[name=parentId]").get_attribute("value") == comments[1]
        tab.reports.clear()
