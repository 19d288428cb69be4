"""Clips are edited and deleted like posts, signed in alone, and tell no endpoint of it (docs/media.md#clips)."""

import pytest

from tests.api.actors import Actor, Json, body_of, events, field_errors, follow, nobody, publish, refusal
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY
from tests.pages.files import filmed

SETTINGS = ROOMY


def path(clip: Json) -> str:
    return f"/api/clips/{clip['id']}"


def page(reader: Actor | None, author: Actor, clip: Json) -> int:
    """The status of the clip's page."""
    client = nobody if reader is None else reader.web
    return client.get(f"{author.server.base_url}/clip/{clip['id']}").status_code


def test_given_fields_change_and_the_rest_stays(alice: Actor) -> None:
    clip = filmed(alice, caption="Ink")

    renamed = body_of(alice.web.patch(path(clip), json={"caption": "Cafe\u0301 and ink"}))
    moved = body_of(alice.web.patch(path(clip), json={"visibility": "FOLLOWERS"}))
    cleared = body_of(alice.web.patch(path(clip), json={"caption": "\u3000"}))

    assert renamed == {**clip, "caption": "Caf\u00e9 and ink"}
    assert (moved["caption"], moved["visibility"]) == ("Caf\u00e9 and ink", "FOLLOWERS")
    assert (cleared["caption"], cleared["visibility"]) == (None, "FOLLOWERS")
    assert body_of(alice.web.get(path(clip)))["caption"] is None
    assert field_errors(alice.web.patch(path(clip), json={})) == [("body", "required")]
    assert len(events(alice, "postclip.created")) == 1


def test_a_narrowed_clip_has_another_address(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    follow(bob, alice)
    clip = filmed(alice)
    alice.server.do_jobs()
    assert nobody.get(clip["url"]).status_code == 200

    narrowed = body_of(alice.web.patch(path(clip), json={"visibility": "FOLLOWERS"}))

    assert nobody.get(clip["url"]).status_code == 404
    assert alice.web.get(narrowed["url"]).status_code == 200
    seen = body_of(bob.web.get(path(clip)))["url"]
    assert nobody.get(seen).status_code == 200
    assert refusal(nobody.get(f"{alice.server.base_url}{path(clip)}")) == (404, "Not found")
    wider = body_of(alice.web.patch(path(clip), json={"visibility": "PUBLIC"}))
    assert nobody.get(wider["url"]).status_code == 200
    assert nobody.get(clip["url"]).status_code == 404
    assert body_of(alice.web.patch(path(clip), json={"caption": "Ink"}))["url"] == wider["url"], "nothing moved"


@pytest.mark.parametrize(("visibility", "strangers"), [("PUBLIC", 410), ("PRIVATE", 404)])
def test_a_deleted_clip_is_gone(actor: MakeActor, visibility: str, strangers: int) -> None:
    alice, bob = actor(), actor()
    clip = filmed(alice, visibility=visibility)
    alice.server.do_jobs()
    url = body_of(alice.web.get(path(clip)))["url"]

    assert body_of(alice.web.delete(path(clip))) == {"message": "Clip deleted", "id": clip["id"]}

    for reader in (alice.web, alice.api, bob.web):
        assert refusal(reader.get(path(clip))) == (404, "Not found")
    assert (page(alice, alice, clip), page(bob, alice, clip), page(None, alice, clip)) == (410, strangers, strangers)
    assert nobody.get(url).status_code == 404
    assert refusal(alice.web.delete(path(clip))) == (404, "Not found")
    assert refusal(alice.web.patch(path(clip), json={"caption": "x"})) == (404, "Not found")
    assert body_of(alice.web.get("/api/clips"))["clips"] == []
    assert len(events(alice, "postclip.created")) == 1


def test_own_clips_are_listed(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    clips = [filmed(alice, caption=f"{number}", visibility="PRIVATE") for number in range(3)]
    filmed(bob)
    publish(alice)

    first = body_of(alice.web.get("/api/clips?limit=2"))
    second = body_of(alice.web.get(f"/api/clips?limit=2&cursor={first['nextCursor']}"))

    assert [each["id"] for each in first["clips"] + second["clips"]] == [each["id"] for each in reversed(clips)]
    assert second["nextCursor"] is None
    assert refusal(alice.api.get("/api/clips")) == (403, "Session required")


@one_engine
def test_somebody_else_finds_no_clip_to_edit(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    clip = filmed(alice)

    assert refusal(bob.web.patch(path(clip), json={"caption": "x"})) == (404, "Not found")
    assert refusal(bob.web.delete(path(clip))) == (404, "Not found")
    assert refusal(alice.api.delete(path(clip))) == (403, "Session required")
    assert body_of(alice.web.get(path(clip)))["caption"] is None
