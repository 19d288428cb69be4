"""Names of browsers, read from their User-Agent. Pure. A name is only a hint: a browser can claim any."""

import re
from typing import Final

# The first that is found counts: each of the later ones is also named by some of those before it.
_BROWSERS: Final = (
    ("Edge", r"\bEdgA?(iOS)?/"),
    ("Opera", r"\bOPR/"),
    ("Samsung Internet", r"\bSamsungBrowser/"),
    ("Firefox", r"\b(Firefox|FxiOS)/"),
    ("Chrome", r"\b(Chrome|CriOS|Chromium|HeadlessChrome)/"),
    ("Safari", r"\bVersion/[0-9.]+ (Mobile/\S+ )?Safari/"),
    ("curl", r"^curl/"),
    ("Python", r"^python-"),
)
_SYSTEMS: Final = (
    ("iPhone", r"\biPhone\b"),
    ("iPad", r"\biPad\b"),
    ("Android", r"\bAndroid\b"),
    ("Windows", r"\bWindows\b"),
    ("ChromeOS", r"\bCrOS\b"),
    ("macOS", r"\bMac OS X\b"),
    ("Linux", r"\bLinux\b"),
)


def name_of_agent(agent: str) -> str | None:
    """Returns browser and system of a User-Agent, such as `Firefox on Windows`; None when neither is known."""
    browser, system = _first(_BROWSERS, agent), _first(_SYSTEMS, agent)
    if browser and system:
        return f"{browser} on {system}"
    return browser or system


def _first(known: tuple[tuple[str, str], ...], agent: str) -> str | None:
    return next((name for name, pattern in known if re.search(pattern, agent)), None)
