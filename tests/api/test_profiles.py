"""An account as another account sees it over HTTP."""

import pytest

from tests.api.actors import Actor, Json, body_of, follow, nobody, publish, refusal
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY
GONE = (404, "Not found")


def profile(reader: Actor, of: Actor) -> Json:
    return body_of(reader.web.get(f"/api/accounts/{of.account.username}"))


def relation(shown: Json) -> tuple[bool, ...]:
    """Whether the reader follows, asked to, blocks and mutes."""
    return tuple(shown[name] for name in ("following", "requested", "blocked", "muted"))


def test_profile_has_public_fields_counts_and_the_relation(actor: MakeActor) -> None:
    author, reader = actor(), actor()
    body_of(author.web.patch("/api/auth/me", json={"bio": "Ink.", "displayName": "Ada"}))
    publish(author)
    publish(author, visibility="FOLLOWERS")
    me = body_of(author.web.get("/api/auth/me"))

    shown = profile(reader, author)
    assert shown == {
        **{name: me[name] for name in ("id", "username", "displayName", "avatar", "coverImage", "bio", "createdAt")},
        "verified": False,
        "verifiedType": None,
        "isPrivate": False,
        "totalFollowers": 0,
        "totalFollowing": 0,
        "totalPosts": 1,
        "following": False,
        "requested": False,
        "blocked": False,
        "muted": False,
    }
    follow(reader, author)
    assert profile(reader, author) == {**shown, "following": True, "totalFollowers": 1, "totalPosts": 2}
    assert body_of(reader.web.get(f"/api/accounts/{me['username'].upper()}"))["id"] == me["id"]


def test_own_profile_counts_all_posts(alice: Actor) -> None:
    publish(alice, visibility="PRIVATE")
    shown = profile(alice, alice)
    assert (shown["totalPosts"], relation(shown)) == (1, (False, False, False, False))


def test_private_account_counts_posts_for_its_followers(actor: MakeActor) -> None:
    shy, reader = actor(), actor()
    publish(shy)
    body_of(shy.web.patch("/api/auth/me", json={"isPrivate": True}))

    follow(reader, shy)
    waiting = profile(reader, shy)
    assert (waiting["isPrivate"], waiting["totalPosts"], relation(waiting)) == (True, None, (False, True, False, False))
    body_of(shy.web.post(f"/api/follow-requests/{reader.account.username}/accept"))
    accepted = profile(reader, shy)
    assert (accepted["totalPosts"], relation(accepted)) == (1, (True, False, False, False))


def test_block_hides_a_profile_from_the_blocked_side_alone(actor: MakeActor) -> None:
    author, reader = actor(), actor()
    publish(author)
    body_of(reader.web.put(f"/api/blocks/{author.account.username}"))

    shown = profile(reader, author)
    assert (shown["totalPosts"], relation(shown)) == (None, (False, False, True, False))
    assert refusal(author.web.get(f"/api/accounts/{reader.account.username}")) == GONE
    body_of(reader.web.delete(f"/api/blocks/{author.account.username}"))
    assert profile(author, reader)["blocked"] is False


def test_mute_shows_in_the_profile_to_its_reader_alone(actor: MakeActor) -> None:
    author, reader = actor(), actor()
    body_of(reader.web.put(f"/api/mutes/{author.account.username}"))

    assert relation(profile(reader, author)) == (False, False, False, True)
    assert relation(profile(author, reader)) == (False, False, False, False)


@pytest.mark.parametrize("act", ["suspend", "delete"])
def test_suspended_or_deleted_account_is_404(actor: MakeActor, act: str) -> None:
    author, reader, admin = actor(), actor(), actor().become_admin()
    name = author.account.username
    body = {"reason": "Spam.", **({"username": name} if act == "delete" else {})}
    body_of(admin.web.post(f"/api/admin/accounts/{name}/{act}", json=body))

    assert refusal(reader.web.get(f"/api/accounts/{name}")) == GONE


@one_engine
def test_profile_needs_a_session(alice: Actor) -> None:
    path = f"/api/accounts/{alice.account.username}"
    assert refusal(alice.api.get(path)) == (403, "Session required")
    assert refusal(nobody.get(alice.server.base_url + path)) == (401, "Not signed in")
