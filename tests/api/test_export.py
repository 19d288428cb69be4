"""The copy of everything that an owner takes away: its contents, its life, its limits; and kills amid its making."""

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from pressroom.clock import DAY, HOUR
from pressroom.db import Database, Query
from pressroom.domains.media.queries import TAKE_STORAGE, delete_stored
from pressroom.domains.personal_data import archive
from pressroom.domains.personal_data.archive import purge_exports, write_archive
from pressroom.domains.personal_data.models import folder_of
from pressroom.domains.personal_data.queries import erase_export
from pressroom.domains.personal_data.queries.copied import SECTIONS
from pressroom.domains.sign_in.sessions import begin_session
from tests.api.actors import Actor, body_of, follow, nobody, publish, refusal
from tests.api.belongings import NEEDED, PASSWORD, Rich
from tests.api.conftest import MakeActor
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

SETTINGS = {**ROOMY, **NEEDED}
ROUTE = "/api/auth/export"


@pytest.fixture
def rich(server: LocalServer, actor: MakeActor) -> Iterator[Rich]:
    made = Rich(server, actor())
    made.fill()
    yield made
    made.close()


def sign_in_again(who: Actor) -> None:
    """Begins a session of now: time has passed."""
    token = who.server.run(who.server.runtime.db.transact(begin_session, who.account.id))
    who.web.headers["Cookie"] = f"session={token}"


def opened(answer: httpx.Response) -> dict[str, Any]:
    """The files of a copy: what JSON says, bytes of others."""
    assert answer.status_code == 200, answer.text
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        return {
            name: json.loads(archive.read(name)) if name.endswith(".json") else archive.read(name)
            for name in archive.namelist()
        }


def copy_of(who: Any) -> dict[str, Any]:
    """A copy that is asked for, made and fetched."""
    body_of(who.web.post(ROUTE), 202)
    who.server.do_jobs()
    return opened(who.web.get(f"{ROUTE}/file"))


def test_it_holds_all_that_is_the_account_s_and_no_secret(rich: Rich) -> None:
    server = rich.server
    server.do_jobs()
    files = copy_of(rich)

    assert {f"{section.name}.json" for section in SECTIONS} | {"account.json"} <= set(files)
    assert (files["account.json"]["email"], files["account.json"]["username"]) == (rich.email, rich.word)
    empty = {name for name, rows in files.items() if name.endswith(".json") and not rows}
    assert empty <= {"log.json", "sessions.json"}
    texts = [post["content"] for post in files["posts.json"]]
    assert rich.say("Edited #zaphod") in texts
    assert rich.say("Deleted") not in texts
    assert files["post_versions.json"][0]["content"] == rich.say("Post #zaphod")
    assert [each["username"] for each in files["audiences.json"]] == [rich.friend.account.username]
    assert [each["label"] for each in files["polls.json"]] == [rich.say("One"), rich.say("Two")]
    assert [each["slug"] for each in files["hubs.json"]]
    assert files["endpoints.json"][0]["url"] == f"https://8.8.8.8/{rich.word}"
    media = {each["file"]: each["altText"] for each in files["media.json"]}
    assert len(media) == 5
    pictures = {f"media/{files['account.json'][name]}.webp" for name in ("avatar", "cover")}
    assert len(pictures) == 2
    assert pictures < set(media)
    for name in media:
        assert b"RIFF" in files[name] or b"ftyp" in files[name]
    whole = json.dumps({name: rows for name, rows in files.items() if name.endswith(".json")})
    secrets = Query(str, "SELECT password_hash FROM accounts WHERE id = :id")
    for secret in (rich.key["key"], "whsec_", "argon2", server.run(server.runtime.db.one(secrets, id=rich.id))):
        assert str(secret) not in whole


def test_copy_holds_no_private_data_of_others(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    follow(alice, bob)
    seen = publish(bob, "For followers", visibility="FOLLOWERS")
    body_of(alice.web.post(f"/api/posts/{seen['id']}/like"))
    body_of(alice.web.post(f"/api/posts/{seen['id']}/save"))
    body_of(alice.web.post(f"/api/posts/{seen['id']}/comments", json={"content": "Mine"}), 201)
    own = publish(alice)
    body_of(bob.web.post(f"/api/posts/{own['id']}/comments", json={"content": "Bob's own words"}), 201)

    files = copy_of(alice)

    whole = json.dumps(files)
    assert [each["postId"] for each in files["likes.json"]] == [seen["id"]]
    assert "For followers" not in whole
    assert "Bob's own words" not in whole
    assert bob.account.email not in whole


def test_a_notification_in_it_names_no_post_that_was_narrowed_or_deleted(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    stays, narrowed, deleted = (publish(bob, f"{number} @{alice.account.username}")["id"] for number in range(3))
    body_of(bob.web.patch(f"/api/posts/{narrowed}", json={"visibility": "PRIVATE"}))
    body_of(bob.web.delete(f"/api/posts/{deleted}"))

    told = copy_of(alice)["notifications.json"]

    assert [each["postId"] for each in told] == [stays, None, None]
    assert [each["actor"] for each in told] == [bob.account.username] * 3


def test_exported_log_hides_addresses_of_admins_and_dismissals(actor: MakeActor) -> None:
    alice, bob, admin = actor(), actor(), actor().become_admin()
    away = {"X-Forwarded-For": "203.0.113.77"}
    path = f"/api/admin/accounts/{alice.account.username}"
    body_of(admin.web.patch(path, json={"verified": True, "reason": "Known."}, headers=away))
    post = publish(alice)
    body_of(bob.web.post("/api/reports", json={"type": "post", "id": post["id"], "reason": "Not nice."}), 202)
    (case,) = [
        each for each in body_of(admin.web.get("/api/admin/reports"))["reports"] if each["subjectId"] == post["id"]
    ]
    decision = {"decision": "dismissed", "reason": "It is fine."}
    body_of(admin.web.post(f"/api/admin/reports/{case['id']}/decision", json=decision, headers=away))

    log = copy_of(alice)["log.json"]

    seen = {entry["kind"]: (entry["actor"], entry["address"]) for entry in log}
    assert seen["account.verified"] == ("admin", None)
    assert seen["export.requested"] == ("self", "127.0.0.1")
    assert "report.dismissed" not in seen


def test_comments_that_were_deleted_are_not_in_it(actor: MakeActor) -> None:
    alice = actor()
    path = f"/api/posts/{publish(alice)['id']}/comments"
    gone, stays = (body_of(alice.web.post(path, json={"content": each}), 201) for each in ("Gone", "Stays"))
    body_of(alice.web.delete(f"/api/comments/{gone['id']}"))
    edited = body_of(alice.web.patch(f"/api/comments/{stays['id']}", json={"content": "Stays, edited"}))

    copied = copy_of(alice)["comments.json"]
    assert [(each["content"], each["editedAt"]) for each in copied] == [("Stays, edited", edited["editedAt"])]


def test_export_of_another_account_is_404(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    copy_of(alice)
    base = alice.server.base_url

    for path in (ROUTE, f"{ROUTE}/file"):
        assert refusal(bob.web.get(path)) == (404, "Not found")
        assert refusal(nobody.get(base + path)) == (401, "Not signed in")
        assert refusal(alice.api.get(path)) == (403, "Session required")
    answer = alice.web.get(f"{ROUTE}/file")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")
    alice.server.clock.advance(31 * 60_000)
    assert refusal(alice.web.get(f"{ROUTE}/file"))[0] == 403, "the password is asked for again"
    assert refusal(alice.web.post(ROUTE))[0] == 403


def test_one_a_day_for_seven_days(actor: MakeActor) -> None:
    alice = actor()
    assert refusal(alice.web.get(ROUTE)) == (404, "Not found")
    first = body_of(alice.web.post(ROUTE), 202)
    assert (first["state"], first["url"]) == ("pending", None)
    assert refusal(alice.web.post(ROUTE)) == (409, "Conflict")
    assert refusal(alice.web.get(f"{ROUTE}/file")) == (404, "Not found")
    alice.server.do_jobs()
    ready = body_of(alice.web.get(ROUTE))
    assert (ready["state"], ready["sizeBytes"] > 100) == ("ready", True)
    assert alice.web.get(f"{ROUTE}/file").headers["content-length"] == str(ready["sizeBytes"])
    assert refusal(alice.web.post(ROUTE)) == (409, "Conflict")

    alice.server.clock.advance(DAY)
    sign_in_again(alice)
    body_of(alice.web.post(ROUTE), 202)
    alice.server.do_jobs()
    assert len(stored(alice)) == 1, "the one before is removed"

    alice.server.clock.advance(7 * DAY)
    sign_in_again(alice)
    assert refusal(alice.web.get(f"{ROUTE}/file")) == (404, "Not found")
    runtime = alice.server.runtime
    alice.server.run(purge_exports(runtime.db, runtime.blobs, alice.server.clock.now()))
    assert stored(alice) == []
    assert refusal(alice.web.get(ROUTE)) == (404, "Not found")


def stored(who: Actor) -> list[Path]:
    """The copies of an account in the store."""
    return [
        path for path in (who.server.settings.data_dir / "blobs").rglob(f"*{who.account.id.lower()}*") if path.is_file()
    ]


def test_asked_for_twice_with_one_key_it_is_made_once(actor: MakeActor) -> None:
    alice = actor()
    key = {"Idempotency-Key": "once"}
    first = alice.web.post(ROUTE, headers=key)
    again = alice.web.post(ROUTE, headers=key)
    assert (first.status_code, again.status_code, first.json()) == (202, 200, again.json())
    assert again.headers["idempotent-replayed"] == "true"


def test_a_deleted_account_leaves_no_copy(rich: Rich, actor: MakeActor) -> None:
    copy_of(rich)
    blobs = rich.server.settings.data_dir / "blobs"
    assert list(blobs.rglob(f"*{rich.id.lower()}*"))
    body_of(rich.web.post("/api/auth/delete", json={"username": rich.word.upper(), "password": PASSWORD}))

    for _ in range(2):
        rich.server.do_jobs()
        rich.server.clock.advance(HOUR)

    assert not list(blobs.rglob(f"*{rich.id.lower()}*"))


def test_one_that_does_not_fit_the_disk_fails_and_is_asked_for_again(
    actor: MakeActor, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, admin = actor(), actor().become_admin()
    with monkeypatch.context() as full:
        full.setattr(archive, "SPARE", 1 << 60)
        body_of(alice.web.post(ROUTE), 202)
        alice.server.do_jobs()
        assert body_of(alice.web.get(ROUTE))["state"] == "pending"
        for wait in archive.WAITS:
            alice.server.clock.advance(wait)
            alice.server.do_jobs()
    for each in (alice, admin):
        sign_in_again(each)
    assert body_of(alice.web.get(ROUTE))["state"] == "failed"
    # Copies that other tests asked for did not fit either.
    dead = body_of(admin.web.get("/api/admin/jobs"))["dead"]
    own = [each for each in dead if (each["kind"], each["accountId"]) == ("export", alice.account.id)]
    assert [each["canBeRetried"] for each in own] == [False]
    assert refusal(admin.web.post(f"/api/admin/jobs/{own[0]['id']}/retry")) == (422, "Unprocessable")

    assert copy_of(alice)["account.json"]["id"] == alice.account.id


def test_copy_of_an_account_larger_than_the_free_disk_waits(actor: MakeActor) -> None:
    alice, wait = actor(), archive.WAITS[0]
    stored = {"account_id": alice.account.id, "size": 1 << 60, "limit": 1 << 61}
    alice.server.run(alice.server.runtime.db.transact(lambda tx: tx.one(TAKE_STORAGE, **stored)))
    body_of(alice.web.post(ROUTE), 202)
    alice.server.do_jobs()
    assert body_of(alice.web.get(ROUTE))["state"] == "pending"

    alice.server.run(alice.server.runtime.db.transact(delete_stored, alice.account.id))
    alice.server.clock.advance(wait)
    alice.server.do_jobs()

    assert body_of(alice.web.get(ROUTE))["state"] == "ready"


def test_a_copy_that_was_stored_while_its_account_went_is_removed(actor: MakeActor) -> None:
    alice = actor()
    db, blobs = alice.server.runtime.db, alice.server.runtime.blobs
    body_of(alice.web.post(ROUTE), 202)
    alice.server.run(db.transact(erase_export, alice.account.id))
    source = alice.server.settings.data_dir / "copy"
    source.write_bytes(b"a copy")
    alice.server.run(blobs.put_file(f"{folder_of(alice.account.id)}/1.zip", source, "application/zip"))
    assert stored(alice)

    alice.server.do_jobs()

    assert stored(alice) == []


def test_killed_anywhere_it_is_made_again_and_complete(actor: MakeActor, tmp_path: Path) -> None:
    alice = actor()
    publish(alice, "One")
    runtime = alice.server.runtime
    whole = Counting(runtime.db, 1_000_000)

    async def write(db: Any, folder: Path) -> None:
        folder.mkdir()
        await write_archive(db, runtime.blobs, alice.account.id, folder)

    alice.server.run(write(whole, tmp_path / "whole"))
    body_of(alice.web.post(ROUTE), 202)
    for number in range(whole.calls):
        with pytest.raises(Killed):
            alice.server.run(write(Counting(runtime.db, number), tmp_path / str(number)))
    alice.server.do_jobs()
    files = opened(alice.web.get(f"{ROUTE}/file"))
    assert [post["content"] for post in files["posts.json"]] == ["One"]


class Killed(Exception):
    """The process ends here."""


class Counting:
    """A database that is read so many times, and then no more."""

    def __init__(self, db: Database, most: int) -> None:
        self._db, self._most, self.calls = db, most, 0

    async def read(self, *given: Any, **more: Any) -> Any:
        """Reads, or ends."""
        if self.calls >= self._most:
            raise Killed
        self.calls += 1
        return await self._db.read(*given, **more)
