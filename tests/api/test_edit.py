"""Editing a post: changed and unchanged fields, earlier versions, and posts of others."""

import httpx
import msgspec
import pytest

from pressroom.clock import MINUTE, iso
from pressroom.db import Query
from pressroom.domains.keys.models import Scope
from tests.api.actors import Actor, Json, body_of, field_errors, nobody, objections, publish, read, refusal, rows
from tests.api.conftest import MakeActor, one_engine

SETTINGS = {"DAILY_CONTENT_QUOTA": 12}

TAGS = Query(str, "SELECT tag FROM post_tags WHERE post_id = :post_id ORDER BY tag")


class Kept(msgspec.Struct):
    """A version that was kept."""

    content: str | None
    visibility: str
    written_at: int


VERSIONS = Query(Kept, "SELECT content, visibility, written_at FROM post_versions WHERE post_id = :post_id ORDER BY id")

both_ways = pytest.mark.parametrize("way", ["api", "web"])
"""With the key, and signed in."""


def edit(author: Actor, post_id: str, way: str = "api", key: str | None = None, **changes: object) -> httpx.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    client: httpx.Client = getattr(author, way)
    return client.patch(f"/api/posts/{post_id}", json=changes, headers=headers)


def busy_post(author: Actor, reader: Actor) -> str:
    """A post with everything that a post can bear, on which the reader has done everything that a reader can do."""
    hub = body_of(author.web.post("/api/hubs", json={"name": "A hub", "slug": f"of-{author.account.username}"}), 201)
    place = {"name": "Köln", "latitude": 50.9, "longitude": 6.9}
    post = publish(author, "Which one?", hubId=hub["id"], location=place, poll={"options": ["the fox", "the heron"]})
    path = f"/api/posts/{post['id']}"
    body_of(reader.web.post(f"{path}/like"))
    body_of(reader.web.post(f"{path}/poll/votes", json={"choices": [1]}))
    body_of(reader.web.post(f"{path}/comments", json={"content": "The heron"}), 201)
    body_of(reader.web.post(f"{path}/bounce"), 201)
    return str(post["id"])


@both_ways
def test_edit_changes_given_fields_and_nothing_else(actor: MakeActor, way: str) -> None:
    alice, bob = actor(), actor()
    post_id = busy_post(alice, bob)
    before = read(alice, post_id)
    alice.server.clock.advance(61_234)
    now = iso(alice.server.clock.now())

    after = body_of(edit(alice, post_id, way, content="This one!", visibility="FOLLOWERS"))

    assert before["editedAt"] is None
    assert before["stats"] == {"likes": 1, "comments": 1, "shares": 1, "shareCount": 1, "views": 0}
    assert (before["location"]["name"], before["hub"]["name"], before["poll"]["totalVotes"]) == ("Köln", "A hub", 1)
    changed = {"content": "This one!", "visibility": "FOLLOWERS", "editedAt": now, "updatedAt": now}
    assert after == {**before, **changed}
    assert read(alice, post_id) == after


@both_ways
def test_absent_fields_stay(alice: Actor, way: str) -> None:
    post_id = publish(alice, "first", visibility="FOLLOWERS")["id"]

    text = body_of(edit(alice, post_id, way, content="second"))
    reach = body_of(edit(alice, post_id, way, content=None, visibility="PRIVATE"))

    assert (text["content"], text["visibility"]) == ("second", "FOLLOWERS")
    assert (reach["content"], reach["visibility"]) == ("second", "PRIVATE")


def test_key_s_posts_are_editable_in_sessions_and_vice_versa(alice: Actor) -> None:
    by_key = publish(alice)
    by_hand = body_of(alice.web.post("/api/posts", json={"content": "By hand"}), 201)

    first = body_of(edit(alice, by_key["id"], "web", content="Edited by hand"))
    second = body_of(edit(alice, by_hand["id"], "api", content="Edited by key"))

    assert first["sourceApiKey"] == by_key["sourceApiKey"]
    assert first["sourceApiKey"]["id"] == alice.record.id
    assert second["sourceApiKey"] is None


def test_every_edit_keeps_the_version_before(alice: Actor) -> None:
    clock, post_id = alice.server.clock, publish(alice, "first")["id"]
    made = clock.now()
    assert rows(alice.server, VERSIONS, post_id=post_id) == []

    clock.advance(MINUTE)
    body_of(edit(alice, post_id, content="second"))
    clock.advance(MINUTE)
    body_of(edit(alice, post_id, visibility="PRIVATE"))
    clock.advance(MINUTE)
    body_of(edit(alice, post_id, content="second", visibility="PRIVATE"))

    assert rows(alice.server, VERSIONS, post_id=post_id) == [
        Kept("first", "PUBLIC", made),
        Kept("second", "PUBLIC", made + MINUTE),
        Kept("second", "PRIVATE", made + 2 * MINUTE),
    ]


def test_edit_after_clock_was_set_back_is_not_earlier(alice: Actor) -> None:
    clock, post_id = alice.server.clock, publish(alice, "first")["id"]
    clock.advance(MINUTE)
    latest = clock.now()
    body_of(edit(alice, post_id, content="second"))

    clock.advance(-MINUTE)
    edited = body_of(edit(alice, post_id, content="third"))
    clock.advance(MINUTE)

    assert edited["editedAt"] == iso(latest)


def test_edit_of_audience_keeps_total_of_posts(alice: Actor) -> None:
    post_id = publish(alice, "PUBLIC, then not")["id"]
    before = body_of(alice.web.get("/api/auth/me"))["totalPosts"]

    body_of(edit(alice, post_id, visibility="PRIVATE"))

    assert body_of(alice.web.get("/api/auth/me"))["totalPosts"] == before


def test_hashtags_follow_the_text_of_public_posts(alice: Actor) -> None:
    post_id, other_id = (publish(alice, "#One and #two")["id"] for _ in range(2))

    def tags_after(**changes: str) -> list[str]:
        body_of(edit(alice, post_id, **changes))
        return rows(alice.server, TAGS, post_id=post_id)

    assert rows(alice.server, TAGS, post_id=post_id) == ["one", "two"]
    assert tags_after(content="#two, then #THREE and #three") == ["three", "two"]
    for hidden in ("FOLLOWERS", "CONNECTIONS", "PRIVATE", "CUSTOM"):
        assert tags_after(visibility=hidden) == []
    assert tags_after(content="#four, unseen") == []
    assert tags_after(visibility="PUBLIC") == ["four"]
    assert tags_after(content="none") == []
    assert rows(alice.server, TAGS, post_id=other_id) == ["one", "two"]


def test_a_post_that_is_not_public_has_no_hashtags(alice: Actor) -> None:
    post_id = publish(alice, "#one", visibility="FOLLOWERS")["id"]

    assert rows(alice.server, TAGS, post_id=post_id) == []


def test_edits_cost_no_quota_and_are_no_posts_of_the_minute(alice: Actor) -> None:
    made = [publish(alice, f"number {number}") for number in range(10)]

    for number in range(15):
        body_of(edit(alice, made[number % 10]["id"], content=f"edit {number}"))
    remaining = edit(alice, made[0]["id"], content="one more").headers["X-RateLimit-Remaining"]

    assert alice.written() == (10, 10, 10, 0), "an edit is told to nobody either"
    assert remaining == str(60 - 10 - 15 - 1)
    assert refusal(alice.post()) == (429, "Rate limit exceeded")
    alice.server.clock.advance(MINUTE)
    assert [alice.post().status_code for _ in range(3)] == [201, 201, 429]
    assert edit(alice, made[0]["id"], content="with a spent quota").status_code == 200


def test_only_new_posts_are_posts_of_the_minute(alice: Actor) -> None:
    path = f"/api/posts/{publish(alice)['id']}"
    for _ in range(9):
        publish(alice)
    assert refusal(alice.post()) == (429, "Rate limit exceeded")

    answers = [
        alice.api.patch(path, json={"content": "edited"}),
        alice.api.post(f"{path}/comments", json={"content": "Hm"}),
        alice.api.post(f"{path}/bounce"),
        alice.api.delete(path),
    ]

    assert [answer.status_code for answer in answers] == [200, 201, 201, 200]


@both_ways
def test_somebody_else_s_post_is_no_post(actor: MakeActor, way: str) -> None:
    alice, mallory = actor(), actor()
    theirs, gone = publish(alice, "Mine"), publish(mallory)
    body_of(mallory.web.delete(f"/api/posts/{gone['id']}"))

    answers = [
        edit(mallory, post_id, way, content="Stolen", visibility="PRIVATE")
        for post_id in (theirs["id"], gone["id"], "no-such-post")
    ]

    assert [refusal(answer) for answer in answers] == [(404, "Not found")] * 3
    assert len({answer.content for answer in answers}) == 1
    assert read(alice, theirs["id"]) == theirs
    assert rows(alice.server, VERSIONS, post_id=theirs["id"]) == []


@both_ways
def test_a_plain_bounce_has_nothing_to_edit(actor: MakeActor, way: str) -> None:
    alice, bob = actor(), actor()
    bounce = body_of(bob.api.post(f"/api/posts/{publish(alice)['id']}/bounce"), 201)

    text, reach = ("content", "not_allowed"), ("visibility", "not_allowed")
    assert objections(edit(bob, bounce["id"], way, content="Words")) == [text]
    assert objections(edit(bob, bounce["id"], way, visibility="PRIVATE")) == [reach]
    assert objections(edit(bob, bounce["id"], way, content="Words", visibility="PUBLIC")) == [text, reach]
    assert read(bob, bounce["id"]) == bounce


@both_ways
def test_content_of_a_quote_can_be_edited(actor: MakeActor, way: str) -> None:
    alice, bob = actor(), actor()
    original = publish(alice)
    quote = body_of(bob.api.post(f"/api/posts/{original['id']}/bounce", json={"content": "Wrods"}), 201)
    bob.server.clock.advance(1)
    now = iso(bob.server.clock.now())

    refused = edit(bob, quote["id"], way, content="Words", visibility="FOLLOWERS")
    assert objections(refused) == [("visibility", "not_allowed")]
    edited = body_of(edit(bob, quote["id"], way, content="Words"))

    assert edited == {**quote, "content": "Words", "editedAt": now, "updatedAt": now}
    assert edited["originalPost"]["id"] == original["id"]
    assert [kept.content for kept in rows(bob.server, VERSIONS, post_id=quote["id"])] == ["Wrods"]


@both_ways
def test_a_repeated_edit_is_done_once(alice: Actor, way: str) -> None:
    post_id = publish(alice, "first")["id"]

    first = edit(alice, post_id, way, key="k", content="second")
    alice.server.clock.advance(MINUTE)
    body_of(edit(alice, post_id, way, content="third"))
    again = edit(alice, post_id, way, key="k", content="something else")

    assert (first.status_code, again.status_code) == (200, 200)
    assert again.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    assert read(alice, post_id)["content"] == "third"
    assert len(rows(alice.server, VERSIONS, post_id=post_id)) == 2


def test_an_idempotency_key_counts_for_one_post(alice: Actor) -> None:
    posts = [publish(alice, f"number {number}") for number in range(2)]

    edited = [body_of(edit(alice, post["id"], key="k", content=f"edit of {post['id']}")) for post in posts]

    assert [post["content"] for post in edited] == [f"edit of {post['id']}" for post in posts]


BAD: dict[str, tuple[Json, list[tuple[str, str]]]] = {
    "nothing": ({}, [("body", "required")]),
    "nulls": ({"content": None, "visibility": None}, [("body", "required")]),
    "no text": ({"content": ""}, [("content", "required")]),
    "white space": ({"content": "\u2003\n"}, [("content", "required")]),
    "too much": ({"content": "x" * 5001}, [("content", "too_long")]),
    "an unknown visibility": ({"visibility": "FRIENDS"}, [("visibility", "invalid_choice")]),
    "what cannot be edited": ({"content": "x", "hubId": "x"}, [("hubId", "unknown_field")]),
    "all of it": (
        {"content": "x" * 5001, "visibility": "x", "pol": 1},
        [("content", "too_long"), ("visibility", "invalid_choice"), ("pol", "unknown_field")],
    ),
}


@one_engine
@pytest.mark.parametrize(("changes", "expected"), BAD.values(), ids=BAD)
def test_an_edit_that_makes_no_sense(alice: Actor, changes: Json, expected: list[tuple[str, str]]) -> None:
    post = publish(alice)

    assert field_errors(edit(alice, post["id"], **changes)) == expected
    assert read(alice, post["id"]) == post


def test_only_a_key_with_the_scope_edits(actor: MakeActor) -> None:
    alice = actor()
    post_id = publish(alice)["id"]
    _, weak = alice.server.key(alice.account, *(scope for scope in Scope if scope is not Scope.POSTS_WRITE))

    url = f"{alice.server.base_url}/api/posts/{post_id}"
    answer = nobody.patch(url, json={"content": "x"}, headers={"Authorization": f"Bearer {weak}"})

    assert refusal(answer) == (403, "Missing required scope")
    assert answer.json()["requiredScope"] == "posts:write"
    assert refusal(nobody.patch(url, json={"content": "x"})) == (401, "Missing API key")
