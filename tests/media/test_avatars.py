"""The avatar of an account: sent, processed, shown, replaced, removed (docs/media.md#avatars-and-covers)."""

from typing import Any

import httpx
import pytest

from pressroom.db import Query
from pressroom.domains.keys.models import Scope
from pressroom.domains.media import actions
from pressroom.domains.media.actions import make_room
from pressroom.domains.media.models import AccountPicture
from pressroom.domains.moderation.actions import delete_account, restore_account, suspend_account
from pressroom.jobs import queue
from tests.api.actors import (
    NOTHING,
    Actor,
    Json,
    body_of,
    field_errors,
    follow,
    nobody,
    objections,
    publish,
    read,
    refusal,
    rows,
)
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY
from tests.media.decoders import Decoder
from tests.media.uploads import blobs_below, opened
from tests.pages.files import File, gif, picture, video

SETTINGS = ROOMY
AVATAR = "/api/auth/me/avatar"
STATES = Query(str, "SELECT status FROM media WHERE account_id = :account_id ORDER BY position")
STORED = Query(int, "SELECT bytes FROM stored_media WHERE account_id = :account_id")
COUNTED = Query(int, "SELECT coalesce(sum(stored_bytes), 0) FROM media WHERE account_id = :account_id")
LOGGED = Query(str, "SELECT kind FROM audit_entries WHERE account_id = :account_id ORDER BY id")


def put(who: Actor, file: File, status: int = 202, key: str | None = None) -> Json:
    """Sends a picture as the account's avatar."""
    headers = {} if key is None else {"Idempotency-Key": key}
    return body_of(who.web.put(AVATAR, files=[("avatar", file)], headers=headers), status)


def state(who: Actor) -> Json:
    return body_of(who.web.get(AVATAR))


def shown(who: Actor) -> str:
    """The address of the avatar as the account itself is given it."""
    address: str = body_of(who.web.get("/api/auth/me"))["avatar"]
    return address


def set_up(who: Actor, file: File | None = None) -> str:
    """Has an account show a picture; its address."""
    put(who, file or picture())
    who.server.do_jobs()
    assert state(who)["processingStatus"] == "READY", state(who)
    return shown(who)


def of(who: Actor, query: Query[Any]) -> list[Any]:
    return rows(who.server, query, account_id=who.account.id)


@pytest.mark.parametrize(
    ("file", "side"),
    [(picture(), 80), (picture(80, 120), 80), (picture(1500, 900), 512), (picture(1, 40), 1), (gif(), 40)],
    ids=["wide", "high", "large", "one pixel wide", "moving"],
)
@one_engine
def test_a_picture_becomes_a_still_square(alice: Actor, file: File, side: int) -> None:
    answer = nobody.get(set_up(alice, file))

    served = opened(answer.content)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/webp")
    assert (served.size, getattr(served, "n_frames", 1)) == ((side, side), 1)
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_everybody_is_given_its_address_once_it_is_ready(alice: Actor, actor: MakeActor) -> None:
    drawn, bob, post = shown(alice), actor(), publish(alice)
    follow(alice, bob)
    comment = body_of(bob.web.post(f"/api/posts/{publish(bob)['id']}/comments", json={"content": "One"}), 201)

    sent = put(alice, picture())
    before = shown(alice)
    alice.server.do_jobs()

    assert sent == {"avatar": drawn, "isDrawn": True, "processingStatus": "PROCESSING", "reason": None}
    assert before == drawn
    assert drawn.endswith(f"/avatars/{alice.account.id}.svg")
    address = shown(alice)
    assert address.startswith(f"{alice.server.base_url}/media/")
    assert state(alice) == {"avatar": address, "isDrawn": False, "processingStatus": "READY", "reason": None}
    assert read(bob, post["id"])["author"]["avatar"] == address
    assert publish(alice)["author"]["avatar"] == address
    assert body_of(bob.web.get("/api/followers"))["followers"][0]["avatar"] == address
    assert body_of(bob.web.get("/api/notifications"))["notifications"][0]["actor"]["avatar"] == address
    assert body_of(alice.api.get("/api/auth/me"))["avatar"] == address
    assert comment["author"]["avatar"].endswith(".svg")
    profile = nobody.get(f"{alice.server.base_url}/@{alice.account.username}").text
    assert f'<meta property="og:image" content="{address}">' in profile
    assert of(alice, LOGGED)[-1] == "profile.changed"


def test_the_one_before_is_shown_until_the_next_is_ready_and_then_gone(alice: Actor) -> None:
    first = set_up(alice)

    put(alice, picture(200, 200))
    assert (shown(alice), nobody.get(first).status_code) == (first, 200)
    alice.server.do_jobs()

    second = shown(alice)
    assert second != first
    assert (nobody.get(first).status_code, nobody.get(second).status_code) == (404, 200)
    assert of(alice, STATES) == ["READY"]
    assert of(alice, STORED) == of(alice, COUNTED) != [0]
    assert len(files_of(alice)) == 2


def files_of(who: Actor) -> list[str]:
    """The blobs of the account's media in the store."""
    ids = [each.lower() for each in of(who, Query(str, "SELECT id FROM media WHERE account_id = :account_id"))]
    below = [
        *blobs_below(who.server.settings.data_dir, "media/"),
        *blobs_below(who.server.settings.data_dir, "uploads/"),
    ]
    return [name for name in below if any(each in name for each in ids)]


def test_failed_file_is_reported_and_the_previous_one_stays(alice: Actor) -> None:
    first = set_up(alice)
    name, content, kind = picture()

    put(alice, (name, content[:60], kind))
    alice.server.do_jobs()

    told = state(alice)
    assert (told["avatar"], told["isDrawn"], told["processingStatus"]) == (first, False, "FAILED")
    assert "damaged" in told["reason"]
    assert (shown(alice), nobody.get(first).status_code) == (first, 200)

    third = set_up(alice, picture(90, 90))
    assert third != first
    assert state(alice)["reason"] is None
    assert of(alice, STATES) == ["READY"]


def test_later_of_two_files_is_shown(alice: Actor) -> None:
    put(alice, picture(100, 100))
    put(alice, picture(60, 60))
    alice.server.do_jobs()

    assert opened(nobody.get(shown(alice)).content).size == (60, 60)
    assert of(alice, STATES) == ["READY"]
    assert of(alice, STORED) == of(alice, COUNTED)


def test_one_that_was_under_way_when_another_was_sent_is_never_shown(alice: Actor) -> None:
    server, first = alice.server, set_up(alice)
    put(alice, picture(100, 100))
    (job,) = server.run(server.runtime.db.transact(claim))
    put(alice, picture(60, 60))

    server.run(server.runtime.processing.work(job, "token"))

    assert shown(alice) == first
    server.do_jobs()
    assert opened(nobody.get(shown(alice)).content).size == (60, 60)
    assert of(alice, STATES) == ["READY"]


async def claim(tx: Any) -> list[queue.Job]:
    return await queue.claim(tx, actions.PICTURES, token="token", until=tx.now + 60_000, limit=1)


def test_a_newer_one_that_is_sent_amid_decoding_takes_its_place(
    alice: Actor, decoder: Decoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, real = alice.server, alice.server.runtime.sandbox.process
    put(alice, picture(100, 100))
    (job,) = server.run(server.runtime.db.transact(claim))

    async def amid(*given: Any) -> Any:
        done = await real(*given)
        await server.runtime.db.transact(hide_all, alice.account.id)
        return done

    monkeypatch.setattr(server.runtime.sandbox, "process", amid)
    server.run(server.runtime.processing.work(job, "token"))
    server.do_jobs()

    assert shown(alice).endswith(".svg")
    assert (of(alice, STATES), of(alice, STORED)) == ([], [0])


async def hide_all(tx: Any, account_id: str) -> None:
    await make_room(tx, account_id, AccountPicture.AVATAR)


def test_it_is_removed(alice: Actor) -> None:
    drawn = shown(alice)
    address = set_up(alice)
    put(alice, picture(60, 60))

    removed = body_of(alice.web.delete(AVATAR))

    assert removed == {"avatar": drawn, "isDrawn": True, "processingStatus": None, "reason": None}
    assert nobody.get(address).status_code == 404
    alice.server.do_jobs()
    assert (state(alice), shown(alice)) == (removed, drawn)
    assert (of(alice, STATES), of(alice, STORED), files_of(alice)) == ([], [0], [])
    assert body_of(alice.web.delete(AVATAR)) == removed
    assert of(alice, LOGGED).count("profile.changed") == 3


def test_a_key_cannot_change_it(actor: MakeActor) -> None:
    alice = actor(*Scope)
    for answer in (
        alice.api.put(AVATAR, files=[("avatar", picture())]),
        alice.api.delete(AVATAR),
        alice.api.get(AVATAR),
    ):
        assert refusal(answer) == (403, "Session required")
    assert nobody.put(alice.server.base_url + AVATAR, files=[("avatar", picture())]).status_code == 401
    assert of(alice, STATES) == []


@one_engine
@pytest.mark.parametrize(
    ("parts", "objection"),
    [
        ([("avatar", video())], ("avatar[0]", "unsupported_media_type")),
        (
            [("avatar", ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"))],
            ("avatar[0]", "unsupported_media_type"),
        ),
        ([("avatar", ("a.png", picture()[1], "image/jpeg"))], ("avatar[0]", "unsupported_media_type")),
        ([("avatar", ("a.png", b"", "image/png"))], ("avatar[0]", "too_short")),
        ([("avatar", picture()), ("avatar", picture())], ("avatar[1]", "too_many")),
        ([("other", picture())], ("other", "unknown_field")),
    ],
    ids=["video", "SVG", "another type", "empty", "two", "another field"],
)
def test_invalid_picture_is_refused(alice: Actor, parts: Any, objection: tuple[str, str]) -> None:
    answer = alice.web.put(AVATAR, files=parts)

    assert answer.status_code == 400, answer.text
    assert objection in field_errors(answer)
    assert of(alice, STATES) == []


@one_engine
def test_a_body_that_is_no_form_is_refused(alice: Actor) -> None:
    assert alice.web.put(AVATAR, json={"avatar": "x"}).status_code in {400, 415}
    assert of(alice, STATES) == []


def test_sent_again_with_its_key_it_is_taken_once(alice: Actor) -> None:
    first = put(alice, picture(), key="one")
    again = alice.web.put(AVATAR, files=[("avatar", picture())], headers={"Idempotency-Key": "one"})

    assert (again.status_code, again.headers["Idempotent-Replayed"], again.json()) == (200, "true", first)
    assert of(alice, STATES) == ["PROCESSING"]

    alice.server.do_jobs()
    removed = [alice.web.delete(AVATAR, headers={"Idempotency-Key": "two"}) for _ in range(2)]
    assert [each.status_code for each in removed] == [200, 200]
    assert removed[1].headers["Idempotent-Replayed"] == "true"


def test_suspended_it_is_hidden_and_restored_it_is_shown(alice: Actor) -> None:
    server, address = alice.server, set_up(alice)

    server.run(server.runtime.db.transact(suspend_account, alice.account.username))
    assert nobody.get(address).status_code == 404
    server.run(server.runtime.db.transact(restore_account, alice.account.username))

    assert nobody.get(address).status_code == 200


def test_deleted_with_its_account(alice: Actor, actor: MakeActor) -> None:
    server, bob, address = alice.server, actor(), set_up(alice)
    post = publish(bob)
    body_of(alice.web.post(f"/api/posts/{post['id']}/comments", json={"content": "One"}), 201)
    put(alice, picture(60, 60))
    (job,) = server.run(server.runtime.db.transact(claim))

    server.run(server.runtime.db.transact(delete_account, alice.account.username))
    assert nobody.get(address).status_code == 404
    server.run(server.runtime.processing.work(job, "token"))
    server.do_jobs()

    (comment,) = body_of(bob.web.get(f"/api/posts/{post['id']}/comments"))["comments"]
    assert comment["author"]["avatar"].endswith(".svg")
    token = Query(int, "SELECT count(*) FROM accounts WHERE id = :account_id AND avatar_token IS NOT NULL")
    assert (of(alice, token), of(alice, STATES)) == ([0], [])


def test_it_counts_as_stored(alice: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alice.server.runtime.settings, "account_storage_bytes", 10)

    answer: httpx.Response = alice.web.put(AVATAR, files=[("avatar", picture())])

    assert (answer.status_code, objections(answer)) == (422, [("avatar", "too_large")])
    assert of(alice, STATES) == []
    assert alice.written() == NOTHING
