"""A profile: its tabs, and the lists of who follows whom where the account shows them."""

import pytest

from tests.api.actors import Actor, body_of, publish
from tests.api.conftest import MakeActor
from tests.pages.files import picture
from tests.pages.reader import fetch, visit


def follow(follower: Actor, followed: Actor) -> None:
    body_of(follower.web.post(f"/api/accounts/{followed.account.username}/follow"))


def set_profile(actor: Actor, **fields: object) -> None:
    body_of(actor.web.patch("/api/auth/me", json=fields))


def listed(reader: Actor, whose: Actor, name: str) -> list[str] | int:
    """The user names in a list of a profile; the status, where it is refused."""
    path = f"/@{whose.account.username}/{name}"
    if (status := reader.web.get(path).status_code) != 200:
        return status
    return [href.removeprefix("/@") for href in visit(reader.server, path, reader).values(".picks a", "href")]


def test_media_has_the_posts_with_files_that_the_reader_may_see(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    ids: dict[str, str] = {}
    for visibility in ("PUBLIC", "FOLLOWERS", "CUSTOM", "PRIVATE"):
        files = [("media", picture(30, 20))]
        post = body_of(alice.web.post("/api/posts/upload", files=files, data={"visibility": visibility}), 201)
        ids[visibility] = f"post-{post['id']}"
    named = {"usernames": [bob.account.username]}
    body_of(alice.web.put(f"/api/posts/{ids['CUSTOM'].removeprefix('post-')}/audience", json=named))
    publish(alice, "Words alone")
    path = f"/@{alice.account.username}/media"

    assert set(visit(alice.server, path, None).values("article.card", "id")) == {ids["PUBLIC"]}
    assert set(visit(alice.server, path, bob).values("article.card", "id")) == {ids["PUBLIC"], ids["CUSTOM"]}
    assert set(visit(alice.server, path, alice).values("article.card", "id")) == set(ids.values())
    follow(bob, alice)
    seen = {ids["PUBLIC"], ids["CUSTOM"], ids["FOLLOWERS"]}
    assert set(visit(alice.server, path, bob).values("article.card", "id")) == seen


@pytest.mark.parametrize("name", ["followers", "following"])
def test_lists_are_those_of_an_account_that_can_be_found(actor: MakeActor, name: str) -> None:
    alice, bob, reader = actor(), actor(), actor()
    follow(bob, alice)
    follow(alice, bob)

    assert listed(reader, alice, name) == [bob.account.username]
    links = visit(alice.server, f"/@{alice.account.username}", reader).values(".counts a", "href")
    assert f"/@{alice.account.username}/{name}" in links

    set_profile(alice, discoverable=False)
    assert listed(reader, alice, name) == 404
    assert visit(alice.server, f"/@{alice.account.username}", reader).values(".counts a", "href") == []
    assert listed(alice, alice, name) == [bob.account.username]


def test_a_private_account_shows_its_lists_to_followers(actor: MakeActor) -> None:
    alice, bob, reader = actor(), actor(), actor()
    follow(bob, alice)
    set_profile(alice, isPrivate=True)

    assert listed(reader, alice, "followers") == 404
    assert listed(bob, alice, "followers") == [bob.account.username]


def test_lists_leave_out_who_cannot_be_found_or_is_blocked(actor: MakeActor) -> None:
    alice, hidden, private, blocked, open_one, reader = (actor() for _ in range(6))
    for each in (hidden, private, blocked, open_one):
        follow(each, alice)
    set_profile(hidden, discoverable=False)
    set_profile(private, isPrivate=True)
    body_of(blocked.web.put(f"/api/blocks/{reader.account.username}"))

    assert listed(reader, alice, "followers") == [open_one.account.username]
    assert hidden.account.username in listed(hidden, alice, "followers")  # pyright: ignore[reportOperatorIssue]


def test_lists_demand_a_session(alice: Actor) -> None:
    assert fetch(alice.server, f"/@{alice.account.username}/followers").status_code == 303
