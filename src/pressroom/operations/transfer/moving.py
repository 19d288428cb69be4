"""A whole transfer: rows, then files (docs/backup.md#from-sqlite-to-postgresql).

Rows are copied table by table in the order of the primary key, a batch in a transaction. So a transfer that was cut off
goes on behind the last row that has come; no server starts on source or target meanwhile (`marks`).
"""

import secrets
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import msgspec

from pressroom.blobs import Blobs, opened_blobs
from pressroom.blobs.disk import DiskBlobs
from pressroom.clock import SystemClock
from pressroom.errors import SettingError
from pressroom.operations.backup import stored_keys
from pressroom.operations.blob_copies import Copies, copy_blobs, find_missing
from pressroom.operations.transfer import marks
from pressroom.operations.transfer.source import Source, open_source, remove_mark, write_mark
from pressroom.operations.transfer.tables import Row, Table, TableDigest, digest
from pressroom.operations.transfer.target import Target, open_target
from pressroom.server.database import one_connection, open_directly
from pressroom.settings import Settings


class Transferred(msgspec.Struct):
    """The result of a transfer: the tables, equal on both sides, and the number of files.

    `missing` lists files that the database refers to and the store lacks; `skipped` entries of the source's folder that
    are no files.
    """

    tables: list[TableDigest]
    files: int
    missing: list[str]
    skipped: list[str]


async def transfer(settings: Settings, from_url: str, blobs_from: str | None) -> Transferred | None:
    """Copies the SQLite database at `from_url` into the configured PostgreSQL database, and files into the store.

    Goes on where an earlier run was cut off. Returns None when one had ended. Args: `blobs_from`: the folder of the
    media as file:///FOLDER; None when the configured store has them already. Raises SettingError.
    """
    file, folder = _file(from_url), _folder(blobs_from, settings.blobs_url)
    if settings.database_url.startswith("sqlite:///"):
        raise SettingError("The target is SQLite: a transfer fills PostgreSQL (--to or PRESSROOM_DATABASE_URL).")
    with open_source(file) as source:
        async with (
            open_target(settings.database_direct_url, one_connection(settings)) as target,
            opened_blobs(settings) as blobs,
        ):
            if await _has_ended(file, source, target):
                remove_mark(file)
                return None
            transfer_id = await _begin(file, source, target)
            for table in source.tables:
                await _copy(table, source, target)
            tables = [await _compare(table, source, target) for table in source.tables]
            copies = Copies() if folder is None else await _copy_files(settings, folder, blobs)
            missing = await _missing(settings, blobs)
            await target.finish(transfer_id)
        remove_mark(file)
    return Transferred(tables, copies.files, missing, copies.skipped)


async def _has_ended(file: Path, source: Source, target: Target) -> bool:
    """Returns whether a transfer of this source has ended."""
    mark = await target.mark()
    if mark is None or mark.finished_at is None:
        return False
    given = marks.read_file(file)
    if given is None:  # the file is removed last, so that only the rows tell whether it was this source
        digests = [await _digests(table, source, target) for table in source.tables]
        return all(ours == theirs for ours, theirs in digests)
    return mark.id == given


async def _begin(file: Path, source: Source, target: Target) -> str:
    """Returns the id of the transfer that begins or is resumed. Raises SettingError when neither may be."""
    mark = await target.mark()
    given = marks.read_file(file)
    if marks.may_go_on(given, mark):
        return given or ""
    await target.check_empty(source.tables)
    transfer_id = secrets.token_hex(16)
    # The file first: a target that is marked and a source that is not would look as if the source was served since.
    write_mark(file, transfer_id)
    await target.begin(transfer_id, source.tables)
    return transfer_id


async def _copy(table: Table, source: Source, target: Target) -> None:
    async for batch in source.rows(table, await target.last_key(table)):
        await target.add(table, batch)


async def _compare(table: Table, source: Source, target: Target) -> TableDigest:
    """Returns what both sides hold. Raises SettingError when they differ."""
    ours, theirs = await _digests(table, source, target)
    if ours != theirs:
        raise SettingError(
            f"The table {table.name} differs: {ours.rows:,} rows of SHA-256 {ours.sha256} became {theirs.rows:,} of"
            f" {theirs.sha256}. Transfer into another, empty database."
        )
    return ours


async def _digests(table: Table, source: Source, target: Target) -> tuple[TableDigest, TableDigest]:
    return await digest(table, _each(source.rows(table))), await digest(table, _each(target.rows(table)))


async def _each(batches: AsyncIterator[list[Row]]) -> AsyncGenerator[Row]:
    async for batch in batches:
        for row in batch:
            yield row


async def _missing(settings: Settings, blobs: Blobs) -> list[str]:
    db = await open_directly(settings, SystemClock())
    try:
        return await find_missing(stored_keys(db), blobs)
    finally:
        await db.close()


async def _copy_files(settings: Settings, folder: Path, blobs: Blobs) -> Copies:
    source = DiskBlobs.open(folder)
    try:
        return await copy_blobs(source, blobs, settings.data_dir, reread=True)
    finally:
        await source.close()


def _file(url: str) -> Path:
    if not url.startswith("sqlite:///"):
        raise SettingError("--from names the source as sqlite:///FILE.")
    return Path(url.removeprefix("sqlite:///")).absolute()


def _folder(url: str | None, configured: str) -> Path | None:
    """Returns the folder whose files are to be copied, None when they are in their place already."""
    if url is None:
        return None
    folder = Path(url.removeprefix("file://")).absolute()
    if not url.startswith("file:///") or not folder.is_dir():
        raise SettingError("--blobs-from names the folder of the media as file:///FOLDER, and it must be there.")
    is_the_same = Path(configured.removeprefix("file://")).resolve() == folder.resolve()
    return None if is_the_same else folder
