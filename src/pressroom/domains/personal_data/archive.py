"""Writes a copy into a zip file, in bounded memory: a page of rows or a piece of a file at a time; and its job.

A killed job begins again; its files are in a folder that is swept, or replaced in the store.
"""

import contextlib
import errno
import json
import shutil
import zipfile
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from pressroom.blobs import BlobMissing, Blobs
from pressroom.clock import DAY, MINUTE, iso
from pressroom.db import Database, Tx
from pressroom.domains.media.jobs import work_folder
from pressroom.domains.media.models import ProcessingStatus, rendition
from pressroom.domains.media.queries import find_stored_bytes
from pressroom.domains.personal_data import queries
from pressroom.domains.personal_data.models import EXPORT_JOB, EXPORT_LIFE, Export, ExportState, folder_of
from pressroom.domains.personal_data.queries import copied
from pressroom.domains.personal_data.queries.copied import CopiedMedia, Section
from pressroom.domains.posts.actions.lookup import list_seen
from pressroom.jobs import queue
from pressroom.jobs.queue import Job
from pressroom.jobs.worker import Handler, TryAgain
from pressroom.threads import run_to_end

_MEDIA: Final = next(section for section in copied.SECTIONS if section.name == "media")
_STORED_AS_JSON: Final = {"log": "detail", "drafts": "fields"}
"""Columns that hold JSON, by their sections."""

_NOTIFICATIONS: Final = next(section for section in copied.SECTIONS if section.name == "notifications")
WAITS: Final = (MINUTE, 10 * MINUTE, 60 * MINUTE)
SPARE: Final = 256 * 1024 * 1024
"""Bytes that stay free on the disk of the working folder."""

ANY_AGE: Final = 1 << 52
"""A time (milliseconds) that no file is younger than."""


class Archive:
    """A zip file that is being written to `path`. Every method that writes does so in a thread."""

    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, allowZip64=True)

    async def add_json(self, name: str, value: object) -> None:
        """Adds a small file."""
        text = json.dumps(value, ensure_ascii=False, indent=1)
        await run_to_end(lambda: self._zip.writestr(f"{name}.json", text))

    async def add_rows(self, db: Database, section: Section, account_id: str) -> None:
        """Adds a section: a list with one row on each line."""
        member = self._zip.open(f"{section.name}.json", "w", force_zip64=True)
        try:
            await run_to_end(lambda: member.write(b"["))
            place: Sequence[str | int] = ()
            begin = b"\n"
            while rows := await db.read(_read_page, section, account_id, place):
                lines = begin + b",\n".join(encode(section, row) for row in rows)
                await run_to_end(lambda lines=lines: member.write(lines))
                place = [getattr(rows[-1], name) for name in section.order]
                begin = b",\n"
            await run_to_end(lambda: member.write(b"\n]\n"))
        finally:
            await run_to_end(member.close)

    async def add_media(self, db: Database, blobs: Blobs, account_id: str, spool: Path) -> None:
        """Adds the files that were processed, through `spool`, as they are served."""
        section, place = _MEDIA, list[str | int]()
        while page := await db.read(copied.read_page, section, account_id, place):
            for media in page:
                await self._add_file(blobs, media, spool)
            place = [page[-1].id]

    async def close(self) -> None:
        """Writes the directory of the zip file."""
        await run_to_end(self._zip.close)

    async def _add_file(self, blobs: Blobs, media: CopiedMedia, spool: Path) -> None:
        name = file_name(media)
        if name is None:
            return
        try:
            await blobs.fetch_to(rendition(media.id, stored_name(media)), spool)
        # The copy is made over minutes, and shows each row and file as it was when it was read.
        except BlobMissing:  # deleted a moment ago
            return
        # Media are compressed already.
        await run_to_end(lambda: self._zip.write(spool, name, zipfile.ZIP_STORED))
        await run_to_end(spool.unlink)


async def write_archive(db: Database, blobs: Blobs, account_id: str, folder: Path) -> Path | None:
    """Writes the copy of an account into `folder`. Returns the zip file, or None when there is no such account."""
    account = await db.read(copied.find_account, account_id)
    if account is None:
        return None
    path = folder / "export.zip"
    archive = Archive(path)
    try:
        await archive.add_json("account", shown(account))
        for section in copied.SECTIONS:
            await archive.add_rows(db, section, account_id)
        await archive.add_media(db, blobs, account_id, folder / "file")
    finally:
        await archive.close()
    return path


async def _read_page(tx: Tx, section: Section, account_id: str, place: Sequence[str | int]) -> list[Any]:
    """Returns the next rows of a section; of notifications, without ids of posts that the account may not see any
    more, and of comments on them."""
    rows = await copied.read_page(tx, section, account_id, place)
    if section is _NOTIFICATIONS:
        seen = await list_seen(tx, [row.post_id for row in rows if row.post_id], account_id)
        return [row if row.post_id in seen else replace(row, post_id=None, comment_id=None) for row in rows]
    return rows


def stored_name(media: CopiedMedia) -> str:
    """Returns the name under which a file is served."""
    return "video.mp4" if media.kind.startswith("video/") else "large.webp"


def file_name(media: CopiedMedia) -> str | None:
    """Returns the name of a file in the copy, None for one that is not there to be served."""
    if media.status != ProcessingStatus.READY:
        return None
    return f"media/{media.id}.{stored_name(media).rpartition('.')[2]}"


def encode(section: Section, row: Any) -> bytes:
    """Returns a row as JSON."""
    values = shown(row)
    if section is _MEDIA:
        values["file"] = file_name(row)
    if section.name in _STORED_AS_JSON:
        name = _STORED_AS_JSON[section.name]
        values[name] = _shown(msgspec.json.decode(values[name]))
    return msgspec.json.encode(values)


def shown(row: msgspec.Struct) -> dict[str, Any]:
    """Returns a row by names in camel case, with times as ISO 8601."""
    return _shown(msgspec.structs.asdict(row))


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in row.items():
        first, *rest = name.split("_")
        is_time = isinstance(value, int) and (name == "at" or name.endswith("_at"))
        values[first + "".join(each.capitalize() for each in rest)] = iso(value) if is_time else value
    return values


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
