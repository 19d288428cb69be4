"""Likes and saves: once each, counted, and nobody else's business."""

import httpx
import pytest

from tests.api.actors import Actor, Json, body_of, follow, nobody, publish, read, refusal
from tests.api.conftest import MakeActor
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY


def react(who: Actor, method: str, post: Json, reaction: str) -> httpx.Response:
    return who.web.request(method, f"/api/posts/{post['id']}/{reaction}")


def done(who: Actor, post: Json) -> tuple[bool, bool]:
    """Whether the account likes the post and saves it."""
    interactions = read(who, post["id"])["userInteractions"]
    assert interactions.keys() == {"liked", "saved"}
    return interactions["liked"], interactions["saved"]


def likes(who: Actor, post: Json) -> int:
    return int(read(who, post["id"])["stats"]["likes"])


def test_a_like_counts_once(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)

    for _ in range(2):
        assert body_of(react(bob, "POST", post, "like")) == {"liked": True}
        assert (likes(bob, post), done(bob, post)) == (1, (True, False))
    for _ in range(2):
        assert body_of(react(bob, "DELETE", post, "like")) == {"liked": False}
        assert (likes(bob, post), done(bob, post)) == (0, (False, False))


def test_unliking_an_unliked_post_succeeds(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    body_of(react(alice, "POST", post, "like"))

    assert body_of(react(bob, "DELETE", post, "like")) == {"liked": False}
    assert likes(bob, post) == 1
    assert done(alice, post) == (True, False)


def test_a_save_counts_nowhere(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)

    for _ in range(2):
        assert body_of(react(bob, "POST", post, "save")) == {"saved": True}
        assert read(bob, post["id"]) == {**post, "userInteractions": {"liked": False, "saved": True}}
    assert read(alice, post["id"]) == post
    for _ in range(2):
        assert body_of(react(bob, "DELETE", post, "save")) == {"saved": False}
        assert read(bob, post["id"]) == post


def test_everybody_sees_the_count_and_their_own_reactions(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice)
    for who, reaction in ((alice, "like"), (bob, "like"), (bob, "save"), (carol, "save")):
        body_of(react(who, "POST", post, reaction))

    assert [done(who, post) for who in (alice, bob, carol)] == [(True, False), (True, True), (False, True)]
    assert {likes(who, post) for who in (alice, bob, carol)} == {2}
    signed_out = body_of(nobody.get(f"{alice.server.base_url}/api/posts/{post['id']}"))
    assert signed_out["userInteractions"] == {"liked": False, "saved": False}
    assert signed_out["stats"]["likes"] == 2
    body_of(react(bob, "DELETE", post, "like"))
    assert [done(who, post) for who in (alice, bob, carol)] == [(True, False), (False, True), (False, True)]
    assert likes(carol, post) == 1
    body_of(react(bob, "DELETE", post, "save"))
    assert [done(who, post) for who in (alice, bob, carol)] == [(True, False), (False, False), (False, True)]


def test_a_bounce_and_its_original_are_liked_apart(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    original = publish(alice)
    bounce = body_of(bob.web.post(f"/api/posts/{original['id']}/bounce"), 201)

    body_of(react(alice, "POST", bounce, "like"))
    body_of(react(bob, "POST", original, "like"))
    body_of(react(bob, "POST", original, "save"))

    seen = read(bob, bounce["id"])
    assert (seen["stats"]["likes"], seen["userInteractions"]) == (1, {"liked": False, "saved": False})
    assert seen["originalPost"]["stats"]["likes"] == 1
    assert seen["originalPost"]["userInteractions"] == {"liked": True, "saved": True}


def test_reactions_emit_no_event_and_charge_no_quota(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)

    for reaction in ("like", "save"):
        body_of(react(bob, "POST", post, reaction))

    assert bob.written() == (0, 0, 0, 0)
    assert alice.written() == (1, 1, 1, 0)
    assert read(alice, post["id"])["updatedAt"] == post["updatedAt"]


@pytest.mark.parametrize("reaction", ["like", "save"])
def test_a_reader_who_no_longer_sees_a_post_cannot_react_to_it(actor: MakeActor, reaction: str) -> None:
    alice, bob = actor(), actor()
    follow(bob, alice)
    post = publish(alice, visibility="FOLLOWERS")
    body_of(react(bob, "POST", post, reaction))

    body_of(bob.web.delete(f"/api/accounts/{alice.account.username}/follow"))
    for method in ("POST", "DELETE"):
        hidden, unknown = react(bob, method, post, reaction), react(bob, method, {"id": "no-such-post"}, reaction)
        assert refusal(hidden) == (404, "Not found")
        assert hidden.content == unknown.content
    follow(bob, alice)

    assert likes(alice, post) == (1 if reaction == "like" else 0)
    assert done(bob, post) == (reaction == "like", reaction == "save")


@pytest.mark.parametrize("reaction", ["like", "save"])
def test_reacting_is_for_people(actor: MakeActor, reaction: str) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    path = f"/api/posts/{post['id']}/{reaction}"

    for method in ("POST", "DELETE"):
        assert refusal(bob.api.request(method, path)) == (403, "Session required")
        assert refusal(nobody.request(method, bob.server.base_url + path)) == (401, "Not signed in")
    assert read(bob, post["id"]) == post
