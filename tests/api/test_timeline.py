"""The home timeline: posts of followed accounts and joined hubs, as the reader may see them at that moment."""

from typing import Any

import pytest

from tests.api.actors import Actor, Json, body_of, follow, nobody, publish, refusal
from tests.api.conftest import MakeActor, one_engine
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.media.uploads import ready_clip

SETTINGS = ROOMY


def timeline(who: Actor, **query: Any) -> list[Json]:
    """The entries of the first page."""
    items: list[Json] = body_of(who.web.get("/api/timeline", params=query))["items"]
    return items


def ids(who: Actor, **query: Any) -> list[str]:
    """The posts and clips of the first page."""
    return [(each.get("post") or each["clip"])["id"] for each in timeline(who, **query)]


def bounce(who: Actor, post: Json) -> Json:
    """A plain bounce."""
    return body_of(who.api.post(f"/api/posts/{post['id']}/bounce"), 201)


def later(server: LocalServer) -> None:
    """So that the next post is newer in any case."""
    server.clock.advance(1_000)


def test_timeline_shows_followed_and_own_posts_newest_first(server: LocalServer, actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    follow(alice, bob)
    made = []
    for who in (bob, alice, carol, bob):
        made.append(publish(who)["id"])
        later(server)

    assert ids(alice) == [made[3], made[1], made[0]]
    assert [each["kind"] for each in timeline(alice)] == ["post"] * 3
    assert ids(carol) == [made[2]]


def test_timeline_applies_visibility_to_each_reader(server: LocalServer, actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    follow(alice, bob)
    made = {}
    for visibility in ("PUBLIC", "FOLLOWERS", "CONNECTIONS", "PRIVATE", "CUSTOM"):
        made[visibility] = publish(bob, visibility=visibility)["id"]
        later(server)

    assert ids(alice) == [made["FOLLOWERS"], made["PUBLIC"]]
    follow(bob, alice)
    assert ids(alice) == [made["CONNECTIONS"], made["FOLLOWERS"], made["PUBLIC"]]
    body_of(bob.web.put(f"/api/posts/{made['CUSTOM']}/audience", json={"usernames": [alice.account.username]}))
    assert ids(alice) == [made["CUSTOM"], made["CONNECTIONS"], made["FOLLOWERS"], made["PUBLIC"]]
    assert ids(bob) == [*reversed(made.values())]


@pytest.mark.parametrize("change", ["unfollow", "block", "blocked", "mute", "delete", "narrow", "suspend"])
def test_change_shows_in_the_next_read(actor: MakeActor, change: str) -> None:
    alice, bob = actor(), actor()
    follow(alice, bob)
    post = publish(bob)["id"]
    assert ids(alice) == [post]

    match change:
        case "unfollow":
            body_of(alice.web.delete(f"/api/accounts/{bob.account.username}/follow"))
        case "block":
            body_of(alice.web.put(f"/api/blocks/{bob.account.username}"))
        case "blocked":
            body_of(bob.web.put(f"/api/blocks/{alice.account.username}"))
        case "mute":
            body_of(alice.web.put(f"/api/mutes/{bob.account.username}"))
        case "delete":
            body_of(bob.web.delete(f"/api/posts/{post}"))
        case "narrow":
            body_of(bob.web.patch(f"/api/posts/{post}", json={"visibility": "PRIVATE"}))
        case _:
            admin = actor().become_admin()
            path = f"/api/admin/accounts/{bob.account.username}/suspend"
            body_of(admin.web.post(path, json={"reason": "Advertises pills."}))

    assert ids(alice) == []


def test_accepted_request_shows_posts_for_followers(actor: MakeActor) -> None:
    alice, shy = actor(), actor()
    body_of(shy.web.patch("/api/auth/me", json={"isPrivate": True}))
    post = publish(shy, visibility="FOLLOWERS")["id"]
    follow(alice, shy)
    assert ids(alice) == []

    body_of(shy.web.post(f"/api/follow-requests/{alice.account.username}/accept"))

    assert ids(alice) == [post]


def test_post_and_its_bounces_stand_once_with_the_last_bouncer(server: LocalServer, actor: MakeActor) -> None:
    alice, bob, carol, author = actor(), actor(), actor(), actor()
    follow(alice, bob)
    follow(alice, carol)
    post = publish(author)
    bounces = []
    for who in (bob, carol):
        later(server)
        bounces.append(bounce(who, post)["id"])

    (entry,) = timeline(alice)
    assert (entry["id"], entry["post"]["id"]) == (bounces[1], post["id"])
    assert entry["bouncedBy"]["username"] == carol.account.username
    assert entry["post"]["originalPost"] is None
    first = body_of(alice.web.get("/api/timeline?limit=1"))
    assert first["nextCursor"] is None or body_of(alice.web.get(f"/api/timeline?cursor={first['nextCursor']}"))
    body_of(author.api.delete(f"/api/posts/{post['id']}"))
    assert timeline(alice) == []


def test_hub_shows_its_posts_to_members(server: LocalServer, actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    hub = body_of(bob.web.post("/api/hubs", json={"name": "Quay", "slug": bob.account.username.replace("_", "-")}), 201)
    publish(bob)
    post = publish(bob, hubId=hub["id"])["id"]
    later(server)
    publish(bob, hubId=hub["id"], visibility="FOLLOWERS")
    clip = ready_clip(bob, hubId=hub["id"])
    assert ids(alice) == []

    body_of(alice.web.post(f"/api/hubs/{hub['id']}/membership"))

    assert ids(alice) == [clip["id"], post]
    assert [each["kind"] for each in timeline(alice)] == ["clip", "post"]
    body_of(alice.web.delete(f"/api/hubs/{hub['id']}/membership"))
    assert ids(alice) == []


def test_word_filter_hides_posts_of_others(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    follow(alice, bob)
    body_of(alice.web.put("/api/filters", json={"filters": [{"text": "élection day"}]}))
    publish(bob, content="ELECTION, day!")
    fine = publish(bob, content="Elections and days")["id"]
    own = publish(alice, content="It is election day")["id"]

    assert sorted(ids(alice)) == sorted([fine, own])


@one_engine
def test_pages_hold_every_post_once(server: LocalServer, actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    follow(alice, bob)
    follow(alice, carol)
    made: list[str] = []
    for number in range(30):
        made.insert(0, publish((bob, carol, alice)[number % 3])["id"])
        later(server)

    found: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        query = {"limit": "7", **({"cursor": cursor} if cursor else {})}
        page = body_of(alice.web.get("/api/timeline", params=query))
        found += [each["post"]["id"] for each in page["items"]]
        cursor = page["nextCursor"]

    assert found == made


def test_new_entries_are_counted_after_an_id(server: LocalServer, actor: MakeActor) -> None:
    alice, bob, stranger = actor(), actor(), actor()
    follow(alice, bob)
    first = publish(bob)["id"]

    def new(after: str) -> Json:
        return body_of(alice.web.get("/api/timeline/new", params={"after": after}))

    assert new(first) == {"count": 0, "after": first}
    later(server)
    foreign = publish(stranger)["id"]
    assert new(first) == {"count": 0, "after": foreign}
    later(server)
    publish(bob, visibility="PRIVATE")
    assert new(foreign)["count"] == 0
    publish(bob)
    publish(bob, visibility="FOLLOWERS")
    assert new(foreign) == {"count": 2, "after": foreign}


def test_new_entries_need_an_id(alice: Actor) -> None:
    for query in ("", "?after=", "?after=x", "?after=%00"):
        answer = alice.web.get(f"/api/timeline/new{query}")
        assert [each["field"] for each in body_of(answer, 400)["details"]] == ["after"]


def test_timeline_is_for_sessions(alice: Actor) -> None:
    for path in ("/api/timeline", f"/api/timeline/new?after={alice.account.id}"):
        assert refusal(alice.api.get(path)) == (403, "Session required")
        assert refusal(nobody.get(alice.server.base_url + path)) == (401, "Not signed in")
