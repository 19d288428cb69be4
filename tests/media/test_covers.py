"""The cover of an account: a wide picture over its profile, beside the avatar (docs/media.md#avatars-and-covers)."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from pressroom.db import Query
from pressroom.domains.keys.models import Scope
from pressroom.domains.moderation.actions import delete_account, restore_account, suspend_account
from tests.api.actors import NOTHING, Actor, Json, body_of, field_errors, nobody, objections, refusal, rows
from tests.api.conftest import MakeActor, one_engine
from tests.corpus.pictures import jpeg_oriented
from tests.harness.roomy import ROOMY
from tests.media.uploads import opened
from tests.pages.files import File, gif, picture, video

SETTINGS = ROOMY
COVER = "/api/auth/me/cover"
STATES = Query(str, "SELECT status FROM media WHERE account_id = :account_id ORDER BY id")
STORED = Query(int, "SELECT bytes FROM stored_media WHERE account_id = :account_id")
COUNTED = Query(int, "SELECT coalesce(sum(stored_bytes), 0) FROM media WHERE account_id = :account_id")
TOKENS = Query(str, "SELECT cover_token FROM accounts WHERE id = :account_id AND cover_token IS NOT NULL")


def put(who: Actor, file: File, status: int = 202, field: str = "cover", key: str | None = None) -> Json:
    headers = {} if key is None else {"Idempotency-Key": key}
    return body_of(who.web.put(f"/api/auth/me/{field}", files=[(field, file)], headers=headers), status)


def me(who: Actor) -> Json:
    return body_of(who.web.get("/api/auth/me"))


def shown(who: Actor) -> str | None:
    """The address of the cover as the account itself is given it."""
    address: str | None = me(who)["coverImage"]
    return address


def set_up(who: Actor, file: File | None = None) -> str:
    """Has an account show a cover; its address."""
    put(who, file or picture())
    who.server.do_jobs()
    assert body_of(who.web.get(COVER))["processingStatus"] == "READY"
    address = shown(who)
    assert address is not None
    return address


def of(who: Actor, query: Query[Any]) -> list[Any]:
    return rows(who.server, query, account_id=who.account.id)


def profile(who: Actor) -> str:
    return nobody.get(f"{who.server.base_url}/@{who.account.username}").text


@pytest.mark.parametrize(
    ("file", "size"),
    [
        (picture(900, 300), (900, 300)),
        (picture(3000, 400), (1200, 400)),
        (picture(2400, 2400), (1500, 500)),
        (picture(80, 120), (80, 26)),
        (picture(1, 40), (1, 1)),
        (gif(), (60, 20)),
    ],
    ids=["of its form", "wide", "large", "high", "one pixel wide", "moving"],
)
@one_engine
def test_a_picture_becomes_a_still_three_times_as_wide_as_high(alice: Actor, file: File, size: tuple[int, int]) -> None:
    served = opened(nobody.get(set_up(alice, file)).content)

    assert (served.size, getattr(served, "n_frames", 1)) == (size, 1)


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
@one_engine
def test_one_that_lies_on_its_side_is_cut_as_it_is_seen(alice: Actor, tmp_path: Path, orientation: int) -> None:
    jpeg_oriented(orientation)(tmp_path / "a.jpg")
    upright = opened((tmp_path / "a.jpg").read_bytes())
    width, height = reversed(upright.size) if orientation in {6, 8} else upright.size

    served = opened(nobody.get(set_up(alice, ("a.jpg", (tmp_path / "a.jpg").read_bytes(), "image/jpeg"))).content)

    assert served.size == (min(width, 3 * height), min(width, 3 * height) // 3)


def test_it_is_shown_once_it_is_ready_and_the_avatar_stays(alice: Actor) -> None:
    put(alice, picture(60, 60), field="avatar")
    alice.server.do_jobs()
    avatar = me(alice)["avatar"]

    sent = put(alice, picture())
    before = shown(alice)
    alice.server.do_jobs()

    assert (sent, before) == ({"coverImage": None, "processingStatus": "PROCESSING", "reason": None}, None)
    address = shown(alice)
    assert address is not None
    assert address.startswith(f"{alice.server.base_url}/media/")
    assert body_of(alice.web.get(COVER)) == {"coverImage": address, "processingStatus": "READY", "reason": None}
    assert body_of(alice.api.get("/api/auth/me"))["coverImage"] == address
    assert me(alice)["avatar"] == avatar
    assert (nobody.get(avatar).status_code, nobody.get(address).status_code) == (200, 200)
    assert f'class="cover" src="{address}"' in profile(alice)
    assert f'<meta property="og:image" content="{avatar}">' in profile(alice)

    body_of(alice.web.delete("/api/auth/me/avatar"))
    alice.server.do_jobs()
    assert (shown(alice), nobody.get(address).status_code) == (address, 200)
    assert f'<meta property="og:image" content="{address}">' in profile(alice)


def test_another_takes_its_place_and_one_that_fails_does_not(alice: Actor) -> None:
    first = set_up(alice)
    second = set_up(alice, picture(300, 100))
    assert (nobody.get(first).status_code, nobody.get(second).status_code) == (404, 200)

    name, content, kind = picture()
    put(alice, (name, content[:60], kind))
    alice.server.do_jobs()

    told = body_of(alice.web.get(COVER))
    assert (told["coverImage"], told["processingStatus"]) == (second, "FAILED")
    assert "damaged" in told["reason"]
    assert of(alice, STORED) == of(alice, COUNTED)


def test_it_is_removed(alice: Actor) -> None:
    address = set_up(alice)
    put(alice, picture(60, 60))

    removed = body_of(alice.web.delete(COVER))

    assert removed == {"coverImage": None, "processingStatus": None, "reason": None}
    assert nobody.get(address).status_code == 404
    alice.server.do_jobs()
    assert (body_of(alice.web.get(COVER)), shown(alice)) == (removed, None)
    assert (of(alice, STATES), of(alice, STORED)) == ([], [0])
    assert "/card.png" in profile(alice)


def test_a_key_cannot_change_it(actor: MakeActor) -> None:
    alice = actor(*Scope)
    for answer in (
        alice.api.put(COVER, files=[("cover", picture())]),
        alice.api.delete(COVER),
        alice.api.get(COVER),
    ):
        assert refusal(answer) == (403, "Session required")
    assert of(alice, STATES) == []


@one_engine
@pytest.mark.parametrize(
    ("parts", "objection"),
    [
        ([("cover", video())], ("cover[0]", "unsupported_media_type")),
        ([("avatar", picture())], ("avatar", "unknown_field")),
        ([("cover", picture()), ("cover", picture())], ("cover[1]", "too_many")),
    ],
    ids=["video", "another field", "two"],
)
def test_invalid_picture_is_refused(alice: Actor, parts: Any, objection: tuple[str, str]) -> None:
    answer = alice.web.put(COVER, files=parts)

    assert answer.status_code == 400, answer.text
    assert objection in field_errors(answer)
    assert of(alice, STATES) == []


def test_sent_again_with_its_key_it_is_taken_once(alice: Actor) -> None:
    first = put(alice, picture(), key="one")
    again = alice.web.put(COVER, files=[("cover", picture())], headers={"Idempotency-Key": "one"})

    assert (again.status_code, again.headers["Idempotent-Replayed"], again.json()) == (200, "true", first)
    assert of(alice, STATES) == ["PROCESSING"]
    removed = [alice.web.delete(COVER, headers={"Idempotency-Key": "two"}) for _ in range(2)]
    assert [each.status_code for each in removed] == [200, 200]
    assert removed[1].headers["Idempotent-Replayed"] == "true"


def test_suspended_it_is_hidden_and_deleted_it_is_gone(alice: Actor) -> None:
    server, address = alice.server, set_up(alice)

    server.run(server.runtime.db.transact(suspend_account, alice.account.username))
    assert nobody.get(address).status_code == 404
    server.run(server.runtime.db.transact(restore_account, alice.account.username))
    assert nobody.get(address).status_code == 200
    server.run(server.runtime.db.transact(delete_account, alice.account.username))
    assert nobody.get(address).status_code == 404
    server.do_jobs()

    assert (of(alice, TOKENS), of(alice, STATES)) == ([], [])


def test_it_counts_as_stored(alice: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alice.server.runtime.settings, "account_storage_bytes", 10)

    answer: httpx.Response = alice.web.put(COVER, files=[("cover", picture())])

    assert (answer.status_code, objections(answer)) == (422, [("cover", "too_large")])
    assert alice.written() == NOTHING
