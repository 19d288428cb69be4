"""What every page forbids the browser, whichever route it comes from."""

from collections import defaultdict
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest

from pressroom.server.routes import ROUTES
from tests.api.actors import Actor, body_of, nobody, publish
from tests.harness.roomy import ROOMY
from tests.pages.files import filmed, made_ready
from tests.pages.reader import Page, fetch

SETTINGS = ROOMY

Known = dict[str, list[str]]
"""Addresses by route."""

STATUSES = {
    "/docs": {200},
    "/post/{id}": {200, 404, 410},
    "/@{username}": {200, 404},
    "/hub/{slug}": {200, 404},
    "/tag/{name}": {200, 404},
    "/clip/{id}": {200, 404},
    "/oembed": {404},
    "/avatars/{name}": {404},
    "/avatars/hubs/{name}": {404},
    "/media/{token}": {404},
    "/media/{token}/thumbnail": {404},
    "/media/{token}/medium": {404},
    "/media/{token}/poster": {404},
    "/cards/{token}": {404},
    "/absent": {404},
}
"""With which statuses each route answers with a page, of those on which people read."""

ELSEWHERE = {303, 405}
"""Statuses of any path: sign in first, and a page about the method."""

SCRIPTED = {"/", "/docs"}
"""Reading pages that may load a script of ours; so may all pages of the app."""

READING = STATUSES.keys() - SCRIPTED
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
FORBIDDING = {
    "default-src": ["'none'"],
    "base-uri": ["'none'"],
    "frame-ancestors": ["'none'"],
    "manifest-src": ["'self'"],
    "form-action": ["'self'"],
}
"""The policy of every page."""


def site(who: Actor) -> Known:
    """Addresses of every kind of page, by route: existing, deleted, hidden and unknown ones."""
    name = who.account.username
    public, private, gone = (
        publish(who, f"#{name}", visibility=each)["id"] for each in ("PUBLIC", "PRIVATE", "PUBLIC")
    )
    bounce, quoted = (
        body_of(who.web.post(f"/api/posts/{public}/bounce", json={"content": content}), 201)["id"]
        for content in (None, "Look")
    )
    clips = [filmed(who, visibility=each)["id"] for each in ("PUBLIC", "PRIVATE")]
    made_ready(who)
    body_of(who.web.post("/api/hubs", json={"name": "Letterpress", "slug": name}), 201)
    body_of(who.api.delete(f"/api/posts/{gone}"))
    permalinks = [f"{who.server.base_url}/post/{each}" for each in (public, private, gone)]
    return {
        "/post/{id}": [f"/post/{each}" for each in (public, private, gone, bounce, quoted, "absent")],
        "/@{username}": [f"/@{name}", "/@absent", f"/@{name}?before={'0' * 26}"],
        "/hub/{slug}": [f"/hub/{name}", "/hub/absent"],
        "/tag/{name}": [f"/tag/{name}", "/tag/absent"],
        "/clip/{id}": [*(f"/clip/{each}" for each in clips), "/clip/absent"],
        "/oembed": ["/oembed", *(f"/oembed?url={quote(each, safe='')}" for each in permalinks)],
        "/avatars/{name}": ["/avatars/absent"],
        "/avatars/hubs/{name}": ["/avatars/hubs/absent"],
        **{path: [path.replace("{token}", "absent")] for path in ("/media/{token}", "/cards/{token}")},
        **{
            path: [path.replace("{token}", "absent")]
            for path in (f"/media/{{token}}/{size}" for size in ("thumbnail", "medium", "poster"))
        },
    }


def routes() -> dict[str, set[str]]:
    """Every path of the server, with the methods that it takes."""
    taken: dict[str, set[str]] = {}
    for route in ROUTES:
        taken.setdefault(route.path, set()).update([route.method, *(["HEAD"] if route.method == "GET" else [])])
    return taken


def answers(who: Actor, known: Known) -> Iterator[tuple[str, httpx.Response]]:
    """What every route answers to somebody signed out and, where that changes nothing, to somebody signed in."""
    server = who.server
    for path, methods in [*routes().items(), ("/absent", {"GET", "HEAD"}), ("/api/absent", {"GET"})]:
        for address in known.get(path, [path]):
            for method in METHODS:
                yield path, nobody.request(method, server.base_url + address)
            for method in methods & {"GET", "HEAD"}:
                yield path, fetch(server, address, who, method)


def policy(answer: httpx.Response) -> dict[str, list[str]]:
    """The one content security policy of an answer, by directive."""
    (header,) = answer.headers.get_list("content-security-policy")
    given = [part.split() for part in header.split(";")]
    assert len({name for name, *_ in given}) == len(given), "of a directive given twice only the first counts"
    return {name: values for name, *values in given}


def is_scriptless(path: str, answer: httpx.Response) -> bool:
    """Whether an answer may load no script: pages for reading, for signed-out visitors, and pages of errors."""
    return path in READING and ("cookie" not in answer.request.headers or answer.status_code != 200)


COMPOSING = {"/", "/clips", "/compose"}
"""Pages that show files before they are sent, to signed-in readers."""


def check_policy(path: str, answer: httpx.Response) -> None:
    """No script but a file of ours on the reference, no inline style there or elsewhere, and no guessing of types."""
    forbidden = policy(answer)
    assert {name: forbidden[name] for name in FORBIDDING} == FORBIDDING
    assert forbidden.get("script-src") in ([None] if is_scriptless(path, answer) else [None, ["'self'"]])
    assert forbidden.get("media-src") in ([None, ["'self'"]] if path == "/docs" else [["'self'"]])
    chosen = ["blob:"] if path in COMPOSING and "script-src" in forbidden and answer.status_code < 300 else []
    assert forbidden["img-src"] == ["'self'", *chosen, "data:"]
    assert not {"script-src-elem", "script-src-attr", "object-src", "frame-src", "worker-src"} & set(forbidden)
    inline = path == "/docs" and answer.status_code == 200
    assert forbidden["style-src"] == (["'self'", "'unsafe-inline'"] if inline else ["'self'"])
    assert not any("*" in value or "unsafe-eval" in value for values in forbidden.values() for value in values)
    assert answer.headers["x-content-type-options"] == "nosniff"
    allowed = {"same-origin", "origin"} if "{token}" in path or path not in READING else {"same-origin"}
    assert answer.headers["referrer-policy"] in allowed, "a page whose address holds a token says less"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert {"camera=()", "geolocation=()", "microphone=()"} <= set(answer.headers["permissions-policy"].split(", "))
    assert answer.headers["content-type"] == "text/html; charset=utf-8"


def check_elements(path: str, answer: httpx.Response) -> None:
    """Nothing stands within the page that the policy would have to forbid."""
    page = Page(answer.text)
    scripts = page.tree.css("script")
    assert not scripts or not is_scriptless(path, answer)
    assert not [script.text() for script in scripts if script.text()]
    assert all((script.attributes.get("src") or "").startswith("/static/") for script in scripts)
    assert not page.has("style, [style], iframe, object, embed, base, meta[http-equiv]")
    assert not [name for node in page.tree.css("*") for name in node.attributes if name.startswith("on")]
    assert not [href for href in page.values("[href]", "href") if href.lower().startswith(("javascript:", "data:"))]


def test_every_page_has_a_policy(alice: Actor) -> None:
    known = site(alice)
    seen: defaultdict[str, set[int]] = defaultdict(set)

    for path, answer in answers(alice, known):
        if answer.headers["content-type"].startswith("text/html"):
            if path in STATUSES and answer.status_code not in ELSEWHERE:
                seen[path].add(answer.status_code)
            check_policy(path, answer)
            if answer.request.method != "HEAD":
                check_elements(path, answer)

    assert seen == STATUSES, "say in `site` which addresses a new page has"


def test_pages_for_reading_hold_no_script(alice: Actor) -> None:
    reading = [address for addresses in site(alice).values() for address in addresses]

    for address in [*reading, "/absent", "/"]:
        answer = fetch(alice.server, address)
        assert "<script" not in answer.text.lower()
        assert "script-src" not in answer.headers.get("content-security-policy", "")


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_an_answer_without_a_body_has_a_policy(alice: Actor, method: str) -> None:
    part = f"/settings/keys/{alice.record.id}/first-use"
    version = fetch(alice.server, part, alice).headers["etag"]
    answer = fetch(alice.server, part, alice, method, **{"If-None-Match": version})

    assert answer.status_code == 204
    assert "content-length" not in answer.headers
    check_policy(part, answer)
