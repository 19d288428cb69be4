"""Bouncing: plain or as a quote, the shared original, how often, by whom, and at what price."""

from typing import Any

import httpx
import pytest

from pressroom.clock import DAY, iso
from pressroom.domains.keys.models import Scope
from tests.api.actors import (
    NOTHING,
    Actor,
    Json,
    body_of,
    events,
    field_errors,
    follow,
    objections,
    publish,
    read,
    refusal,
)
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY

SETTINGS = {**ROOMY, "DAILY_CONTENT_QUOTA": 3}

both_ways = pytest.mark.parametrize("way", ["api", "web"])
"""With the key, and signed in."""


def bounce(who: Actor, post: Json, content: str | None = None, way: str = "web") -> httpx.Response:
    client: httpx.Client = getattr(who, way)
    return client.post(f"/api/posts/{post['id']}/bounce", json={"content": content})


def bounced(who: Actor, post: Json, content: str | None = None, way: str = "web") -> Json:
    return body_of(bounce(who, post, content, way), 201)


def shares(reader: Actor, post: Json) -> tuple[int, int]:
    stats = read(reader, post["id"])["stats"]
    return stats["shares"], stats["shareCount"]


WITHOUT_WORDS: dict[str, dict[str, Any]] = {
    "no body": {},
    "an empty body": {"content": b"", "headers": {"Content-Type": "application/json"}},
    "an empty object": {"json": {}},
    "null": {"json": {"content": None}},
    "an empty text": {"json": {"content": ""}},
    "white space": {"json": {"content": " \n\u2003 "}},
}


@both_ways
@pytest.mark.parametrize("body", WITHOUT_WORDS.values(), ids=WITHOUT_WORDS)
def test_a_bounce_without_words_is_plain(actor: MakeActor, way: str, body: dict[str, Any]) -> None:
    alice, bob = actor(), actor()
    original = publish(alice, location={"name": "Köln"}, poll={"options": ["x", "y"]})
    alice.server.clock.advance(1)
    now = iso(alice.server.clock.now())

    answer = getattr(bob, way).post(f"/api/posts/{original['id']}/bounce", **body)

    post = body_of(answer, 201)
    assert (post["type"], post["content"], post["visibility"]) == ("SHARE", None, "PUBLIC")
    assert (post["isBounce"], post["bouncedBy"]["id"]) == (True, bob.account.id)
    assert post["author"] == post["bouncedBy"]
    assert (post["createdAt"], post["updatedAt"], post["editedAt"], post["deletedAt"]) == (now, now, None, None)
    assert (post["location"], post["poll"], post["hub"]) == (None, None, None), "those are the original's"
    assert (post["sourceApiKey"] and post["sourceApiKey"]["id"]) == (bob.record.id if way == "api" else None)
    assert read(bob, post["id"]) == post


@both_ways
def test_a_bounce_with_words_is_a_quote(actor: MakeActor, way: str) -> None:
    alice, bob = actor(), actor()

    post = bounced(bob, publish(alice), " Look at this! ", way)

    assert (post["type"], post["content"], post["visibility"]) == ("QUOTE", " Look at this! ", "PUBLIC")
    assert (post["isBounce"], post["bouncedBy"]["id"]) == (True, bob.account.id)
    assert read(bob, post["id"]) == post


def test_the_original_is_shown_whole_as_its_reader_sees_it(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    original = publish(alice, location={"name": "Köln"}, poll={"options": ["x", "y"]})
    assert (original["isBounce"], original["bouncedBy"], original["originalPost"]) == (False, None, None)
    body_of(carol.web.post(f"/api/posts/{original['id']}/like"))
    body_of(carol.web.post(f"/api/posts/{original['id']}/poll/votes", json={"choices": [1]}))

    post = bounced(bob, original, "Look")

    assert post.keys() == original.keys()
    for reader in (alice, bob, carol):
        seen = read(reader, original["id"])
        assert seen.pop("originalPost") is None
        assert read(reader, post["id"])["originalPost"] == seen
    shown = read(carol, post["id"])["originalPost"]
    assert (shown["userInteractions"]["liked"], shown["poll"]["ownVotes"]) == (True, [1])
    assert shown["stats"]["shareCount"] == 1


def test_chain_of_plain_bounces_leads_to_the_original(actor: MakeActor) -> None:
    alice, bob, carol, dave = (actor() for _ in range(4))
    original = publish(alice)

    first = bounced(bob, original)
    second = bounced(carol, first)
    quote = bounced(dave, second, "Look")

    assert [post["originalPost"]["id"] for post in (first, second, quote)] == [original["id"]] * 3
    assert shares(alice, original) == (2, 3)
    assert shares(alice, first) == shares(alice, second) == (0, 0)


def test_a_quote_is_an_original_of_its_own(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    original = publish(alice)
    quote = bounced(bob, original, "Look")

    plain = bounced(carol, quote)
    bounced(carol, plain, "Look again")

    assert plain["originalPost"]["id"] == quote["id"]
    assert plain["originalPost"]["content"] == "Look"
    assert "originalPost" not in plain["originalPost"]
    assert shares(alice, original) == (0, 1)
    assert shares(alice, quote) == (1, 2)


def test_a_post_is_bounced_plainly_once_by_each(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    original = publish(alice)
    of_bob = bounced(bob, original, way="api")
    bounced(carol, of_bob)

    again = [bounce(bob, post, way=way) for post in (original, of_bob) for way in ("api", "web")]
    via_another = bounce(carol, original, way="api")

    assert [refusal(answer) for answer in (*again, via_another)] == [(409, "Conflict")] * 5
    assert shares(alice, original) == (2, 2)
    assert bob.written() == (1, 1, 1, 0)


def test_an_account_quotes_as_often_as_it_likes(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    original = publish(alice)
    bounced(bob, original)

    quotes = [bounced(bob, original, "The same words") for _ in range(4)]

    assert len({quote["id"] for quote in quotes}) == 4
    assert shares(alice, original) == (1, 5)


def test_own_posts_and_bounces_can_be_bounced(alice: Actor) -> None:
    original = publish(alice)
    plain = bounced(alice, original)
    quote = bounced(alice, plain, "As I said")

    assert [post["originalPost"]["id"] for post in (plain, quote)] == [original["id"]] * 2
    assert refusal(bounce(alice, plain)) == (409, "Conflict")


@both_ways
@pytest.mark.parametrize("content", [None, "Look"])
def test_only_public_posts_can_be_bounced(actor: MakeActor, way: str, content: str | None) -> None:
    alice, fan, stranger = actor(), actor(), actor()
    follow(fan, alice)
    post = publish(alice, visibility="FOLLOWERS")

    for who in (alice, fan):
        assert objections(bounce(who, post, content, way)) == [("body", "not_allowed")]
    unseen, unknown = bounce(stranger, post, content, way), bounce(stranger, {"id": "no-such-post"}, content, way)
    assert refusal(unseen) == refusal(unknown) == (404, "Not found")
    assert unseen.content == unknown.content
    assert shares(alice, post) == (0, 0)
    assert fan.written() == stranger.written() == NOTHING


def test_an_original_goes_out_of_sight_and_comes_back(actor: MakeActor) -> None:
    alice, bob, fan, stranger = (actor() for _ in range(4))
    follow(fan, alice)
    original = publish(alice)
    plain, quote = bounced(bob, original), bounced(bob, original, "Look")

    body_of(alice.api.patch(f"/api/posts/{original['id']}", json={"visibility": "FOLLOWERS"}))

    for post in (plain, quote):
        assert read(stranger, post["id"]) == read(bob, post["id"]) == {**post, "originalPost": None}
        assert read(fan, post["id"])["originalPost"]["visibility"] == "FOLLOWERS"
        assert read(alice, post["id"])["originalPost"]["id"] == original["id"]
    assert objections(bounce(fan, plain)) == [("body", "not_allowed")]
    assert refusal(bounce(stranger, plain)) == (404, "Not found")
    assert bounced(stranger, quote)["originalPost"]["id"] == quote["id"]
    follow(stranger, alice)
    assert read(stranger, plain["id"])["originalPost"]["id"] == original["id"]


def test_each_bounce_by_key_costs_a_unit_of_quota_and_none_signed_in(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    posts = [publish(alice, f"number {number}") for number in range(3)]

    bounced(bob, posts[0], way="api")
    bounced(bob, posts[0], "Look", way="api")
    assert bob.written() == (2, 2, 2, 0)
    for content in (None, "Look", "Look again"):
        bounced(bob, posts[1], content)
    assert bob.written() == (5, 5, 2, 0)
    bounced(bob, posts[2], way="api")
    assert bob.written() == (6, 6, 3, 0)


def test_a_spent_quota_is_spoken_of_last(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post, hidden, own = publish(alice), publish(alice, visibility="FOLLOWERS"), publish(bob, visibility="PRIVATE")
    bounced(bob, post, way="api")
    bounced(bob, post, "Look", way="api")
    midnight = (bob.server.clock.now() // DAY + 1) * DAY

    for content in ("Once more", "And again"):
        answer = bounce(bob, post, content, "api")
        assert refusal(answer) == (429, "Daily content quota exceeded")
        assert answer.json()["retryAfter"] == -(-(midnight - bob.server.clock.now()) // 1000)
    assert refusal(bounce(bob, post, way="api")) == (409, "Conflict")
    assert refusal(bounce(bob, hidden, "Look", "api")) == (404, "Not found")
    assert objections(bounce(bob, own, "Look", "api")) == [("body", "not_allowed")]
    assert field_errors(bounce(bob, post, "x" * 5001, "api")) == [("content", "too_long")]
    assert shares(alice, post) == (1, 2)
    assert bob.written() == (3, 3, 3, 0)
    bounced(bob, post, "Signed in")


def test_bounce_notifies_the_author(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    original = publish(alice)
    alice.server.clock.advance(1)
    plain = bounced(bob, original, way="api")
    quote = bounced(carol, plain, "Look")

    for post, author, kind, content in ((plain, bob, "SHARE", None), (quote, carol, "QUOTE", "Look")):
        told = {
            "id": post["id"],
            "authorId": author.account.id,
            "content": content,
            "type": kind,
            "visibility": "PUBLIC",
            "isShare": True,
            "originalPostId": original["id"],
            "hubId": None,
            "createdAt": post["createdAt"],
        }
        assert events(author, "post.created") == [{"post": told}]
    (of_original,) = events(alice, "post.created")
    assert (of_original["post"]["isShare"], of_original["post"]["originalPostId"]) == (False, None)


@both_ways
def test_a_repeated_bounce_is_one(actor: MakeActor, way: str) -> None:
    alice, bob = actor(), actor()
    original = publish(alice)
    path, key = f"/api/posts/{original['id']}/bounce", {"Idempotency-Key": "k"}
    client: httpx.Client = getattr(bob, way)

    first, again = client.post(path, headers=key), client.post(path, headers=key)

    assert (first.status_code, again.status_code) == (201, 200)
    assert again.content == first.content
    assert shares(alice, original) == (1, 1)
    assert client.post(path, headers={"Idempotency-Key": "another"}).status_code == 409
    assert bob.written() == (1, 1, int(way == "api"), 1)


def test_a_refused_bounce_may_be_tried_again_under_its_key(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    original = publish(alice, visibility="PRIVATE")
    path, key = f"/api/posts/{original['id']}/bounce", {"Idempotency-Key": "k"}

    assert bob.api.post(path, headers=key).status_code == 404
    body_of(alice.api.patch(f"/api/posts/{original['id']}", json={"visibility": "PUBLIC"}))
    assert bob.api.post(path, headers=key).status_code == 201


@one_engine
def test_bounce_content_rules(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    original = publish(alice)
    path = f"/api/posts/{original['id']}/bounce"

    assert bounced(bob, original, "😀" * 5000)["content"] == "😀" * 5000
    assert field_errors(bounce(bob, original, "😀" * 5001)) == [("content", "too_long")]
    assert field_errors(bob.api.post(path, json={"content": 7})) == [("content", "type")]
    assert field_errors(bob.api.post(path, json={"visibility": "PRIVATE"})) == [("visibility", "unknown_field")]
    assert field_errors(bob.api.post(path, content=b"null")) == [("body", "type")]
    assert shares(alice, original) == (0, 1)


def test_only_a_key_with_the_scope_bounces(actor: MakeActor) -> None:
    alice = actor(*(scope for scope in Scope if scope is not Scope.BOUNCES_WRITE))
    original = publish(alice)

    answer = bounce(alice, original, way="api")

    assert refusal(answer) == (403, "Missing required scope")
    assert answer.json()["requiredScope"] == "bounces:write"
    assert bounced(actor(Scope.BOUNCES_WRITE), original, way="api")["isBounce"] is True
