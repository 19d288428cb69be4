"""Pictures and videos in a real browser: it shows them, plays them, and has nothing to complain of."""

from pathlib import Path

import pytest

from tests.api.actors import Actor, body_of, nobody, publish
from tests.api.conftest import one_engine
from tests.harness.browser import OpenTab, Tab, needs_chromium
from tests.harness.roomy import ROOMY
from tests.pages.files import filmed, gif, introduced, picture, uploaded, video

SETTINGS = ROOMY
pytestmark = [needs_chromium, one_engine]

VIDEO = "document.querySelector('video')"
STYLED = "[...document.querySelectorAll('link[rel=stylesheet]')].every(each => each.sheet)"
IMAGES = "[...document.querySelectorAll('.file img:not(.backdrop)')]"


def read_down(tab: Tab) -> None:
    """Goes down the page, so that lazy pictures are loaded."""
    tab.page.evaluate("for (const each of document.images) each.loading = 'eager'")
    tab.wait("[...document.images].every(each => each.complete)")


@pytest.mark.parametrize("place", ["/post/", "/clip/"])
def test_a_video_plays(alice: Actor, open_tab: OpenTab, place: str) -> None:
    file = video(6.0, sound=True)
    made = uploaded(alice, file) if place == "/post/" else filmed(alice, file)
    alice.server.do_jobs()
    tab = open_tab(alice.server)

    tab.open(f"{place}{made['id']}")

    kind = tab.page.evaluate(f"{VIDEO}.querySelector('source').type")
    assert tab.page.evaluate(f"{VIDEO}.canPlayType({kind!r})") in ("maybe", "probably")
    tab.page.evaluate(f"{VIDEO}.muted = true, {VIDEO}.play()")
    tab.wait(f"{VIDEO}.currentTime > 0.2")
    assert tab.page.evaluate(f"[{VIDEO}.videoWidth, {VIDEO}.videoHeight]") == [320, 180]
    assert abs(tab.page.evaluate(f"{VIDEO}.duration") - 6) < 0.2
    tab.page.evaluate(f"{VIDEO}.currentTime = 5")
    tab.wait(f"!{VIDEO}.seeking && {VIDEO}.currentTime >= 5")
    tab.wait(f"{VIDEO}.ended")
    assert tab.page.evaluate(f"{VIDEO}.error") is None


def test_pictures_load(alice: Actor, open_tab: OpenTab) -> None:
    files = (picture(1200, 800), picture(80, 120), gif(), video())
    post = uploaded(alice, *files, alt_texts=["One"], content="x")
    alone = uploaded(alice, picture(3000, 1500))
    alice.server.do_jobs()
    tab = open_tab(alice.server)

    tab.open(f"/post/{post['id']}")
    read_down(tab)
    sizes = tab.page.evaluate(f"{IMAGES}.map(each => [each.naturalWidth, each.naturalHeight])")
    # A browser divides the width of a rendition by the density that `sizes` gives it: 640 pixels in a slot of 320.
    assert sizes == [[320, 213], [80, 120], [60, 40]]
    tab.open(f"/post/{alone['id']}")
    read_down(tab)
    assert tab.page.evaluate(f"{IMAGES}.map(each => [each.naturalWidth, each.naturalHeight])") == [[640, 320]]
    (backdrop,) = tab.page.evaluate("[...document.querySelectorAll('.backdrop')].map(each => each.naturalWidth)")
    assert backdrop > 0


def test_restricted_media_load(alice: Actor, open_tab: OpenTab) -> None:
    post = uploaded(alice, picture(), video(1.0), visibility="PRIVATE")
    alice.server.do_jobs()
    tab = open_tab(alice.server, alice)

    tab.open(f"/post/{post['id']}")
    read_down(tab)
    assert tab.page.evaluate(f"{IMAGES}.map(each => each.naturalWidth)") == [120]
    tab.page.evaluate(f"{VIDEO}.muted = true, {VIDEO}.play()")
    tab.wait(f"{VIDEO}.ended")


def test_a_file_keeps_its_place_while_it_loads(alice: Actor, open_tab: OpenTab) -> None:
    """The page is as long before its pictures are there as after, on small windows and on large ones."""
    one, several = (
        uploaded(alice, *files, content="Some words") for files in ([picture(900, 1600)], [picture(300, 200)] * 3)
    )
    alice.server.do_jobs()
    heights = "[...document.querySelectorAll('.gallery')].map(each => each.getBoundingClientRect().height)"
    tab = open_tab(alice.server)

    for width in (320, 1280):
        tab.show(width)
        for path in (f"/post/{one['id']}", f"/post/{several['id']}", f"/@{alice.account.username}"):
            with tab.holding("**/media/**"):
                tab.page.goto(path, wait_until="domcontentloaded")
                tab.wait(STYLED)
                waiting = tab.page.evaluate(heights)
                assert not tab.page.evaluate(f"{IMAGES}.some(each => each.naturalWidth)")
            read_down(tab)
            assert tab.page.evaluate(f"{IMAGES}.every(each => each.naturalWidth)")
            assert tab.page.evaluate(heights) == waiting
            assert tab.page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_card_is_shown_with_its_picture(alice: Actor, open_tab: OpenTab) -> None:
    post = uploaded(alice, picture(200, 200))
    alice.server.do_jobs()
    entry = body_of(alice.web.get(f"/api/posts/{post['id']}"))["media"][0]
    token = "0123456789abcdef" * 2
    cards = alice.server.settings.data_dir / "blobs" / "cards"
    url = f"https://{alice.account.username}.example/"
    introduced(alice, url, "A title", "Of something", "A site", token)
    keep_card_picture(alice, token, nobody.get(entry["thumbnailUrl"]).content, cards.parent)

    tab = open_tab(alice.server)
    tab.open(f"/post/{publish(alice, url)['id']}")
    read_down(tab)

    assert tab.page.evaluate("document.querySelector('.preview img').naturalWidth") == 200


def keep_card_picture(who: Actor, token: str, content: bytes, folder: Path) -> None:
    """Keeps these bytes as the picture of a card."""
    file = folder.parent / f"{token}.webp"
    file.write_bytes(content)
    who.server.run(who.server.runtime.blobs.put_file(f"cards/{token}", file, "image/webp"))
