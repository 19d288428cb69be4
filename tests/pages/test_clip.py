"""The page of a clip: its readers, its player, its metadata."""

import pytest

from pressroom.domains.media.urls import LONGEST
from tests.api.actors import Actor, Json, body_of, nobody, publish
from tests.api.audiences import READERS, SEEN_BY, crowd
from tests.api.conftest import MakeActor
from tests.harness.roomy import ROOMY
from tests.pages.files import broken_video, filmed, video
from tests.pages.reader import fetch, visit

SETTINGS = ROOMY
ABSENT = "01HZ0000000000000000000000"

every_visibility = pytest.mark.parametrize("visibility", SEEN_BY)


def address(clip: Json) -> str:
    return f"/clip/{clip['id']}"


def ready(who: Actor, **texts: str) -> Json:
    """A clip whose video has been processed."""
    clip = filmed(who, **texts)
    who.server.do_jobs()
    return body_of(who.web.get(f"/api/clips/{clip['id']}"))


def test_a_clip_is_played(alice: Actor) -> None:
    clip = ready(alice, caption="The press at work, says @nobody #press")
    url = clip["url"]

    page = visit(alice.server, address(clip))

    assert page.line("h1") == f"Clip by {alice.account.username}"
    assert page.values("video", "poster") == [f"{url}/poster"]
    assert [page.values("video", name) for name in ("width", "height")] == [["320"], ["180"]]
    assert (page.values("source", "src"), page.values("source", "type")) == ([url], ["video/mp4"])
    assert page.line(".text") == "The press at work, says @nobody #press"
    assert ("#press", "/tag/press") in page.links(".text")
    assert page.line(".via") == "via test key"
    assert page.has(".file > .backdrop")


@every_visibility
def test_it_is_for_those_who_may_see_it(actor: MakeActor, visibility: str) -> None:
    people = crowd(actor)
    server = people["author"].server
    clip = ready(people["author"], caption="Secret", visibility=visibility)
    seen_by = SEEN_BY["PRIVATE"] if visibility == "CUSTOM" else SEEN_BY[visibility]

    for kind in READERS:
        answer = fetch(server, address(clip), people.get(kind))
        assert (kind, answer.status_code) == (kind, 200 if kind in seen_by else 404)
        assert ("Secret" in answer.text) == (kind in seen_by)
        assert answer.headers["content-type"].startswith("text/html")


@every_visibility
def test_it_introduces_itself_to_all_or_to_nobody(alice: Actor, visibility: str) -> None:
    base, name = alice.server.base_url, alice.account.username
    clip = ready(alice, caption="The\npress", visibility=visibility)

    answer = fetch(alice.server, address(clip), alice)
    page = visit(alice.server, address(clip), alice)

    told = {key: value for key, value in page.meta.items() if ":" in key}
    assert answer.headers["cache-control"] == "no-store"
    if visibility == "PUBLIC":
        assert told == {
            "og:type": "video.other",
            "og:site_name": "Pressroom",
            "og:title": f'{name}: "The press"',
            "og:description": "The press",
            "og:url": f"{base}{address(clip)}",
            "og:image": clip["thumbnailUrl"],
            "twitter:card": "summary_large_image",
        }
        assert page.link("canonical") == f"{base}{address(clip)}"
        assert "robots" not in page.meta
        assert fetch(alice.server, address(clip)).headers["cache-control"] == "no-cache"
    else:
        assert (told, page.link("canonical"), page.meta["robots"]) == ({}, None, "noindex")


def test_one_for_some_has_an_address_that_runs_out(alice: Actor) -> None:
    clip = ready(alice, visibility="FOLLOWERS")

    page = visit(alice.server, address(clip), alice)

    (source,), (poster,) = page.values("source", "src"), page.values("video", "poster")
    assert "/media/signed." in source
    assert clip["url"] not in page.html
    assert [nobody.get(each).status_code for each in (source, poster)] == [200, 200]
    alice.server.clock.advance(LONGEST)
    assert [nobody.get(each).status_code for each in (source, poster)] == [404, 404]


def test_unprocessed_clip_shows_its_state(alice: Actor) -> None:
    good, bad = filmed(alice, video()), filmed(alice, broken_video())
    for clip in (good, bad):
        page = visit(alice.server, address(clip))
        assert page.line(".waiting") == "This video is being prepared. Look again in a moment."
        assert not page.has("video")
        assert page.line("head > title") == f"{alice.account.username} published a clip"

    alice.server.do_jobs()

    assert visit(alice.server, address(good)).has("video")
    assert visit(alice.server, address(bad)).line(".failed") == "This file could not be shown."


def test_one_without_a_picture_names_none(alice: Actor) -> None:
    clip = filmed(alice, broken_video())

    assert visit(alice.server, address(clip)).meta["og:image"].endswith("/card.png")
    alice.server.do_jobs()
    assert visit(alice.server, address(clip)).meta["og:image"].endswith("/card.png")


def test_other_posts_are_no_clips(alice: Actor) -> None:
    for path in (f"/clip/{ABSENT}", "/clip/absent", f"/clip/{publish(alice)['id']}", f"/post/{filmed(alice)['id']}"):
        visit(alice.server, path, status=404)
        visit(alice.server, path, alice, status=404)
