"""Blocks, mutes, word filters, and who may comment on a post."""

from collections.abc import Mapping

import httpx
import pytest

from tests.api.actors import Actor, body_of, field_errors, nobody, objections, publish, refusal
from tests.api.conftest import MakeActor
from tests.harness.roomy import ROOMY
from tests.media.uploads import ready_clip

SETTINGS = ROOMY
GONE = (404, "Not found")


def block(who: Actor, whom: Actor) -> httpx.Response:
    return who.web.put(f"/api/blocks/{whom.account.username}")


def follow(who: Actor, whom: Actor) -> httpx.Response:
    return who.web.post(f"/api/accounts/{whom.account.username}/follow")


def listed(who: Actor, kind: str) -> list[str]:
    """The user names in the list of blocks or mutes."""
    return [each["username"] for each in body_of(who.web.get(f"/api/{kind}"))["accounts"]]


@pytest.mark.parametrize("kind", ["blocks", "mutes"])
def test_blocks_and_mutes_are_listed_newest_account_first_and_taken_back(actor: MakeActor, kind: str) -> None:
    alice, bob, carol = actor(), actor(), actor()
    state = "blocked" if kind == "blocks" else "muted"

    for whom in (bob, carol, bob):
        assert body_of(alice.web.put(f"/api/{kind}/{whom.account.username.upper()}")) == {state: True}
    assert listed(alice, kind) == [carol.account.username, bob.account.username]
    page = body_of(alice.web.get(f"/api/{kind}?limit=1"))
    assert [each["username"] for each in page["accounts"]] == [carol.account.username]
    rest = body_of(alice.web.get(f"/api/{kind}?limit=1&cursor={page['nextCursor']}"))
    assert ([each["username"] for each in rest["accounts"]], rest["nextCursor"]) == ([bob.account.username], None)
    for _ in range(2):
        assert body_of(alice.web.delete(f"/api/{kind}/{bob.account.username}")) == {state: False}
    assert listed(alice, kind) == [carol.account.username]
    assert listed(bob, kind) == []


@pytest.mark.parametrize("kind", ["blocks", "mutes"])
def test_own_account_and_unknown_names_are_refused(alice: Actor, kind: str) -> None:
    assert objections(alice.web.put(f"/api/{kind}/{alice.account.username}")) == [("username", "not_allowed")]
    for method in ("PUT", "DELETE"):
        assert refusal(alice.web.request(method, f"/api/{kind}/no_such_account")) == GONE


def test_block_ends_follows_and_requests_both_ways(actor: MakeActor) -> None:
    alice, bob, shy = actor(), actor(), actor()
    body_of(shy.web.patch("/api/auth/me", json={"isPrivate": True}))
    for who, whom in ((alice, bob), (bob, alice), (alice, shy)):
        body_of(follow(who, whom))

    body_of(block(alice, bob))
    body_of(block(shy, alice))

    for who in (alice, bob):
        me = body_of(who.web.get("/api/auth/me"))
        assert (me["totalFollowers"], me["totalFollowing"]) == (0, 0)
    assert body_of(shy.web.get("/api/follow-requests"))["followRequests"] == []
    for who, whom in ((alice, bob), (bob, alice), (alice, shy)):
        assert refusal(follow(who, whom)) == GONE
    body_of(alice.web.delete(f"/api/blocks/{bob.account.username}"))
    assert body_of(follow(bob, alice)) == {"following": True, "requested": False}


def test_block_of_both_sides_ends_with_the_second_of_them(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(bob)["id"]
    body_of(block(alice, bob))
    body_of(block(bob, alice))

    body_of(alice.web.delete(f"/api/blocks/{bob.account.username}"))
    assert (listed(alice, "blocks"), listed(bob, "blocks")) == ([], [alice.account.username])
    assert refusal(alice.web.get(f"/api/posts/{post}")) == GONE
    body_of(bob.web.delete(f"/api/blocks/{alice.account.username}"))
    assert alice.web.get(f"/api/posts/{post}").status_code == 200


def test_neither_side_of_a_block_reaches_a_post_of_the_other(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    posts = {who.account.id: publish(who)["id"] for who in (alice, bob)}
    body_of(block(alice, bob))

    for who, whom in ((alice, bob), (bob, alice)):
        path = f"/api/posts/{posts[whom.account.id]}"
        tries = [
            who.web.get(path),
            who.api.get(path),
            who.web.get(f"{path}/comments"),
            who.web.post(f"{path}/like"),
            who.web.post(f"{path}/save"),
            who.web.post(f"{path}/bounce"),
            who.api.post(f"{path}/bounce"),
            who.api.post(f"{path}/comments", json={"content": "Hello"}),
        ]
        assert [refusal(each) for each in tries] == [GONE] * len(tries)
        assert who.web.get(f"/post/{posts[whom.account.id]}").status_code == 404
        assert nobody.get(f"{who.server.base_url}{path}").status_code == 200


def test_clips_and_lists_leave_out_the_other_side_of_a_block(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    hub = body_of(bob.web.post("/api/hubs", json={"name": "Quay", "slug": f"q-{bob.account.id.lower()}"}), 201)
    post = publish(bob, content="#quayside", hubId=hub["id"])["id"]
    clip = ready_clip(bob)["id"]
    pages = (f"/hub/{hub['slug']}", "/tag/quayside")
    assert all(f"post-{post}" in alice.web.get(page).text for page in pages)
    body_of(block(bob, alice))

    assert refusal(alice.web.get(f"/api/clips/{clip}")) == GONE
    assert alice.web.get(f"/clip/{clip}").status_code == 404
    assert not any(f"post-{post}" in alice.web.get(page).text for page in pages)
    assert all(f"post-{post}" in nobody.get(alice.server.base_url + page).text for page in pages)


def test_profile_across_a_block_is_404_for_the_blocked_and_offers_to_unblock(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    publish(bob, content="A secret recipe")
    body_of(block(alice, bob))

    assert bob.web.get(f"/@{alice.account.username}").status_code == 404
    assert bob.web.get(f"/@{alice.account.username}/clips").status_code == 404
    own = alice.web.get(f"/@{bob.account.username}")
    assert own.status_code == 200
    assert "Unblock" in own.text
    assert "A secret recipe" not in own.text
    assert "A secret recipe" in nobody.get(f"{alice.server.base_url}/@{bob.account.username}").text


def test_comments_across_a_block_are_hidden_from_the_two_alone(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(carol)["id"]
    path = f"/api/posts/{post}/comments"
    said = {who.account.id: body_of(who.web.post(path, json={"content": "Hello"}), 201)["id"] for who in (alice, bob)}
    body_of(block(alice, bob))

    def comments(who: Actor) -> list[str]:
        return [each["id"] for each in body_of(who.web.get(path))["comments"]]

    assert comments(carol) == [said[alice.account.id], said[bob.account.id]]
    for who, whom in ((alice, bob), (bob, alice)):
        assert comments(who) == [said[who.account.id]]
        other = said[whom.account.id]
        assert objections(who.web.post(path, json={"content": "No", "parentId": other})) == [
            ("parentId", "not_allowed")
        ]
        assert refusal(who.web.post(f"/api/comments/{other}/report", json={"reason": "spam"})) == GONE
        page = who.web.get(f"/post/{post}").text
        assert (f"comment-{said[who.account.id]}" in page, f"comment-{other}" in page) == (True, False)


def test_mention_across_a_block_notifies_nobody(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    body_of(block(alice, bob))

    publish(alice, content=f"Hello @{bob.account.username}")
    publish(bob, content=f"Hello @{alice.account.username}")

    for who in (alice, bob):
        assert body_of(who.web.get("/api/notifications"))["notifications"] == []


def test_bounce_hides_its_original_across_a_block(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    original = publish(bob)["id"]
    bounce = body_of(carol.web.post(f"/api/posts/{original}/bounce"), 201)["id"]
    body_of(block(alice, bob))

    assert body_of(alice.web.get(f"/api/posts/{bounce}"))["originalPost"] is None
    assert body_of(carol.web.get(f"/api/posts/{bounce}"))["originalPost"]["id"] == original


def filters(who: Actor, *items: Mapping[str, object]) -> httpx.Response:
    return who.web.put("/api/filters", json={"filters": list(items)})


def test_filters_are_replaced_as_a_whole(alice: Actor) -> None:
    assert body_of(alice.web.get("/api/filters")) == {"filters": []}
    first = {"text": "Election", "wholeWord": True, "places": ["timeline"]}
    second = {"text": "new  phone", "wholeWord": False, "places": ["notifications", "timeline"]}

    kept = body_of(filters(alice, first, second))

    assert kept == {"filters": [first, {**second, "places": ["timeline", "notifications"]}]}
    assert body_of(alice.web.get("/api/filters")) == kept
    assert body_of(filters(alice, {"text": "tea"})) == {
        "filters": [{"text": "tea", "wholeWord": True, "places": ["timeline", "notifications"]}]
    }
    assert body_of(filters(alice)) == {"filters": []}


def test_bad_filters_are_refused_with_their_places(alice: Actor) -> None:
    many = [{"text": f"word {number}"} for number in range(101)]
    refused = {
        "too many": (filters(alice, *many), [("filters", "too_many")]),
        "empty": (filters(alice, {"text": " "}), [("filters[0].text", "required")]),
        "no word": (filters(alice, {"text": "?!"}), [("filters[0].text", "invalid_format")]),
        "long": (filters(alice, {"text": "x" * 101}), [("filters[0].text", "too_long")]),
        "twice": (filters(alice, {"text": "Tea"}, {"text": "tea"}), [("filters[1].text", "duplicate")]),
        "nowhere": (filters(alice, {"text": "tea", "places": []}), [("filters[0].places", "too_few")]),
        "elsewhere": (
            filters(alice, {"text": "tea", "places": ["search"]}),
            [("filters[0].places[0]", "invalid_choice")],
        ),
    }
    for name, (answer, expected) in refused.items():
        assert field_errors(answer) == expected, name


def comment(who: Actor, post_id: str) -> httpx.Response:
    return who.web.post(f"/api/posts/{post_id}/comments", json={"content": "Hello"})


def test_author_chooses_the_commenters(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    body_of(follow(bob, alice))
    made = body_of(alice.web.post("/api/posts", json={"content": "Hello", "comments": "followers"}), 201)
    assert made["comments"] == "followers"
    post_id = made["id"]

    body_of(comment(alice, post_id), 201)
    body_of(comment(bob, post_id), 201)
    assert objections(comment(carol, post_id)) == [("body", "not_allowed")]

    changed = body_of(alice.web.patch(f"/api/posts/{post_id}", json={"comments": "nobody"}))
    assert (changed["comments"], changed["editedAt"], changed["content"]) == ("nobody", None, "Hello")
    assert objections(comment(bob, post_id)) == [("body", "not_allowed")]
    body_of(comment(alice, post_id), 201)
    body_of(alice.web.patch(f"/api/posts/{post_id}", json={"content": "Hello again"}))
    assert body_of(alice.web.get(f"/api/posts/{post_id}"))["comments"] == "nobody"
    assert body_of(alice.web.patch(f"/api/posts/{post_id}", json={"comments": "everyone"}))["comments"] == "everyone"
    body_of(comment(carol, post_id), 201)


def test_key_cannot_say_who_may_comment(alice: Actor) -> None:
    post_id = publish(alice)["id"]

    answers = [
        alice.api.post("/api/posts", json={"content": "Hello", "comments": "nobody"}),
        alice.api.patch(f"/api/posts/{post_id}", json={"comments": "nobody"}),
    ]

    for answer in answers:
        assert field_errors(answer) == [("comments", "not_allowed")]
