"""axe-core, of npm: what is wrong with a page for those who cannot see it, or not well, or use no mouse."""

import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

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
INKED: Final = "selector => document.querySelector(selector).style.removeProperty('-webkit-text-fill-color')"


@cache
def source() -> str:
    """The text of the script."""
    return (npm.installed(LOCKED) / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")


def complaints(page: Page, *, colours_alone: bool = False) -> Iterator[str]:
    """What axe-core finds on a page, under the page's own policy: serious faults, and contrasts that are too low.

    Where it cannot tell what a text stands on, the page's own pixels do.
    """
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(source())
    found = page.evaluate("options => axe.run(document, options)", COLOURS if colours_alone else OPTIONS)
    for rule in found["violations"]:
        if rule["impact"] in SERIOUS:
            yield from (_told(rule["id"], node) for node in rule["nodes"])
    for rule in found["incomplete"]:
        if rule["id"] == "color-contrast":
            yield from (_told("contrast by its pixels", node) for node in rule["nodes"] if not _is_legible(page, node))


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
        below = Counter(
            picture.convert("RGB").tobytes()[at : at + 3] for at in range(0, 3 * picture.width * picture.height, 3)
        )
    page.evaluate(INKED, selector)
    text = tuple(int(float(part)) for part in re.findall(r"[\d.]+", seen["colour"])[:3])
    return all(_contrast(text, colour) >= ENOUGH for colour, times in below.items() if times > SHARE * below.total())


def _contrast(one: Colour, other: Colour) -> float:
    """How far two colours are apart, 1 to 21 (WCAG 2.2, contrast ratio)."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: Colour) -> float:
    parts = [part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in colour]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))
