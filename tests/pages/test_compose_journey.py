"""Pictures in the compose box, by every way in which people bring them: dropped, pasted, dragged, by keyboard."""

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import JSHandle, Page, expect

from tests.api.actors import Actor, Json, body_of
from tests.harness.browser import OpenTab, needs_chromium
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.pages.files import picture
from tests.pages.hands import Keyboard

pytestmark = needs_chromium

both_widths = pytest.mark.parametrize("width", [1280, 390])

CARRIED = """([name, data]) => {
  const carried = new DataTransfer()
  carried.items.add(new File([Uint8Array.from(atob(data), each => each.charCodeAt(0))], name, {type: 'image/png'}))
  return carried
}"""
PASTE = """(field, carried) => field.dispatchEvent(
  new ClipboardEvent('paste', {clipboardData: carried, bubbles: true, cancelable: true}))"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    server = LocalServer(tmp_path_factory.mktemp("compose"), **ROOMY).start()
    yield server
    server.stop()


def open_box(server: LocalServer, open_tab: OpenTab, alice: Actor, width: int) -> Page:
    tab = open_tab(server, alice, width=width)
    tab.open("/compose")
    tab.page.locator("#f-content").fill("Two birds")
    return tab.page


def carried(page: Page, name: str) -> JSHandle:
    """A picture in somebody's hand, or clipboard."""
    return page.evaluate_handle(CARRIED, [name, base64.b64encode(picture()[1]).decode()])


def published_texts(page: Page, alice: Actor) -> list[Json]:
    """Publishes; the alt texts of the post's files."""
    with page.expect_navigation(url="**/?done=post-published"):
        page.keyboard.press("Control+Enter")
    return [each["altText"] for each in body_of(alice.web.get("/api/posts"))["posts"][0]["media"]]


@both_widths
def test_pictures_are_dropped_pasted_and_dragged_into_order(server: LocalServer, open_tab: OpenTab, width: int) -> None:
    alice = Actor(server)
    page = open_box(server, open_tab, alice, width)
    page.dispatch_event("form[data-compose]", "dragover", {"dataTransfer": carried(page, "fox.png")})
    expect(page.locator("form.drop-here")).to_be_visible()
    page.dispatch_event("form[data-compose]", "drop", {"dataTransfer": carried(page, "fox.png")})
    expect(page.locator("form.drop-here")).to_have_count(0)
    page.locator("#f-content").evaluate(PASTE, carried(page, "heron.png"))
    rows = page.locator(".chosen-file")
    expect(rows.locator(".name")).to_have_text(["1. fox.png", "2. heron.png"])
    page.get_by_label("What file 1 shows").fill("A fox")
    page.get_by_label("What file 2 shows").fill("A heron")

    rows.nth(1).locator("img").drag_to(rows.nth(0).locator("img"))

    expect(rows.locator(".name")).to_have_text(["1. heron.png", "2. fox.png"])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("#f-content").focus()
    assert published_texts(page, alice) == ["A heron", "A fox"]


def test_pictures_are_ordered_described_and_removed_by_keyboard_alone(
    server: LocalServer, open_tab: OpenTab, tmp_path: Path
) -> None:
    alice = Actor(server)
    page = open_box(server, open_tab, alice, 1280)
    hands = Keyboard(page)
    hands.press(page.locator("summary", has_text="Media"))
    paths = [tmp_path / f"{name}.png" for name in ("fox", "heron", "blurred")]
    for path in paths:
        path.write_bytes(picture()[1])
    page.locator("#f-media-all").set_input_files(paths)

    page.locator("#f-content").focus()
    hands.press(page.get_by_role("button", name="Remove: blurred.png"))
    expect(page.locator("#said")).to_have_text("blurred.png was taken out")
    page.locator("#f-content").focus()
    hands.press(page.get_by_role("button", name="Move up: heron.png"))
    expect(page.locator("#said")).to_have_text("Now file 1 of 2")
    page.locator("#f-content").focus()
    hands.write(page.get_by_label("What file 1 shows"), "A heron")
    hands.write(page.get_by_label("What file 2 shows"), "A fox")

    assert published_texts(page, alice) == ["A heron", "A fox"]


@both_widths
def test_counter_is_shown_near_the_limit_alone(server: LocalServer, open_tab: OpenTab, width: int) -> None:
    page = open_box(server, open_tab, Actor(server), width)
    counter = page.locator("#f-content-count")
    seen = "element => element.getBoundingClientRect().height > 10"
    assert not counter.evaluate(seen)

    page.locator("#f-content").fill("x" * 4_900)
    expect(counter).to_have_text("100 left")
    assert counter.evaluate(seen)
    page.locator("#f-content").fill("x" * 5_003)
    expect(counter).to_have_text("3 too many")
