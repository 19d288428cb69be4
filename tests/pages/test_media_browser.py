"""Pictures and videos in a real browser: it shows them, plays them, and has nothing to complain of."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.actors import Actor, body_of, nobody, publish
from tests.api.conftest import one_engine
from tests.harness.roomy import ROOMY
from tests.pages.chromium import CHROMIUM
from tests.pages.devtools import Browser
from tests.pages.files import filmed, gif, introduced, picture, uploaded, video

SETTINGS = ROOMY
pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here; CI has one"), one_engine]

VIDEO = "document.querySelector('video')"
IMAGES = "[...document.querySelectorAll('.file img:not(.backdrop)')]"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for the module: it takes longer to start than to show a page."""
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def reports(browser: Browser) -> list[str]:
    """What the browser complains of from now on."""
    browser.reports.clear()
    return browser.reports


def read_down(browser: Browser) -> None:
    """Goes down the page, so that what is loaded when it comes into sight is loaded."""
    browser.evaluate("for (const each of document.images) each.loading = 'eager'")
    browser.wait("[...document.images].every(each => each.complete)")


@pytest.mark.parametrize("place", ["/post/", "/clip/"])
def test_a_video_plays(alice: Actor, browser: Browser, reports: list[str], place: str) -> None:
    file = video(6.0, sound=True)
    made = uploaded(alice, file) if place == "/post/" else filmed(alice, file)
    alice.server.do_jobs()

    browser.open(f"{alice.server.base_url}{place}{made['id']}")

    kind = browser.evaluate(f"{VIDEO}.querySelector('source').type")
    assert browser.evaluate(f"{VIDEO}.canPlayType({kind!r})") in ("maybe", "probably")
    browser.evaluate(f"{VIDEO}.muted = true, {VIDEO}.play()")
    browser.wait(f"{VIDEO}.currentTime > 0.2")
    assert browser.evaluate(f"[{VIDEO}.videoWidth, {VIDEO}.videoHeight]") == [320, 180]
    assert abs(browser.evaluate(f"{VIDEO}.duration") - 6) < 0.2
    browser.evaluate(f"{VIDEO}.currentTime = 5")
    browser.wait(f"!{VIDEO}.seeking && {VIDEO}.currentTime >= 5")
    browser.wait(f"{VIDEO}.ended")
    assert browser.evaluate(f"{VIDEO}.error") is None
    assert reports == []


def test_pictures_load(alice: Actor, browser: Browser, reports: list[str]) -> None:
    files = (picture(1200, 800), picture(80, 120), gif(), video())
    post = uploaded(alice, *files, alt_texts=["One"], content="x")
    alone = uploaded(alice, picture(3000, 1500))
    alice.server.do_jobs()

    browser.open(f"{alice.server.base_url}/post/{post['id']}")
    read_down(browser)
    sizes = browser.evaluate(f"{IMAGES}.map(each => [each.naturalWidth, each.naturalHeight])")
    assert sizes == [[640, 427], [80, 120], [60, 40]]
    browser.open(f"{alice.server.base_url}/post/{alone['id']}")
    read_down(browser)
    assert browser.evaluate(f"{IMAGES}.map(each => [each.naturalWidth, each.naturalHeight])") == [[2048, 1024]]
    (backdrop,) = browser.evaluate("[...document.querySelectorAll('.backdrop')].map(each => each.naturalWidth)")
    assert backdrop > 0
    assert reports == []


def test_what_is_for_some_loads_too(alice: Actor, browser: Browser, reports: list[str]) -> None:
    post = uploaded(alice, picture(), video(1.0), visibility="PRIVATE")
    alice.server.do_jobs()
    base = alice.server.base_url

    browser.sign_in(base, alice.token)
    browser.open(f"{base}/post/{post['id']}")
    read_down(browser)
    assert browser.evaluate(f"{IMAGES}.map(each => each.naturalWidth)") == [120]
    browser.evaluate(f"{VIDEO}.muted = true, {VIDEO}.play()")
    browser.wait(f"{VIDEO}.ended")
    assert reports == []


def test_a_file_keeps_its_place_while_it_loads(alice: Actor, browser: Browser) -> None:
    """The page is as long before its pictures are there as after, on small windows and on large ones."""
    one, several = (
        uploaded(alice, *files, content="Some words") for files in ([picture(900, 1600)], [picture(300, 200)] * 3)
    )
    alice.server.do_jobs()
    heights = "[...document.querySelectorAll('.gallery')].map(each => each.getBoundingClientRect().height)"

    for width in (320, 1280):
        browser.show(width)
        for path in (f"/post/{one['id']}", f"/post/{several['id']}", f"/@{alice.account.username}"):
            browser.hold("*/media/*")
            browser.open(f"{alice.server.base_url}{path}", wholly=False)
            waiting = browser.evaluate(heights)
            assert not browser.evaluate(f"{IMAGES}.some(each => each.naturalWidth)")
            browser.release()
            read_down(browser)
            assert browser.evaluate(f"{IMAGES}.every(each => each.naturalWidth)")
            assert browser.evaluate(heights) == waiting
            assert browser.evaluate("document.documentElement.scrollWidth") <= width


def test_a_card_is_shown_with_its_picture(alice: Actor, browser: Browser, reports: list[str]) -> None:
    post = uploaded(alice, picture(200, 200))
    alice.server.do_jobs()
    entry = body_of(alice.web.get(f"/api/posts/{post['id']}"))["media"][0]
    token = "0123456789abcdef" * 2
    cards = alice.server.settings.data_dir / "blobs" / "cards"
    url = f"https://{alice.account.username}.example/"
    introduced(alice, url, "A title", "Of something", "A site", token)
    keep_card_picture(alice, token, nobody.get(entry["thumbnailUrl"]).content, cards.parent)

    browser.open(f"{alice.server.base_url}/post/{publish(alice, url)['id']}")
    read_down(browser)

    assert browser.evaluate("document.querySelector('.preview img').naturalWidth") == 200
    assert reports == []


def keep_card_picture(who: Actor, token: str, content: bytes, folder: Path) -> None:
    """Keeps these bytes as the picture of a card."""
    file = folder.parent / f"{token}.webp"
    file.write_bytes(content)
    who.server.run(who.server.runtime.blobs.put_file(f"cards/{token}", file, "image/webp"))
