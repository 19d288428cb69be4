"""The job that processes an upload into the files that are served. It may be killed at any point and run again."""

import asyncio
import contextlib
import errno
import os
import shutil
import time
import uuid
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Final

from pressroom.blobs import BlobMissing, Blobs
from pressroom.clock import SECOND
from pressroom.db import Database, Tx
from pressroom.domains.media import actions, queries
from pressroom.domains.media.kinds import FileKind
from pressroom.domains.media.models import Media, ProcessingStatus, every_key, rendition, source
from pressroom.domains.media.sandbox import (
    ChildDied,
    DecodingLimits,
    Processed,
    Sandbox,
    SandboxAway,
    Starved,
    TakesLong,
    Undecodable,
)
from pressroom.errors import Unavailable
from pressroom.jobs import queue
from pressroom.jobs.queue import Job
from pressroom.jobs.worker import Defer, Handler, TryAgain
from pressroom.threads import run_to_end

TOGETHER: Final = 2
LONG_TOGETHER: Final = 1
SHORT_PIXELS: Final = 2_000_000_000
"""Width by height by pictures of the largest short video: half a minute of 1080p, seconds of work."""

CHILDREN: Final = 2
"""How many children may die decoding a file before it counts as undecodable."""

WAITS: Final = (5 * SECOND, 30 * SECOND, 120 * SECOND, 600 * SECOND)
LEFTOVER: Final = 3_600 * SECOND
"""Milliseconds after which an upload that no row refers to is swept. No request takes that long."""

TOUCH_SECONDS: Final = 600.0
"""How often a folder in use is touched, so that it is not taken for one that was left behind."""

STARVED: Final = 30
"""How often a file is deferred because its child lacked time or space. After that, the file may be the cause."""

LOST: Final = 300
"""How often a file is deferred because its upload is not in the store, before it counts as lost: more than a day."""

_DIED: Final = "The file could not be read within the limits of memory and time."


@contextlib.asynccontextmanager
async def work_folder(below: Path) -> AsyncGenerator[Path]:
    """Makes a folder below `below` and yields it; removes it at the end, when the work is cancelled too."""
    folder = below / f"work-{uuid.uuid4().hex}"
    try:
        # To its end even when cancelled: a folder made after the `finally` would be left behind.
        await run_to_end(lambda: _make_private(folder))
        touching = asyncio.create_task(_touch(folder))
        try:
            yield folder
        finally:
            touching.cancel()
    finally:
        await run_to_end(lambda: shutil.rmtree(folder, ignore_errors=True))


def sweep_folders(data_dir: Path, age: float = LEFTOVER / SECOND) -> None:
    """Removes temporary files of killed requests and jobs that are at least `age` seconds old."""
    for place in [*(data_dir / "incoming").glob("*"), *(data_dir / "processing").glob("*")]:
        with contextlib.suppress(OSError):
            if time.time() - place.stat().st_mtime >= age:
                shutil.rmtree(place) if place.is_dir() else place.unlink()


class Processing:
    """Processes the files in `blobs` that `db` lists, in temporary folders below `folder`."""

    def __init__(self, db: Database, blobs: Blobs, sandbox: Sandbox, folder: Path) -> None:
        self._db = db
        self._blobs = blobs
        self._sandbox = sandbox
        self._folder = folder

    def handlers(self) -> tuple[Handler, ...]:
        """Returns the handlers for the worker of the queue.

        One account has at most one short and one long video processed at a time. Every video begins as a short one;
        its pictures are counted there.
        """
        return (
            Handler(actions.PICTURES, self.work, TOGETHER, WAITS, gave_up=self.give_up),
            Handler(actions.VIDEOS, self.work, TOGETHER, WAITS, each=1, gave_up=self.give_up),
            Handler(actions.LONG_VIDEOS, self.work, LONG_TOGETHER, WAITS, each=1, gave_up=self.give_up),
            Handler(actions.REMOVAL_JOB, self.remove, TOGETHER, WAITS),
        )

    async def work(self, job: Job, token: str) -> None:
        """Processes one file. Stores the results before the row refers to them, so running it twice does no harm."""
        media = await self._db.one(queries.FIND_ANY, media_id=job.subject)
        # Another worker finished it after this one's lease had run out, or the account was erased.
        if media is None or media.status != ProcessingStatus.PROCESSING:
            await self._db.transact(queue.finish, job, token)
            return
        if media.hidden_at is not None:
            await self._db.transact(actions.finish_failed, job, token, "What it belonged to was deleted.")
            await self._blobs.delete(source(media.id))
            return
        async with work_folder(self._folder) as folder:
            upload = folder / "upload"
            try:
                await self._fetch(job, upload)
                done = await self._process(job, media, upload, folder)
            # Only the child counts the pictures, so every video begins among the short ones.
            except TakesLong:
                await self._db.transact(actions.move_to_long_videos, job, token)
                return
            except Undecodable as undecodable:
                ended = await self._db.transact(actions.finish_failed, job, token, undecodable.message)
            else:
                # Before the row is READY: its address never leads to a missing file.
                await self._store(media.id, done, folder)
                ended = await self._db.transact(actions.finish_ready, job, token, done)
        if ended:
            # Its metadata may say where somebody lives. If the store is unavailable now, the sweep removes it.
            with contextlib.suppress(Unavailable):
                await self._blobs.delete(source(media.id))

    async def remove(self, job: Job, token: str) -> None:
        """Removes a replaced picture of an account: from the store, then its row."""
        await self._blobs.delete(*every_key(job.subject))
        await self._db.transact(actions.finish_removal, job, token)

    async def give_up(self, tx: Tx, job: Job, reason: str) -> None:
        """Marks the file FAILED after its last try."""
        await actions.fail(tx, job.subject, reason)

    async def sweep(self, now: int) -> None:
        """Removes uploads that no file needs, as of requests killed before their transaction; `now` in milliseconds."""
        async for key in self._blobs.list_older("uploads", now - LEFTOVER):
            media_id = key.removeprefix("uploads/").upper()
            if await self._db.one(queries.NEEDS_UPLOAD, media_id=media_id) is None:
                await self._blobs.delete(key)

    async def _store(self, media_id: str, done: Processed, folder: Path) -> None:
        for file in done.files:
            await self._blobs.put_file(rendition(media_id, file.name), folder / file.name, file.mime)

    async def _fetch(self, job: Job, upload: Path) -> None:
        try:
            await self._blobs.fetch_to(source(job.subject), upload)
        except BlobMissing:
            if job.deferrals >= LOST:
                raise Undecodable("The uploaded file was lost.") from None
            # Deferred, no failure: on several machines a wrong setting would otherwise fail every file.
            raise Defer(
                f"The upload is not in this worker's media store, {self._blobs.place}. Every process that serves or"
                " works must be given the same PRESSROOM_BLOBS_URL: one shared folder, or S3."
            ) from None

    async def _process(self, job: Job, media: Media, upload: Path, folder: Path) -> Processed:
        kind, box = FileKind(media.kind), media.picture.box if media.picture else None
        limits = DecodingLimits(at_once_pixels=SHORT_PIXELS if job.kind == actions.VIDEOS else None)
        for _ in range(CHILDREN):
            try:
                return await self._sandbox.process(upload, kind, folder, limits, box)
            except Starved as starved:
                if job.deferrals >= STARVED:
                    raise TryAgain(str(starved)) from None
                # A child without disk space looks starved: this names the true cause, which concerns all files.
                await run_to_end(lambda: _check_disk(folder))
                raise Defer(str(starved)) from None
            except SandboxAway as away:
                raise Defer(str(away)) from None
            except ChildDied:
                continue
        raise Undecodable(_DIED)


async def _touch(folder: Path) -> None:
    """Touches a folder now and then, until it is gone."""
    with contextlib.suppress(OSError):
        while True:
            await asyncio.sleep(TOUCH_SECONDS)
            await run_to_end(lambda: os.utime(folder))


def _make_private(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700)


def _check_disk(folder: Path) -> None:
    """Raises OSError when the disk of `folder` lacks space for the largest result of a child."""
    if shutil.disk_usage(folder).free < DecodingLimits().written_bytes:
        raise OSError(errno.ENOSPC, "The disk of the working folder is full")
