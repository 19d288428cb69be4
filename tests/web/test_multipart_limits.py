"""Forms that are cut off, cancelled, endless or too much for the disk: bounded, and nothing left behind."""

import asyncio
import errno
import os
import threading
import time
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path

import pytest

from pressroom.errors import Code, Unavailable
from pressroom.web import spool
from pressroom.web.error_responses import PayloadTooLarge
from pressroom.web.multipart import discard, read_form
from pressroom.web.multipart_rules import (
    FormRules,
    most_bytes,
)
from tests.web.form_bodies import END, RULES, TYPE, file, read, stream


def test_a_body_larger_than_any_is_not_read(tmp_path: Path) -> None:
    most = most_bytes(RULES)
    with pytest.raises(PayloadTooLarge):
        read(tmp_path, iter_fails(), length=most + 1)

    given_out = 0

    def endless() -> Iterable[bytes]:
        nonlocal given_out
        yield file()[:-2]
        while True:
            given_out += 65_536
            yield b"x" * 65_536

    with pytest.raises(PayloadTooLarge):
        read(tmp_path, endless())
    assert given_out <= most + 65_536


def iter_fails() -> Iterable[bytes]:
    """A body that must not be read."""
    pytest.fail("The body was read.")
    yield b""


async def until(condition: Callable[[], bool]) -> None:
    """Waits for a condition, a minute at most."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


@pytest.mark.parametrize("at_file", [0, 1])
def test_cancelled_in_the_middle_of_a_write_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_file: int
) -> None:
    writing, go_on = threading.Event(), threading.Event()
    opened = 0
    really_open = os.open

    def slow_open(path: Path, flags: int, mode: int) -> int:
        nonlocal opened
        opened += 1
        if opened - 1 == at_file:
            writing.set()
            assert go_on.wait(60)
        return really_open(path, flags, mode)

    monkeypatch.setattr(spool.os, "open", slow_open)

    async def run() -> None:
        body = [file(b"x" * 150_000) + file(b"y" * 150_000), END]
        reading = asyncio.create_task(read_form(stream(body), TYPE, None, RULES, tmp_path))
        await until(writing.is_set)
        reading.cancel()
        await asyncio.sleep(0)
        reading.cancel()  # an impatient caller
        await asyncio.sleep(0)
        assert not reading.done()  # it sees to the file first
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await reading

    asyncio.run(run())
    assert opened == at_file + 1
    assert not list(tmp_path.iterdir())


def test_a_deadline_passes_while_the_client_waits(tmp_path: Path) -> None:
    async def stalled() -> AsyncIterator[bytes]:
        yield file(b"x" * 199_000) + file()[:-2]
        await asyncio.Event().wait()

    async def run() -> None:
        async with asyncio.timeout(0.2):
            await read_form(stalled(), TYPE, None, RULES, tmp_path)

    with pytest.raises(TimeoutError):
        asyncio.run(run())
    assert not list(tmp_path.iterdir())


def test_error_of_the_stream_is_raised(tmp_path: Path) -> None:
    class HungUp(Exception):
        pass

    def cut() -> Iterable[bytes]:
        yield file(b"x" * 199_000) + file()
        raise HungUp

    with pytest.raises(HungUp):
        read(tmp_path, cut())


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_a_disk_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    really_write = spool.Spool._write_now

    def fails(self: spool.Spool, data: bytearray, *, last: bool) -> None:
        really_write(self, data, last=False)
        if len(list(tmp_path.iterdir())) == 2:
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(spool.Spool, "_write_now", fails)
    with pytest.raises(Unavailable) as refusal:
        read(tmp_path, file() * 3 + END)
    assert ("full" in refusal.value.message) == (number != errno.EIO)


def test_a_real_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really_open = os.open
    monkeypatch.setattr(spool.os, "open", lambda _path, _flags, _mode: really_open("/dev/full", os.O_WRONLY))
    with pytest.raises(Unavailable, match="full"):
        read(tmp_path, file() + END)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        asyncio.run(read_form(stream([file() + END]), TYPE, None, RULES, tmp_path / "none"))


def test_the_next_chunk_waits_for_the_disk_and_refused_bytes_never_reach_it(tmp_path: Path) -> None:
    rules = FormRules("video", 1, 2_000_000)
    on_disk: list[int] = []

    def chunks() -> Iterable[bytes]:
        yield file(field="video")[:-7]
        for sent in range(0, 3_000_000, 100_000):
            size = sum(each.stat().st_size for each in tmp_path.iterdir())
            assert size <= rules.file_bytes
            assert sent > rules.file_bytes or sent - size <= spool.AT_ONCE + 100_000
            on_disk.append(size)
            yield b"x" * 100_000
        yield b"\r\n" + END

    assert [field_error.code for field_error in read(tmp_path, chunks(), rules=rules).field_errors] == [Code.TOO_LARGE]
    assert max(on_disk) > 1_500_000


def test_memory_stays_small_while_much_arrives(tmp_path: Path) -> None:
    rules = FormRules("video", 1, 250_000_000)

    def chunks() -> Iterable[bytes]:
        yield file(field="video")[:-7]
        for _ in range(200):
            yield bytes(1_000_000)
        yield b"\r\n" + END

    tracemalloc.start()
    try:
        form = read(tmp_path, chunks(), rules=rules)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (form.files[0].size, form.files[0].path.stat().st_size) == (200_000_000, 200_000_000)
    assert form.files[0].path.stat().st_mode & 0o777 == 0o600
    asyncio.run(discard(form))
    assert peak < 4_000_000
