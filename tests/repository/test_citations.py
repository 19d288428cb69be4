"""Every rule that the code cites stands in docs/: the page is there, and the heading."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "benchmarks", "docs", "deploy", "scripts", ".github")
TEXT = {".py", ".md", ".sql", ".lua", ".toml", ".service", ".html", ".mjs", ".ts", ".yaml", ".yml"}
CITATION = re.compile(r"docs/(?P<page>[a-z-]+\.md)(?:#(?P<heading>[a-z0-9-]+))?")
LINK = re.compile(r"\]\((?P<page>[a-z/-]*\.md)?(?:#(?P<heading>[a-z0-9-]+))?\)")
NO_DOCUMENTS = re.compile(r"\b(?:SPEC|CONTRACT|DESIGN)(?:\.md|,|\)| \d|:|\b(?= says))")
"""Documents that a reader of the repository cannot open."""


def files() -> Iterator[Path]:
    """Every file of our own; vendored ones cite nothing of ours."""
    for path in [*ROOT.glob("*"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]:
        parts = path.relative_to(ROOT).parts
        if path.is_file() and path.suffix in TEXT and not {"vendor", "node_modules", "out"} & set(parts):
            yield path


def headings(page: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them."""
    lines = re.sub(r"^(```|    ).*?$", "", page.read_text("utf-8"), flags=re.MULTILINE).splitlines()
    titles = [line.lstrip("#").strip().lower() for line in lines if re.match(r"#{1,6} ", line)]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def missing(found: re.Match[str], file: Path, page: Path) -> str | None:
    """The missing target of a citation or link; None when it leads somewhere."""
    if not page.is_file():
        return f"{file.relative_to(ROOT)} cites {found[0]}: there is no such page"
    if found["heading"] is not None and found["heading"] not in headings(page):
        return f"{file.relative_to(ROOT)} cites {found[0]}: the page has no such heading"
    return None


def test_every_citation_leads_to_a_page_and_its_heading() -> None:
    cited = [(found, file) for file in files() for found in CITATION.finditer(file.read_text("utf-8"))]

    assert len(cited) > 50
    assert [each for found, file in cited if (each := missing(found, file, ROOT / "docs" / found["page"]))] == []


@pytest.mark.parametrize("file", [*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")], ids=lambda file: file.name)
def test_every_link_between_pages_leads_to_its_heading(file: Path) -> None:
    links = LINK.finditer(file.read_text("utf-8"))

    assert [lack for link in links if (lack := missing(link, file, (file.parent / (link["page"] or file.name))))] == []


def test_no_file_cites_a_document_that_the_repository_lacks() -> None:
    cited = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in files()
        if file != Path(__file__)
        for line in file.read_text("utf-8").splitlines()
        if NO_DOCUMENTS.search(line)
    ]

    assert cited == []
