"""Pages full of hostile texts, in a browser that would run them: nothing runs, and everything is read."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.api.actors import Actor
from tests.api.conftest import one_engine
from tests.harness.browser import OpenTab, needs_chromium
from tests.harness.roomy import ROOMY
from tests.pages.gallery import hang_comments, hang_posts
from tests.pages.hostile import HOSTILE, MARKER
from tests.pages.markup import strange
from tests.pages.reader import Page, fetch

SETTINGS = ROOMY
pytestmark = needs_chromium

galleries = pytest.mark.parametrize("hang", [hang_comments, hang_posts])


def check(html: str, base_url: str) -> None:
    """Nothing has run, there is nothing that could, and every word is there."""
    page = Page(html)
    assert MARKER not in html
    assert strange(page, base_url) == []
    shown = "\n".join(page.texts(".text") + page.texts(".label"))
    assert [words for words in HOSTILE if words[:100] not in shown] == []


@one_engine
@galleries
def test_a_browser_shows_hostile_words(alice: Actor, open_tab: OpenTab, hang: Callable[[Actor], str]) -> None:
    tab = open_tab(alice.server)

    tab.open(hang(alice))

    check(tab.page.content(), alice.server.base_url)
    assert tab.reports == [], "the policy had nothing to forbid"


@one_engine
@galleries
def test_they_are_harmless_without_the_policy_too(
    alice: Actor, open_tab: OpenTab, tmp_path: Path, hang: Callable[[Actor], str]
) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(fetch(alice.server, hang(alice)).content)
    tab = open_tab()

    tab.open(file.as_uri())

    check(tab.page.content(), alice.server.base_url)
    tab.reports.clear()  # A file has no host: every picture is asked of another.


def test_the_browser_would_have_run_them(open_tab: OpenTab, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><title></title>{HOSTILE[0]}", "utf-8")
    tab = open_tab()

    tab.open(file.as_uri())

    assert MARKER in tab.page.content()
    tab.reports.clear()
