"""The folder that a file is processed in."""

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from pressroom.domains.media import jobs
from pressroom.domains.media.jobs import sweep_folders, work_folder


def test_it_is_private_and_removed_with_all_that_is_in_it(tmp_path: Path) -> None:
    async def work() -> Path:
        async with work_folder(tmp_path / "processing") as folder:
            assert folder.stat().st_mode & 0o777 == 0o700
            (folder / "upload").write_bytes(b"bytes")
        return folder

    assert asyncio.run(work()).parent == tmp_path / "processing"
    assert list((tmp_path / "processing").iterdir()) == []


def test_nothing_is_left_of_work_that_is_cancelled_while_its_folder_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, go_on, make = threading.Event(), threading.Event(), jobs._make_private

    def make_slowly(folder: Path) -> None:
        asked.set()
        go_on.wait(60)
        make(folder)

    async def work() -> None:
        async with work_folder(tmp_path):
            pytest.fail("it goes on after it was cancelled")

    async def cancel() -> None:
        task = asyncio.create_task(work())
        await asyncio.to_thread(asked.wait, 20)
        task.cancel()
        await asyncio.sleep(0)
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    monkeypatch.setattr(jobs, "_make_private", make_slowly)
    asyncio.run(cancel())
    assert list(tmp_path.iterdir()) == []


def test_work_that_takes_hours_keeps_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "TOUCH_SECONDS", 0.001)
    touched = threading.Event()
    touch = os.utime

    def note(*given: Any) -> None:
        touch(*given)
        touched.set()

    async def work() -> bool:
        async with work_folder(tmp_path / "processing") as folder:
            touch(folder, (1, 1))
            monkeypatch.setattr(os, "utime", note)
            assert await asyncio.to_thread(touched.wait, 20), "nothing touches it"
            sweep_folders(tmp_path)
            return folder.is_dir()

    assert asyncio.run(work())
    assert list((tmp_path / "processing").iterdir()) == []
