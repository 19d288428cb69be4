"""Messages in the browser while files are on their way: the progress, and the cause of a stop."""

import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page, Route, expect

from pressroom.db import Command
from tests.api.actors import Actor, Json, body_of
from tests.harness.browser import Chromium, Tab, needs_chromium
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.pages.files import picture
from tests.services.process import wait_until

pytestmark = needs_chromium

BYTES: Final = 6_000_000
"""Of a file that is underway for minutes at SLOW."""

SLOW: Final = 200_000
"""Bytes a second."""

SET_STORED: Final = Command(
    "INSERT INTO stored_media (account_id, bytes) VALUES (:id, :bytes) ON CONFLICT (account_id) DO UPDATE"
    " SET bytes = :bytes"
)
PATIENCE: Final = 60_000
"""Milliseconds to wait for a message."""

WORDS: Final = "[data-upload-words]"
GOING: Final = re.compile(r"Sending… [1-9]\d? %")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    server = LocalServer(tmp_path_factory.mktemp("told"), **ROOMY).start()
    yield server
    server.stop()


@pytest.fixture
def alice(server: LocalServer) -> Iterator[Actor]:
    made = Actor(server)
    yield made
    for client in made.clients():
        client.close()


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A picture on the author's disk."""
    path = tmp_path / "large.png"
    path.write_bytes(picture()[1] + bytes(BYTES))
    return path


@contextmanager
def composing(server: LocalServer, chromium: Chromium, alice: Actor, file: Path) -> Generator[Tab]:
    """The form of a post, with a text and a file."""
    with chromium.tab(server.base_url) as tab:
        page = tab.sign_in(alice.token).page
        tab.open("/")
        page.locator("details.writing > summary").click()
        page.locator("#f-content").fill("With a picture")
        page.locator("details.part summary", has_text="Media").click()
        page.locator("#f-media-all").set_input_files(file)
        expect(page.locator(".chosen-file")).to_have_count(1)
        yield tab


def throttle(tab: Tab, *, slow: bool) -> None:
    """Makes the way to the server slow, or quick again."""
    rates = {"uploadThroughput": SLOW if slow else -1, "downloadThroughput": -1, "latency": 0, "offline": False}
    tab.context.new_cdp_session(tab.page).send("Network.emulateNetworkConditions", rates)


def publish(page: Page) -> None:
    page.get_by_role("button", name="Publish", exact=True).click()


def posts(who: Actor) -> list[Json]:
    found: list[Json] = body_of(who.web.get("/api/posts"))["posts"]
    return found


def test_how_much_has_gone_and_that_it_was_cancelled(
    server: LocalServer, chromium: Chromium, alice: Actor, large: Path
) -> None:
    incoming = server.settings.data_dir / "incoming"
    with composing(server, chromium, alice, large) as tab:
        throttle(tab, slow=True)
        publish(tab.page)
        expect(tab.page.locator(WORDS)).to_have_text(GOING, timeout=PATIENCE)
        assert tab.page.get_by_role("progressbar", name="Upload").evaluate("bar => bar.value / bar.max") < 1
        tab.page.get_by_role("button", name="Cancel").click()

        expect(tab.page.locator(WORDS)).to_have_text("Cancelled. Nothing was published.", timeout=PATIENCE)
        assert tab.page.locator("#f-content").input_value() == "With a picture"
        assert tab.page.locator(".chosen-file").count() == 1
        assert wait_until(lambda: not any(incoming.glob("*"))), "nothing is kept of it"
        assert posts(alice) == []

        throttle(tab, slow=False)
        with tab.page.expect_navigation(url="**/?done=post-published", timeout=PATIENCE):
            publish(tab.page)
    assert len(posts(alice)) == 1


def test_late_cancel_shows_that_the_upload_had_arrived(server: LocalServer, chromium: Chromium, alice: Actor) -> None:
    arrived: list[int] = []

    def deliver(route: Route) -> None:
        if "called_off" in (route.request.post_data or ""):
            return route.continue_()
        # The server has all of it and has answered; the page learns of neither. Bodies with files cannot be held here.
        arrived.append(route.fetch(max_redirects=0).status)
        return None

    with chromium.tab(server.base_url) as tab:
        page = tab.sign_in(alice.token).page
        tab.open("/compose")
        page.locator("#f-content").fill("On time")
        page.route(f"{server.base_url}/compose", deliver)
        publish(page)
        while not arrived:
            tab.wait("true")
        assert arrived == [303]
        with page.expect_navigation(url="**/compose?done=too-late", timeout=PATIENCE):
            page.get_by_role("button", name="Cancel").click()

        expect(page.locator("#done")).to_have_text("It was too late to cancel: everything had arrived.")
        assert page.locator("#f-content").input_value() == ""
    assert [post["content"] for post in posts(alice)] == ["On time"]


def test_full_store_is_reported_and_the_typed_text_stays(
    server: LocalServer, chromium: Chromium, alice: Actor, large: Path
) -> None:

    def store(used: int) -> None:
        server.run(server.runtime.db.transact(lambda tx: tx.run(SET_STORED, id=alice.account.id, bytes=used)))

    store(server.settings.account_storage_bytes)
    with composing(server, chromium, alice, large) as tab:
        publish(tab.page)

        expect(tab.page.locator("#errors")).to_contain_text("The account may store", timeout=PATIENCE)
        assert tab.page.locator("#f-content").input_value() == "With a picture"
        assert tab.page.locator(".chosen-file").count() == 1
        assert posts(alice) == []

        store(0)
        with tab.page.expect_navigation(url="**/?done=post-published", timeout=PATIENCE):
            publish(tab.page)
        tab.forgive_status(422)
        assert tab.reports == []
    assert [len(each["media"]) for each in posts(alice)] == [1]
