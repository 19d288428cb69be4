"""Sitemaps: the PUBLIC posts of accounts that may be found and their authors' profiles, and nothing else."""

import re
from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest

from pressroom.domains.moderation import actions as moderation
from pressroom.domains.posts.actions.edit import hide_post
from pressroom.domains.reading import sitemaps
from tests.api.actors import Actor, body_of, nobody, publish
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY
Post = dict[str, Any]
ADDRESS = re.compile(r"<loc>([^<]+)</loc>")


def fetch(server: LocalServer, path: str) -> httpx.Response:
    """A sitemap as a search engine asks for it."""
    return nobody.get(f"{server.base_url}{path}")


def listed(server: LocalServer) -> list[str]:
    """The addresses of all sitemaps, in their order."""
    index = fetch(server, "/sitemap.xml")
    assert index.headers["Content-Type"] == "application/xml; charset=utf-8"
    assert "<sitemapindex" in index.text
    found: list[str] = []
    for address in ADDRESS.findall(index.text):
        page = nobody.get(address)
        assert page.text.startswith('<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns="http://www.sitemaps.org/')
        found += ADDRESS.findall(page.text)
    return found


def paths_of(author: Actor, posts: Iterable[Post]) -> list[str]:
    """Where the author's profile and posts are."""
    return [f"/@{author.account.username}", *(f"/post/{post['id']}" for post in posts)]


def found(author: Actor, posts: Iterable[Post]) -> list[str]:
    """Those of these paths that the sitemaps have once all posts are indexed, in their order; each once."""
    author.server.index()
    wanted = set(paths_of(author, posts))
    paths = [address.removeprefix(author.server.base_url) for address in listed(author.server)]
    return [path for path in dict.fromkeys(paths) if path in wanted]


def test_public_posts_and_profiles_are_listed_once(alice: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "POSTS", 7)
    posts = [publish(alice, f"Post {number}") for number in range(20)]
    others = [publish(alice, "x", visibility=each) for each in ("FOLLOWERS", "CONNECTIONS", "PRIVATE", "CUSTOM")]
    body_of(alice.web.post(f"/api/posts/{posts[0]['id']}/bounce"), 201)

    assert found(alice, [*posts, *others]) == paths_of(alice, posts)
    addresses = [address for address in listed(alice.server) if "/post/" in address]
    assert len(addresses) == len(set(addresses))


def test_times_follow_edits_and_texts_are_escaped(server: LocalServer, alice: Actor) -> None:
    post = publish(alice, "<b>&amp;")
    edited = body_of(alice.web.patch(f"/api/posts/{post['id']}", json={"content": "New"}))
    server.index()

    pages = [nobody.get(address).text for address in ADDRESS.findall(fetch(server, "/sitemap.xml").text)]

    entry = f"<url><loc>{post['permalink']}</loc><lastmod>{edited['editedAt']}</lastmod></url>"
    assert sum(entry in page for page in pages) == 1
    for page in pages:
        ElementTree.fromstring(page)  # noqa: S314  # our own


def test_change_shows_in_the_next_request(server: LocalServer, alice: Actor) -> None:
    narrowed, deleted, hidden, kept = posts = [publish(alice, f"Post {number}") for number in range(4)]
    assert found(alice, posts) == paths_of(alice, posts)

    body_of(alice.web.patch(f"/api/posts/{narrowed['id']}", json={"visibility": "FOLLOWERS"}))
    body_of(alice.web.delete(f"/api/posts/{deleted['id']}"))
    server.run(server.runtime.db.transact(hide_post, alice.account.id, hidden["id"]))
    at_once = " ".join(listed(server))

    assert [post["id"] in at_once for post in posts] == [False, False, False, True]
    assert found(alice, posts) == paths_of(alice, [kept])


@pytest.mark.parametrize("change", [{"discoverable": False}, {"isPrivate": True}, {}])
def test_account_that_is_not_to_be_found_is_absent(server: LocalServer, alice: Actor, change: dict[str, bool]) -> None:
    posts = [publish(alice, "Post")]
    back = {name: not value for name, value in change.items()}
    name, transact = alice.account.username, server.runtime.db.transact
    assert found(alice, posts) == paths_of(alice, posts)

    if change:
        body_of(alice.web.patch("/api/auth/me", json=change))
    else:
        server.run(transact(moderation.suspend_account, name))
    absent = found(alice, posts)
    if change:
        body_of(alice.web.patch("/api/auth/me", json=back))
    else:
        server.run(transact(moderation.restore_account, name))

    assert absent == []
    assert found(alice, posts) == paths_of(alice, posts)


@pytest.mark.parametrize("page", ["x", "-1", "01", "999999999", "9" * 40, "0.xml", "%00"])
def test_unknown_sitemap_is_404(server: LocalServer, page: str) -> None:
    assert fetch(server, f"/sitemap/{page}").status_code == 404


def test_index_names_the_newest_sitemaps(server: LocalServer, alice: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "POSTS", 1)
    monkeypatch.setattr(sitemaps, "MOST", 3)
    for number in range(4):
        publish(alice, f"Post {number}")
    server.index()

    numbers = [int(address.rpartition("/")[2]) for address in ADDRESS.findall(fetch(server, "/sitemap.xml").text)]

    assert numbers == [*range(numbers[0], numbers[0] + 3)]
    assert fetch(server, f"/sitemap/{numbers[-1] + 1}").status_code == 404
    assert fetch(server, f"/sitemap/{numbers[0] - 1}").status_code == 200
