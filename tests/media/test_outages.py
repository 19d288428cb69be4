"""A good file outlives every outage: of the disk, of the store, of children, of the process itself."""

import errno
import io
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from pressroom.clock import DAY, MINUTE, SECOND
from pressroom.db import Command, Query, Tx
from pressroom.domains.media import sandbox
from pressroom.domains.media.jobs import LOST, STARVED
from pressroom.domains.media.models import source
from pressroom.domains.media.sandbox import SandboxAway, Starved
from pressroom.errors import Unavailable
from pressroom.jobs import queue
from pressroom.jobs.outages import LONGEST_DEFERRAL, LONGEST_PAUSE
from pressroom.jobs.worker import KILLS, LEASE
from pressroom.operations.doctor import examine
from tests.api.actors import Actor, Json, body_of, objections, read
from tests.api.conftest import MakeActor, one_engine
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.harness.small_disk import can_mount, small_disk
from tests.media.decoders import Decoder
from tests.media.uploads import blobs_below, file, image, media_of, sweep_time, uploaded

SETTINGS = ROOMY

JOB = Query(str, "SELECT tries || ' ' || kills || ' ' || coalesce(error, '') FROM jobs WHERE subject = :media_id")
REASON = Query(str, "SELECT coalesce(reason, '') FROM media WHERE id = :media_id")
AGE = Command("UPDATE jobs SET deferrals = :deferrals WHERE subject = :media_id")
FULL = OSError(errno.ENOSPC, "No space left on device")


COUNTS_AS_STORED = Query(
    int,
    "SELECT count(*) FROM stored_media s WHERE s.account_id = :account_id AND s.bytes > 0"
    " AND s.bytes = (SELECT sum(m.stored_bytes) FROM media m WHERE m.account_id = s.account_id)",
)
FORGET_JOBS = Command("DELETE FROM jobs")


@pytest.fixture(autouse=True)
def no_jobs_of_others(alice: Actor) -> None:
    """Tests of a module share a server: what one of them left waiting, or an outage not over, is not for the next."""

    async def forget(tx: Tx) -> None:
        await tx.run(FORGET_JOBS)

    alice.server.run(alice.server.runtime.db.transact(forget))
    alice.server.clock.advance(LONGEST_PAUSE)


def state(alice: Actor, post: Json) -> str:
    """The state of a post's only file."""
    return str(media_of(read(alice, post["id"]))["processingStatus"])


def job_of(server: LocalServer, post: Json) -> str:
    """Tries, kills and the last error of the job that processes a post's only file."""
    return server.run(server.runtime.db.one(JOB, media_id=media_of(post)["id"])) or ""


def events(server: LocalServer, name: str) -> list[dict[str, Any]]:
    """The log's entries of a name."""
    server.runtime.log.flush()
    lines = [json.loads(line) for line in server.stream.getvalue().splitlines()]
    return [line for line in lines if str(line.get("event", "")).startswith(name)]


def wait_and_work(server: LocalServer, milliseconds: int, step: int = LONGEST_DEFERRAL) -> None:
    """Time passes, and the worker looks every so often."""
    for _ in range(0, milliseconds, step):
        server.clock.advance(step)
        server.do_jobs()


@pytest.mark.parametrize(
    "lack",
    [
        FULL,
        Unavailable("The store is away.", 1),
        OSError(errno.EAGAIN, "no process"),
        SandboxAway("There was no child"),
    ],
    ids=["disk", "store", "children", "no child"],
)
def test_two_days_without_it_cost_a_good_file_nothing(alice: Actor, decoder: Decoder, lack: Exception) -> None:
    server = alice.server
    decoder.failures = [lack] * 10_000
    post = uploaded(alice)
    server.do_jobs()

    wait_and_work(server, 2 * DAY, 30 * MINUTE)
    server.run(server.runtime.processing.sweep(sweep_time() + 3 * DAY))

    assert state(alice, post) == "PROCESSING"
    assert job_of(server, post).startswith("0 0 ")
    assert f"uploads/{media_of(post)['id'].lower()}" in blobs_below(server.settings.data_dir)
    decoder.failures.clear()
    wait_and_work(server, LONGEST_DEFERRAL)
    assert state(alice, post) == "READY"


def test_outage_is_logged_at_begin_and_end(alice: Actor, decoder: Decoder) -> None:
    server = alice.server
    uploaded(alice)
    wait_and_work(server, 2 * LONGEST_DEFERRAL)  # An outage that another test began is over.
    calls = decoder.calls
    decoder.failures = [FULL] * 10_000
    posts = [uploaded(alice, file(image(colour=colour))) for colour in ("red", "blue", "green", "black")]
    before = len(events(server, "jobs wait"))
    server.do_jobs()
    wait_and_work(server, 60 * MINUTE)
    told = events(server, "jobs wait")[before:]

    assert [(line["kind"], "No space left" in line["error"]) for line in told] == [("media", True)]
    assert decoder.calls - calls <= 20, "one looks whether it is over, the others wait"
    decoder.failures.clear()
    wait_and_work(server, 2 * LONGEST_DEFERRAL)
    assert {state(alice, post) for post in posts} == {"READY"}
    assert events(server, "jobs go on")[-1]["kind"] == "media"


def test_doctor_removes_the_file_that_it_stored(alice: Actor) -> None:
    server = alice.server
    before = blobs_below(server.settings.data_dir)

    blobs = next(finding for finding in server.run(examine(server.settings)) if finding.subject == "blobs")

    assert blobs.good, blobs.message
    assert blobs_below(server.settings.data_dir) == before


def test_doctor_reports_the_awaited_resource(alice: Actor, decoder: Decoder) -> None:
    server = alice.server
    decoder.failures = [FULL] * 2
    uploaded(alice)
    server.do_jobs()

    jobs = next(finding for finding in server.run(examine(server.settings)) if finding.subject == "jobs")

    assert (jobs.good, "1 job waits" in jobs.message, "No space left" in jobs.message) == (False, True, True)


def kill_amid(server: LocalServer, token: str) -> None:
    """The state after a kill amid a job, once its lease has run out."""
    until = server.clock.now() + LEASE
    claimed = server.run(server.runtime.db.transact(queue.claim, "media", token=token, until=until, limit=1))
    assert len(claimed) == 1
    server.clock.advance(LEASE)


def test_kills_of_the_process_cost_a_good_file_no_try(alice: Actor) -> None:
    server, post = alice.server, uploaded(alice)
    for number in range(KILLS):
        kill_amid(server, f"killed {number}")

    server.do_jobs()

    assert state(alice, post) == "READY"


def test_a_file_amid_which_every_process_dies_ends_failed(alice: Actor, decoder: Decoder) -> None:
    server, post = alice.server, uploaded(alice)
    for number in range(KILLS + 1):
        kill_amid(server, f"killed {number}")

    server.do_jobs()

    assert (state(alice, post), decoder.calls) == ("FAILED", 0)
    reason = server.run(server.runtime.db.one(REASON, media_id=media_of(post)["id"]))
    assert "killed" in str(reason)


def test_a_file_that_starves_every_child_ends_failed(alice: Actor, decoder: Decoder) -> None:
    server = alice.server
    decoder.failures = [Starved("hardly ran") for _ in range(10_000)]
    post = uploaded(alice)
    server.do_jobs()
    wait_and_work(server, STARVED * LONGEST_DEFERRAL)
    assert state(alice, post) == "PROCESSING"

    wait_and_work(server, 60 * MINUTE)

    assert state(alice, post) == "FAILED"
    assert decoder.calls < STARVED + 10


def test_an_admin_has_a_file_that_failed_tried_again(alice: Actor, decoder: Decoder, actor: MakeActor) -> None:
    server, admin = alice.server, actor().become_admin()
    post = uploaded(alice)
    for number in range(KILLS + 1):
        kill_amid(server, f"killed {number}")
    server.do_jobs()
    assert state(alice, post) == "FAILED"
    server.run(server.runtime.processing.sweep(sweep_time()))
    assert source(media_of(post)["id"]) in blobs_below(server.settings.data_dir, "uploads/")

    (dead,) = body_of(admin.web.get("/api/admin/jobs"))["dead"]
    assert dead["canBeRetried"] is True
    body_of(admin.web.post(f"/api/admin/jobs/{dead['id']}/retry"))
    assert (state(alice, post), media_of(read(alice, post["id"]))["url"]) == ("PROCESSING", media_of(post)["url"])
    server.do_jobs()

    assert state(alice, post) == "READY"
    assert body_of(admin.web.get("/api/admin/jobs"))["dead"] == []
    assert server.run(server.runtime.db.one(COUNTS_AS_STORED, account_id=alice.account.id)) == 1


@pytest.mark.parametrize("gone", ["upload", "post"])
def test_a_file_whose_upload_is_gone_is_not_tried_again(
    alice: Actor, decoder: Decoder, actor: MakeActor, gone: str
) -> None:
    server, admin = alice.server, actor().become_admin()
    post = uploaded(alice)
    for number in range(KILLS + 1):
        kill_amid(server, f"killed {number}")
    server.do_jobs()
    (dead,) = body_of(admin.web.get("/api/admin/jobs"))["dead"]
    if gone == "upload":
        server.run(server.runtime.blobs.delete(source(media_of(post)["id"])))
    else:
        body_of(alice.web.delete(f"/api/posts/{post['id']}"))
        server.run(server.runtime.processing.sweep(sweep_time()))
        assert source(media_of(post)["id"]) not in blobs_below(server.settings.data_dir, "uploads/")

    answer = admin.web.post(f"/api/admin/jobs/{dead['id']}/retry")

    assert objections(answer) == [("id", "not_allowed")]
    assert len(body_of(admin.web.get("/api/admin/jobs"))["dead"]) == 1


def test_upload_in_another_store_defers_the_job_and_is_logged(alice: Actor) -> None:
    server, post = alice.server, uploaded(alice)
    media_id = media_of(post)["id"]
    place, aside = server.settings.data_dir / "blobs", server.settings.data_dir / "elsewhere"
    place.rename(aside)
    place.mkdir()

    server.do_jobs()
    said = job_of(server, post)
    found = {finding.subject: finding for finding in server.run(examine(server.settings))}

    assert str(place) in said
    assert "PRESSROOM_BLOBS_URL" in said
    assert (found["media store"].good, "PRESSROOM_BLOBS_URL" in found["media store"].message) == (False, True)
    shutil.rmtree(place)
    aside.rename(place)
    wait_and_work(server, 10 * SECOND, SECOND)
    assert state(alice, post) == "READY"
    assert blobs_below(server.settings.data_dir, f"uploads/{media_id.lower()}") == []
    found = {finding.subject: finding for finding in server.run(examine(server.settings))}
    assert found["media store"].good


def test_an_upload_that_stays_away_is_lost_in_the_end(alice: Actor) -> None:
    server, post = alice.server, uploaded(alice)
    media_id = media_of(post)["id"]
    server.run(server.runtime.blobs.delete(f"uploads/{media_id.lower()}"))
    server.run(server.runtime.db.transact(lambda tx: tx.run(AGE, deferrals=LOST, media_id=media_id)))

    server.do_jobs()

    assert state(alice, post) == "FAILED"


@one_engine
@pytest.mark.parametrize("place", ["upload", "child"])
def test_a_full_working_disk_costs_a_good_file_nothing(alice: Actor, place: str, tmp_path: Path) -> None:
    if not can_mount(tmp_path / "probe"):
        pytest.skip("only root can mount a small disk")
    server, folder = alice.server, alice.server.settings.data_dir / "processing"
    picture = noisy(os.urandom(600 * 400 * 3))
    with small_disk(folder, "16k" if place == "upload" else f"{len(picture) // 1024 + 32}k"):
        post = uploaded(alice, file(picture))
        server.do_jobs()
        wait_and_work(server, 13 * MINUTE, MINUTE)
        assert state(alice, post) == "PROCESSING", job_of(server, post)
        assert list(folder.iterdir()) == []

    wait_and_work(server, LONGEST_DEFERRAL)

    assert state(alice, post) == "READY"


def noisy(pixels: bytes) -> bytes:
    """A picture that does not compress."""
    buffer = io.BytesIO()
    Image.frombytes("RGB", (600, 400), pixels).save(buffer, "JPEG", quality=95)
    return buffer.getvalue()


@one_engine
def test_without_processes_pictures_wait(alice: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    server = alice.server
    server.run(server.runtime.sandbox.close())

    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    with monkeypatch.context() as without:
        without.setattr(sandbox.subprocess, "Popen", refuse)
        post = uploaded(alice)
        server.do_jobs()
        wait_and_work(server, 30 * MINUTE)
        assert state(alice, post) == "PROCESSING", server.stream.getvalue()[-3000:]

    wait_and_work(server, LONGEST_DEFERRAL)
    assert state(alice, post) == "READY"
