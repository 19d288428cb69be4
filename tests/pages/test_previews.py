"""A page's metadata for link previews and embeds: of PUBLIC posts alone."""

from collections.abc import Callable
from urllib.parse import quote

import httpx
import pytest

from pressroom.web.static_files import static_path
from tests.api.actors import Actor, Json, body_of, nobody, publish
from tests.api.audiences import SEEN_BY, set_audience
from tests.api.conftest import MakeActor, one_engine
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.pages.reader import Page, fetch, visit

SETTINGS = ROOMY

LONG = "word " * 100
FOR_SOME = [visibility for visibility in SEEN_BY if visibility != "PUBLIC"]


def permalink(post: Json) -> str:
    return f"/post/{post['id']}"


def embedded(server: LocalServer, url: str, more: str = "") -> httpx.Response:
    """Asks for the oEmbed document of an address."""
    return fetch(server, f"/oembed?url={quote(url, safe='')}{more}")


def open_graph(page: Page) -> dict[str, str]:
    """The page's Open Graph metadata."""
    return {name: value for name, value in page.meta.items() if ":" in name}


def test_a_public_post_introduces_itself(alice: Actor) -> None:
    base, name = alice.server.base_url, alice.account.username
    post = publish(alice, 'He said:\n  "the  heron" & left.')
    said = 'He said: "the heron" & left.'

    page = visit(alice.server, permalink(post))

    assert open_graph(page) == {
        "og:type": "article",
        "og:site_name": "Pressroom",
        "og:title": f'{name}: "{said}"',
        "og:description": said,
        "og:url": f"{base}{permalink(post)}",
        "og:image": f"{base}{static_path('card.png')}",
        "twitter:card": "summary_large_image",
        "article:published_time": post["createdAt"],
    }
    assert page.line("head > title") == f'{name}: "{said}"'
    assert page.meta["description"] == said
    assert "robots" not in page.meta
    assert page.link("canonical") == f"{base}{permalink(post)}"
    embed = f"{base}/oembed?url={quote(f'{base}{permalink(post)}', safe='')}"
    assert page.link("alternate") == embed
    assert body_of(fetch(alice.server, embed))["title"] == said


def test_edit_shows_its_time(alice: Actor) -> None:
    post = publish(alice)
    alice.server.clock.advance(1_000)
    edited = body_of(alice.web.patch(f"/api/posts/{post['id']}", json={"content": LONG}))

    page = visit(alice.server, permalink(post))

    assert page.meta["article:published_time"] == post["createdAt"]
    assert page.meta["article:modified_time"] == edited["editedAt"]
    assert len(page.meta["og:description"]) <= 200
    assert page.meta["og:description"].endswith("word…")
    assert len(page.meta["og:title"]) <= len(alice.account.username) + 64


@pytest.mark.parametrize("visibility", FOR_SOME)
def test_restricted_post_has_no_metadata(actor: MakeActor, visibility: str) -> None:
    alice, bob = actor(), actor()
    post = publish(alice, visibility=visibility)
    set_audience(alice, post, bob)

    readers = (alice, bob) if visibility == "CUSTOM" else (alice,)
    for reader in readers:
        page = visit(alice.server, permalink(post), reader)
        assert open_graph(page) == {}
        assert page.link("alternate") is None
        assert page.meta["robots"] == "noindex"


@one_engine
@pytest.mark.parametrize("visibility", FOR_SOME)
def test_a_post_for_some_names_no_address_for_search_engines(alice: Actor, visibility: str) -> None:
    page = visit(alice.server, permalink(publish(alice, visibility=visibility)), alice)

    assert page.link("canonical") is None


def test_lists_introduce_themselves(alice: Actor) -> None:
    base, name = alice.server.base_url, alice.account.username
    body_of(alice.web.patch("/api/auth/me", json={"displayName": "Alice", "bio": "Lead,\nink."}))
    hub = body_of(alice.web.post("/api/hubs", json={"name": "Letterpress", "slug": f"hub-{name}"}), 201)
    publish(alice, "#Käse")
    shown = {
        f"/@{name}": ("profile", f"Alice (@{name})", "Lead, ink.", f"{base}/@{name}"),
        f"/@{name.upper()}": ("profile", f"Alice (@{name})", "Lead, ink.", f"{base}/@{name}"),
        f"/hub/{hub['slug']}": ("website", "Letterpress", "Posts in the hub Letterpress", f"{base}/hub/{hub['slug']}"),
        "/tag/K%C3%84SE": ("website", "#käse", "Public posts with #käse", f"{base}/tag/k%C3%A4se"),
    }

    for path, (kind, title, summary, address) in shown.items():
        page = visit(alice.server, path)
        said = open_graph(page)
        assert [said[f"og:{what}"] for what in ("type", "title", "description", "url")] == [
            kind,
            title,
            summary,
            address,
        ]
        assert page.link("canonical") == address
        assert visit(alice.server, address).line("h1") == page.line("h1")


def test_permalinks_can_stand_elsewhere(local_server: Callable[..., LocalServer]) -> None:
    elsewhere = "https://links.example/p"
    server = local_server(**ROOMY, PERMALINK_BASE=f"{elsewhere}/")
    alice, base = Actor(server), server.base_url
    post = publish(alice, "#heron")
    address = f"{elsewhere}{permalink(post)}"
    quoted = body_of(alice.api.post(f"/api/posts/{post['id']}/bounce", json={"content": "Look"}), 201)

    page = visit(server, permalink(post))
    assert page.link("canonical") == page.meta["og:url"] == address
    assert page.link("alternate") == f"{base}/oembed?url={quote(address, safe='')}"
    assert page.meta["og:image"].endswith("/card.png"), "a drawn avatar is no picture"
    for path in (f"/@{alice.account.username}", "/tag/heron", permalink(quoted)):
        assert address in visit(server, path).values("a.permalink", "href")
        assert f"{base}/post/" not in visit(server, path).html
    assert body_of(embedded(server, address))["author_url"] == f"{base}/@{alice.account.username}"
    assert embedded(server, f"{base}{permalink(post)}").status_code == 404
    for client in alice.clients():
        client.close()


def test_an_embedded_post(alice: Actor) -> None:
    base = alice.server.base_url
    body_of(alice.web.patch("/api/auth/me", json={"displayName": 'Alice "Ö" <b>'}))
    post = publish(alice, "<b>The</b>\nheron.")
    expected = {
        "type": "link",
        "version": "1.0",
        "title": "<b>The</b> heron.",
        "author_name": 'Alice "Ö" <b>',
        "author_url": f"{base}/@{alice.account.username}",
        "provider_name": "Pressroom",
        "provider_url": base,
        "cache_age": 300,
    }

    for more in ("", "?utm=1&x=/y", "#comments", "?after=x#comment-1"):
        for format_ in ("", "&format=json", "&maxwidth=300&format=json", "&format="):
            answer = embedded(alice.server, f"{base}{permalink(post)}{more}", format_)
            assert body_of(answer) == expected
            assert answer.headers["content-type"] == "application/json"
            assert answer.headers["access-control-allow-origin"] == "*"
            assert "set-cookie" not in answer.headers


def test_an_embedded_bounce(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post, base = publish(alice, "The heron."), alice.server.base_url

    for content, title in ((None, f"{bob.account.username} bounced a post"), ("Look!", "Look!")):
        bounce = body_of(bob.web.post(f"/api/posts/{post['id']}/bounce", json={"content": content}), 201)
        document = body_of(embedded(alice.server, f"{base}{permalink(bounce)}"))
        assert (document["title"], document["author_name"]) == (title, bob.account.username)


@pytest.mark.parametrize("visibility", FOR_SOME)
def test_restricted_post_cannot_be_embedded(actor: MakeActor, visibility: str) -> None:
    alice = actor()
    post = publish(alice, visibility=visibility)

    for reader in (None, alice):
        address = quote(f"{alice.server.base_url}{permalink(post)}", safe="")
        assert fetch(alice.server, f"/oembed?url={address}", reader).status_code == 404


def test_deleted_post_cannot_be_embedded(alice: Actor) -> None:
    post = publish(alice)
    address = f"{alice.server.base_url}{permalink(post)}"
    assert embedded(alice.server, address).status_code == 200

    body_of(alice.web.patch(f"/api/posts/{post['id']}", json={"visibility": "FOLLOWERS"}))
    assert embedded(alice.server, address).status_code == 404
    body_of(alice.web.patch(f"/api/posts/{post['id']}", json={"visibility": "PUBLIC"}))
    assert embedded(alice.server, address).status_code == 200
    body_of(alice.web.delete(f"/api/posts/{post['id']}"))
    assert embedded(alice.server, address).status_code == 404


NO_PERMALINK: dict[str, Callable[[str, str], str]] = {
    "absent": lambda base, _: f"{base}/post/01HZ0000000000000000000000",
    "another host": lambda base, post: f"https://example.org/post/{post}",
    "a longer host": lambda base, post: f"{base}.example.org/post/{post}",
    "another port": lambda base, post: f"{base}0/post/{post}",
    "another scheme": lambda base, post: f"{base.replace('http:', 'https:')}/post/{post}",
    "a password": lambda base, post: f"{base.replace('//', '//a:b@')}/post/{post}",
    "the API": lambda base, post: f"{base}/api/posts/{post}",
    "a profile": lambda base, _: f"{base}/@account1",
    "a path alone": lambda _, post: f"/post/{post}",
    "an id alone": lambda _, post: post,
    "no id": lambda base, _: f"{base}/post/",
    "half a pair": lambda base, post: f"{base}/post/{post}\ufffd",
    "nothing": lambda *_: "",
}


@pytest.mark.parametrize("make", NO_PERMALINK.values(), ids=NO_PERMALINK)
def test_other_urls_cannot_be_embedded(alice: Actor, make: Callable[[str, str], str]) -> None:
    url = make(alice.server.base_url, publish(alice)["id"])

    answer = embedded(alice.server, url)

    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")


@one_engine
def test_other_forms_than_json_there_are_not(alice: Actor) -> None:
    server, address = alice.server, f"{alice.server.base_url}{permalink(publish(alice))}"

    for form in ("xml", "JSON ", "html"):
        assert embedded(server, address, f"&format={form}").status_code == 404
    assert nobody.get(f"{server.base_url}/oembed").status_code == 404
    assert fetch(server, "/oembed?url=%FF&url").status_code == 404
