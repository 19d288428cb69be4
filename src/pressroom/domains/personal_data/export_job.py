"""The job that makes a copy of all that belongs to an account, and the removal of old ones.

Killed amid its work, it begins again; its files are in a folder that is swept, or replaced in the store.
"""

import contextlib
import errno
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Final

from pressroom.blobs import Blobs
from pressroom.clock import DAY, MINUTE
from pressroom.db import Database, Tx
from pressroom.domains.media.jobs import work_folder
from pressroom.domains.media.queries import find_stored_bytes
from pressroom.domains.personal_data import queries
from pressroom.domains.personal_data.archive import write_archive
from pressroom.domains.personal_data.models import EXPORT_JOB, EXPORT_LIFE, Export, ExportState, folder_of
from pressroom.jobs import queue
from pressroom.jobs.queue import Job
from pressroom.jobs.worker import Handler, TryAgain
from pressroom.threads import run_to_end

WAITS: Final = (MINUTE, 10 * MINUTE, 60 * MINUTE)

SPARE: Final = 256 * 1024 * 1024
"""Bytes that stay free on the disk of the working folder."""

ANY_AGE: Final = 1 << 52
"""A time (milliseconds) that no file is younger than."""


def export_handler(db: Database, blobs: Blobs, folder: Path) -> Handler:
    """Returns the job's handler. It writes below `folder` first; one copy is made at a time."""

    async def work(job: Job, token: str) -> None:
        export = await db.read(queries.find_export, job.subject)
        if export is None:  # the account was deleted, maybe while a worker that was killed stored its copy
            await remove_copies(blobs, job.subject)
        if export is None or export.state != ExportState.PENDING:
            await db.transact(queue.finish, job, token)
            return
        # Of an earlier try that was killed between storing the file and its row.
        await remove_copies(blobs, export.account_id)
        async with work_folder(folder) as place:
            with _spending_a_try():
                await _check_disk(place, await db.read(find_stored_bytes, export.account_id))
                path = await write_archive(db, blobs, export.account_id, place)
            size = path.stat().st_size if path else 0
            if path is not None:
                await blobs.put_file(export.key, path, "application/octet-stream")
        # The account was deleted, or asked for another copy, while this one was made: its file would have no row.
        if not await db.transact(_finish, job, token, export, size):
            await remove_copies(blobs, export.account_id)

    return Handler(EXPORT_JOB, work, together=1, waits=WAITS, gave_up=_give_up, each=1)


async def remove_copies(blobs: Blobs, account_id: str) -> None:
    """Removes all copies of an account from the store."""
    async for key in blobs.list_older(folder_of(account_id), ANY_AGE):
        await blobs.delete(key)


async def purge_exports(db: Database, blobs: Blobs, now: int) -> None:
    """Removes copies whose time is over, and files without a row; `now` is that of the disk (milliseconds)."""
    for export in await db.read(queries.list_expired, 100):
        await blobs.delete(export.key)
        await db.transact(queries.delete_export, export)
    async for key in blobs.list_older("exports", now - EXPORT_LIFE - DAY):
        await blobs.delete(key)


async def _finish(tx: Tx, job: Job, token: str, export: Export, size: int) -> bool:
    """Finishes the job. Returns False when the copy is not wanted any more."""
    if not await queue.finish(tx, job, token):
        return True  # another worker has the job, and writes the same file
    return await queries.finish_export(tx, export, size_bytes=size, expires_at=tx.now + EXPORT_LIFE)


async def _give_up(tx: Tx, job: Job, reason: str) -> None:
    await queries.fail_export(tx, job.subject)


@contextlib.contextmanager
def _spending_a_try() -> Generator[None]:
    """Has a copy that the disk has no space for spend one of its tries: it may be the account that is too large."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise TryAgain(str(error)) from None


async def _check_disk(folder: Path, stored: int) -> None:
    """Raises OSError when the disk of `folder` may not hold the copy, beside the file that is being added."""
    free = (await run_to_end(lambda: shutil.disk_usage(folder))).free
    # Twice: the zip file, and the file that is being added to it.
    if free < 2 * stored + SPARE:
        raise OSError(errno.ENOSPC, "The disk of the working folder is too full for a copy of an account")
