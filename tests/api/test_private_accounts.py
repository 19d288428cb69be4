"""Private accounts: who follows one waits for its answer, and what others are shown of it."""

import re

import httpx
import pytest

from tests.api.actors import Actor, Json, body_of, nobody, publish, refusal
from tests.api.conftest import MakeActor
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY
FOLLOWING = {"following": True, "requested": False}
WAITING = {"following": False, "requested": True}
NEITHER = {"following": False, "requested": False}


def set_private(who: Actor, *, private: bool = True) -> None:
    assert body_of(who.web.patch("/api/auth/me", json={"isPrivate": private}))["isPrivate"] is private


def follow(who: Actor, whom: Actor) -> Json:
    return body_of(who.web.post(f"/api/accounts/{whom.account.username}/follow"))


def unfollow(who: Actor, whom: Actor) -> Json:
    return body_of(who.web.delete(f"/api/accounts/{whom.account.username}/follow"))


def answer(owner: Actor, verb: str, asking: Actor) -> httpx.Response:
    return owner.web.post(f"/api/follow-requests/{asking.account.username}/{verb}")


def waiting(owner: Actor) -> list[str]:
    """The user names of those who wait."""
    return [each["username"] for each in body_of(owner.web.get("/api/follow-requests"))["followRequests"]]


def told(owner: Actor) -> list[tuple[str, str]]:
    """The account's notifications, and their actors, latest first."""
    found = body_of(owner.web.get("/api/notifications"))["notifications"]
    return [(each["type"], each["actor"]["username"]) for each in found]


def counters(who: Actor) -> tuple[int, int]:
    """How many follow the account, and how many it follows."""
    me = body_of(who.web.get("/api/auth/me"))
    return me["totalFollowers"], me["totalFollowing"]


def sees(who: Actor, post: Json) -> bool:
    return who.web.get(f"/api/posts/{post['id']}").status_code == 200


def posts_on_profile(owner: Actor, reader: Actor | None) -> int | None:
    """The number of posts in the profile; None when it has none."""
    client = reader.web if reader else nobody
    page = client.get(f"{owner.server.base_url}/@{owner.account.username}")
    assert page.status_code == 200
    found = re.search(r"<b>([\d,]+)</b> posts?<", page.text)
    return int(found[1]) if found else None


def on_tag_page(reader: Actor | None, owner: Actor, tag: str, post: Json) -> bool:
    """Whether a tag's page shows a post."""
    page = (reader.web if reader else nobody).get(f"{owner.server.base_url}/tag/{tag}")
    assert page.status_code in (200, 404)
    return post["id"] in page.text


def test_following_a_private_account_waits_for_acceptance(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    set_private(alice)
    post = publish(alice, visibility="FOLLOWERS")

    assert [follow(bob, alice), follow(bob, alice)] == [WAITING, WAITING]
    assert (counters(alice), counters(bob), sees(bob, post)) == ((0, 0), (0, 0), False)
    assert waiting(alice) == [bob.account.username]
    assert told(alice) == [("follow.requested", bob.account.username)]

    for _ in range(2):
        assert body_of(answer(alice, "accept", bob)) == {"following": True}
        assert (counters(alice), counters(bob), sees(bob, post)) == ((1, 0), (0, 1), True)
    assert waiting(alice) == []
    assert follow(bob, alice) == FOLLOWING


def test_a_rejected_request_is_gone_and_may_be_made_again(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    set_private(alice)
    follow(bob, alice)

    assert body_of(answer(alice, "reject", bob)) == {"following": False}

    assert (counters(alice), counters(bob), waiting(alice)) == ((0, 0), (0, 0), [])
    assert refusal(answer(alice, "reject", bob)) == refusal(answer(alice, "accept", bob)) == (404, "Not found")
    assert follow(bob, alice) == WAITING
    assert waiting(alice) == [bob.account.username]
    assert told(alice) == [("follow.requested", bob.account.username)], "asking again and again tells once"


def test_a_request_is_withdrawn_as_a_follow_is_taken_back(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    set_private(alice)
    follow(bob, alice)

    for _ in range(2):
        assert unfollow(bob, alice) == NEITHER
        assert (waiting(alice), told(alice)) == ([], [])
    assert refusal(answer(alice, "accept", bob)) == (404, "Not found")

    follow(bob, alice)
    body_of(answer(alice, "accept", bob))
    assert unfollow(bob, alice) == NEITHER
    assert (counters(alice), counters(bob)) == ((0, 0), (0, 0))
    assert follow(bob, alice) == WAITING, "who left has to ask again"


def test_public_account_is_notified_of_each_follower_once(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()

    for _ in range(3):
        follow(bob, alice)
    follow(carol, alice)
    assert told(alice) == [("follow", carol.account.username), ("follow", bob.account.username)]

    for _ in range(3):
        unfollow(bob, alice)
        follow(bob, alice)
    assert sorted(told(alice)) == sorted([("follow", carol.account.username), ("follow", bob.account.username)])


def test_an_account_that_turns_private_keeps_its_followers(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    follow(bob, alice)
    set_private(alice)
    post = publish(alice, visibility="FOLLOWERS")

    assert follow(bob, alice) == FOLLOWING
    assert follow(carol, alice) == WAITING
    assert (counters(alice), sees(bob, post), sees(carol, post)) == ((1, 0), True, False)


def test_those_who_wait_follow_when_the_account_turns_public(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    set_private(alice)
    crowd = [actor() for _ in range(60)]
    for each in (bob, carol, *crowd):
        assert follow(each, alice) == WAITING
    unfollow(carol, alice)

    set_private(alice, private=False)
    alice.server.do_jobs()

    assert (counters(alice), waiting(alice)) == ((61, 0), [])
    assert (counters(bob), counters(crowd[0]), counters(carol)) == ((0, 1), (0, 1), (0, 0))
    assert follow(carol, alice) == FOLLOWING


def test_requester_of_an_account_made_private_again_keeps_waiting(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    set_private(alice)
    follow(bob, alice)

    set_private(alice, private=False)
    set_private(alice)
    alice.server.do_jobs()

    assert (waiting(alice), counters(alice)) == ([bob.account.username], (0, 0))
    set_private(alice, private=False)
    assert follow(bob, alice) == FOLLOWING, "nobody has to wait for the job"
    assert (waiting(alice), counters(alice)) == ([], (1, 0))
    alice.server.do_jobs()
    assert counters(alice) == (1, 0)


def test_a_follower_can_be_removed(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice, visibility="FOLLOWERS")
    follow(bob, alice)
    follow(carol, alice)
    path = f"/api/followers/{bob.account.username}"

    for _ in range(2):
        assert body_of(alice.web.delete(path)) == {"following": False}
        assert (counters(alice), counters(bob), sees(bob, post)) == ((1, 0), (0, 0), False)
    assert sees(carol, post)
    assert refusal(alice.web.delete("/api/followers/nobody_at_all")) == (404, "Not found")
    assert body_of(alice.web.delete(f"/api/followers/{alice.account.username}")) == {"following": False}


def test_followers_and_followed_are_listed_in_pages(actor: MakeActor) -> None:
    alice, *others = (actor() for _ in range(6))
    for other in others:
        follow(other, alice)
        follow(alice, other)
    expected = [other.account.username for other in reversed(others)]

    for path, name in (("/api/followers", "followers"), ("/api/follows", "follows")):
        found: list[str] = []
        cursor = ""
        while cursor is not None:
            page = body_of(alice.web.get(path, params={"limit": "2", **({"cursor": cursor} if cursor else {})}))
            found += [each["username"] for each in page[name]]
            cursor = page["nextCursor"]
        assert found == expected
        first = body_of(alice.web.get(path))[name][0]
        assert set(first) == {"id", "username", "displayName", "avatar", "verified", "verifiedType"}


def test_requests_are_listed_in_pages_latest_first(actor: MakeActor) -> None:
    alice, *others = (actor() for _ in range(5))
    set_private(alice)
    for other in others:
        alice.server.clock.advance(10)
        follow(other, alice)

    first = body_of(alice.web.get("/api/follow-requests?limit=3"))
    rest = body_of(alice.web.get(f"/api/follow-requests?limit=3&cursor={first['nextCursor']}"))

    found = [each["username"] for each in (*first["followRequests"], *rest["followRequests"])]
    assert found == [other.account.username for other in reversed(others)]
    assert rest["nextCursor"] is None
    assert first["followRequests"][0]["requestedAt"] > first["followRequests"][1]["requestedAt"]


def test_requests_are_their_owner_s_business(actor: MakeActor) -> None:
    alice, bob, mallory = actor(), actor(), actor()
    set_private(alice)
    follow(bob, alice)

    for verb in ("accept", "reject"):
        assert refusal(answer(mallory, verb, bob)) == (404, "Not found")
        assert refusal(answer(bob, verb, bob)) == (404, "Not found")
        assert refusal(answer(alice, verb, mallory)) == (404, "Not found")
    assert (waiting(alice), waiting(mallory)) == ([bob.account.username], [])


def test_private_accounts_leave_tag_pages_at_once_and_come_back(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    tag = f"tag{alice.account.username}"
    follow(bob, alice)
    before = publish(alice, f"One #{tag}")
    assert on_tag_page(None, alice, tag, before)

    set_private(alice)
    after = publish(alice, f"Two #{tag}")

    for _ in range(2):  # at once, and when the job is done
        assert not any(on_tag_page(who, alice, tag, post) for who in (None, bob, alice) for post in (before, after))
        assert nobody.get(f"{alice.server.base_url}/tag/{tag}").status_code == 404
        alice.server.do_jobs()
    edited = body_of(alice.web.patch(f"/api/posts/{before['id']}", json={"content": f"Three #{tag}"}))
    assert not on_tag_page(None, alice, tag, edited)

    set_private(alice, private=False)
    alice.server.do_jobs()
    assert all(on_tag_page(who, alice, tag, post) for who in (None, bob) for post in (before, after))


def test_profile_counts_posts_visible_to_its_reader(actor: MakeActor) -> None:
    alice, stranger, follower, mutual, listed = (actor() for _ in range(5))
    follow(follower, alice)
    follow(mutual, alice)
    follow(alice, mutual)
    posts = {
        visibility: [publish(alice, visibility=visibility) for _ in range(count)]
        for visibility, count in (("PUBLIC", 1), ("FOLLOWERS", 2), ("CONNECTIONS", 4), ("PRIVATE", 8), ("CUSTOM", 16))
    }
    for post in posts["CUSTOM"][:3]:
        audience = {"usernames": [listed.account.username]}
        body_of(alice.web.put(f"/api/posts/{post['id']}/audience", json=audience))

    def counted() -> list[int | None]:
        return [posts_on_profile(alice, who) for who in (None, stranger, follower, mutual, listed, alice)]

    assert counted() == [1, 1, 3, 7, 4, 31]
    body_of(alice.web.delete(f"/api/posts/{posts['FOLLOWERS'][0]['id']}"))
    body_of(alice.web.patch(f"/api/posts/{posts['PUBLIC'][0]['id']}", json={"visibility": "CONNECTIONS"}))
    body_of(alice.web.patch(f"/api/posts/{posts['PRIVATE'][0]['id']}", json={"visibility": "PUBLIC"}))
    body_of(alice.web.patch(f"/api/posts/{posts['PRIVATE'][1]['id']}", json={"content": "the same to the same"}))
    body_of(alice.web.delete(f"/api/posts/{posts['CUSTOM'][0]['id']}"))
    assert counted() == [1, 1, 2, 7, 3, 29]

    set_private(alice)
    assert counted() == [None, None, 2, 7, None, 29]


def test_a_private_account_asks_as_everybody_does(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    set_private(alice)

    assert follow(alice, bob) == FOLLOWING
    assert told(bob) == [("follow", alice.account.username)]


@pytest.mark.parametrize("verb", ["accept", "reject"])
def test_an_answer_is_given_once_per_idempotency_key(actor: MakeActor, verb: str) -> None:
    alice, bob = actor(), actor()
    set_private(alice)
    follow(bob, alice)
    path = f"/api/follow-requests/{bob.account.username}/{verb}"

    first, again = (alice.web.post(path, headers={"Idempotency-Key": "once"}) for _ in range(2))

    assert body_of(first) == body_of(again)
    assert again.headers["idempotent-replayed"] == "true"
