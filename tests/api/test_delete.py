"""Deleting a post: it is kept and shown to nobody, and its counts are taken back, but for quota."""

import httpx
import msgspec
import pytest

from pressroom.clock import MINUTE
from pressroom.db import Query
from pressroom.domains.keys.models import Scope
from tests.api.actors import Actor, Json, body_of, nobody, publish, read, refusal, rows
from tests.api.conftest import MakeActor

SETTINGS = {"DAILY_CONTENT_QUOTA": 3}

TAGS = Query(str, "SELECT tag FROM post_tags WHERE post_id = :post_id ORDER BY tag")


class Row(msgspec.Struct):
    """The row of a post in the database."""

    content: str | None
    visibility: str
    created_at: int
    deleted_at: int | None


ROWS = Query(Row, "SELECT content, visibility, created_at, deleted_at FROM posts WHERE id = :post_id")

both_ways = pytest.mark.parametrize("way", ["api", "web"])
"""With the key, and signed in."""


def delete(author: Actor, post_id: str, way: str = "api", key: str | None = None) -> httpx.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    client: httpx.Client = getattr(author, way)
    return client.delete(f"/api/posts/{post_id}", headers=headers)


def bounce(author: Actor, post_id: str, content: str | None = None) -> Json:
    return body_of(author.web.post(f"/api/posts/{post_id}/bounce", json={"content": content}), 201)


def total_posts(actor: Actor) -> int:
    return int(body_of(actor.web.get("/api/auth/me"))["totalPosts"])


@both_ways
def test_a_deleted_post_is_kept_and_no_longer_shown(alice: Actor, way: str) -> None:
    post, other = publish(alice, "Gone", visibility="FOLLOWERS"), publish(alice, "Stays")
    made = alice.server.clock.now()
    alice.server.clock.advance(MINUTE)

    answer = delete(alice, post["id"], way)

    assert body_of(answer) == {"message": "Post deleted", "id": post["id"]}
    assert refusal(alice.web.get(f"/api/posts/{post['id']}")) == (404, "Not found")
    assert rows(alice.server, ROWS, post_id=post["id"]) == [Row("Gone", "FOLLOWERS", made, made + MINUTE)]
    assert total_posts(alice) == 1
    assert read(alice, other["id"]) == other


@both_ways
def test_a_second_deletion_is_refused_and_a_replay_is_not(alice: Actor, way: str) -> None:
    publish(alice, "Stays")
    post_id = publish(alice, "Gone")["id"]

    first = delete(alice, post_id, way, key="k")
    alice.server.clock.advance(MINUTE)
    again = delete(alice, post_id, way, key="k")

    assert (first.status_code, again.status_code) == (200, 200)
    assert again.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"
    for key in (None, "another"):
        assert refusal(delete(alice, post_id, way, key=key)) == (404, "Not found")
    assert total_posts(alice) == 1
    assert rows(alice.server, ROWS, post_id=post_id)[0].deleted_at == alice.server.clock.now() - MINUTE


def test_spent_quota_stays_spent(alice: Actor) -> None:
    for number in range(3):
        body_of(delete(alice, publish(alice, f"number {number}")["id"]))

    assert refusal(alice.post()) == (429, "Daily content quota exceeded")
    assert alice.written() == (3, 3, 3, 0), "a deletion is told to nobody"
    assert total_posts(alice) == 0


def test_a_deleted_post_has_no_hashtags(alice: Actor) -> None:
    post_id, other_id = (publish(alice, "#one")["id"] for _ in range(2))
    assert rows(alice.server, TAGS, post_id=post_id) == ["one"]

    body_of(delete(alice, post_id))

    assert rows(alice.server, TAGS, post_id=post_id) == []
    assert rows(alice.server, TAGS, post_id=other_id) == ["one"]


def test_a_bounce_that_is_deleted_no_longer_counts(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    original = publish(alice)
    plain, quote, second = (bounce(bob, original["id"], content) for content in (None, "one", "two"))

    def shares() -> tuple[int, int]:
        stats = read(alice, original["id"])["stats"]
        return stats["shares"], stats["shareCount"]

    assert shares() == (1, 3)
    body_of(delete(bob, quote["id"]))
    assert shares() == (1, 2)
    body_of(delete(bob, plain["id"]))
    assert shares() == (0, 1)
    assert delete(bob, plain["id"]).status_code == 404
    assert shares() == (0, 1)
    body_of(delete(bob, second["id"]))
    assert shares() == (0, 0)
    assert total_posts(bob) == 0


def test_a_deleted_plain_bounce_makes_room_for_another(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    original = publish(alice)

    for _ in range(3):
        body_of(delete(bob, bounce(bob, original["id"])["id"]))
    last = bounce(bob, original["id"])

    assert read(bob, last["id"])["originalPost"]["stats"]["shares"] == 1
    assert refusal(bob.web.post(f"/api/posts/{original['id']}/bounce")) == (409, "Conflict")


def test_bounces_of_a_deleted_post_stand_without_it(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    original = publish(alice)
    plain, quote = bounce(bob, original["id"]), bounce(bob, original["id"], "Look")
    assert read(bob, quote["id"])["originalPost"]["id"] == original["id"]

    body_of(delete(alice, original["id"]))

    for each in (plain, quote):
        for reader in (alice, bob):
            assert read(reader, each["id"]) == {**each, "originalPost": None}
    assert total_posts(bob) == 2
    for each in (plain, quote):
        body_of(delete(bob, each["id"]))
    assert total_posts(bob) == 0


def test_a_plain_bounce_of_a_deleted_post_leads_nowhere(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    original = publish(alice)
    plain, quote = bounce(bob, original["id"]), bounce(bob, original["id"], "Look")
    body_of(delete(alice, original["id"]))

    assert refusal(carol.web.post(f"/api/posts/{plain['id']}/bounce")) == (404, "Not found")
    assert bounce(carol, quote["id"])["originalPost"]["id"] == quote["id"], "a quote stands for itself"


VERBS: dict[str, tuple[str, str, Json | None]] = {
    "read": ("GET", "", None),
    "edit": ("PATCH", "", {"content": "x"}),
    "delete": ("DELETE", "", None),
    "comment": ("POST", "/comments", {"content": "x"}),
    "read the comments": ("GET", "/comments", None),
    "like": ("POST", "/like", None),
    "take a like back": ("DELETE", "/like", None),
    "save": ("POST", "/save", None),
    "take a save back": ("DELETE", "/save", None),
    "bounce": ("POST", "/bounce", None),
    "quote": ("POST", "/bounce", {"content": "x"}),
    "vote": ("POST", "/poll/votes", {"choices": [0]}),
    "set the audience": ("PUT", "/audience", {"usernames": []}),
}


def test_nothing_can_be_done_with_a_deleted_post(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post_id = publish(alice, poll={"options": ["x", "y"]})["id"]
    for reaction in ("like", "save"):
        body_of(bob.web.post(f"/api/posts/{post_id}/{reaction}"))
    comment = body_of(bob.web.post(f"/api/posts/{post_id}/comments", json={"content": "before"}), 201)
    body_of(delete(alice, post_id))

    refused = {
        (verb, name): refusal(who.web.request(method, f"/api/posts/{post_id}{path}", json=body))
        for verb, (method, path, body) in VERBS.items()
        for name, who in (("alice", alice), ("bob", bob))
    }
    reply = {"content": "a reply", "parentId": comment["id"]}

    assert refused == dict.fromkeys(refused, (404, "Not found"))
    assert bob.web.post(f"/api/posts/{post_id}/comments", json=reply).status_code == 404
    assert nobody.get(f"{alice.server.base_url}/api/posts/{post_id}").status_code == 404
    assert bob.written() == (0, 1, 0, 0), "nothing came after the first comment"


@both_ways
def test_somebody_else_s_post_stands(actor: MakeActor, way: str) -> None:
    alice, mallory = actor(), actor()
    post = publish(alice)

    answers = [delete(mallory, post_id, way) for post_id in (post["id"], "no-such-post")]

    assert [refusal(answer) for answer in answers] == [(404, "Not found")] * 2
    assert answers[0].content == answers[1].content
    assert read(alice, post["id"]) == post
    assert (total_posts(alice), total_posts(mallory)) == (1, 0)


def test_only_a_key_with_the_scope_deletes(actor: MakeActor) -> None:
    alice = actor(*(scope for scope in Scope if scope is not Scope.POSTS_DELETE))
    post = publish(alice)

    answer = delete(alice, post["id"])

    assert refusal(answer) == (403, "Missing required scope")
    assert answer.json()["requiredScope"] == "posts:delete"
    assert read(alice, post["id"]) == post


def test_the_smallest_scope_suffices(actor: MakeActor) -> None:
    alice = actor(Scope.POSTS_DELETE)
    post = body_of(alice.web.post("/api/posts", json={"content": "By hand"}), 201)

    assert body_of(delete(alice, post["id"]))["id"] == post["id"]
