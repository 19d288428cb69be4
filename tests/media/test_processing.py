"""From PROCESSING to READY or FAILED: what every file comes to, and what is left when something dies on the way."""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pressroom.clock import SECOND
from pressroom.db import Query
from pressroom.domains.media import queries
from pressroom.domains.media.jobs import LEFTOVER, TOGETHER, WAITS, sweep_folders
from pressroom.domains.media.models import TRANSITIONS, Media, ProcessingStatus
from pressroom.domains.media.sandbox import ChildDied
from pressroom.errors import Unavailable
from pressroom.jobs import queue
from pressroom.server.runtime import make_job_worker
from tests.api.actors import Actor, Json, body_of, field_errors, nobody, read
from tests.api.conftest import one_engine
from tests.corpus import make
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.media.decoders import Decoder
from tests.media.uploads import blobs_below, file, image, kept, media_of, opened, sweep_time, upload, uploaded

SETTINGS = ROOMY

TYPES = {
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".mp4": "video/mp4",
    ".mov": "video/quicktime",
    ".mpg": "video/mpeg",
    ".webm": "video/webm",
    ".mkv": "video/webm",
    ".m4a": "video/mp4",
}
SLOW = {"within-limits.png", "large.gif", "4k.mp4", "tall.mp4"}
"""What takes long; `tests.domains.media` has it decoded."""

SOME = ("plain.jpg", "animated.gif", "plain.mov", "vp8.webm", "bomb.png", "cut.mp4", "html.png", "flipped-0.jpg")
TOGETHER_AT_MOST = 6

JOBS = Query(int, "SELECT count(*) FROM jobs WHERE kind = 'media' AND subject = :media_id")
REASON = Query(str, "SELECT coalesce(reason, '') FROM media WHERE id = :media_id")
DEAD = Query(int, "SELECT count(*) FROM jobs WHERE subject = :media_id AND due_at IS NULL")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where files of the corpus are made."""
    return tmp_path_factory.mktemp("corpus")


def corpus_file(name: str, folder: Path) -> Any:
    """A file of the corpus as a sender would send it."""
    path = make.make(name, folder)
    return file(path.read_bytes(), TYPES[path.suffix], name)


def outcomes(alice: Actor, folder: Path, names: list[str]) -> dict[str, Json]:
    """What each of these files came to: its entry, or {"refused": …} when it was refused."""
    found: dict[str, Json] = {}
    for at in range(0, len(names), TOGETHER_AT_MOST):
        posts: dict[str, Json] = {}
        for name in names[at : at + TOGETHER_AT_MOST]:
            answer = upload(alice.web, corpus_file(name, folder))
            if answer.status_code == 400:
                found[name] = {"refused": field_errors(answer)}
            else:
                posts[name] = body_of(answer, 201)
        alice.server.do_jobs()
        found |= {name: media_of(read(alice, post["id"])) for name, post in posts.items()}
    return found


def reason(server: LocalServer, entry: Json) -> str:
    """Why a file failed."""
    return server.run(server.runtime.db.one(REASON, media_id=entry["id"])) or ""


def mistakes(server: LocalServer, name: str, entry: Json) -> list[str]:
    """All that is not as it must be with a file of the corpus that was uploaded."""
    status = entry.get("processingStatus", "refused")
    good, bad = make.IMAGES | make.VIDEOS, make.BAD_IMAGES | make.BAD_VIDEOS
    wanted = {"READY"} if name in good else {"FAILED", "refused"} if name in bad else {"READY", "FAILED", "refused"}
    if name in make.UNKNOWN:
        wanted = {"refused"}
    found = [f"{name} is {status}"] if status not in wanted else []
    if status == "refused":
        return found + ([] if entry["refused"][0][0] == "media[0]" else [f"{name}: {entry}"])
    main, small = nobody.get(entry["url"]), nobody.get(entry["thumbnailUrl"])
    if status == "FAILED":
        told = reason(server, entry)
        if (main.status_code, small.status_code) != (404, 404) or not 10 < len(told) <= 300:
            found.append(f"{name}: {main.status_code}, {told!r}")
        return found
    if (main.status_code, len(main.content), main.headers["content-type"]) != (
        200,
        entry["sizeBytes"],
        entry["mimeType"],
    ):
        found.append(f"{name}: {main.headers}")
    video = TYPES[Path(name).suffix].startswith("video/")
    if (entry["type"] == "video", entry["duration"] is not None) != (video, video):
        found.append(f"{name}: {entry}")
    if not video and opened(main.content).size != (entry["width"], entry["height"]):
        found.append(f"{name}: {opened(main.content).size} is not {entry['width']} by {entry['height']}")
    if max(opened(small.content).size) > 640 or b"secret" in main.content + small.content:
        found.append(f"{name}: its thumbnail is too large, or its secrets are told")
    return found


@one_engine
def test_every_file_of_the_corpus_comes_to_its_end(alice: Actor, folder: Path) -> None:
    names = [name for name in make.CORPUS if name not in SLOW]
    left_by_others = blobs_below(alice.server.settings.data_dir, "uploads/")

    found = outcomes(alice, folder, names)

    assert [each for name in names for each in mistakes(alice.server, name, found[name])] == []
    assert set(blobs_below(alice.server.settings.data_dir, "uploads/")) <= set(left_by_others)


def test_files_of_each_sort_come_to_their_end(alice: Actor, folder: Path) -> None:
    found = outcomes(alice, folder, list(SOME))

    assert [each for name in SOME for each in mistakes(alice.server, name, found[name])] == []
    assert {entry.get("processingStatus", "refused") for entry in found.values()} >= {"READY", "FAILED", "refused"}


def test_upload_is_removed_when_ready(alice: Actor) -> None:
    post = uploaded(alice)
    name = media_of(post)["id"].lower()
    data_dir = alice.server.settings.data_dir
    assert f"uploads/{name}" in blobs_below(data_dir)

    alice.server.do_jobs()

    assert blobs_below(data_dir, f"uploads/{name}") == []
    assert blobs_below(data_dir, f"media/{name}/") == [f"media/{name}/large.webp", f"media/{name}/thumbnail.webp"]
    assert list((data_dir / "processing").iterdir()) == []
    assert alice.server.run(alice.server.runtime.db.one(JOBS, media_id=media_of(post)["id"])) == 0


def test_upload_is_removed_when_failed(alice: Actor) -> None:
    post = uploaded(alice, file(b"\xff\xd8\xff\xe0 no picture"))
    alice.server.do_jobs()

    assert media_of(read(alice, post["id"]))["processingStatus"] == "FAILED"
    name = media_of(post)["id"].lower()
    assert blobs_below(alice.server.settings.data_dir, f"uploads/{name}") == []
    assert blobs_below(alice.server.settings.data_dir, f"media/{name}") == []


def test_the_table_of_states_holds_in_the_database(alice: Actor) -> None:
    server, status = alice.server, ProcessingStatus
    ready = {"width": 1, "height": 2, "duration": None, "size_bytes": 3, "placeholder": "x", "has_medium": False}
    moves: dict[ProcessingStatus, tuple[Any, dict[str, Any], tuple[Any, ...]]] = {
        status.READY: (queries.make_ready, ready, ()),
        status.FAILED: (queries.make_failed, {}, ("again",)),
    }

    def state(media_id: str) -> Media | None:
        return server.run(server.runtime.db.one(queries.FIND_ANY, media_id=media_id))

    def move(media_id: str, to: ProcessingStatus) -> None:
        action, named, given = moves[to]
        server.run(server.runtime.db.transact(action, media_id, *given, **named))

    assert TRANSITIONS[status.READY] == frozenset()
    assert TRANSITIONS[status.FAILED] == {status.PROCESSING}
    for first in moves:
        for second in moves:
            media_id = media_of(uploaded(alice))["id"]
            assert first in TRANSITIONS[status.PROCESSING]
            move(media_id, first)
            before = state(media_id)
            assert before is not None
            assert before.status == first
            move(media_id, second)
            assert state(media_id) == before


def status_of(alice: Actor, post: Json) -> str:
    """The state of a post's only file."""
    return str(media_of(read(alice, post["id"]))["processingStatus"])


def test_a_child_that_dies_is_tried_again_once(alice: Actor, decoder: Decoder) -> None:
    decoder.failures = [ChildDied("killed")]
    post = uploaded(alice)

    alice.server.do_jobs()

    assert (status_of(alice, post), decoder.calls) == ("READY", 2)


def test_a_file_that_kills_two_children_failed(alice: Actor, decoder: Decoder) -> None:
    decoder.failures = [ChildDied("killed"), ChildDied("killed")]
    post = uploaded(alice)

    alice.server.do_jobs()

    assert (status_of(alice, post), decoder.calls) == ("FAILED", 2)
    assert "limits" in reason(alice.server, media_of(post))


@pytest.mark.parametrize(
    "failure", [OSError(28, "No space left"), Unavailable("The store is away.", 1)], ids=["disk", "store"]
)
def test_own_fault_is_retried_later(alice: Actor, decoder: Decoder, failure: Exception) -> None:
    decoder.failures = [failure, failure]
    post = uploaded(alice)

    alice.server.do_jobs()
    assert status_of(alice, post) == "PROCESSING"
    for wait in WAITS[:2]:
        alice.server.clock.advance(wait)
        alice.server.do_jobs()

    assert (status_of(alice, post), decoder.calls) == ("READY", 3)


def test_after_the_last_wait_the_job_is_dead_and_the_file_failed(alice: Actor, decoder: Decoder) -> None:
    server = alice.server
    decoder.failures = [ZeroDivisionError("a fault of ours") for _ in range(len(WAITS) + 1)]
    post = uploaded(alice)
    media_id = media_of(post)["id"]

    server.do_jobs()
    for wait in WAITS:
        assert status_of(alice, post) == "PROCESSING"
        server.clock.advance(wait)
        server.do_jobs()

    assert status_of(alice, post) == "FAILED"
    assert server.run(server.runtime.db.one(DEAD, media_id=media_id)) == 1
    upload = f"uploads/{media_id.lower()}"
    server.run(server.runtime.processing.sweep(sweep_time()))
    assert blobs_below(server.settings.data_dir, upload) == [upload], "an admin may have it tried again"

    server.clock.advance(queue.RETENTION)
    assert server.run(server.runtime.db.transact(queue.purge_dead, 100))
    server.run(server.runtime.processing.sweep(sweep_time()))
    assert blobs_below(server.settings.data_dir, upload) == []


def test_media_stored_before_a_database_failure_are_made_again(alice: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    server, post = alice.server, uploaded(alice)
    real: Callable[..., Any] = queries.make_ready
    is_away = True

    async def make_ready(*given: Any, **named: Any) -> None:
        if is_away:
            raise Unavailable("The database is away.", 1)
        await real(*given, **named)

    monkeypatch.setattr(queries, "make_ready", make_ready)
    server.do_jobs()
    assert status_of(alice, post) == "PROCESSING"
    assert nobody.get(media_of(post)["url"]).status_code == 404
    assert f"uploads/{media_of(post)['id'].lower()}" in blobs_below(server.settings.data_dir)

    is_away = False
    server.clock.advance(WAITS[0])
    server.do_jobs()

    assert nobody.get(media_of(post)["url"]).status_code == 200


def test_two_workers_never_process_a_file_at_once(alice: Actor, decoder: Decoder) -> None:
    server = alice.server
    colours = [f"#{n:02x}40{255 - n:02x}" for n in range(10, 130, 10)]
    posts = [uploaded(alice, file(image(colour=colour))) for colour in colours]
    workers = [make_job_worker(server.runtime) for _ in range(3)]

    async def all_work() -> None:
        await asyncio.gather(*(worker.settle() for worker in workers))

    server.run(all_work())

    assert (decoder.calls, decoder.most) == (len(posts), 1)
    assert decoder.most_of_all <= 3 * TOGETHER
    assert {status_of(alice, post) for post in posts} == {"READY"}


def put_upload(server: LocalServer, name: str) -> None:
    """The state after a request that was killed before its transaction."""
    server.run(server.runtime.blobs.put(f"uploads/{name}", b"left behind", "application/octet-stream"))


def test_uploads_that_nothing_refers_to_are_swept_after_an_hour(alice: Actor) -> None:
    server, post = alice.server, uploaded(alice)
    waiting = f"uploads/{media_of(post)['id'].lower()}"
    put_upload(server, "01mcc5rm00gtb6ajjzrv0jpj41")
    put_upload(server, "no-id")
    before = blobs_below(server.settings.data_dir, "uploads/")

    server.run(server.runtime.processing.sweep(sweep_time() - LEFTOVER))
    assert blobs_below(server.settings.data_dir, "uploads/") == before

    server.run(server.runtime.processing.sweep(sweep_time()))
    assert blobs_below(server.settings.data_dir, "uploads/") == [waiting]

    server.do_jobs()
    assert status_of(alice, post) == "READY"


def test_a_sweep_takes_nothing_that_is_served(alice: Actor) -> None:
    post = uploaded(alice)
    alice.server.do_jobs()
    data_dir, served = alice.server.settings.data_dir, f"media/{media_of(post)['id'].lower()}/"
    rows, _ = kept(alice.server)
    files = blobs_below(data_dir, served)

    alice.server.run(alice.server.runtime.processing.sweep(sweep_time()))

    assert kept(alice.server)[0] == rows
    assert len(files) == 2
    assert blobs_below(data_dir, served) == files
    assert nobody.get(media_of(post)["url"]).status_code == 200


@one_engine
def test_folders_of_the_killed_are_swept_after_an_hour(server: LocalServer, tmp_path: Path) -> None:
    old = time.time() - LEFTOVER / SECOND - 60
    for room in ("incoming", "processing"):
        for age in ("old", "young"):
            (tmp_path / room / f"work-{age}").mkdir(parents=True)
            (tmp_path / room / f"work-{age}" / "upload").write_bytes(b"x")
            (tmp_path / room / f"{age}.part").write_bytes(b"x")
        for name in ("work-old", "old.part"):
            os.utime(tmp_path / room / name, (old, old))

    sweep_folders(tmp_path)

    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("*/*"))
    assert left == [f"{room}/{name}" for room in ("incoming", "processing") for name in ("work-young", "young.part")]
    sweep_folders(tmp_path / "absent")
