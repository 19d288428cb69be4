"""Hubs: who is in one, who publishes into it, and what stays when a member leaves."""

import httpx
import pytest

from pressroom.clock import MINUTE, iso
from tests.api.actors import (
    NOTHING,
    Actor,
    Json,
    body_of,
    events,
    field_errors,
    nobody,
    objections,
    publish,
    read,
    refusal,
)
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY


def create(maker: Actor, slug: str | None = None, **fields: object) -> httpx.Response:
    """Asks for a hub, with a slug of the maker's own unless one is given."""
    body = {"name": "Letterpress", "slug": slug or f"hub-of-{maker.account.username}", **fields}
    return maker.web.post("/api/hubs", json=body)


def made(maker: Actor, slug: str | None = None, **fields: object) -> Json:
    return body_of(create(maker, slug, **fields), 201)


def join(who: Actor, hub: Json) -> httpx.Response:
    return who.web.post(f"/api/hubs/{hub['id']}/membership")


def leave(who: Actor, hub: Json) -> httpx.Response:
    return who.web.delete(f"/api/hubs/{hub['id']}/membership")


def seen(who: Actor, hub: Json) -> tuple[int, bool]:
    """How many members the hub has, and whether this is one of them."""
    shown = body_of(who.web.get(f"/api/hubs/{hub['id']}"))
    return shown["members"], shown["member"]


def into(who: Actor, hub_id: str, way: str = "api") -> httpx.Response:
    client: httpx.Client = getattr(who, way)
    return client.post("/api/posts", json={"content": "Hello, all", "hubId": hub_id})


def test_hub_creator_is_its_first_member(alice: Actor) -> None:
    hub = made(alice, "letterpress", name="Bleisatz 🗞", description="Lead, ink and patience.")

    assert hub == {
        "id": hub["id"],
        "name": "Bleisatz 🗞",
        "slug": "letterpress",
        "avatar": f"{alice.server.base_url}/avatars/hubs/{hub['id']}.svg",
        "description": "Lead, ink and patience.",
        "members": 1,
        "member": True,
        "createdAt": iso(alice.server.clock.now()),
    }
    assert body_of(alice.web.get(f"/api/hubs/{hub['id']}")) == hub
    assert body_of(alice.web.get("/api/hubs")) == {"hubs": [hub], "nextCursor": None}


def test_anyone_may_look_at_a_hub(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    hub = made(alice)

    outside = {**hub, "member": False}
    assert body_of(nobody.get(f"{alice.server.base_url}/api/hubs/{hub['id']}")) == outside
    assert body_of(bob.web.get(f"/api/hubs/{hub['id']}")) == outside
    assert refusal(bob.api.get(f"/api/hubs/{hub['id']}")) == (403, "Session required")


def test_a_slug_is_taken_once(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    hub = made(alice, description=None)

    for who in (alice, bob):
        assert refusal(create(who, hub["slug"], name="Another")) == (409, "Conflict")
    assert body_of(bob.web.get("/api/hubs"))["hubs"] == []
    assert body_of(alice.web.get("/api/hubs"))["hubs"] == [hub]
    assert made(bob)["members"] == 1


def test_joining_and_leaving_count_once(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    hub = made(alice)

    assert body_of(leave(bob, hub)) == {"member": False}
    assert seen(bob, hub) == (1, False)
    for _ in range(2):
        assert body_of(join(bob, hub)) == {"member": True}
        assert seen(bob, hub) == (2, True)
    body_of(join(carol, hub))
    assert (seen(alice, hub), seen(bob, hub)) == ((3, True), (3, True))
    for _ in range(2):
        assert body_of(leave(bob, hub)) == {"member": False}
        assert seen(bob, hub) == (2, False)
    body_of(join(bob, hub))
    assert seen(carol, hub) == (3, True)


def test_the_last_member_leaves_and_the_hub_stays(alice: Actor) -> None:
    hub = made(alice)

    body_of(leave(alice, hub))

    assert seen(alice, hub) == (0, False)
    assert refusal(create(alice)) == (409, "Conflict")


@pytest.mark.parametrize("way", ["api", "web"])
def test_members_publish_into_a_hub(actor: MakeActor, way: str) -> None:
    alice, bob = actor(), actor()
    hub = made(alice)
    body_of(join(bob, hub))

    post = body_of(into(bob, hub["id"], way), 201)

    assert post["hub"] == {name: hub[name] for name in ("id", "name", "slug", "avatar")}
    assert read(alice, post["id"]) == post
    assert events(bob, "post.created")[0]["post"]["hubId"] == hub["id"]


def test_a_post_outside_of_any_hub_has_none(alice: Actor) -> None:
    post = publish(alice, hubId=None)

    assert post["hub"] is None
    assert events(alice, "post.created")[0]["post"]["hubId"] is None


@pytest.mark.parametrize("way", ["api", "web"])
def test_foreign_hubs_are_the_same_404(actor: MakeActor, way: str) -> None:
    alice, bob, carol = actor(), actor(), actor()
    hub = made(alice)
    body_of(join(carol, hub))
    body_of(leave(carol, hub))

    answers = [into(bob, hub_id, way) for hub_id in (hub["id"], "no-such-hub", "")] + [into(carol, hub["id"], way)]

    assert [objections(answer) for answer in answers] == [[("hubId", "not_allowed")]] * 4
    assert len({answer.content for answer in answers}) == 1
    assert bob.written() == carol.written() == NOTHING


def test_posts_stay_when_their_author_leaves_the_hub(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    hub = made(alice)
    body_of(join(bob, hub))
    post = body_of(into(bob, hub["id"]), 201)

    body_of(leave(bob, hub))

    assert read(alice, post["id"]) == post
    assert body_of(bob.api.patch(f"/api/posts/{post['id']}", json={"content": "Farewell"}))["hub"] == post["hub"]
    assert objections(into(bob, hub["id"])) == [("hubId", "not_allowed")]


def test_a_bounce_leaves_the_hub(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    hub = made(alice)
    post = body_of(into(alice, hub["id"]), 201)

    bounce = body_of(bob.web.post(f"/api/posts/{post['id']}/bounce"), 201)

    assert bounce["hub"] is None
    assert bounce["originalPost"]["hub"] == post["hub"]


def test_an_account_lists_the_hubs_that_it_is_in_newest_first(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    hubs: list[Json] = []
    for number in range(6):
        hubs.append(made(alice, f"{bob.account.username}-{number}"))
        alice.server.clock.advance(MINUTE)
    for place in (4, 0, 2, 5, 1):  # the order of joining is of no matter
        body_of(join(bob, hubs[place]))
        alice.server.clock.advance(MINUTE)
    body_of(leave(bob, hubs[1]))

    pages: list[Json] = []
    cursor = ""
    while cursor is not None:
        pages.append(body_of(bob.web.get(f"/api/hubs?limit=3{cursor}")))
        cursor = pages[-1]["nextCursor"] and f"&cursor={pages[-1]['nextCursor']}"

    assert [len(page["hubs"]) for page in pages] == [3, 1]
    assert [hub["id"] for page in pages for hub in page["hubs"]] == [hubs[place]["id"] for place in (5, 4, 2, 0)]
    assert all((hub["members"], hub["member"]) == (2, True) for page in pages for hub in page["hubs"])
    assert [hub["id"] for hub in body_of(alice.web.get("/api/hubs"))["hubs"]] == [hub["id"] for hub in hubs[::-1]]


def test_there_is_no_such_hub(alice: Actor) -> None:
    unknown = {"id": "no-such-hub"}

    answers = [alice.web.get("/api/hubs/no-such-hub"), join(alice, unknown), leave(alice, unknown)]

    assert [refusal(answer) for answer in answers] == [(404, "Not found")] * 3


def test_hubs_are_made_and_joined_by_people(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    hub = made(alice)
    requests = [("GET", "/api/hubs"), ("POST", "/api/hubs"), ("POST", f"/api/hubs/{hub['id']}/membership")]

    for method, path in requests:
        assert refusal(bob.api.request(method, path)) == (403, "Session required")
        assert refusal(nobody.request(method, bob.server.base_url + path)) == (401, "Not signed in")
    assert seen(bob, hub) == (1, False)


BAD: dict[str, tuple[Json, list[tuple[str, str]]]] = {
    "nothing": ({}, [("name", "required"), ("slug", "required")]),
    "no name": ({"name": "", "slug": "abc"}, [("name", "too_short")]),
    "a blank name": ({"name": " \u2003", "slug": "abc"}, [("name", "too_short")]),
    "a long name": ({"name": "x" * 101, "slug": "abc"}, [("name", "too_long")]),
    "a short slug": ({"name": "x", "slug": "ab"}, [("slug", "too_short")]),
    "a long slug": ({"name": "x", "slug": "a" * 41}, [("slug", "too_long")]),
    "capitals": ({"name": "x", "slug": "Abc"}, [("slug", "invalid_format")]),
    "a line's end": ({"name": "x", "slug": "abc\n"}, [("slug", "invalid_format")]),
    "an umlaut": ({"name": "x", "slug": "abä"}, [("slug", "invalid_format")]),
    "a long story": ({"name": "x", "slug": "abc", "description": "x" * 501}, [("description", "too_long")]),
}


@one_engine
@pytest.mark.parametrize(("body", "expected"), BAD.values(), ids=BAD)
def test_a_hub_that_makes_no_sense(alice: Actor, body: Json, expected: list[tuple[str, str]]) -> None:
    assert field_errors(alice.web.post("/api/hubs", json=body)) == expected
    assert body_of(alice.web.get("/api/hubs"))["hubs"] == []


@one_engine
@pytest.mark.parametrize("slug", ["abc", "-0-", "x" * 40])
def test_a_slug_has_three_to_forty_characters(alice: Actor, slug: str) -> None:
    assert made(alice, slug, name="x" * 100, description="")["slug"] == slug
