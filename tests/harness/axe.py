"""axe-core, of npm: the faults of a page for those who cannot see it, or not well, or use no mouse."""

import io
import re
from collections.abc import Iterator, Sequence
from functools import cache
from math import ceil, floor
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
"""A colour that fills less of an element than this is an edge, not the ground of its text."""

BARE: Final = """selectors => {
  const found = []
  const isApart = box => found.every(({box: other}) => box.left > other.right + 4 || other.left > box.right + 4
    || box.top > other.bottom + 4 || other.top > box.bottom + 4)
  const isInSight = (element, box) => [0.5, 0.02, 0.98].every(part => element.contains(
    document.elementFromPoint(box.left + part * box.width, box.top + part * box.height)))
  document.querySelector(selectors[0]).scrollIntoView({block: 'center'})
  for (const selector of selectors) {
    const element = document.querySelector(selector), box = element.getBoundingClientRect()
    if (found.length && !(isApart(box) && isInSight(element, box))) continue
    const inks = [...element.childNodes].some(each => each.nodeType === 3 && each.data.trim())
    found.push({selector, element, box, drawn: inks && box.width > 1 && box.height > 1})
  }
  const told = found.map(({selector, element, box, drawn}) => ({
    selector, drawn, colour: getComputedStyle(element).color, box: [box.left, box.top, box.right, box.bottom]
  }))
  for (const {element, drawn} of found) if (drawn) element.style.setProperty('-webkit-text-fill-color', 'transparent')
  return told
}"""
"""Hides the text of the first element, and of all others that are in sight with it and apart from each other."""

RUN: Final = "options => window.axe ? axe.run(document, options) : null"

WHAT_IS_SHOWN: Final = """() => [...document.querySelectorAll('*')].map(each => {
  if (each.closest('[aria-hidden=true]:not(:has(a, button, input, select, textarea, summary, [tabindex]))')) return ''
  const box = each.getBoundingClientRect()
  const drawn = box.width > 1 && box.height > 1 && box.right + scrollX > 0 && box.bottom + scrollY > 0
  return each.checkVisibility({visibilityProperty: true, opacityProperty: true}) ? (drawn ? 2 : 1) : 0
}).join('')"""
"""What of a page there is to see and to operate, but for drawings that are kept from those who do not see."""

INKED: Final = """selectors => {
  for (const each of selectors) document.querySelector(each).style.removeProperty('-webkit-text-fill-color')
}"""


@cache
def source() -> str:
    """The text of the script."""
    return (npm.installed(LOCKED) / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")


class Inspection:
    """What axe-core finds on a page as it is shown, one window and one set of colours after the other.

    Every fault by WCAG, serious ones by good practice, and contrasts that are too low, under the page's own policy.
    Where axe-core cannot tell what a text stands on, the page's own pixels do. What cannot have changed since
    is not judged again.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._shown: set[str] = set()

    def complaints(self, *, colours_alone: bool = False) -> Iterator[str]:
        """The faults of the page as it is now shown; with `colours_alone`, nothing but colours has changed."""
        found = self._run(COLOURS if colours_alone else self._options())
        for rule in found["violations"]:
            if rule["impact"] in SERIOUS or any(tag.startswith("wcag") for tag in rule["tags"]):
                yield from (_told(rule["id"], node) for node in rule["nodes"])
        for rule in found["incomplete"]:
            if rule["id"] == "color-contrast":
                yield from (_told("contrast by its pixels", node) for node in _illegible(self._page, rule["nodes"]))

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


def _illegible(page: Page, nodes: Sequence[Node]) -> Iterator[Node]:
    """The elements whose text does not stand out from every colour that there is below it.

    One picture is taken of as many as can be seen at once.
    """
    waiting = {node["target"][0]: node for node in nodes}
    assert len(waiting) == len(nodes)
    while waiting:
        found: list[Node] = page.evaluate(BARE, list(waiting))
        drawn = [each for each in found if each["drawn"]]
        legible = _which_are_legible(page, drawn) if drawn else set[str]()
        page.evaluate(INKED, [each["selector"] for each in drawn])
        for each in found:
            node = waiting.pop(each["selector"])
            if each["drawn"] and each["selector"] not in legible:
                yield node


def _which_are_legible(page: Page, drawn: Sequence[Node]) -> set[str]:
    """Returns those of these elements, whose text is hidden, from whose pixels their text would stand out."""
    size = page.viewport_size
    assert size is not None
    lefts, tops, rights, bottoms = zip(*(each["box"] for each in drawn), strict=True)
    left, top = max(0, floor(min(lefts))), max(0, floor(min(tops)))
    right, bottom = min(size["width"], ceil(max(rights))), min(size["height"], ceil(max(bottoms)))
    clip: Any = {"x": left, "y": top, "width": right - left, "height": bottom - top}
    with Image.open(io.BytesIO(page.screenshot(clip=clip))) as picture:
        whole = picture.convert("RGB")
    legible = set[str]()
    for each in drawn:
        x, y, end, foot = each["box"]
        x, y = max(0, ceil(x) - left), max(0, ceil(y) - top)
        end, foot = min(whole.width, max(x + 1, floor(end) - left)), min(whole.height, max(y + 1, floor(foot) - top))
        part = whole.crop((x, y, end, foot))
        below = cast("list[tuple[int, Colour]]", part.getcolors(part.width * part.height))
        text = tuple(int(float(one)) for one in re.findall(r"[\d.]+", each["colour"])[:3])
        least = SHARE * part.width * part.height
        if all(_contrast(text, colour) >= ENOUGH for times, colour in below if times > least):
            legible.add(each["selector"])
    return legible


def _contrast(one: Colour, other: Colour) -> float:
    """How far two colours are apart, 1 to 21 (WCAG 2.2, contrast ratio)."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: Colour) -> float:
    parts = [part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in colour]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))
