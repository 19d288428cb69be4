"""Comments and replies: their fields, their order, and their notifications."""

import httpx
import pytest

from pressroom.clock import iso
from pressroom.db import Query
from pressroom.domains.keys.models import Scope
from pressroom.ids import id_before
from tests.api.actors import (
    Actor,
    Json,
    body_of,
    events,
    field_errors,
    follow,
    nobody,
    objections,
    publish,
    read,
    refusal,
    rows,
)
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY

SETTINGS = {**ROOMY, "DAILY_CONTENT_QUOTA": 1}

ALL = Query(str, "SELECT id FROM comments WHERE post_id = :post_id")
GIF = {"type": "gif", "url": "https://images.example.org/heron.gif"}

both_ways = pytest.mark.parametrize("way", ["api", "web"])
"""With the key, and signed in."""


def comment(who: Actor, post: Json, content: str | None = "Hm", way: str = "web", **fields: object) -> httpx.Response:
    client: httpx.Client = getattr(who, way)
    return client.post(f"/api/posts/{post['id']}/comments", json={"content": content, **fields})


def commented(who: Actor, post: Json, content: str | None = "Hm", way: str = "web", **fields: object) -> Json:
    return body_of(comment(who, post, content, way, **fields), 201)


def listed(reader: Actor, post: Json, query: str = "") -> list[Json]:
    comments: list[Json] = body_of(reader.web.get(f"/api/posts/{post['id']}/comments{query}"))["comments"]
    return comments


@both_ways
def test_a_comment(actor: MakeActor, way: str) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    key = {"id": bob.record.id, "label": "test key", "keyPrefix": bob.key[:15]}
    author = body_of(bob.web.post("/api/posts", json={"content": "Who am I?"}), 201)["author"]

    made = commented(bob, post, " The heron. ", way, media=GIF)

    page = post["permalink"]
    assert made == {
        "id": made["id"],
        "postId": post["id"],
        "parentId": None,
        "author": author,
        "content": " The heron. ",
        "media": GIF,
        "createdAt": iso(bob.server.clock.now()),
        "editedAt": None,
        "sourceApiKey": key if way == "api" else None,
        "permalink": f"{page}?after={made['id']}-{id_before(made['id'])}#comment-{made['id']}",
    }
    assert author["id"] == bob.account.id
    assert listed(alice, post) == [made]
    assert read(alice, post["id"])["stats"] == {**post["stats"], "comments": 1}


def test_media_stand_alone(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)

    for content in (None, "", " \n\u2003"):
        made = commented(bob, post, content, media=GIF)
        assert (made["content"], made["media"]) == (None, GIF)
    assert commented(bob, post, media={**GIF, "type": "image"})["media"]["type"] == "image"
    assert commented(bob, post)["media"] is None


@pytest.mark.parametrize("media", [None, GIF], ids=["words", "media alone"])
def test_comment_emits_an_event(actor: MakeActor, media: Json | None) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    content = None if media else "Hm"
    first = commented(bob, post, content, "api", media=media)
    bob.server.clock.advance(5)
    reply = commented(bob, post, content, "api", media=media, parentId=first["id"])

    assert events(bob, "comment.created") == [
        {
            "comment": {
                "id": made["id"],
                "postId": post["id"],
                "authorId": bob.account.id,
                "parentId": parent,
                "content": content or "",
                "createdAt": made["createdAt"],
            }
        }
        for made, parent in ((first, None), (reply, first["id"]))
    ]
    assert events(alice, "comment.created") == []


def test_comments_cost_no_quota(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)

    for _ in range(3):
        commented(bob, post, way="api")
    commented(alice, post, way="api")

    assert bob.written() == (0, 3, 0, 0)
    assert alice.written() == (1, 2, 1, 0)
    assert bob.post().status_code == 201


def test_replies_count_among_the_comments(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)

    top = commented(bob, post)
    reply = commented(alice, post, parentId=top["id"])
    commented(bob, post, parentId=reply["id"])
    commented(alice, post)

    assert read(bob, post["id"])["stats"]["comments"] == 4
    assert len(listed(bob, post)) == 4


def test_replies_nest_twenty_deep(actor: MakeActor) -> None:
    people = [actor() for _ in range(3)]
    post = publish(people[0])

    made = [commented(people[0], post, "0")]
    for depth in range(1, 21):
        people[0].server.clock.advance(5)
        made.append(commented(people[depth % 3], post, str(depth), parentId=made[-1]["id"]))

    assert [each["parentId"] for each in made] == [None, *(each["id"] for each in made[:-1])]
    assert listed(people[0], post, "?limit=100") == made


def test_replies_of_one_millisecond_follow_their_parents(alice: Actor) -> None:
    post = publish(alice)
    made = [commented(alice, post, "0")]
    for depth in range(1, 21):
        made.append(commented(alice, post, str(depth), parentId=made[-1]["id"]))

    assert {each["createdAt"] for each in made} == {made[0]["createdAt"]}
    assert [each["content"] for each in listed(alice, post, "?limit=100")] == [each["content"] for each in made]


def test_replies_under_a_slow_clock_follow_their_parents(alice: Actor) -> None:
    post, clock = publish(alice), alice.server.clock
    made = [commented(alice, post, "0")]
    clock.advance(-50)
    for depth in range(1, 4):
        made.append(commented(alice, post, str(depth), parentId=made[-1]["id"]))
        clock.advance(10)

    assert [each["content"] for each in listed(alice, post)] == [each["content"] for each in made]


def test_comments_are_listed_in_time_order_page_by_page(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post, other = publish(alice), body_of(alice.web.post("/api/posts", json={"content": "Another"}), 201)
    made: list[Json] = []
    for number in range(7):
        parent = made[0]["id"] if number in (2, 5) else None
        made.append(commented(bob, post, f"number {number}", parentId=parent))
        commented(bob, other)
        bob.server.clock.advance(5)

    pages: list[Json] = []
    cursor = ""
    while cursor is not None:
        pages.append(body_of(alice.web.get(f"/api/posts/{post['id']}/comments?limit=3{cursor}")))
        cursor = pages[-1]["nextCursor"] and f"&cursor={pages[-1]['nextCursor']}"

    assert [len(page["comments"]) for page in pages] == [3, 3, 1]
    assert [each for page in pages for each in page["comments"]] == made
    assert [each["createdAt"] for each in made] == sorted(each["createdAt"] for each in made)
    assert body_of(alice.web.get(f"/api/posts/{post['id']}/comments?limit=7"))["nextCursor"] is None


@one_engine
def test_a_page_is_asked_for_properly(alice: Actor) -> None:
    path = f"/api/posts/{publish(alice)['id']}/comments"

    assert body_of(alice.web.get(path)) == {"comments": [], "nextCursor": None}
    assert field_errors(alice.web.get(f"{path}?limit=0")) == [("limit", "out_of_range")]
    assert field_errors(alice.web.get(f"{path}?limit=101&cursor=x")) == [
        ("limit", "out_of_range"),
        ("cursor", "invalid_format"),
    ]


def test_comments_require_that_the_post_is_visible(actor: MakeActor) -> None:
    alice, fan, stranger = actor(), actor(), actor()
    follow(fan, alice)
    post = publish(alice, visibility="FOLLOWERS")

    made = [commented(alice, post), commented(fan, post, way="api")]

    assert sorted(each["id"] for each in listed(fan, post)) == sorted(each["id"] for each in made)
    assert refusal(comment(stranger, post, parentId=made[0]["id"])) == (404, "Not found")
    assert refusal(stranger.web.get(f"/api/posts/{post['id']}/comments")) == (404, "Not found")
    assert read(alice, post["id"])["stats"]["comments"] == 2
    assert stranger.written() == (0, 0, 0, 0)


def test_a_bounce_has_comments_of_its_own(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    original = publish(alice)
    bounce = body_of(bob.web.post(f"/api/posts/{original['id']}/bounce"), 201)

    made = commented(alice, bounce)

    assert made["postId"] == bounce["id"]
    assert (listed(bob, bounce), listed(bob, original)) == ([made], [])
    assert read(bob, original["id"])["stats"]["comments"] == 0


def test_a_reply_answers_a_comment_on_the_same_post(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post, other = publish(alice), body_of(alice.web.post("/api/posts", json={"content": "Another"}), 201)
    elsewhere = commented(bob, other)

    for parent in (elsewhere["id"], post["id"], "no-such-comment", ""):
        assert objections(comment(bob, post, parentId=parent)) == [("parentId", "not_allowed")]
    assert read(alice, post["id"])["stats"]["comments"] == 0
    assert rows(alice.server, ALL, post_id=post["id"]) == []
    assert len(events(bob, "comment.created")) == 1


@both_ways
def test_a_repeated_comment_is_one(actor: MakeActor, way: str) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    path, headers = f"/api/posts/{post['id']}/comments", {"Idempotency-Key": "k"}
    client: httpx.Client = getattr(bob, way)

    first = client.post(path, json={"content": "once"}, headers=headers)
    bob.server.clock.advance(1)
    again = client.post(path, json={"content": "twice"}, headers=headers)

    assert (first.status_code, again.status_code) == (201, 200)
    assert again.content == first.content
    assert listed(bob, post) == [first.json()]
    assert bob.written() == (0, 1, 0, 1)


BAD: dict[str, tuple[Json, list[tuple[str, str]]]] = {
    "nothing": ({}, [("content", "required")]),
    "white space": ({"content": " \u2003"}, [("content", "required")]),
    "a reply without words": ({"parentId": "x"}, [("content", "required")]),
    "too much": ({"content": "😀" * 501}, [("content", "too_long")]),
    "too much beside media": ({"content": "x" * 501, "media": GIF}, [("content", "too_long")]),
    "a video": ({"media": {**GIF, "type": "video"}}, [("media.type", "invalid_choice")]),
    "no address": ({"media": {"type": "gif"}}, [("media.url", "required")]),
    "no https": ({"media": {**GIF, "url": "http://example.org/a.gif"}}, [("media.url", "invalid_format")]),
    "a password": ({"media": {**GIF, "url": "https://u:p@example.org/a.gif"}}, [("media.url", "invalid_format")]),
    "a misspelling": ({"content": "x", "parentID": "x"}, [("parentID", "unknown_field")]),
}


@one_engine
@pytest.mark.parametrize(("body", "expected"), BAD.values(), ids=BAD)
def test_a_comment_that_makes_no_sense(alice: Actor, body: Json, expected: list[tuple[str, str]]) -> None:
    post = publish(alice)

    assert field_errors(alice.api.post(f"/api/posts/{post['id']}/comments", json=body)) == expected
    assert listed(alice, post) == []


@one_engine
def test_a_comment_has_five_hundred_characters(alice: Actor) -> None:
    post = publish(alice)

    assert commented(alice, post, "😀" * 500)["content"] == "😀" * 500
    assert commented(alice, post, "e\u0301" * 500)["content"] == "é" * 500


def test_only_a_key_with_the_scope_comments_and_any_reads(actor: MakeActor) -> None:
    alice = actor(*(scope for scope in Scope if scope is not Scope.COMMENTS_WRITE))
    post = publish(alice)
    url = f"{alice.server.base_url}/api/posts/{post['id']}/comments"

    answer = comment(alice, post, way="api")
    assert refusal(answer) == (403, "Missing required scope")
    assert answer.json()["requiredScope"] == "comments:write"
    assert body_of(alice.api.get(url))["comments"] == []
    assert refusal(nobody.post(url, json={"content": "x"})) == (401, "Missing API key")
    assert body_of(nobody.get(url))["comments"] == []
    assert commented(actor(Scope.COMMENTS_WRITE), post, way="api")["postId"] == post["id"]
