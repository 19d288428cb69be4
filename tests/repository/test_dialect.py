"""Names, docstrings, comments, templates and docs are written in standard English (docs/glossary.md)."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
AREAS = {
    "src": ("src/pressroom", "*.py"),
    "tests": ("tests", "*.py"),
    "benchmarks": ("benchmarks", "*.py"),
    "templates": ("src/pressroom/web/templates", "*.html"),
    "docs": ("docs", "*.md"),
}
BOUNDS: dict[str, dict[str, float]] = {
    "src": {
        "what": 0.5,
        "whoever": 0.05,
        "of which": 0.05,
        "one's own": 0.05,
        "is told": 0.05,
    },
    "tests": {
        "what": 0.7,
        "whoever": 0.1,
        "that there is": 0.05,
        "of which": 0.15,
        "one's own": 0.05,
        "is told": 0.2,
    },
    "benchmarks": {
        "what": 0.6,
        "of which": 0.2,
    },
    "templates": {
        "what": 2.5,
    },
    "docs": {
        "what": 4.5,
        "is told": 0.25,
    },
}
"""The most places in 1,000 lines of each area. These bounds only fall: lower one when its figure has fallen."""

_AFTER_WHAT = "is|are|was|were|has|had|may|must|can|a|an|the|it|they|this|that|he|she|one|nobody|its"
DIALECT = {
    "what": (rf"\bwhat (?:{_AFTER_WHAT})\b", "a noun: “the stored answer”, not “what was answered”"),
    "whoever": (r"\bwhoever\b", "the role: “the caller”, “a member”, “a visitor”"),
    "that there is": (r"\bthat there (?:is|are|was|were)\b", "an adjective: “unknown hub”, “known hub”"),
    "of which": (r"\bof which\b", "“whose”, or a second sentence"),
    "one's own": (r"\bone's own\b", "“the caller's own”, “the author's own”"),
    "is told": (r"\b(?:is|are|was|were|be) told\b", "the act: “is reported”, “is logged”, “receives an event”"),
    "test name": (
        r"^test_(?:of|who|nobody)_|_(?:what|whatever|whoever|one_s|told|says|tells)(?:_|$)|_that_there_",
        "subject_condition_outcome: test_unknown_hub_is_404",
    ),
}
"""The patterns of the dialect, each with the standard form. The last one is about names of tests."""


class Place(NamedTuple):
    """One place that is written in the dialect."""

    pattern: str
    """The key of `DIALECT`."""
    line: int
    """The line in its file, from 1."""
    text: str
    """The text of that line, stripped."""


def prose(code: str) -> Iterator[tuple[int, str]]:
    """Yields the comments and docstrings of Python code, line by line, with each line's number."""
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(code)):
        # Every string that stands as a statement: docstrings, and those below constants and fields.
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            for offset, line in enumerate(node.value.value.splitlines()):
                yield node.lineno + offset, line


def names(code: str) -> Iterator[tuple[int, str]]:
    """Yields the names of the functions and classes of Python code, with their lines."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name


def find_dialect(text: str, *, python: bool) -> Iterator[Place]:
    """Yields each place of the dialect in a file's text; names count when it is Python code."""
    lines = prose(text) if python else enumerate(text.splitlines(), 1)
    for line, said in lines:
        for key, (pattern, _) in DIALECT.items():
            if key != "test name":
                yield from (Place(key, line, said.strip()) for _ in re.finditer(pattern, said, re.IGNORECASE))
    for line, name in names(text) if python else ():
        for key, (pattern, _) in DIALECT.items():
            tested = name.startswith("test_")
            spoken = name if key == "test name" else name.replace("one_s", "one's").replace("_", " ")
            # A riddle in a test's name is counted once, by the pattern of test names.
            if tested == (key == "test name") and re.search(pattern, spoken):
                yield Place(key, line, name)


def measure(area: str) -> tuple[int, dict[str, list[str]]]:
    """Returns the lines of an area and its places of each pattern, as `file:line: text`."""
    folder, glob = AREAS[area]
    lines, places = 0, {key: list[str]() for key in DIALECT}
    for path in sorted((ROOT / folder).rglob(glob)):
        text = path.read_text("utf-8")
        lines += text.count("\n")
        for place in find_dialect(text, python=path.suffix == ".py"):
            places[place.pattern].append(f"{path.relative_to(ROOT)}:{place.line}: {place.text[:100]}")
    return lines, places


def excess(area: str, lines: int, places: dict[str, list[str]]) -> list[str]:
    """Returns a line for each pattern over its bound, followed by its places and the standard form."""
    report: list[str] = []
    for key, found in places.items():
        bound, rate = BOUNDS[area].get(key, 0), len(found) * 1000 / lines
        if rate > bound:
            report += [f"{area}: “{key}” {rate:.2f} in 1,000 lines, at most {bound}; write {DIALECT[key][1]}", *found]
    return report


@pytest.mark.parametrize("area", AREAS)
def test_dialect_of_an_area_stays_below_its_bounds(area: str) -> None:
    report = excess(area, *measure(area))
    assert not report, "\n".join(report)


def test_dialect_is_found_in_names_docstrings_and_comments() -> None:
    code = (
        "def what_is_due() -> None:\n"
        '    """Deletes what is due,\n    of which nobody is told."""\n'
        "    # Whoever asks\n"
        'def test_a_hub_that_there_is_not(): "One\'s own hub, or one that there is"\n'
        'SENT = "what is sent is no prose"\n'
    )
    assert sorted(find_dialect(code, python=True)) == [
        ("is told", 3, "of which nobody is told."),
        ("of which", 3, "of which nobody is told."),
        ("one's own", 5, "One's own hub, or one that there is"),
        ("test name", 5, "test_a_hub_that_there_is_not"),
        ("that there is", 5, "One's own hub, or one that there is"),
        ("what", 1, "what_is_due"),
        ("what", 2, "Deletes what is due,"),
        ("whoever", 4, "# Whoever asks"),
    ]
    assert [place.pattern for place in find_dialect("Shows\nwhat waits and what is due", python=False)] == ["what"]


def test_excess_shows_the_places_and_the_standard_form() -> None:
    report = excess("docs", 10, {key: [] for key in DIALECT} | {"whoever": ["docs/posts.md:3: Whoever asks"]})
    bound = BOUNDS["docs"].get("whoever", 0)
    standard = "write the role: “the caller”, “a member”, “a visitor”"
    assert report == [
        f"docs: “whoever” 100.00 in 1,000 lines, at most {bound}; {standard}",
        "docs/posts.md:3: Whoever asks",
    ]
