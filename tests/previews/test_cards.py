"""Posts and their cards, and the contents of a card (docs/previews.md)."""

import io
from typing import Any

import httpx
import pytest
from PIL import Image

from tests.api.actors import Actor, Json, body_of, field_errors, nobody, publish, read
from tests.api.conftest import MakeActor, one_engine
from tests.corpus.pictures import saved
from tests.domains.previews.pages import og
from tests.domains.previews.site import Site
from tests.harness.roomy import ROOMY

SETTINGS = {**ROOMY, "DEV": 1}

PNG = {"Content-Type": "image/png"}
SIZE = (1200, 630)


def picture() -> bytes:
    """An image as a page would name it."""
    return saved(Image.new("RGB", SIZE, (30, 90, 200)), "PNG")


def introduce(site: Site, *paths: str) -> None:
    """Pages that are called by their paths."""
    for path in paths:
        site.page(path, og("title", path))


def title(post: Json) -> str | None:
    """The title of a post's card."""
    return post["linkPreview"] and post["linkPreview"]["title"]


def edited(author: Actor, post: Json, **changes: Any) -> Json:
    return body_of(author.api.patch(f"/api/posts/{post['id']}", json=changes))


def uploaded(author: Actor, **texts: str) -> httpx.Response:
    """Publishes a picture."""
    return author.api.post("/api/posts/upload", files=[("media", ("a.png", picture(), "image/png"))], data=texts)


def test_a_created_post_bears_the_card_of_its_link(alice: Actor, site: Site) -> None:
    page = og("title", "T &amp; t") + og("description", "D") + og("site_name", "S") + og("image", "/i.png")
    site.page("/a", page)
    site.page("/i.png", picture(), PNG)

    post = publish(alice, f"See {site.url('/a')}.")

    card = post["linkPreview"]
    assert list(card) == ["url", "title", "description", "image", "siteName"]
    assert card | {"image": ""} == {
        "url": site.url("/a"),
        "title": "T & t",
        "description": "D",
        "image": "",
        "siteName": "S",
    }
    assert read(alice, post["id"])["linkPreview"] == card


def test_its_image_is_our_own(alice: Actor, site: Site) -> None:
    site.page("/a", og("title", "T") + og("image", "/i.png"))
    site.page("/i.png", picture(), PNG)

    image = publish(alice, site.url("/a"))["linkPreview"]["image"]
    answer = nobody.get(image)

    assert image.startswith(f"{alice.server.base_url}/cards/")
    assert site.url("") not in image
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/webp")
    assert answer.headers["x-content-type-options"] == "nosniff"
    with Image.open(io.BytesIO(answer.content)) as shown:
        assert (shown.format, shown.size, shown.getexif()) == ("WEBP", (640, 336), {})
    assert site.requests == {"/a": 1, "/i.png": 1}


@one_engine
@pytest.mark.parametrize(
    "body", [b"", b"<svg onload=alert(1)>", b"\x89PNG\r\n\x1a\n" + bytes(99)], ids=["0", "svg", "png"]
)
def test_invalid_image_leaves_a_card_without_one(alice: Actor, site: Site, body: bytes) -> None:
    site.page("/a", og("title", "T") + og("image", "/i.png"))
    site.page("/i.png", body, PNG)

    assert publish(alice, site.url("/a"))["linkPreview"] == {
        "url": site.url("/a"),
        "title": "T",
        "description": None,
        "image": None,
        "siteName": None,
    }


@one_engine
def test_no_other_card_image_is_served(alice: Actor) -> None:
    for name in ("0" * 32, "absent", "..%2F..%2Fpressroom.db", "0" * 31 + "/", "A" * 32):
        assert nobody.get(f"{alice.server.base_url}/cards/{name}").status_code == 404


@pytest.mark.parametrize("way", ["api", "web"])
def test_the_first_link_alone_counts(alice: Actor, site: Site, way: str) -> None:
    introduce(site, "/a", "/b")
    content = f"ftp://x.org/ www.x.org ({site.url('/a')}), then {site.url('/b')}"

    post = body_of(getattr(alice, way).post("/api/posts", json={"content": content}), 201)

    assert title(post) == "/a"
    assert site.requests == {"/a": 1}


def test_a_post_without_a_link_bears_none(alice: Actor, site: Site) -> None:
    assert publish(alice, "No link")["linkPreview"] is None
    assert publish(alice, f"{site.host}:{site.port}/a")["linkPreview"] is None
    assert not site.requests


def test_a_forced_card_comes_before_the_text(alice: Actor, site: Site) -> None:
    introduce(site, "/a", "/b")

    forced = publish(alice, site.url("/a"), linkPreviewUrl=site.url("/b"))
    alone = publish(alice, "No link", linkPreviewUrl=site.url("/b"))
    none = publish(alice, site.url("/a"), linkPreviewUrl=None)

    assert [title(post) for post in (forced, alone, none)] == ["/b", "/b", "/a"]
    assert site.requests == {"/a": 1, "/b": 1}


@one_engine
@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("", "invalid_format"),
        ("/a", "invalid_format"),
        ("x.org", "invalid_format"),
        ("ftp://x.org/", "invalid_format"),
        ("javascript:alert(1)", "invalid_format"),
        ("data:text/html,x", "invalid_format"),
        ("https://", "invalid_format"),
        ("https://user:pass@x.org/", "invalid_format"),
        ("https://x.org:0/", "invalid_format"),
        ("https://x.org:99999/", "invalid_format"),
        ("https://[::1", "invalid_format"),
        ("https://x.org/" + "a" * 2_048, "too_long"),
        (1, "type"),
        (["https://x.org/"], "type"),
    ],
    ids=str,
)
def test_a_bad_forced_link_is_refused(alice: Actor, url: object, code: str) -> None:
    answer = alice.api.post("/api/posts", json={"content": "x", "linkPreviewUrl": url})

    assert field_errors(answer) == [("linkPreviewUrl", code)]


def test_an_edit_takes_the_card_along(alice: Actor, site: Site) -> None:
    introduce(site, "/a", "/b")
    post = publish(alice, site.url("/a"))

    shown = [
        title(edited(alice, post, visibility="FOLLOWERS")),
        title(edited(alice, post, content=f"Now {site.url('/b')}")),
        title(edited(alice, post, content="No link")),
        title(edited(alice, post, content=site.url("/a"))),
    ]

    assert shown == ["/a", "/b", None, "/a"]
    assert title(read(alice, post["id"])) == "/a"
    assert site.requests == {"/a": 1, "/b": 1}


def test_a_forced_card_stays_through_edits(alice: Actor, site: Site) -> None:
    introduce(site, "/a", "/b")
    post = publish(alice, "Look", linkPreviewUrl=site.url("/a"))

    for content in (site.url("/b"), "No link"):
        assert title(edited(alice, post, content=content)) == "/a"


def test_an_edit_cannot_force_one(alice: Actor) -> None:
    answer = alice.api.patch(f"/api/posts/{publish(alice)['id']}", json={"linkPreviewUrl": "https://x.org/"})

    assert ("linkPreviewUrl", "unknown_field") in field_errors(answer)


def test_a_quote_bears_its_own_card(actor: MakeActor, site: Site) -> None:
    alice, bob = actor(), actor()
    introduce(site, "/a", "/b")
    post = publish(alice, site.url("/a"))

    bounces = [
        body_of(bob.api.post(f"/api/posts/{post['id']}/bounce", json={"content": content}), 201)
        for content in (f"Also {site.url('/b')}", "No link", None)
    ]

    assert [title(bounce) for bounce in bounces] == ["/b", None, None]
    assert [title(bounce["originalPost"]) for bounce in bounces] == ["/a"] * 3


def test_media_takes_precedence(alice: Actor, site: Site) -> None:
    introduce(site, "/a")

    post = body_of(uploaded(alice, content=site.url("/a")), 201)

    assert post["linkPreview"] is None
    assert edited(alice, post, content=f"Still {site.url('/a')}")["linkPreview"] is None
    assert read(alice, post["id"])["linkPreview"] is None


@one_engine
def test_a_post_with_media_fetches_nothing(alice: Actor, site: Site) -> None:
    introduce(site, "/a", "/b")

    post = body_of(uploaded(alice, content=site.url("/a")), 201)
    assert not site.requests
    edited(alice, post, content=site.url("/b"))
    assert not site.requests


@one_engine
def test_an_upload_has_no_forced_link(alice: Actor) -> None:
    assert field_errors(uploaded(alice, linkPreviewUrl="https://x.org/")) == [("linkPreviewUrl", "unknown_field")]


@one_engine
def test_redirects_are_followed_and_the_link_keeps_its_text(alice: Actor, site: Site) -> None:
    introduce(site, "/3")
    for number in range(3):
        site.redirect(f"/{number}", f"/{number + 1}")
    site.redirect("/more", "/0")

    card = publish(alice, site.url("/0"))["linkPreview"]

    assert (card["url"], card["title"]) == (site.url("/0"), "/3")
    assert publish(alice, site.url("/more"))["linkPreview"] is None


@one_engine
def test_spellings_of_one_address_share_a_card(alice: Actor, site: Site) -> None:
    introduce(site, "/a")
    spelt = [site.url("/a"), site.url("/a#part").replace("http", "HTTP"), site.url("/a#")]

    cards = [publish(alice, url)["linkPreview"] for url in spelt]

    assert {card["url"] for card in cards} == {site.url("/a")}
    assert site.requests == {"/a": 1}
