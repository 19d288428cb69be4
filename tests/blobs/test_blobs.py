"""What holds of media bytes wherever they are kept: each test runs on local disk and on a real S3 server."""

import asyncio
import contextlib
import os
import time
import tracemalloc
from pathlib import Path

import psutil
import pytest

from pressroom.blobs import BlobInfo, BlobMissing, Blobs, BlobsAway, open_blobs
from pressroom.blobs.store import PIECE
from pressroom.settings import Settings

from .conftest import Run, listed, whole

KEY = "media/01jabc/large.webp"
LARGE = 11 * 1024 * 1024 + 7
MIB = 1024 * 1024


def soon() -> int:
    """A time in milliseconds by which everything written so far counts as older."""
    return round(time.time() * 1_000) + 5_000


def test_stored_bytes_are_read_back(blobs: Blobs, run: Run) -> None:
    run(blobs.put(KEY, b"one", "image/webp"))
    assert run(whole(blobs.read(KEY))) == b"one"
    info = run(blobs.stat(KEY))
    assert info == BlobInfo(3, info.etag)
    assert info.etag
    assert '"' not in info.etag


def test_an_empty_blob(blobs: Blobs, run: Run, tmp_path: Path) -> None:
    run(blobs.put(KEY, b"", "image/webp"))
    assert run(whole(blobs.read(KEY))) == b""
    assert run(blobs.stat(KEY)).size == 0
    run(blobs.fetch_to(KEY, tmp_path / "out"))
    assert (tmp_path / "out").read_bytes() == b""


def test_a_large_file_goes_in_and_out(blobs: Blobs, run: Run, tmp_path: Path) -> None:
    data = os.urandom(LARGE)
    (tmp_path / "in").write_bytes(data)
    run(blobs.put_file(KEY, tmp_path / "in", "video/mp4"))
    assert (tmp_path / "in").read_bytes() == data
    assert run(blobs.stat(KEY)).size == LARGE
    (tmp_path / "out").write_bytes(b"what was there before" * MIB)
    run(blobs.fetch_to(KEY, tmp_path / "out"))
    assert (tmp_path / "out").read_bytes() == data
    assert run(whole(blobs.read(KEY))) == data
    for start, end in [
        (0, 1),
        (5, 5),
        (LARGE - 1, None),
        (PIECE - 1, PIECE + 1),
        (3 * MIB + 5, 9 * MIB),
        (7, LARGE + 9),
    ]:
        assert run(whole(blobs.read(KEY, start, end))) == data[start:end]
    assert run(whole(blobs.read(KEY, LARGE + 5))) == b""


def test_pieces_are_small(blobs: Blobs, run: Run) -> None:
    run(blobs.put(KEY, bytes(3 * MIB + 1), "video/mp4"))

    async def sizes() -> list[int]:
        return [len(piece) async for piece in blobs.read(KEY)]

    found = run(sizes())
    assert sum(found) == 3 * MIB + 1
    assert 0 < min(found) <= max(found) <= PIECE


def test_put_replaces_an_older_object(blobs: Blobs, run: Run, tmp_path: Path) -> None:
    tags = set()
    for value in (b"one", b"two", b"a longer one", b"six"):
        run(blobs.put(KEY, value, "image/webp"))
        tags.add(run(blobs.stat(KEY)).etag)
        assert run(whole(blobs.read(KEY))) == value
    assert len(tags) == 4


def test_a_tag_stays_while_the_value_does(blobs: Blobs, blobs_url: str, run: Run) -> None:
    run(blobs.put(KEY, b"one", "image/webp"))
    again = open_blobs(Settings({"PRESSROOM_BLOBS_URL": blobs_url}))
    assert run(again.stat(KEY)) == run(blobs.stat(KEY))
    run(again.close())


def test_nothing_is_under_an_unused_key(blobs: Blobs, run: Run, tmp_path: Path) -> None:
    run(blobs.put(KEY, b"one", "image/webp"))
    for key in ("media/01jabc", "media/01jabc/large.webp/x", "other"):
        assert run(blobs.stat(key)) is None
        with pytest.raises(BlobMissing, match=key):
            run(whole(blobs.read(key)))
        with pytest.raises(BlobMissing):
            run(whole(blobs.read(key, 5, 5)))
        with pytest.raises(BlobMissing):
            run(blobs.fetch_to(key, tmp_path / "out"))
        assert not (tmp_path / "out").exists()


def test_a_key_may_be_the_beginning_of_another(blobs: Blobs, run: Run) -> None:
    for key in ("a", "a/b", "a/b/c", "a.b", ".a/-_"):
        run(blobs.put(key, key.encode(), "image/webp"))
    for key in ("a", "a/b", "a/b/c", "a.b", ".a/-_"):
        assert run(whole(blobs.read(key))) == key.encode()


def test_deleting(blobs: Blobs, run: Run) -> None:
    keys = [f"media/{number}" for number in range(20)]
    for key in keys:
        run(blobs.put(key, b"x", "image/webp"))
    run(blobs.delete(*keys[1:], "media/absent", keys[1]))
    assert [key for key in keys if run(blobs.stat(key))] == keys[:1]
    run(blobs.delete())
    run(blobs.delete(keys[0]))
    run(blobs.delete(keys[0]))
    assert run(blobs.stat(keys[0])) is None


def test_listing_returns_older_objects(blobs: Blobs, run: Run) -> None:
    keys = [f"media/{number}/large.webp" for number in range(30)]
    for key in [*keys, "media2/x", "media", "mediax", "uploads/y"]:
        run(blobs.put(key, b"x", "image/webp"))
    assert run(listed(blobs.list_older("media", soon()))) == sorted(keys)
    assert run(listed(blobs.list_older("media/", soon()))) == sorted(keys)
    assert run(listed(blobs.list_older("media/7", soon()))) == ["media/7/large.webp"]
    assert run(listed(blobs.list_older("med", soon()))) == []
    assert len(run(listed(blobs.list_older("", soon())))) == 34
    assert run(listed(blobs.list_older("", soon() - 60_000))) == []


def test_listed_objects_can_be_deleted(blobs: Blobs, run: Run) -> None:
    async def story() -> None:
        await asyncio.gather(*(blobs.put(f"media/{number}", b"x", "image/webp") for number in range(60)))
        async for key in blobs.list_older("media", soon()):
            await blobs.delete(key)

    run(story())
    assert run(listed(blobs.list_older("", soon()))) == []


@pytest.mark.parametrize(
    "key",
    ["", "/a", "a/", "a//b", "..", "a/../b", "a..b", ".", "a/./b", "A", "ä", "a b", "a\n", "a=b", "a\0", "x" * 201],
)
def test_wrong_key_is_refused(blobs: Blobs, run: Run, tmp_path: Path, key: str) -> None:
    (tmp_path / "file").write_bytes(b"x")
    calls = [
        lambda: blobs.put(key, b"x", "image/webp"),
        lambda: blobs.put_file(key, tmp_path / "file", "image/webp"),
        lambda: blobs.fetch_to(key, tmp_path / "out"),
        lambda: whole(blobs.read(key)),
        lambda: blobs.stat(key),
        lambda: blobs.delete("fine", key),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="is not a key"):
            run(call())
    with pytest.raises(ValueError, match="is not a key"):
        blobs.presigned(key, 60)


def test_the_longest_key(blobs: Blobs, run: Run) -> None:
    key = "x" * 100 + "/" + "y" * 99
    run(blobs.put(key, b"x", "image/webp"))
    assert run(listed(blobs.list_older("", soon()))) == [key]


@pytest.mark.parametrize(("start", "end"), [(-1, None), (5, 4)])
def test_wrong_range_is_refused(blobs: Blobs, run: Run, start: int, end: int | None) -> None:
    with pytest.raises(ValueError, match="is not a range"):
        run(whole(blobs.read(KEY, start, end)))


def test_a_source_that_is_missing(blobs: Blobs, run: Run, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run(blobs.put_file(KEY, tmp_path / "none", "image/webp"))
    assert run(blobs.stat(KEY)) is None


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
def test_a_local_disk_that_is_full(blobs: Blobs, run: Run, tmp_path: Path) -> None:
    run(blobs.put(KEY, b"one", "image/webp"))
    (tmp_path / "out").symlink_to("/dev/full")
    with pytest.raises(BlobsAway, match="full"):
        run(blobs.fetch_to(KEY, tmp_path / "out"))
    assert not (tmp_path / "out").is_symlink()


def test_puts_at_once_leave_one_whole_value(blobs: Blobs, run: Run) -> None:
    values = [bytes([letter]) * (MIB + letter) for letter in range(8)]

    async def story() -> None:
        for _ in range(3):
            puts = [asyncio.ensure_future(blobs.put(KEY, value, "image/webp")) for value in values]
            while not all(put.done() for put in puts):
                if info := await blobs.stat(KEY):
                    assert info.size in [len(value) for value in values]
            await asyncio.gather(*puts)
            assert await whole(blobs.read(KEY)) in values

    run(story())


def test_a_reader_may_leave(blobs: Blobs, run: Run) -> None:
    run(blobs.put(KEY, bytes(3 * MIB), "video/mp4"))

    async def story() -> bytes:
        pieces = blobs.read(KEY)
        first = await anext(pieces)
        await pieces.aclose()
        return first

    assert set(run(story())) == {0}


class Watch:
    """Counts the turns of the event loop and measures the memory of the process meanwhile."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._before = self._process.memory_info().rss
        self.turns = 0
        self.grown = 0

    async def watch(self) -> None:
        while True:
            self.grown = max(self.grown, self._process.memory_info().rss - self._before)
            self.turns += 1
            await asyncio.sleep(0.005)


def test_the_loop_goes_on_and_memory_stays_bounded(blobs: Blobs, run: Run, tmp_path: Path) -> None:
    # The S3 server reads the whole blob for every range of it, so there a smaller one is read than was put.
    small = 300 * MIB if blobs.presigned(KEY, 60) is None else 64 * MIB
    block = os.urandom(MIB)
    for name, size in (("in", 300 * MIB), ("small", small)):
        with (tmp_path / name).open("wb") as file:
            for _ in range(size // MIB):
                file.write(block)
    watch = Watch()

    async def story() -> int:
        watching = asyncio.ensure_future(watch.watch())
        await blobs.put_file(KEY, tmp_path / "in", "video/mp4")
        at_put = watch.turns
        await blobs.put_file(KEY, tmp_path / "small", "video/mp4")
        await blobs.fetch_to(KEY, tmp_path / "out")
        assert watch.turns > at_put + 2 > 4
        async with contextlib.aclosing(blobs.read(KEY)) as pieces:
            read = sum([len(piece) async for piece in pieces])
        watching.cancel()
        return read

    tracemalloc.start()
    try:
        assert run(story()) == small
        assert tracemalloc.get_traced_memory()[1] < 16 * MIB
    finally:
        tracemalloc.stop()
    assert watch.grown < 56 * MIB
    assert (tmp_path / "out").stat().st_size == small
