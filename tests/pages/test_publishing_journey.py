"""Writing on pages as somebody does it in a browser: pictures, a poll, chosen readers, an edit, a deletion."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from tests.api.actors import Actor, Json, body_of
from tests.harness.browser import Chromium, Tab, needs_chromium
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.pages.files import picture

pytestmark = needs_chromium

SMALL, SMALLER = picture(), picture(60, 40)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    server = LocalServer(tmp_path_factory.mktemp("publishing"), **ROOMY).start()
    yield server
    server.stop()


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two pictures on the author's disk."""
    paths = [tmp_path / "fox.png", tmp_path / "heron.png"]
    for path, (_, data, _) in zip(paths, (SMALL, SMALLER), strict=True):
        path.write_bytes(data)
    return paths


def posts(who: Actor) -> list[Json]:
    found: list[Json] = body_of(who.web.get("/api/posts"))["posts"]
    return found


def open_part(page: Page, name: str) -> None:
    """Opens one of the parts of the form that are closed at first."""
    part = page.locator("details.part", has=page.locator("summary", has_text=name)).first
    if part.get_attribute("open") is None:
        part.locator("summary").click()


def choose(page: Page, files: list[Path], *, script: bool) -> None:
    """Chooses two pictures, the heron first, and describes them."""
    open_part(page, "Media")
    if not script:
        for row, (path, words) in enumerate(zip(reversed(files), ("A heron", "A fox"), strict=True)):
            page.locator(f"#f-media-{row * 2}").set_input_files(path)
            page.locator(f"#f-altText-{row * 2}").fill(words)
        return
    page.locator("#f-media-all").set_input_files(files)
    expect(page.locator(".chosen-file img").first).to_have_js_property("complete", True)
    assert page.locator(".chosen-file img").first.evaluate("image => image.naturalWidth") == 120
    page.get_by_role("button", name="Move up: heron.png").click()
    page.get_by_label("What file 1 shows").fill("A heron")
    page.get_by_label("What file 2 shows").fill("A fox")


def open_box(page: Page) -> None:
    """Opens the box to write in, which is closed to one line."""
    page.locator("details.writing > summary").click()


def published(page: Page) -> None:
    with page.expect_navigation(url="**/?done=post-published"):
        page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_text("Your post is published.")).to_be_visible()


def complaints(tab: Tab) -> list[str]:
    return tab.reports


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_somebody_writes_edits_and_deletes(
    server: LocalServer, chromium: Chromium, files: list[Path], script: bool
) -> None:
    alice, bob = Actor(server), Actor(server)
    with chromium.tab(server.base_url, java_script_enabled=script) as tab:
        tab.sign_in(alice.token)
        page = tab.page
        tab.open("/")
        open_box(page)
        page.locator("#f-content").fill("Two birds \U0001f98a")
        choose(page, files, script=script)
        published(page)
        media = posts(alice)[0]["media"]
        assert [each["altText"] for each in media] == ["A heron", "A fox"]

        open_box(page)
        page.locator("#f-content").fill("Which one?")
        open_part(page, "Poll")
        page.locator("#f-poll-question").fill("For the cover")
        page.locator("#f-poll-options").fill("The fox\nThe heron")
        page.get_by_role("button", name="Preview").click()
        expect(page.locator("#preview")).to_contain_text("The heron")
        assert len(posts(alice)) == 1
        published(page)
        assert [option["text"] for option in posts(alice)[0]["poll"]["options"]] == ["The fox", "The heron"]

        open_box(page)
        page.locator("#f-content").fill("For few")
        page.locator("#f-visibility").select_option("CUSTOM")
        open_part(page, "Chosen readers")
        page.locator("#f-usernames").fill(f"{bob.account.username}\nnobody_here")
        page.get_by_role("button", name="Publish", exact=True).click()
        expect(page.locator("#errors")).to_contain_text("There is no account nobody_here.")
        assert page.locator("#f-content").input_value() == "For few"
        open_part(page, "Chosen readers")
        page.locator("#f-usernames").fill(bob.account.username)
        published(page)
        post = posts(alice)[0]
        assert bob.web.get(f"/api/posts/{post['id']}").status_code == 200
        assert post["visibility"] == "CUSTOM"

        page.locator(f"#post-{post['id']} .more > summary").click()
        page.locator(f"#post-{post['id']}").get_by_role("link", name="Readers").click()
        expect(page.locator("#f-usernames")).to_have_value(bob.account.username)
        page.locator("#f-usernames").fill("")
        page.get_by_role("button", name="Save the list").click()
        expect(page.get_by_text("The readers of this post are set.")).to_be_visible()
        assert bob.web.get(f"/api/posts/{post['id']}").status_code == 404

        tab.open(f"/post/{post['id']}/edit")
        page.locator("#f-content").fill("For nobody")
        page.get_by_role("button", name="Save").click()
        expect(page.locator("article .text").first).to_contain_text("For nobody")
        tab.open(f"/post/{post['id']}/delete")
        page.get_by_role("button", name="Delete this post").click()
        expect(page.get_by_text("The post is deleted.")).to_be_visible()
        assert len(posts(alice)) == 2
        for status in (422,):
            tab.forgive_status(status)
        assert complaints(tab) == []


def test_unsent_mail_stays_until_sent(server: LocalServer, chromium: Chromium) -> None:
    alice, bob = Actor(server), Actor(server)
    with chromium.tab(server.base_url) as tab:
        page = tab.sign_in(alice.token).page
        tab.open("/")
        open_box(page)
        page.locator("#f-content").fill("Not yet \U0001f98a")
        expect(page.locator("#f-content-count")).to_have_text("4991 left")
        tab.open("/settings")
        tab.open("/")
        assert page.locator("#f-content").input_value() == "Not yet \U0001f98a"

        tab.sign_in(bob.token)
        tab.open("/")
        assert page.locator("#f-content").input_value() == "", "it is another account's"
        tab.sign_in(alice.token)
        tab.open("/")
        published(page)
        assert page.locator("#f-content").input_value() == ""

        open_box(page)
        page.locator("#f-content").fill("Never sent")
        page.locator("details.menu > summary").click()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_text("You are signed out.")).to_be_visible()
        tab.open("/login")
        assert page.evaluate("Object.keys(localStorage)") == []


def test_link_to_compose_in_a_hub_overrides_the_draft(server: LocalServer, chromium: Chromium) -> None:
    alice = Actor(server)
    fields = {"name": "Quay", "slug": f"quay-{alice.account.username}"}
    hub = body_of(alice.web.post("/api/hubs", json=fields), 201)
    with chromium.tab(server.base_url) as tab:
        page = tab.sign_in(alice.token).page
        tab.open("/")
        open_box(page)
        page.locator("#f-content").fill("For the quay")

        tab.open(f"/?hub={hub['id']}")

        assert page.locator("#f-content").input_value() == "For the quay"
        assert page.locator("#f-hubId").input_value() == hub["id"]
        published(page)
    assert posts(alice)[0]["hub"]["id"] == hub["id"]


KEPT: Final = "The connection was lost"


def test_an_upload_is_cancelled_lost_and_sent_again(server: LocalServer, chromium: Chromium, tmp_path: Path) -> None:
    alice = Actor(server)
    large = tmp_path / "large.png"
    large.write_bytes(SMALL[1] + bytes(8_000_000))
    with chromium.tab(server.base_url) as tab:
        page = tab.sign_in(alice.token).page
        tab.open("/")
        open_box(page)
        page.locator("#f-content").fill("With a picture")
        open_part(page, "Media")
        page.locator("#f-media-all").set_input_files(large)
        with tab.holding(f"{server.base_url}/"):
            page.get_by_role("button", name="Publish", exact=True).click()
            expect(page.get_by_role("progressbar", name="Upload")).to_be_visible()
            with page.expect_event("requestfailed"):
                page.get_by_role("button", name="Cancel").click()
            expect(page.locator("[data-upload-words]")).to_have_text("Cancelling…")
        expect(page.locator("[data-upload-words]")).to_have_text("Cancelled. Nothing was published.")
        assert posts(alice) == []

        tab.context.set_offline(True)
        page.get_by_role("button", name="Publish", exact=True).click()
        expect(page.locator("[data-upload-words]")).to_contain_text(KEPT)
        tab.context.set_offline(False)
        assert page.locator("#f-content").input_value() == "With a picture"
        assert page.locator(".chosen-file").count() == 1

        published(page)
        assert [len(post["media"]) for post in posts(alice)] == [1]
        assert all("ERR_INTERNET_DISCONNECTED" in report for report in tab.reports)


def test_names_are_suggested_while_they_are_typed(server: LocalServer, chromium: Chromium) -> None:
    alice, bob = Actor(server), Actor(server)
    body_of(alice.web.post(f"/api/accounts/{bob.account.username}/follow"))
    with chromium.tab(server.base_url) as tab:
        page = tab.sign_in(alice.token).page
        tab.open("/")
        open_box(page)
        page.locator("#f-visibility").select_option("CUSTOM")
        page.locator("#f-usernames").press_sequentially(bob.account.username[:-1])
        page.get_by_role("button", name=f"@{bob.account.username}").click()
        assert page.locator("#f-usernames").input_value() == f"{bob.account.username}\n"
        assert tab.reports == []
