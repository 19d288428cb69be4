"""Every link of ours, on every page that can be reached by links, leads somewhere."""

from collections.abc import Iterator
from urllib.parse import urldefrag, urljoin

from tests.api.actors import Actor, body_of, publish
from tests.api.conftest import MakeActor
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.pages.reader import Page, fetch, visit

SETTINGS = ROOMY

FEWEST = 60
"""Addresses that must be found at least."""


def town(actor: MakeActor) -> str:
    """Two people, a hub, and everything that links to something else; the path to begin with."""
    alice, bob = actor(), actor()
    slug = f"hub-{alice.account.username}"
    hub = body_of(alice.web.post("/api/hubs", json={"name": "Letterpress", "slug": slug, "description": "#lead"}), 201)
    body_of(bob.web.patch("/api/auth/me", json={"bio": f"With @{alice.account.username}, #lead and #Blei_satz."}))
    post = publish(alice, f"#Lead with @{bob.account.username}", hubId=hub["id"], location={"name": "Köln"})
    first = body_of(bob.web.post(f"/api/posts/{post['id']}/bounce", json={"content": "Look, #Blei_satz!"}), 201)
    body_of(alice.web.post(f"/api/posts/{first['id']}/bounce", json={"content": "You look! #a\u00b7b"}), 201)
    body_of(bob.web.post(f"/api/posts/{post['id']}/bounce"), 201)
    for number in range(22):
        publish(alice, f"#Blei_satz #\ufc5ea number {number}" + "\n" * 20, hubId=hub["id"])
    parent = None
    for number in range(105):
        body = {"content": f"@{bob.account.username} #lead", "parentId": parent if number % 9 else None}
        parent = body_of(alice.web.post(f"/api/posts/{post['id']}/comments", json=body), 201)["id"]
    return f"/post/{post['id']}"


def addresses(page: Page) -> Iterator[str]:
    """Everything of ours that a page refers to."""
    for address in (*page.values("[href]", "href"), *page.values("[src]", "src")):
        if not address.startswith("geo:"):
            yield address


def walked(server: LocalServer, start: str, reader: Actor | None = None) -> dict[str, int]:
    """Every address that can be reached from `start` on this server, with its status; checks the places in pages."""
    found: dict[str, int] = {}
    waiting = [server.base_url + start]
    while waiting:
        here = waiting.pop()
        if here in found:
            continue
        answer = fetch(server, here, reader)
        found[here] = answer.status_code
        if answer.headers["content-type"].startswith("text/html"):
            page = Page(answer.text)
            for address in addresses(page):
                there, fragment = urldefrag(urljoin(here, address))
                if there == here and fragment:
                    assert page.has(f"[id='{fragment}']"), (here, fragment)
                elif there.startswith(server.base_url):
                    waiting.append(there)
    return found


def test_every_link_leads_somewhere(actor: MakeActor) -> None:
    start = town(actor)
    reader = actor()

    for who in (None, reader):
        found = walked(reader.server, start, who)
        assert {address: status for address, status in found.items() if status != 200} == {}
        assert len(found) >= FEWEST
        for kind in ("/post/", "/@", "/hub/", "/tag/lead", "?before=", "?after=", "/oembed?", "/static/"):
            assert any(kind in address for address in found), kind


def test_the_front_page_s_sample_makes_a_fresh_idempotency_key_on_each_paste(server: LocalServer) -> None:
    (sample,) = visit(server, "/").texts("pre")

    assert '-H "Idempotency-Key: $(date +%s%N)"' in sample, "in double quotes, so that a shell fills it in"
