"""Our style sheets mirror where people write from right to left: they say start and end, not left and right."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from pressroom.web.static_files import STYLES, static_file, static_names

STATIC = Path(str(files("pressroom.web") / "static"))
SHEETS = sorted(str(each.relative_to(STATIC)) for each in STATIC.rglob("*.css") if "vendor" not in each.parts)
PHYSICAL = {
    "a side": re.compile(
        r"(?:(?:margin|padding|inset|border|scroll-margin|scroll-padding)-)(?:left|right|top|bottom)\b"
        r"|(?:^|[{;\s])(?:left|right|top|bottom)\s*:"
    ),
    "an alignment": re.compile(r"(?:text-align|float|clear|justify-\w+)\s*:\s*(?:left|right)\b"),
    "a gradient": re.compile(r"\bto (?:left|right)\b"),
    "four sides": re.compile(r"\b(?:margin|padding|inset)\s*:\s*(?:[^;\s(]+(?:\([^;]*\))?\s+){3}[^;]+;"),
    "a corner": re.compile(r"border-(?:top|bottom)-(?:left|right)-radius"),
}


@pytest.mark.parametrize("sheet", SHEETS)
@pytest.mark.parametrize("kind", PHYSICAL)
def test_properties_are_logical(sheet: str, kind: str) -> None:
    text = (STATIC / sheet).read_text("utf-8")
    text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.S)
    found = [
        f"{sheet}:{number}: {line.strip()}"
        for number, line in enumerate(text.splitlines(), 1)
        if PHYSICAL[kind].search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("a side", "  margin-left: 1rem;"),
        ("a side", "  left: 0;"),
        ("a side", "border-top: 0"),
        ("an alignment", "text-align: right;"),
        ("a gradient", "linear-gradient(to right, red, blue)"),
        ("four sides", "padding: 1px 2px 3px 4px;"),
        ("four sides", "inset: 1rem auto 0 calc(var(--a) + 1px);"),
    ],
)
def test_physical_properties_are_found(kind: str, line: str) -> None:
    assert PHYSICAL[kind].search(line)


def test_sheets_are_sent_as_one() -> None:
    parts = [part.read_bytes() for part in sorted((STATIC / STYLES).iterdir())]

    assert static_file(f"{STYLES}.css").body == b"\n".join(parts)
    assert not [name for name in static_names() if name.startswith(f"{STYLES}/")]


def test_no_sheet_is_too_long_to_be_read() -> None:
    assert [sheet for sheet in SHEETS if (STATIC / sheet).read_text("utf-8").count("\n") > 400] == []
