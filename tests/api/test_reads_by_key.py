"""Reads by a key: posts of its own account and posts for everybody, and nothing besides."""

import httpx
import pytest

from pressroom.domains.keys.models import Scope
from tests.api.actors import Actor, Json, body_of, follow, nobody, publish, refusal
from tests.api.conftest import MakeActor
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY
LIMITS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
NARROW = ("FOLLOWERS", "CONNECTIONS", "PRIVATE", "CUSTOM")


@pytest.fixture
def bob(actor: MakeActor) -> Actor:
    """Somebody whose key has one scope, of no use here."""
    return actor(Scope.POSTS_DELETE)


def readings(actor: Actor, post_id: str) -> list[httpx.Response]:
    """The post and its comments, read with the actor's key."""
    return [actor.api.get(f"/api/posts/{post_id}{below}") for below in ("", "/comments")]


def test_key_reads_posts_of_its_account_in_every_visibility(alice: Actor) -> None:
    for visibility in ("PUBLIC", *NARROW):
        post = publish(alice, visibility=visibility)
        body_of(alice.api.post(f"/api/posts/{post['id']}/comments", json={"content": "Mine"}), 201)

        shown, comments = readings(alice, post["id"])

        assert body_of(shown)["visibility"] == visibility
        assert body_of(shown) == body_of(alice.web.get(f"/api/posts/{post['id']}"))
        assert [comment["content"] for comment in body_of(comments)["comments"]] == ["Mine"]


def test_key_without_the_scope_reads_public_posts(alice: Actor, bob: Actor) -> None:
    post = publish(alice)
    body_of(bob.web.post(f"/api/posts/{post['id']}/like"))

    shown, comments = readings(bob, post["id"])

    assert body_of(shown)["id"] == post["id"]
    assert body_of(shown)["userInteractions"] == {"liked": True, "saved": False}
    assert body_of(comments) == {"comments": [], "nextCursor": None}


def test_key_does_not_read_posts_visible_by_relationship(alice: Actor, bob: Actor) -> None:
    follow(alice, bob)
    follow(bob, alice)
    for visibility in NARROW:
        post = publish(alice, visibility=visibility)
        body_of(alice.web.put(f"/api/posts/{post['id']}/audience", json={"usernames": [bob.account.username]}))

        assert bob.web.get(f"/api/posts/{post['id']}").status_code == (404 if visibility == "PRIVATE" else 200)
        assert [refusal(answer) for answer in readings(bob, post["id"])] == [(404, "Not found")] * 2


def test_a_key_does_not_read_an_original_that_left_the_public(alice: Actor, bob: Actor) -> None:
    follow(bob, alice)
    post = publish(alice)
    quote = body_of(bob.web.post(f"/api/posts/{post['id']}/bounce", json={"content": "Look"}), 201)

    def read(client: httpx.Client) -> Json:
        return body_of(client.get(f"{alice.server.base_url}/api/posts/{quote['id']}"))

    assert read(bob.api)["originalPost"]["id"] == post["id"]

    body_of(alice.api.patch(f"/api/posts/{post['id']}", json={"visibility": "FOLLOWERS"}))

    assert read(bob.web)["originalPost"]["id"] == post["id"], "signed in, a follower sees it still"
    assert read(bob.api)["originalPost"] is None
    assert read(nobody)["originalPost"] is None


def test_absent_or_deleted_is_404(alice: Actor) -> None:
    post = publish(alice)
    body_of(alice.api.delete(f"/api/posts/{post['id']}"))

    for post_id in (post["id"], "01KVCVX25JSSB86WQ50AY87SX4", "x"):
        assert [refusal(answer) for answer in readings(alice, post_id)] == [(404, "Not found")] * 2


def test_read_counts_as_a_request_and_has_limit_headers(alice: Actor) -> None:
    post = publish(alice)
    before = int(alice.api.get("/api/auth/me").headers["X-RateLimit-Remaining"])

    answers = [*readings(alice, post["id"]), *readings(alice, "nothing")]

    assert [int(answer.headers["X-RateLimit-Remaining"]) for answer in answers] == [before - n for n in (1, 2, 3, 4)]
    assert all(answer.headers[name].isdigit() for answer in answers for name in LIMITS)


def test_ended_or_wrong_key_is_refused_on_public_reads(alice: Actor) -> None:
    post = publish(alice)
    url = f"{alice.server.base_url}/api/posts/{post['id']}"

    wrong = nobody.get(url, headers={"Authorization": "Bearer svc_live_nonsense"})
    assert refusal(wrong) == (401, "Invalid API key")
    body_of(alice.web.delete(f"/api/auth/api-keys/{alice.record.id}"))
    assert refusal(alice.api.get(url)) == (401, "API key revoked")
    assert body_of(nobody.get(url))["id"] == post["id"]


def test_list_of_own_posts_requires_session(alice: Actor, bob: Actor) -> None:
    made = [publish(alice, f"{n}", visibility=visibility) for n, visibility in enumerate(("PUBLIC", *NARROW))]
    theirs = body_of(bob.web.post("/api/posts", json={"content": "Hello"}), 201)
    quote = body_of(alice.web.post(f"/api/posts/{theirs['id']}/bounce", json={"content": "Look"}), 201)
    body_of(alice.api.delete(f"/api/posts/{made[1]['id']}"))

    assert refusal(alice.api.get("/api/posts")) == (403, "Session required")
    assert refusal(nobody.get(f"{alice.server.base_url}/api/posts")) == (401, "Not signed in")
    pages: list[Json] = []
    cursor: Json = {}
    while not pages or pages[-1]["nextCursor"]:
        pages.append(body_of(alice.web.get("/api/posts", params={"limit": 2, **cursor})))
        cursor = {"cursor": pages[-1]["nextCursor"]}
    found = [post["id"] for page in pages for post in page["posts"]]
    assert found == [quote["id"], *(made[n]["id"] for n in (4, 3, 2, 0))]
    assert [len(page["posts"]) for page in pages] == [2, 2, 1]
    assert pages[0]["posts"][0] == body_of(alice.web.get(f"/api/posts/{quote['id']}"))


def test_list_of_posts_does_not_count_as_a_post(actor: MakeActor) -> None:
    carol = actor()
    answers = [carol.api.get("/api/posts") for _ in range(3)]

    assert {refusal(answer) for answer in answers} == {(403, "Session required")}
    assert publish(carol)["id"]
