"""Files that are published a moment ago: pages show them by themselves when they are READY or FAILED."""

import pytest
from playwright.sync_api import expect

from tests.api.actors import Actor, Json, body_of
from tests.api.conftest import MakeActor, one_engine
from tests.harness.browser import OpenTab, Tab, needs_chromium
from tests.harness.roomy import ROOMY
from tests.pages.files import broken_video, filmed, picture, uploaded, video
from tests.pages.reader import Page, fetch, visit

SETTINGS = ROOMY

POLL = 2_100
"""Milliseconds in which a part asks once."""

LIVE = "[data-live]"


def parts(page: Page) -> list[str]:
    """The addresses that the parts of a page ask."""
    return page.values(LIVE, "hx-get")


def test_part_counts_ready_files(alice: Actor) -> None:
    post = uploaded(alice, picture(), video(), broken_video())
    here = f"/post/{post['id']}"
    page = visit(alice.server, here)
    assert parts(page) == [f"{here}/files?large=1"]
    assert page.values(LIVE, "data-version") == ["PPP"]
    assert page.line(".ready-count") == "0 of 3 ready"

    same = fetch(alice.server, f"{here}/files", None, **{"If-None-Match": '"PPP"'})
    assert (same.status_code, same.content) == (204, b"")
    alice.server.do_jobs()
    answer = fetch(alice.server, f"{here}/files", None, **{"If-None-Match": '"PPP"'})

    assert (answer.status_code, answer.headers["etag"]) == (200, 'W/"RRF"')
    assert answer.headers["cache-control"] == "no-store"
    part = Page(answer.text)
    assert (part.has("a.file > img"), part.has("video"), part.has(".failed"), part.has(".waiting")) == (
        *(True, True, True),
        False,
    )
    assert part.has("[data-live-over]")
    assert not part.has(".ready-count")
    assert not parts(visit(alice.server, here))


def test_a_part_is_for_readers_of_its_post(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    posts = [uploaded(alice, picture(), visibility=each) for each in ("PUBLIC", "PRIVATE")]
    clips = [filmed(alice, visibility=each) for each in ("PUBLIC", "PRIVATE")]
    hidden = [f"/post/{posts[1]['id']}/files", *(f"/clip/{clips[1]['id']}/{part}" for part in ("files", "poster"))]
    shown = [f"/post/{posts[0]['id']}/files", *(f"/clip/{clips[0]['id']}/{part}" for part in ("files", "poster"))]

    for path in shown:
        assert [fetch(alice.server, path, who).status_code for who in (None, bob, alice)] == [200] * 3
    for path in hidden:
        assert [fetch(alice.server, path, who).status_code for who in (None, bob, alice)] == [404, 404, 200]
    body_of(alice.api.delete(f"/api/posts/{posts[0]['id']}"))
    body_of(alice.web.delete(f"/api/clips/{clips[0]['id']}"))
    for path in (*shown, "/post/absent/files", "/clip/absent/files"):
        assert fetch(alice.server, path, alice).status_code == 404


def test_parts_of_restricted_files_have_ending_addresses(alice: Actor) -> None:
    post = uploaded(alice, picture(), visibility="PRIVATE")
    alice.server.do_jobs()

    part = Page(fetch(alice.server, f"/post/{post['id']}/files", alice).text)

    assert all("/media/signed." in each for each in part.values(".file > img:not(.backdrop)", "src"))


def pages_of(alice: Actor, post: Json, clip: Json) -> list[str]:
    """Every sort of page that shows the post or the clip."""
    name = alice.account.username
    return [
        f"/post/{post['id']}",
        f"/@{name}",
        f"/@{name}/clips",
        f"/tag/{name}",
        f"/hub/{name}",
        f"/clip/{clip['id']}",
        f"/search?q=%23{name}",
        "/",
        "/clips",
        "/saved",
        f"/post/{post['id']}/quote",
    ]


FOR_EVERYBODY = 6
"""So many of `pages_of` are open to strangers."""


def published(alice: Actor) -> tuple[Json, Json]:
    """A post and a clip in processing, in a hub, with a hashtag, saved."""
    name = alice.account.username
    hub = body_of(alice.web.post("/api/hubs", json={"name": "A hub", "slug": name}), 201)["id"]
    post = uploaded(alice, picture(1600, 1200), content=f"#{name}", hubId=hub)
    body_of(alice.web.post(f"/api/posts/{post['id']}/save"))
    return post, filmed(alice)


@one_engine
def test_pages_hold_script_only_while_a_file_is_processed(alice: Actor) -> None:
    post, clip = published(alice)
    strangers = pages_of(alice, post, clip)[:FOR_EVERYBODY]

    for path in strangers:
        answer = fetch(alice.server, path)
        assert "script-src 'self'" in answer.headers["content-security-policy"], path
        assert [each.rpartition("/")[2] for each in Page(answer.text).values("script", "src")] == [
            "htmx.min.js",
            "ui.js",
        ]
    alice.server.do_jobs()
    for path in strangers:
        answer = fetch(alice.server, path)
        assert "script-src" not in answer.headers["content-security-policy"], path
        assert not Page(answer.text).has(f"script, {LIVE}")


def ask(tab: Tab) -> None:
    """Lets each part ask once."""
    tab.page.clock.run_for(POLL)


@needs_chromium
@one_engine
@pytest.mark.parametrize("reader", ["owner", "stranger"])
def test_files_appear_by_themselves(alice: Actor, open_tab: OpenTab, reader: str) -> None:
    post, clip = published(alice)
    paths = pages_of(alice, post, clip)[: None if reader == "owner" else FOR_EVERYBODY]
    tabs = [open_tab(alice.server, alice if reader == "owner" else None) for _ in paths]
    for tab, path in zip(tabs, paths, strict=True):
        tab.page.clock.install()
        tab.open(path)
        assert tab.page.locator(LIVE).count() >= 1, path
        assert tab.page.locator(".file img:not(.backdrop), .poster img, video").count() == 0, path

    alice.server.do_jobs()

    for tab, path in zip(tabs, paths, strict=True):
        ask(tab)
        expect(tab.page.locator(".waiting, .pending"), path).to_have_count(0)
        assert tab.page.locator(".file img:not(.backdrop), .poster img, video").count() >= 1, path
        asked = len(tab.requests)
        tab.page.clock.run_for(10 * POLL)
        assert [each.url for each in tab.requests[asked:] if "/files" in each.url or "/poster" in each.url] == []


@needs_chromium
@one_engine
def test_failed_file_shows_its_failure(alice: Actor, open_tab: OpenTab) -> None:
    post = uploaded(alice, broken_video())
    tab = open_tab(alice.server, alice)
    tab.page.clock.install()
    tab.open(f"/post/{post['id']}")

    alice.server.do_jobs()
    ask(tab)

    expect(tab.page.locator(".file.failed")).to_have_text("This file could not be shown.")
