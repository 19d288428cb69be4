"""Long videos wait for long ones: who sends them stops nobody else's, and what is too much is never decoded."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pressroom.db import Query
from pressroom.domains.media.decoding import DecodingLimits
from pressroom.domains.media.jobs import SHORT_PIXELS
from pressroom.domains.media.sandbox import Processed, Sandbox, TakesLong, Undecodable
from tests.api.actors import Actor, Json, read
from tests.api.conftest import MakeActor, one_engine
from tests.corpus.clips import looped
from tests.harness.roomy import ROOMY
from tests.media.uploads import file, media_of, uploaded, video_bytes
from tests.services.process import wait_until

SETTINGS = ROOMY

REASON = Query(str, "SELECT coalesce(reason, '') FROM media WHERE id = :media_id")
KINDS = Query(str, "SELECT kind FROM jobs WHERE subject = :media_id")


def clip(data: bytes) -> Any:
    """A video as a sender would send it."""
    return file(data, "video/mp4", "a.mp4")


def state(actor: Actor, post: Json) -> str:
    """The state of a post's only file."""
    return str(media_of(read(actor, post["id"]))["processingStatus"])


@pytest.fixture(scope="module")
def huge(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A minute of 8,192 by 6,000 pixels, in a few megabytes."""
    path = tmp_path_factory.mktemp("huge") / "huge.mp4"
    looped(path, (8_192, 6_000), 1_600)
    return path.read_bytes()


@one_engine
def test_oversized_media_are_never_decoded(alice: Actor, huge: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    server = alice.server
    spent: list[float] = []
    monkeypatch.setattr(server.runtime.sandbox, "_on_ended", lambda ended: spent.append(ended.cpu_seconds))
    post = uploaded(alice, clip(huge))

    server.do_jobs()

    assert state(alice, post) == "FAILED"
    reason = server.run(server.runtime.db.one(REASON, media_id=media_of(post)["id"]))
    assert "75,000,000,000 pixels" in str(reason)
    assert len(spent) == 1


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """101 pictures of 64 by 48 pixels."""
    path = tmp_path_factory.mktemp("small") / "small.mp4"
    looped(path, (64, 48), 100)
    return path


ALL = 101 * 64 * 48


@pytest.mark.parametrize(
    ("limits", "raised"),
    [
        (DecodingLimits(video_pixels=ALL), None),
        (DecodingLimits(video_pixels=ALL - 1), Undecodable),
        (DecodingLimits(at_once_pixels=ALL), None),
        (DecodingLimits(at_once_pixels=ALL - 1), TakesLong),
        (DecodingLimits(at_once_pixels=1, video_pixels=1), Undecodable),
    ],
)
def test_pictures_are_counted_before_any_is_decoded(
    small: Path, tmp_path: Path, limits: DecodingLimits, raised: type[Exception] | None
) -> None:
    from pressroom.domains.media.kinds import FileKind

    async def story() -> Processed:
        async with Sandbox() as sandbox:
            return await sandbox.process(small, FileKind.MP4, tmp_path, limits)

    if raised is None:
        assert asyncio.run(story()).width == 64
        return
    with pytest.raises(raised):
        asyncio.run(story())
    assert list(tmp_path.iterdir()) == []


class Decoder:
    """Stands before the real sandbox: takes some files to be long, and keeps those that are begun back."""

    def __init__(self, actor: Actor, monkeypatch: pytest.MonkeyPatch, long: bytes) -> None:
        self.begun: list[str] = []
        self.over = asyncio.Event()
        self._long = long
        self._real = actor.server.runtime.sandbox.process
        monkeypatch.setattr(actor.server.runtime.sandbox, "process", self.process)

    async def process(self, source: Path, kind: Any, folder: Path, limits: DecodingLimits, *more: Any) -> Processed:
        """Does what the real one does, a long file only once it may."""
        if source.read_bytes() == self._long:
            if limits.at_once_pixels is not None:
                raise TakesLong
            self.begun.append(folder.name)
            await self.over.wait()
        return await self._real(source, kind, folder, limits, *more)


def test_a_short_video_waits_for_no_long_one(
    actor: MakeActor, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mallory, eve, stranger = actor(), actor(), actor()
    server, long = mallory.server, small.read_bytes()
    decoder = Decoder(mallory, monkeypatch, long)
    posts = [uploaded(each, clip(long)) for each in (mallory, eve) for _ in range(3)]
    working = asyncio.run_coroutine_threadsafe(server.job_worker.settle(), server._loop)
    assert wait_until(lambda: len(decoder.begun) == 1)
    post = uploaded(stranger, clip(video_bytes(tmp_path)))
    server.clock.advance(1_000)

    async def look() -> None:
        await server.job_worker._look()

    server.run(look())
    assert wait_until(lambda: state(stranger, post) == "READY")

    assert len(decoder.begun) == 1
    assert {state(mallory, post) for post in posts[:3]} == {"PROCESSING"}
    server.run(release(decoder))
    working.result(60)
    assert {state(each, post) for each, post in zip([mallory] * 3 + [eve] * 3, posts, strict=True)} == {"READY"}


async def release(decoder: Decoder) -> None:
    """Lets long files go on."""
    decoder.over.set()


def test_long_videos_of_one_account_take_turns(actor: MakeActor, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mallory, eve = actor(), actor()
    server, long = mallory.server, small.read_bytes()
    done: list[str] = []
    real = server.runtime.sandbox.process

    async def process(source: Path, kind: Any, folder: Path, limits: DecodingLimits, *more: Any) -> Processed:
        if limits.at_once_pixels is not None:
            raise TakesLong
        return await real(source, kind, folder, limits, *more)

    monkeypatch.setattr(server.runtime.sandbox, "process", process)
    work = server.runtime.processing.work

    async def noted(job: Any, token: str) -> None:
        if job.kind == "video.long":
            done.append(job.account_id)
        await work(job, token)

    handlers = server.job_worker._handlers
    monkeypatch.setattr(
        server.job_worker,
        "_handlers",
        [type(each)(each.kind, noted, each.together, each.waits, each.gave_up, each.each) for each in handlers],
    )
    for _ in range(3):
        uploaded(mallory, clip(long))
    server.clock.advance(1_000)
    uploaded(eve, clip(long))
    server.clock.advance(1_000)

    server.do_jobs()

    assert eve.account.id in done[:2], done
    assert len(done) == 4


def test_the_short_are_short() -> None:
    assert DecodingLimits().video_pixels > SHORT_PIXELS
    assert SHORT_PIXELS > 30 * 30 * 1_920 * 1_080, "half a minute of 1080p"
