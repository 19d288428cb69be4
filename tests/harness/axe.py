"""axe-core, of npm: what is wrong with a page for those who cannot see it, or not well, or use no mouse."""

import io
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import pytest
from PIL import Image
from playwright.sync_api import Page

from tests.harness import npm

LOCKED: Final = Path(__file__).parents[1] / "pages"
needs_axe = pytest.mark.skipif(npm.missing() is not None, reason=npm.missing() or "")

SERIOUS: Final = ("serious", "critical")
OPTIONS: Final = {
    "resultTypes": ["violations", "incomplete"],
    "preload": False,
    "rules": {"target-size": {"enabled": True}},
}
COLOURS: Final = {**OPTIONS, "runOnly": ["color-contrast"], "rules": {}}
LAYOUT: Final = {
    **OPTIONS,
    "runOnly": ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"],
}
"""The rules that look at where things lie and how they are painted. All others see what is shown of the document."""

Node = dict[str, Any]
Colour = Sequence[int]

ENOUGH: Final = 4.5
"""The least contrast of text that is not large."""

SHARE: Final = 0.02
"""A colour that fills less of an element than this is an edge, not what its text stands on."""

BARE: Final = """selector => {
  const element = document.querySelector(selector)
  element.scrollIntoView({block: 'center'})
  const inks = [...element.childNodes].some(each => each.nodeType === 3 && each.data.trim())
  const box = element.getBoundingClientRect()
  const colour = getComputedStyle(element).color
  element.style.setProperty('-webkit-text-fill-color', 'transparent')
  return inks && box.width > 1 && box.height > 1
    ? {colour, clip: {x: box.x, y: box.y, width: box.width, height: box.height}} : null
}"""
RUN: Final = "options => window.axe ? axe.run(document, options) : null"

WHAT_IS_SHOWN: Final = """() => [...document.querySelectorAll('*')].map(each => {
  if (each.closest('[aria-hidden=true]:not(:has(a, button, input, select, textarea, summary, [tabindex]))')) return ''
  const box = each.getBoundingClientRect()
  const drawn = box.width > 1 && box.height > 1 && box.right + scrollX > 0 && box.bottom + scrollY > 0
  return each.checkVisibility({visibilityProperty: true, opacityProperty: true}) ? (drawn ? 2 : 1) : 0
}).join('')"""
"""What of a page there is to see and to operate, but for drawings that are kept from those who do not see."""

INKED: Final = "selector => document.querySelector(selector).style.removeProperty('-webkit-text-fill-color')"


@cache
def source() -> str:
    """The text of the script."""
    return (npm.installed(LOCKED) / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")


class Inspection:
    """What axe-core finds on a page as it is shown, one window and one set of colours after the other.

    Serious faults, and contrasts that are too low, under the page's own policy. Where axe-core cannot tell what a text
    stands on, the page's own pixels do. What was judged once and cannot have changed is not judged again.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._shown: set[str] = set()

    def complaints(self, *, colours_alone: bool = False) -> Iterator[str]:
        """What is wrong as the page is now shown; with `colours_alone`, nothing but colours has changed."""
        found = self._run(COLOURS if colours_alone else self._options())
        for rule in found["violations"]:
            if rule["impact"] in SERIOUS:
                yield from (_told(rule["id"], node) for node in rule["nodes"])
        for rule in found["incomplete"]:
            if rule["id"] == "color-contrast":
                for node in rule["nodes"]:
                    if not _is_legible(self._page, node):
                        yield _told("contrast by its pixels", node)

    def _options(self) -> Node:
        """Returns the rules that can find what they have not found yet: all, if anything is shown or hidden anew."""
        shown = self._page.evaluate(WHAT_IS_SHOWN)
        if shown in self._shown:
            return LAYOUT
        self._shown.add(shown)
        return OPTIONS

    def _run(self, options: Node) -> Node:
        found = self._page.evaluate(RUN, options)
        if found is None:
            self._page.evaluate(source())
            found = self._page.evaluate(RUN, options)
        return found


def _told(rule: str, node: Node) -> str:
    why = (node.get("failureSummary") or node["any"][0]["message"]).splitlines()[-1].strip()
    return f"{rule}: {node['html'][:160]}: {why}"


def _is_legible(page: Page, node: Node) -> bool:
    """Whether an element's text stands out from every colour that there is below it."""
    (selector,) = node["target"]
    seen = page.evaluate(BARE, selector)
    if seen is None:
        return True
    with Image.open(io.BytesIO(page.screenshot(clip=seen["clip"]))) as picture:
        pixels = picture.width * picture.height
        below = cast("list[tuple[int, Colour]]", picture.convert("RGB").getcolors(pixels))
    page.evaluate(INKED, selector)
    text = tuple(int(float(part)) for part in re.findall(r"[\d.]+", seen["colour"])[:3])
    return all(_contrast(text, colour) >= ENOUGH for times, colour in below if times > SHARE * pixels)


def _contrast(one: Colour, other: Colour) -> float:
    """How far two colours are apart, 1 to 21 (WCAG 2.2, contrast ratio)."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: Colour) -> float:
    parts = [part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in colour]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))
