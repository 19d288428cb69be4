"""Readers of a post's page, the answer to all others, and the caching of it on the way."""

import httpx
import pytest

from pressroom.domains.sign_in.sessions import SESSION_LIFE
from tests.api.actors import Actor, Json, body_of, publish
from tests.api.audiences import READERS, SEEN_BY, crowd, set_audience
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY
from tests.pages.reader import Page, fetch, told, visit

SETTINGS = ROOMY
pytestmark = pytest.mark.usefixtures("still")

ABSENT = "01HZ0000000000000000000000"
SIGNED_OUT = [("API reference", "/docs"), ("Sign in", "/login")]
SECRET = "Nobody else is to read this."

every_visibility = pytest.mark.parametrize("visibility", SEEN_BY)


def permalink(post: Json) -> str:
    return f"/post/{post['id']}"


def hung(people: dict[str, Actor], visibility: str) -> Json:
    """A post of the author's; the listed accounts are on its allowlist."""
    post = publish(people["author"], SECRET, visibility=visibility)
    set_audience(people["author"], post, people["listed"])
    return post


def asked(people: dict[str, Actor], post: Json, method: str = "GET") -> dict[str, httpx.Response]:
    """What each kind of reader is answered."""
    server = people["author"].server
    return {kind: fetch(server, permalink(post), people.get(kind), method) for kind in READERS}


@every_visibility
def test_a_permalink_is_for_those_who_may_see_the_post(actor: MakeActor, visibility: str) -> None:
    people = crowd(actor)

    answers = asked(people, hung(people, visibility))

    for kind, answer in answers.items():
        sees = kind in SEEN_BY[visibility]
        assert (kind, answer.status_code) == (kind, 200 if sees else 404)
        assert (SECRET in answer.text) == sees


@every_visibility
def test_a_deleted_post_is_gone_for_those_who_could_see_it(actor: MakeActor, visibility: str) -> None:
    people = crowd(actor)
    post = hung(people, visibility)
    body_of(people["author"].web.post(f"/api/posts/{post['id']}/comments", json={"content": SECRET}), 201)

    body_of(people["author"].web.delete(f"/api/posts/{post['id']}"))

    for kind, answer in asked(people, post).items():
        assert (kind, answer.status_code) == (kind, 410 if kind in SEEN_BY[visibility] else 404)
        assert SECRET not in answer.text
        assert people["author"].account.username not in answer.text or kind == "author"
        assert answer.headers["cache-control"] == "no-store"
        if answer.status_code == 410:
            page = Page(answer.text)
            assert page.line("h1") == "This post was deleted."
            assert page.meta["robots"] == "noindex"
            assert not [name for name in page.meta if name.startswith("og:")]


@every_visibility
def test_hidden_is_answered_like_unknown(actor: MakeActor, visibility: str) -> None:
    people = crowd(actor)
    author, standing, deleted = people["author"], hung(people, visibility), hung(people, visibility)
    body_of(author.web.delete(f"/api/posts/{deleted['id']}"))

    for method in ("GET", "HEAD"):
        answers = [asked(people, post, method) for post in (standing, deleted)]
        for kind in set(READERS) - SEEN_BY[visibility]:
            never = told(fetch(author.server, f"/post/{ABSENT}", people.get(kind), method))
            assert never[0] == 404
            assert [told(answer[kind]) for answer in answers] == [never, never]


@one_engine
def test_ids_that_no_post_has(alice: Actor) -> None:
    never = told(fetch(alice.server, f"/post/{ABSENT}"))
    post = publish(alice)

    for path in (
        "x",
        "~",
        post["id"].lower(),
        f"{post['id']}x",
        "0",
        "%F0%9F%97%9E",
        "%FF",
        "%2F",
        "'",
        "%25",
    ):
        assert told(fetch(alice.server, f"/post/{path}")) == never
    for path in (
        "/post",
        "/post/",
        f"{permalink(post)}/",
        f"/Post/{post['id']}",
        f"/post/{post['id']}%00",
        "/post/%00",
    ):
        assert fetch(alice.server, path).status_code == 404


def test_page_has_its_caching_headers(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    public, private = publish(alice), publish(alice, visibility="PRIVATE")

    def kept(path: str, reader: Actor | None) -> tuple[str | None, str | None]:
        headers = fetch(alice.server, path, reader).headers
        return headers.get("cache-control"), headers.get("vary")

    for path in (permalink(public), f"{permalink(public)}?reply=x", f"/@{alice.account.username}"):
        assert kept(path, None) == ("no-cache", "cookie, accept-encoding")
        assert kept(path, bob) == kept(path, alice) == ("no-store", "accept-encoding")
    assert kept(permalink(private), alice) == ("no-store", "accept-encoding")
    assert kept(permalink(private), None)[0] == "no-store"


def test_narrowed_post_is_not_cached(actor: MakeActor) -> None:
    alice = actor()
    post = publish(alice, SECRET)
    body_of(alice.web.patch(f"/api/posts/{post['id']}", json={"visibility": "FOLLOWERS"}))

    assert told(fetch(alice.server, permalink(post))) == told(fetch(alice.server, f"/post/{ABSENT}"))
    assert fetch(alice.server, permalink(post), alice).headers["cache-control"] == "no-store"


def test_head_is_get_without_the_page(actor: MakeActor) -> None:
    alice = actor()
    public, private, deleted = publish(alice), publish(alice, visibility="PRIVATE"), publish(alice)
    body_of(alice.web.delete(f"/api/posts/{deleted['id']}"))

    for path in (*map(permalink, (public, private, deleted)), f"/@{alice.account.username}", "/tag/none", "/hub/none"):
        for reader in (None, alice):
            head, get = (fetch(alice.server, path, reader, method) for method in ("HEAD", "GET"))
            if reader is not None:  # The keys of forms are new each time, and shrink differently.
                for answer in (head, get):
                    answer.headers.pop("content-length", "")
            assert told(head)[:2] == told(get)[:2]
            assert head.content == b""


@one_engine
def test_pages_are_only_read(alice: Actor) -> None:
    for path in (permalink(publish(alice)), f"/@{alice.account.username}", "/tag/a", "/hub/a", "/oembed"):
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            answer = fetch(alice.server, path, alice, method)
            assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


def test_a_key_is_of_no_matter_to_a_page(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    public, private = publish(alice), publish(alice, visibility="PRIVATE")

    for path in (permalink(public), permalink(private), f"/@{alice.account.username}"):
        for reader in (None, alice, bob):
            without = told(fetch(alice.server, path, reader))
            for key in (alice.key, f"{alice.key[:-1]}x", "svc_live_nothing", "x y"):
                assert told(fetch(alice.server, path, reader, authorization=f"Bearer {key}")) == without
    assert fetch(alice.server, permalink(private), authorization=f"Bearer {alice.key}").status_code == 404


def test_a_bad_cookie_is_none(actor: MakeActor) -> None:
    alice = actor()
    post, hidden = publish(alice), publish(alice, visibility="FOLLOWERS")
    cookies = [
        *("session=", "session=x", f"session={alice.token}x", f"session={'x' * 5_000}", f"Session={alice.token}"),
        *("session", "=", ";;", f"other={alice.token}", "session=%00'\"<>", b"session=\xff\xfe"),
    ]

    for path in (permalink(post), permalink(hidden), f"/@{alice.account.username}", "/tag/none"):
        signed_out = told(fetch(alice.server, path))
        for cookie in cookies:
            assert told(fetch(alice.server, path, cookie=cookie)) == signed_out, cookie


def test_a_session_that_has_ended_is_none(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    hidden, signed_out = publish(alice, visibility="PRIVATE"), told(fetch(alice.server, f"/post/{ABSENT}"))
    assert visit(alice.server, permalink(hidden), alice).lines(".text")

    body_of(bob.web.post("/api/auth/logout"))
    assert told(fetch(alice.server, f"/post/{ABSENT}", bob)) == signed_out
    assert visit(alice.server, f"/@{alice.account.username}", bob).links("header nav") == SIGNED_OUT
    alice.server.clock.advance(SESSION_LIFE)

    assert told(fetch(alice.server, permalink(hidden), alice)) == signed_out


def test_reading_prolongs_the_session(actor: MakeActor) -> None:
    alice = actor()
    path = permalink(publish(alice))
    assert "set-cookie" not in fetch(alice.server, path, alice).headers

    alice.server.clock.advance(SESSION_LIFE - 1)

    assert alice.cookie in fetch(alice.server, path, alice).headers["set-cookie"]
    alice.server.clock.advance(SESSION_LIFE - 1)
    assert visit(alice.server, path, alice).links("header .menu nav")[0][0] == f"@{alice.account.username}"
