"""Pages full of what is hostile, in a browser that would run it: nothing of it runs, and all of it is read."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.api.actors import Actor
from tests.api.conftest import one_engine
from tests.harness.roomy import ROOMY
from tests.pages.chromium import CHROMIUM, browse
from tests.pages.gallery import hang_comments, hang_posts
from tests.pages.hostile import HOSTILE, MARKER
from tests.pages.markup import strange
from tests.pages.reader import Page, fetch

SETTINGS = ROOMY
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here; CI has one")

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
def test_a_browser_shows_hostile_words(alice: Actor, tmp_path: Path, hang: Callable[[Actor], str]) -> None:
    base_url = alice.server.base_url

    html, reports = browse(base_url + hang(alice), tmp_path)

    check(html, base_url)
    assert reports == [], "the policy had nothing to forbid"


@one_engine
@galleries
def test_they_are_harmless_without_the_policy_too(alice: Actor, tmp_path: Path, hang: Callable[[Actor], str]) -> None:
    page = tmp_path / "page.html"
    page.write_bytes(fetch(alice.server, hang(alice)).content)

    html, _ = browse(page.as_uri(), tmp_path / "profile")

    check(html, alice.server.base_url)


def test_the_browser_would_have_run_them(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><meta charset=utf-8><title></title>{HOSTILE[0]}", "utf-8")

    html, _ = browse(page.as_uri(), tmp_path / "profile")

    assert MARKER in html
