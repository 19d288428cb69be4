"""`make pictures`: every page in every look, one file each, and sheets of them to be looked through."""

import io
import itertools
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.sync_api import Page

from tests.harness.browser import CHROMIUM, Chromium
from tests.harness.local import LocalServer
from tests.pages.scenes import SETTINGS, Scenes
from tests.pages.shown import SHOWN, Shown

WIDTHS: Final = (320, 390, 1280)
SCHEMES: Final = ("light", "dark")
DIRECTIONS: Final = ("ltr", "rtl")
HEIGHT: Final = 800

SHEET_WIDTH: Final = 1600
COLUMNS: Final = {320: 8, 390: 8, 1280: 4}
ROWS: Final = 3


@dataclass(frozen=True, slots=True)
class Look:
    """How a page is shown: the width of the window, its colours, the direction of its text."""

    width: int
    scheme: str
    direction: str

    def __str__(self) -> str:
        return f"{self.width}-{self.scheme}-{self.direction}"


LOOKS: Final = tuple(Look(*look) for look in itertools.product(WIDTHS, SCHEMES, DIRECTIONS))


def main(folder: Path) -> None:
    """Photographs every page of `SHOWN` in every look."""
    if CHROMIUM is None:
        sys.exit("There is no chromium here to make pictures with.")
    browser = Chromium()
    taken: dict[Look, list[Image.Image]] = {look: [] for look in LOOKS}
    for look in LOOKS:
        (folder / str(look)).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data:
        server = LocalServer(Path(data), **SETTINGS).start()
        scenes = Scenes(server)
        for number, shown in enumerate(SHOWN, 1):
            print(f"{number} of {len(SHOWN)}: {shown}", flush=True)
            for look, picture in photographed(browser, scenes, shown):
                picture.save(folder / str(look) / f"{number:03}{re.sub(r'[^a-z0-9]+', '-', str(shown).lower())}.png")
                columns = COLUMNS[look.width]
                taken[look].append(
                    picture.resize((SHEET_WIDTH // columns, SHEET_WIDTH * HEIGHT // look.width // columns))
                )
        server.stop()
    browser.stop()
    for look, pictures in taken.items():
        each = COLUMNS[look.width] * ROWS
        for number in range(0, len(pictures), each):
            laid_out(pictures[number : number + each], COLUMNS[look.width]).save(
                folder / f"{look}-{number // each + 1}.png"
            )


def photographed(browser: Chromium, scenes: Scenes, shown: Shown) -> Iterator[tuple[Look, Image.Image]]:
    """The page in each look. It is opened anew for each width, as its scripts find it."""
    person = shown.person(scenes)
    for width in WIDTHS:
        with browser.tab(scenes.server.base_url, viewport={"width": width, "height": HEIGHT}) as tab:
            if person is not None:
                tab.sign_in(person.token)
            tab.open(shown.address(scenes))
            if shown.submitted:
                submit(tab.page)
            for look in LOOKS:
                if look.width == width:
                    tab.show(width, HEIGHT, dark=look.scheme == "dark")
                    tab.page.evaluate("way => document.documentElement.dir = way", look.direction)
                    yield look, Image.open(io.BytesIO(tab.page.screenshot())).convert("RGB")


def submit(page: Page) -> None:
    """Sends the page's form without its fields."""
    with page.expect_navigation():
        page.locator("main form:not([action*='logout'])").first.evaluate(
            "form => { form.noValidate = true; form.requestSubmit() }"
        )


def laid_out(pictures: list[Image.Image], columns: int) -> Image.Image:
    """Pictures of one size in rows, on one sheet."""
    width, height = pictures[0].size
    sheet = Image.new("RGB", (columns * width, -(-len(pictures) // columns) * height), "grey")
    for number, picture in enumerate(pictures):
        sheet.paste(picture, (number % columns * width, number // columns * height))
    return sheet


if __name__ == "__main__":
    main(Path(sys.argv[1]))
