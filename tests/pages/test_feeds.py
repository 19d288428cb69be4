"""Atom feeds: what anybody may read, well-formed whatever people write, and cheap to ask for again."""

import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import feedparser
import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser

from pressroom.db import Command
from pressroom.domains.moderation import actions as moderation
from tests.api.actors import Actor, body_of, nobody, publish
from tests.api.conftest import MakeActor
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.pages.hostile import HOSTILE

SETTINGS = ROOMY
ATOM = "{http://www.w3.org/2005/Atom}"
PLACES = ("first", "next")
FEED_PARTS = {"id": 1, "title": 1, "updated": 1, "link": 2, "generator": 1}
ENTRY_PARTS = {"id": 1, "title": 1, "updated": 1, "published": 1, "link": 1, "author": 1, "content": 1}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
SUSPEND = Command("UPDATE accounts SET suspended_at = 1 WHERE id = :id")


def fetch(server: LocalServer, path: str, **headers: str) -> httpx.Response:
    """A feed as a reader of feeds asks for it."""
    return nobody.get(f"{server.base_url}{path}", headers=headers)


def faults(node: ElementTree.Element, parts: dict[str, int]) -> Iterator[str]:
    """The rules of RFC 4287 for a feed or an entry: how often each part may stand, with which contents."""
    tags = [
        each.tag.removeprefix(ATOM)
        for each in node
        if each.tag != f"{ATOM}entry" and each.attrib.get("rel") not in PLACES
    ]
    for part in {*tags, *parts}:
        if tags.count(part) != parts.get(part, 0):
            yield f"{tags.count(part)} of {part} in {node.tag}"
    for name in ("id", "title"):
        if not (node.findtext(ATOM + name) or "").strip():
            yield f"{name} is empty"
    for name in ("updated", "published"):
        if name in parts and not TIME.fullmatch(node.findtext(ATOM + name) or ""):
            yield f"{name} is no time"
    for link in node.findall(f"{ATOM}link"):
        if not link.attrib["href"].startswith("http") or link.attrib["rel"] not in ("self", "alternate", *PLACES):
            yield f"a link: {link.attrib}"


def read(response: httpx.Response) -> Any:
    """A feed as feedparser understands it, once it holds to the rules."""
    assert response.status_code == 200, response.text
    assert response.headers["Content-Type"] == "application/atom+xml; charset=utf-8"
    tree = ElementTree.fromstring(response.content)  # noqa: S314  # our own
    entries = tree.findall(f"{ATOM}entry")
    wrong = [*faults(tree, FEED_PARTS), *(fault for each in entries for fault in faults(each, ENTRY_PARTS))]
    assert wrong == []
    for entry in entries:
        content = entry.find(f"{ATOM}content")
        assert content is not None
        assert content.attrib == {"type": "html"}
        assert entry.findtext(f"{ATOM}author/{ATOM}name")
    ids = [entry.findtext(f"{ATOM}id") for entry in entries]
    assert len(ids) == len(set(ids))
    feed = feedparser.parse(response.content)
    assert not feed.bozo, feed.get("bozo_exception")
    assert feed.version == "atom10"
    assert [entry.id for entry in feed.entries] == ids
    assert_json_feed_agrees(str(response.url).replace("feed.atom", "feed.json"), tree)
    return feed


def assert_json_feed_agrees(url: str, atom: ElementTree.Element) -> None:
    """The JSON Feed of the same subject has the same parts in the same order."""
    response = nobody.get(url)
    assert response.headers["Content-Type"] == "application/feed+json; charset=utf-8"
    feed = response.json()
    first = url.partition("?")[0]
    assert (feed["version"], feed["feed_url"]) == ("https://jsonfeed.org/version/1.1", first)
    assert (feed["title"], feed["home_page_url"]) == (atom.findtext(f"{ATOM}title"), first.removesuffix("/feed.json"))
    further = atom.find(f"{ATOM}link[@rel='next']")
    assert feed.get("next_url") == (None if further is None else further.attrib["href"].replace(".atom", ".json"))
    entries = atom.findall(f"{ATOM}entry")
    assert len(feed["items"]) == len(entries)
    for item, entry in zip(feed["items"], entries, strict=True):
        assert item["id"] == item["url"] == entry.findtext(f"{ATOM}id")
        assert item["title"] == entry.findtext(f"{ATOM}title")
        assert item["content_html"] == entry.findtext(f"{ATOM}content")
        assert item["date_published"] == entry.findtext(f"{ATOM}published")
        assert item["date_modified"] == entry.findtext(f"{ATOM}updated")
        assert item["authors"][0]["name"] == entry.findtext(f"{ATOM}author/{ATOM}name")
    assert nobody.get(url, headers={"If-None-Match": response.headers["ETag"]}).status_code == 304


def counted(server: LocalServer, path: str, tag: str) -> tuple[httpx.Response, int]:
    """The answer to a client that has a version of a feed, and the number of statements."""
    db, reads = server.runtime.db, 0
    whole = db.read

    async def read(*given: Any) -> Any:
        nonlocal reads
        reads += 1
        return await whole(*given)

    db.read = read  # type: ignore[method-assign]
    try:
        answer = fetch(server, path, **{"If-None-Match": tag})
    finally:
        del db.read
    return answer, reads


def feeds_of(author: Actor) -> dict[str, str]:
    """A hub of the author, and the paths of the feeds that show its posts with #harbour."""
    slug = author.account.username.lower().replace("_", "-")
    body_of(author.web.post("/api/hubs", json={"name": "Hub", "slug": slug}), 201)
    return {
        "account": f"/@{author.account.username}/feed.atom",
        "hub": f"/hub/{slug}/feed.atom",
        "tag": f"/tag/{author.account.username.lower()}/feed.atom",
    }


def hub_id(author: Actor) -> str:
    """The author's hub."""
    return str(body_of(author.web.get("/api/hubs"))["hubs"][0]["id"])


def test_the_newest_public_posts(server: LocalServer, alice: Actor) -> None:
    paths, hub = feeds_of(alice), hub_id(alice)
    posts = [
        publish(alice, f"{number} #{alice.account.username} <b>&amp;\nhttps://a.example", hubId=hub)
        for number in range(22)
    ]
    for visibility in ("FOLLOWERS", "CONNECTIONS", "PRIVATE", "CUSTOM"):
        publish(alice, f"secret #{alice.account.username}", hubId=hub, visibility=visibility)
    for path in paths.values():
        response = fetch(server, path)
        feed = read(response)
        assert "secret" not in response.text
        assert [entry.id for entry in feed.entries] == [f"{server.base_url}/post/{post['id']}" for post in posts[:1:-1]]
        (first, *_) = feed.entries
        assert first.link == first.id
        assert first.author_detail.name == alice.account.display_name
        assert f'href="{server.base_url}/tag/{alice.account.username.lower()}"' in first.content[0].value
        assert "<br" in first.content[0].value
        assert feed.feed.updated == posts[-1]["createdAt"]


def test_next_links_lead_to_every_public_post(server: LocalServer, alice: Actor) -> None:
    paths, hub = feeds_of(alice), hub_id(alice)
    posts = [publish(alice, f"{number} #{alice.account.username}", hubId=hub) for number in range(45)]
    publish(alice, f"secret #{alice.account.username}", hubId=hub, visibility="FOLLOWERS")
    for path in paths.values():
        found, address = list[str](), f"{server.base_url}{path}"
        while address:
            page = fetch(server, address.removeprefix(server.base_url))
            feed = read(page)
            assert feed.feed.id == f"{server.base_url}{path}"
            links = {link.rel: link.href for link in feed.feed.links}
            assert links["self"] == address
            assert ("first" in links) == bool(found)
            known = fetch(server, address.removeprefix(server.base_url), **{"If-None-Match": page.headers["ETag"]})
            assert known.status_code == 304
            found += [entry.id.rpartition("/")[2] for entry in feed.entries]
            address = links.get("next", "")
        assert found == [post["id"] for post in reversed(posts)]
        assert fetch(server, f"{path}?before=<nothing>").status_code == 400


def test_first_page_changes_when_a_further_one_appears(server: LocalServer, alice: Actor) -> None:
    path = f"/@{alice.account.username}/feed.atom"
    oldest = publish(alice, "oldest")
    for number in range(20):
        publish(alice, f"{number}")
    first = fetch(server, path)
    assert 'rel="next"' in first.text
    body_of(alice.web.delete(f"/api/posts/{oldest['id']}"))

    again = fetch(server, path, **{"If-None-Match": first.headers["ETag"]})

    assert again.status_code == 200
    assert 'rel="next"' not in again.text


def test_pages_link_their_feeds(server: LocalServer, alice: Actor) -> None:
    paths = feeds_of(alice)
    publish(alice, f"#{alice.account.username}", hubId=hub_id(alice))
    for path in paths.values():
        page = fetch(server, path.removesuffix("/feed.atom")).text
        assert f'<link rel="alternate" type="application/atom+xml" href="{path}"' in page
        read(fetch(server, path))


def test_any_text_makes_a_valid_feed(server: LocalServer, alice: Actor) -> None:
    paths, hub = feeds_of(alice), hub_id(alice)
    worst = [*HOSTILE, "a\x01\x0b\x1b\x7f\x85\ufffe\uffffb ]]> <![CDATA[ &#0; \u202e\u2066", "🎈" * 4_900]
    body_of(alice.web.patch("/api/auth/me", json={"displayName": "]]> <b>&amp; 🎈"}))
    for start in range(0, len(worst), 19):
        for words in worst[start : start + 19]:
            publish(alice, f"#{alice.account.username} {words}"[:5_000], hubId=hub)
        for path in paths.values():
            tree = ElementTree.fromstring(fetch(server, path).content)  # noqa: S314  # our own
            for entry in tree.iter(f"{ATOM}content"):
                nodes = LexborHTMLParser(entry.text or "").css("body *")
                assert {node.tag for node in nodes} <= {"p", "a", "br"}
                assert all((node.attributes.get("href") or "http").startswith("http") for node in nodes)
            read(fetch(server, path))


def test_bounces_and_quotes(server: LocalServer, actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(bob, "What bob said")
    body_of(alice.web.post(f"/api/posts/{post['id']}/bounce"), 201)
    body_of(alice.web.post(f"/api/posts/{post['id']}/bounce", json={"content": "So true"}), 201)
    path = f"/@{alice.account.username}/feed.atom"
    response = fetch(server, path)
    quote, bounce = read(response).entries
    assert "So true" in quote.content[0].value
    assert "What bob said" in quote.content[0].value
    assert "What bob said" in bounce.content[0].value
    body_of(bob.web.patch(f"/api/posts/{post['id']}", json={"visibility": "PRIVATE"}))
    again = fetch(server, path, **{"If-None-Match": response.headers["ETag"]})
    assert again.status_code == 200, "what was taken back is gone"
    read(again)
    assert "bob said" not in again.text


def test_suspended_author_is_gone_from_feeds(server: LocalServer, actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(bob, "What bob said")
    body_of(alice.web.post(f"/api/posts/{post['id']}/bounce", json={"content": "So true"}), 201)
    path = f"/@{alice.account.username}/feed.atom"
    first = fetch(server, path)
    assert "What bob said" in first.text
    server.run(server.runtime.db.transact(moderation.suspend_account, bob.account.username))

    again = fetch(server, path, **{"If-None-Match": first.headers["ETag"]})

    assert again.status_code == 200
    assert "bob said" not in again.text
    server.run(server.runtime.db.transact(moderation.restore_account, bob.account.username))
    restored = fetch(server, path, **{"If-None-Match": again.headers["ETag"]})
    assert "What bob said" in restored.text


def test_unchanged_part_costs_one_read(server: LocalServer, alice: Actor) -> None:
    paths, hub = feeds_of(alice), hub_id(alice)
    post = publish(alice, f"#{alice.account.username}", hubId=hub)
    tags: dict[str, str] = {}
    for path in paths.values():
        first = fetch(server, path)
        assert "Last-Modified" in first.headers
        again, reads = counted(server, path, first.headers["ETag"])
        assert (again.status_code, again.content, reads) == (304, b"", 1)
        tags[path] = first.headers["ETag"]
    body_of(alice.web.patch(f"/api/posts/{post['id']}", json={"content": f"#{alice.account.username} again"}))
    for path in paths.values():
        assert "again" in fetch(server, path, **{"If-None-Match": tags[path]}).text


@pytest.mark.parametrize("how", ["private", "suspended", "unknown"])
def test_accounts_without_a_feed(server: LocalServer, alice: Actor, how: str) -> None:
    paths, hub = feeds_of(alice), hub_id(alice)
    publish(alice, f"a word #{alice.account.username}", hubId=hub)
    known = fetch(server, paths["account"]).headers["ETag"]
    match how:
        case "private":
            body_of(alice.web.patch("/api/auth/me", json={"isPrivate": True}))
        case "suspended":
            server.run(server.runtime.db.transact(lambda tx: tx.run(SUSPEND, id=alice.account.id)))
        case _:
            assert fetch(server, "/@nobody_at_all/feed.atom").status_code == 404
            assert fetch(server, "/hub/no-such-hub/feed.atom").status_code == 404
            assert fetch(server, "/tag/nothing-here/feed.atom").status_code == 404
            return
    for headers in ({}, {"If-None-Match": known}):
        assert fetch(server, paths["account"], **headers).status_code == 404
        assert fetch(server, paths["tag"], **headers).status_code == 404
    if how == "suspended":
        assert "a word" not in fetch(server, paths["hub"]).text
