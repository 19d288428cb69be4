"""`pressroom backup`: a copy of a whole installation on SQLite, taken while it serves (docs/backup.md#backup).

DIR/pressroom.db      one snapshot of the database
DIR/blobs/ab/cd/…     all files of the media store
DIR/manifest.json     written last: a folder without it is no backup
"""

import contextlib
import os
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Final, Protocol

import apsw

from pressroom import __version__
from pressroom.blobs.disk import blob_file, blob_files
from pressroom.clock import SystemClock, iso
from pressroom.db import Database
from pressroom.db.migrate import applied_version
from pressroom.db.sqlite.database import open_sqlite
from pressroom.domains.media.actions import list_stored_keys
from pressroom.errors import PressroomError, SettingError
from pressroom.folders import make_folder
from pressroom.operations.manifests import (
    BLOBS,
    DATABASE,
    FORMAT,
    FileEntry,
    Manifest,
    NotAFile,
    copy_file,
    entry_of,
    in_groups,
    is_final,
    write_manifest,
)
from pressroom.server.database import check_exists
from pressroom.server.last_backup import record_backup, record_failure
from pressroom.settings import Settings

SNAPSHOTS: Final = 10
"""How often the database is copied at most, until the backup holds all files that the copy refers to."""

ON_POSTGRES: Final = (
    "This command is for SQLite. On PostgreSQL use pg_dump and pg_restore; docs/backup.md#postgresql shows how."
)


class Target(Protocol):
    """The place of a new backup."""

    async def keep(self, file: Path, name: str) -> FileEntry:
        """Stores a file under its name in the backup and returns its entry. Raises OSError, or NotAFile."""
        ...


class FolderTarget:
    """A folder that becomes a backup.

    Args:
        folder: The folder, in which the snapshot of the database is made.
        earlier: An earlier backup and its manifest: media that it holds are linked instead of copied.
    """

    def __init__(self, folder: Path, earlier: tuple[Path, Manifest] | None) -> None:
        self._folder = folder
        self._earlier = earlier

    async def keep(self, file: Path, name: str) -> FileEntry:
        """Links or copies a file (see `Target`)."""
        target = self._folder / name
        if file == target:
            return entry_of(file)
        try:
            return self._link(file, name) or copy_file(file, target)
        except FileNotFoundError:
            # Half of it may be copied.
            target.unlink(missing_ok=True)  # it was removed just now
            raise

    def _link(self, file: Path, name: str) -> FileEntry | None:
        """Links the file of the earlier backup, as far as its disk can, and returns its entry."""
        if self._earlier is None:
            return None
        folder, manifest = self._earlier
        entry = manifest.files.get(name) if is_final(name) else None
        # A file that lost or gained bytes is copied again; that the others still have their checksum, `--verify` tells.
        with contextlib.suppress(OSError):
            if entry is not None and (folder / name).stat().st_size == entry.size == file.stat().st_size:
                (self._folder / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                os.link(folder / name, self._folder / name, follow_symlinks=False)
                return entry
        return None


async def back_up(settings: Settings, to: Path, earlier: tuple[Path, Manifest] | None = None) -> Manifest:
    """Copies database and media to a folder.

    Args:
        settings: Those of the installation.
        to: The folder, which must be missing or empty.
        earlier: An earlier backup and its manifest: media that it holds are linked instead of copied.

    Returns the manifest. Raises SettingError.
    """
    source_of(settings)
    with written_to(settings, str(to)):
        _claim_folder(to, settings.data_dir, Path(settings.blobs_url.removeprefix("file://")))
        manifest = await take(settings, FolderTarget(to, earlier), to / DATABASE)
        write_manifest(to, manifest)
        record_backup(settings, manifest.created_at, to)
    return manifest


async def take(settings: Settings, target: Target, snapshot: Path) -> Manifest:
    """Stores all files of an installation in a backup, but for the manifest, which it returns.

    Args:
        settings: Those of the installation.
        target: The backup.
        snapshot: A new file for the snapshot of the database.

    Raises SettingError, OSError and errors of apsw.
    """
    database = source_of(settings)
    blobs = Path(settings.blobs_url.removeprefix("file://"))
    files = dict[str, FileEntry]()
    # Most of the media first, while the database moves on: the snapshots below then have little left to copy.
    skipped = await _keep_blobs(blobs, target, files)
    schema, missing = 0, list[str]()
    # Blobs after the database, each time: a snapshot refers to files that were stored before it.
    for _ in range(SNAPSHOTS):
        before = missing
        _copy_database(database, snapshot)
        skipped |= await _keep_blobs(blobs, target, files)
        schema, missing = await _compare(snapshot, files)
        if missing == before:
            break  # nothing is missing, or only files that the store has lost
    _set_journal(snapshot)
    files[DATABASE] = await target.keep(snapshot, DATABASE)
    return Manifest(FORMAT, __version__, schema, iso(SystemClock().now()), files, missing, sorted(skipped))


@contextlib.contextmanager
def written_to(settings: Settings, place: str) -> Generator[None]:
    """Records that a backup failed, and raises SettingError for errors of the disk and the database."""
    try:
        try:
            yield
        except OSError as error:
            raise SettingError(
                f"The backup could not be written: {error.filename or place}: {error.strerror}."
            ) from None
        except apsw.Error as error:
            raise SettingError(f"The database {settings.database_file} could not be copied: {error}.") from None
    except PressroomError as error:
        record_failure(settings, iso(SystemClock().now()), error.message)
        raise


def source_of(settings: Settings) -> Path:
    """Returns the database to back up. Raises SettingError for an installation that `pressroom backup` cannot copy."""
    if (database := settings.database_file) is None:
        raise SettingError(ON_POSTGRES)
    if not settings.blobs_url.startswith("file://"):
        raise SettingError(
            "Media are in S3: back up the bucket with the store's tools, and the database with sqlite3 .backup."
        )
    check_exists(settings)
    return database


def _claim_folder(to: Path, *used: Path) -> None:
    for folder in used:
        if to.resolve().is_relative_to(folder.resolve()):
            raise SettingError(f"{to} lies in {folder}, of which it is to be a copy. Name a folder elsewhere.")
    make_folder(to, 0o700)
    if any(to.iterdir()):
        raise SettingError(f"{to} is not empty. Name a folder that is, or one that is not there yet.")


def _copy_database(source: Path, target: Path) -> None:
    """Copies one snapshot. The server may write meanwhile."""
    for file in (target, *(target.with_name(target.name + end) for end in ("-wal", "-shm"))):
        file.unlink(missing_ok=True)
    target.touch(mode=0o600)
    reading, writing = apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY), apsw.Connection(str(target))
    try:
        reading.set_busy_timeout(5_000)
        with writing.backup("main", reading, "main") as copy:
            copy.step(-1)
    finally:
        writing.close()
        reading.close()


async def _keep_blobs(blobs: Path, target: Target, files: dict[str, FileEntry]) -> set[str]:
    """Stores the blobs that the backup lacks. Blobs are never changed, only added and removed.

    Returns the names of entries that are not regular files, which it skips.
    """
    skipped: set[str] = set()

    async def keep(name: str) -> None:
        try:
            files[name] = await target.keep(blobs / name.removeprefix(f"{BLOBS}/"), name)
        except FileNotFoundError:
            pass  # it was removed just now
        except NotAFile:
            skipped.add(name)

    names = (f"{BLOBS}/{file.relative_to(blobs).as_posix()}" for file in blob_files(blobs))
    await in_groups(keep, (name for name in names if name not in files))
    return skipped


async def _compare(snapshot: Path, files: dict[str, FileEntry]) -> tuple[int, list[str]]:
    """Returns the schema version of the copy, and the blobs that the backup lacks.

    An upload that was processed after the snapshot is missing; a later snapshot refers to its renditions instead.
    """
    db = open_sqlite(snapshot, SystemClock())
    try:
        schema = await applied_version(db)
        missing = [key async for key in stored_keys(db) if _name(key) not in files]
    finally:
        await db.close()
    return schema, missing


async def stored_keys(db: Database) -> AsyncGenerator[str]:
    """Yields the keys of all files that the store must hold for the database."""
    after = ""
    while page := await db.read(list_stored_keys, after):
        for _, keys in page:
            for key in keys:
                yield key
        after = page[-1][0]


def _name(key: str) -> str:
    return f"{BLOBS}/{blob_file(key).as_posix()}"


def _set_journal(database: Path) -> None:
    """Turns write-ahead logging off, so that the copy is one file, and makes it durable."""
    connection = apsw.Connection(str(database))
    try:
        connection.pragma("journal_mode", "DELETE")  # pyright: ignore[reportUnknownMemberType]  # untyped answer
    finally:
        connection.close()
    with database.open("rb") as copy:
        os.fsync(copy.fileno())
