"""`scripts/screenshots`: the pictures of the docs, from a server with the scenes of the tests of the pages."""

import io
import sys
import tempfile
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from PIL import Image

from tests.harness.browser import CHROMIUM, Chromium
from tests.harness.local import LocalServer
from tests.pages.scenes import SETTINGS, Scenes

PORT: Final = 8000
"""The one that a server has by default, for it is seen in the pictures."""

STATIC: Final = Path(str(files("pressroom.web") / "static"))

MOST_BYTES: Final = 150_000
COLOURS: Final = 128


@dataclass(frozen=True, slots=True)
class Picture:
    """A page as a reader of `Scenes` sees it, from its top down to `height` pixels."""

    name: str
    path: str
    reader: str = "full"
    width: int = 1280
    height: int = 860
    dark: bool = False


PICTURES: Final = (
    Picture("keys", "/settings/keys"),
    Picture("key", "/settings/keys/{key}", height=1400),
    Picture("deliveries", "/settings/keys/{key}/webhooks/{hook}", height=1000),
    Picture("deliveries-dark", "/settings/keys/{key}/webhooks/{hook}", height=1100, dark=True),
    Picture("delivery", "/settings/keys/{key}/webhooks/{hook}/deliveries/{delivery}", "failing", height=1200),
    Picture("keys-narrow", "/settings/keys", width=360, height=780, dark=True),
    Picture("post", "/post/{post}", "marta"),
    Picture("home", "/", height=900),
    Picture("notifications-narrow", "/notifications", width=360, height=780, dark=True),
    Picture("admin-account", "/admin/accounts/{other}", "admin", height=800),
    Picture("report", "/admin/reports/{case}", "admin", height=1000),
)


BRAND: Final = """<!doctype html><style>
  body { display: grid; place-items: center; height: 100vh; margin: 0; background: #2449c8 }
  div { display: flex; gap: 40px; align-items: center; color: #fff; font: 750 120px system-ui; letter-spacing: -0.02em }
  svg { width: WIDTH; height: WIDTH } rect { fill: none }
</style><div>MARK WORD</div>"""


def draw_brand(browser: Chromium) -> None:
    """Draws the icon for home screens and the social card, from the mark (docs/design.md#the-mark)."""
    mark = (STATIC / "icon.svg").read_text("utf-8")
    for name, width, height, size, word in (
        ("icon.png", 512, 512, "420px", ""),
        ("card.png", 1200, 630, "220px", "Pressroom"),
    ):
        with browser.tab(viewport={"width": width, "height": height}) as tab:
            tab.page.set_content(BRAND.replace("WIDTH", size).replace("MARK", mark).replace("WORD", word))
            (STATIC / name).write_bytes(packed(tab.page.screenshot()))


def main(folder: Path) -> None:
    """Makes every picture, as a PNG in `folder`. Raises AssertionError when one is too large or its page is refused."""
    if CHROMIUM is None:
        sys.exit("There is no chromium here to make pictures with.")
    folder.mkdir(parents=True, exist_ok=True)
    browser = Chromium()
    draw_brand(browser)
    with tempfile.TemporaryDirectory() as data:
        server = LocalServer(Path(data), PORT=PORT, **SETTINGS).start()
        scenes = Scenes(server)
        for picture in PICTURES:
            content = taken(browser, scenes, picture)
            (folder / f"{picture.name}.png").write_bytes(content)
            print(f"{picture.name}.png  {len(content) // 1000} KB")
        server.stop()
    browser.stop()


def taken(browser: Chromium, scenes: Scenes, picture: Picture) -> bytes:
    """The picture as a PNG of few colours."""
    person = scenes.reader(picture.reader)
    assert person is not None
    size = {"width": picture.width, "height": picture.height}
    scheme = "dark" if picture.dark else "light"
    address = picture.path.format_map({**scenes.full.ids, **person.ids})
    with browser.tab(scenes.server.base_url, viewport=size, color_scheme=scheme, timezone_id="UTC") as tab:
        tab.sign_in(person.token)
        answer = tab.page.goto(address, wait_until="load")
        assert answer is not None, address
        assert answer.ok, (address, answer.status)
        content = tab.page.screenshot()
    few = packed(content)
    assert len(few) <= MOST_BYTES, (picture.name, len(few))
    return few


def packed(content: bytes) -> bytes:
    """A PNG in few colours."""
    with Image.open(io.BytesIO(content)) as image:
        few = image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    written = io.BytesIO()
    few.save(written, "PNG", optimize=True)
    return written.getvalue()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
