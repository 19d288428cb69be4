"""Local disk: nothing is half-written or lost, by kills, cancellations or a full disk."""

import asyncio
import errno
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pytest

from pressroom.blobs import Blobs, BlobsAway, open_blobs
from pressroom.blobs.disk import LEFTOVER_SECONDS
from pressroom.errors import SettingError
from pressroom.settings import Settings

from . import killed
from .conftest import Run, listed, whole

KEY = "media/01jabc/large.mp4"
KILLS = 25


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "blobs"


@pytest.fixture
def blobs(folder: Path) -> Blobs:
    return open_blobs(Settings({"PRESSROOM_BLOBS_URL": f"file://{folder}"}))


def leftovers(folder: Path) -> list[Path]:
    return list((folder / "tmp").iterdir())


def wait_for_writes(folder: Path, count: int, before: set[Path]) -> None:
    """Waits until so many files have been begun besides those of `before`."""
    seen = set(before)
    while len(seen) < len(before) + count:
        seen.update(leftovers(folder))


def test_a_kill_at_any_moment_leaves_one_whole_value(blobs: Blobs, folder: Path, run: Run, tmp_path: Path) -> None:
    values = [bytes([letter]) * (3_000_000 + letter) for letter in b"ab"]
    files = [tmp_path / "a", tmp_path / "b"]
    for file, value in zip(files, values, strict=True):
        file.write_bytes(value)
    cut = 0
    for kill in range(KILLS):
        before = set(leftovers(folder))
        process = subprocess.Popen(
            [sys.executable, killed.__file__, str(folder), KEY, *map(str, files)], stdout=subprocess.PIPE
        )
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            wait_for_writes(folder, kill % 4, before)
        finally:
            process.kill()
            process.communicate(timeout=20)
        assert run(whole(blobs.read(KEY))) in values
        assert run(listed(blobs.list_older("", round(time.time() * 1_000) + 5_000))) == [KEY]
        cut += len(leftovers(folder)) > cut
    assert cut > 0
    at = time.time() - LEFTOVER_SECONDS - 60
    for file in leftovers(folder):
        os.utime(file, (at, at))
    open_blobs(Settings({"PRESSROOM_BLOBS_URL": f"file://{folder}"}))
    assert leftovers(folder) == []


def test_leftovers_of_a_killed_process_are_swept_at_a_start(blobs: Blobs, folder: Path) -> None:
    old, young, other = (folder / "tmp" / name for name in ("a" * 32 + ".blob", "b" * 32 + ".blob", "somebody's"))
    for file, age in ((old, LEFTOVER_SECONDS + 60), (young, LEFTOVER_SECONDS - 60), (other, LEFTOVER_SECONDS * 99)):
        file.write_bytes(b"half")
        at = time.time() - age
        os.utime(file, (at, at))
    open_blobs(Settings({"PRESSROOM_BLOBS_URL": f"file://{folder}"}))
    assert sorted(leftovers(folder)) == [young, other]


def test_bytes_are_durable_before_their_name_and_the_name_before_the_answer(
    blobs: Blobs, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[tuple[str, int]] = []
    fsync, replace = os.fsync, os.replace

    def noted_fsync(descriptor: int) -> None:
        fsync(descriptor)
        done.append(("sync", os.fstat(descriptor).st_ino))

    def noted_replace(source: Path, target: Path) -> None:
        replace(source, target)
        done.append(("rename", Path(target).stat().st_ino))

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "replace", noted_replace)
    run(blobs.put(KEY, b"one", "video/mp4"))
    (place,) = folder.glob("??/??/*")
    file, second, first, root = (each.stat().st_ino for each in (place, *place.parents[:3]))
    assert done == [("sync", file), ("sync", root), ("sync", first), ("rename", file), ("sync", second)]
    done.clear()
    run(blobs.put(KEY, b"two", "video/mp4"))
    assert done == [("sync", place.stat().st_ino), ("rename", place.stat().st_ino), ("sync", second)]


def failing(number: int) -> Callable[..., int]:
    def fail(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize(
    ("call", "number", "words"),
    [
        ("write", errno.ENOSPC, "is full"),
        ("write", errno.EDQUOT, "is full"),
        ("fsync", errno.EIO, "cannot be used right now .EIO"),
        ("replace", errno.EROFS, "cannot be used right now .EROFS"),
    ],
)
def test_a_disk_that_fails(
    blobs: Blobs, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch, call: str, number: int, words: str
) -> None:
    run(blobs.put(KEY, b"one", "video/mp4"))
    with monkeypatch.context() as broken:
        broken.setattr(os, call, failing(number))
        with pytest.raises(BlobsAway, match=words):
            run(blobs.put(KEY, b"two", "video/mp4"))
    assert run(whole(blobs.read(KEY))) == b"one"
    assert leftovers(folder) == []


def test_a_disk_that_cannot_be_read(blobs: Blobs, folder: Path, run: Run, tmp_path: Path) -> None:
    run(blobs.put(KEY, b"one", "video/mp4"))
    (place,) = folder.glob("??/??/*")
    place.unlink()
    place.mkdir()
    with pytest.raises(BlobsAway):
        run(whole(blobs.read(KEY)))
    with pytest.raises(BlobsAway):
        run(blobs.delete(KEY))


def test_nothing_goes_on_after_a_cancellation(
    blobs: Blobs, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, release = threading.Event(), threading.Event()

    def stalled(_: int) -> None:
        reached.set()
        release.wait(60)

    monkeypatch.setattr(os, "fsync", stalled)

    async def story() -> None:
        put = asyncio.ensure_future(blobs.put(KEY, b"one", "video/mp4"))
        await asyncio.to_thread(reached.wait, 20)
        for _ in range(3):
            put.cancel()
            await asyncio.sleep(0)
        assert not put.done()
        release.set()
        with pytest.raises(asyncio.CancelledError):
            await put
        assert leftovers(folder) == []
        assert await blobs.stat(KEY) is None

    run(story())


def test_cancelled_waiter_leaves_the_queue_at_once(blobs: Blobs, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    monkeypatch.setattr(os, "fsync", lambda _: release.wait(60))

    async def story() -> None:
        puts = [asyncio.ensure_future(blobs.put(f"media/{number}", b"x", "video/mp4")) for number in range(30)]
        await asyncio.sleep(0)
        puts[-1].cancel()
        with pytest.raises(asyncio.CancelledError):
            await puts[-1]
        release.set()
        await asyncio.gather(*puts[:-1])
        assert await blobs.stat("media/28")
        assert await blobs.stat("media/29") is None

    run(story())


def test_file_opened_for_a_cancelled_read_is_closed(blobs: Blobs, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run(blobs.put(KEY, b"one", "video/mp4"))
    reached, release, opened, open_file = threading.Event(), threading.Event(), list[IO[Any]](), Path.open

    def stalled(place: Path, *arguments: Any, **extra: Any) -> IO[Any]:
        reached.set()
        release.wait(60)
        opened.append(open_file(place, *arguments, **extra))
        return opened[-1]

    monkeypatch.setattr(Path, "open", stalled)

    async def story() -> None:
        reading = asyncio.ensure_future(whole(blobs.read(KEY)))
        await asyncio.to_thread(reached.wait, 20)
        reading.cancel()
        release.set()
        with pytest.raises(asyncio.CancelledError):
            await reading

    run(story())
    assert [file.closed for file in opened] == [True]


def test_a_folder_removed_meanwhile_is_made_again(blobs: Blobs, folder: Path, run: Run) -> None:
    run(blobs.put(KEY, b"one", "video/mp4"))
    (place,) = folder.glob("??/??/*")
    place.unlink()
    place.parent.rmdir()
    place.parent.parent.rmdir()
    assert run(blobs.stat(KEY)) is None
    run(blobs.put(KEY, b"two", "video/mp4"))
    assert run(whole(blobs.read(KEY))) == b"two"


def test_a_reader_keeps_its_value_while_another_takes_the_place(blobs: Blobs, run: Run) -> None:
    old, new = b"a" * 1_000_000, b"b" * 2_000_000

    async def story() -> None:
        await blobs.put(KEY, old, "video/mp4")
        pieces = blobs.read(KEY)
        first = await anext(pieces)
        await blobs.put(KEY, new, "video/mp4")
        assert first + await whole(pieces) == old
        assert await whole(blobs.read(KEY)) == new

    run(story())


def test_foreign_account_is_refused(blobs: Blobs, folder: Path, run: Run) -> None:
    run(blobs.put(KEY, b"one", "video/mp4"))
    assert {each.stat().st_mode & 0o077 for each in (folder, *folder.rglob("*"))} == {0}


def test_there_is_no_address_to_read_from(blobs: Blobs) -> None:
    assert blobs.presigned(KEY, 60) is None


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for place in (tmp_path / "file", tmp_path / "file" / "blobs"):
        with pytest.raises(SettingError, match=r"^PRESSROOM_BLOBS_URL: .*file.* cannot be used: ") as refused:
            open_blobs(Settings({"PRESSROOM_BLOBS_URL": f"file://{place}"}))
        assert "\n" not in refused.value.message
