"""Following: once, of others, and counted on both sides."""

import httpx
import pytest

from tests.api.actors import Actor, body_of, nobody, objections, publish, refusal
from tests.api.conftest import MakeActor
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY
FOLLOWING = {"following": True, "requested": False}
NOT_FOLLOWING = {"following": False, "requested": False}


def follow(who: Actor, username: str) -> httpx.Response:
    return who.web.post(f"/api/accounts/{username}/follow")


def unfollow(who: Actor, username: str) -> httpx.Response:
    return who.web.delete(f"/api/accounts/{username}/follow")


def counters(who: Actor) -> tuple[int, int]:
    """How many follow the account, and how many it follows."""
    me = body_of(who.web.get("/api/auth/me"))
    return me["totalFollowers"], me["totalFollowing"]


def test_to_follow_twice_is_to_follow(actor: MakeActor) -> None:
    alice, bob = actor(), actor()

    for _ in range(2):
        assert body_of(follow(bob, alice.account.username)) == FOLLOWING
        assert (counters(alice), counters(bob)) == ((1, 0), (0, 1))


def test_to_unfollow_twice_is_to_unfollow(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    body_of(follow(bob, alice.account.username))

    for _ in range(2):
        assert body_of(unfollow(bob, alice.account.username)) == NOT_FOLLOWING
        assert (counters(alice), counters(bob)) == ((0, 0), (0, 0))
    body_of(follow(bob, alice.account.username))
    assert (counters(alice), counters(bob)) == ((1, 0), (0, 1))


def test_unfollowing_an_unfollowed_account_succeeds(actor: MakeActor) -> None:
    alice, bob = actor(), actor()

    assert body_of(unfollow(bob, alice.account.username)) == NOT_FOLLOWING
    assert (counters(alice), counters(bob)) == ((0, 0), (0, 0))


def test_each_direction_is_a_follow_of_its_own(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    for who, whom in ((alice, bob), (bob, alice), (carol, alice), (carol, bob)):
        body_of(follow(who, whom.account.username))
    assert [counters(who) for who in (alice, bob, carol)] == [(2, 1), (2, 1), (0, 2)]

    body_of(unfollow(bob, alice.account.username))

    assert [counters(who) for who in (alice, bob, carol)] == [(1, 1), (2, 0), (0, 2)]


def test_following_oneself_is_refused(alice: Actor) -> None:
    username = alice.account.username

    for name in (username, username.upper()):
        assert objections(follow(alice, name)) == [("username", "not_allowed")]
    assert counters(alice) == (0, 0)


def test_there_is_no_such_account(alice: Actor) -> None:
    for name in ("no_such_account", alice.account.id, alice.account.email, "%20", "%00"):
        assert refusal(follow(alice, name)) == refusal(unfollow(alice, name)) == (404, "Not found")
    assert counters(alice) == (0, 0)


def test_a_user_name_is_the_same_in_any_case(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    name = alice.account.username

    for spelt in (name.upper(), name.capitalize(), name):
        assert body_of(follow(bob, spelt)) == FOLLOWING
    assert (counters(alice), counters(bob)) == ((1, 0), (0, 1))
    assert body_of(unfollow(bob, name.upper())) == NOT_FOLLOWING
    assert (counters(alice), counters(bob)) == ((0, 0), (0, 0))


def test_a_follow_outlives_a_change_of_name(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    old, new = alice.account.username, f"{alice.account.username}_new"
    body_of(follow(bob, old))

    body_of(alice.web.patch("/api/auth/me", json={"username": new}))

    assert refusal(unfollow(bob, old)) == (404, "Not found")
    assert body_of(follow(bob, new)) == FOLLOWING
    assert counters(alice) == (1, 0)


def test_a_follow_is_felt_at_once(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    body_of(follow(carol, alice.account.username))
    path = f"/api/posts/{publish(alice, visibility='FOLLOWERS')['id']}"

    statuses = [(bob.web.get(path).status_code, carol.web.get(path).status_code)]
    for change in (follow, unfollow, follow):
        body_of(change(bob, alice.account.username))
        statuses.append((bob.web.get(path).status_code, carol.web.get(path).status_code))

    assert statuses == [(404, 200), (200, 200), (404, 200), (200, 200)]


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_following_is_for_people(actor: MakeActor, method: str) -> None:
    alice, bob = actor(), actor()
    path = f"/api/accounts/{alice.account.username}/follow"

    assert refusal(bob.api.request(method, path)) == (403, "Session required")
    assert refusal(nobody.request(method, bob.server.base_url + path)) == (401, "Not signed in")
    assert (counters(alice), counters(bob)) == ((0, 0), (0, 0))
