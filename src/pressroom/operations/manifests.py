"""The contents of a backup: its files, their sizes and checksums (docs/backup.md#backup)."""

import asyncio
import errno
import hashlib
import os
import stat
from collections.abc import Awaitable, Callable, Iterable
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Final, Protocol, TypeVar

import msgspec

from pressroom.db.migrate import newest_schema
from pressroom.errors import SettingError
from pressroom.folders import sync_folder

MANIFEST: Final = "manifest.json"
DATABASE: Final = "pressroom.db"
BLOBS: Final = "blobs"
FORMAT: Final = 1

PIECE: Final = 1024 * 1024
AT_ONCE: Final = 16
"""Files that travel to a bucket, or from it, at once."""

T = TypeVar("T")

_NO_FILE: Final = (errno.ELOOP, errno.ENXIO, errno.ENODEV)
"""Errors of opening a link, a socket, or a device without hardware."""


class FileEntry(msgspec.Struct):
    """A file of a backup: its size in bytes and its SHA-256 in hexadecimal."""

    size: int
    sha256: str


class Manifest(msgspec.Struct, rename="camel"):
    """The contents of a backup.

    `missing` lists blobs that the database refers to and the store lacks. `skipped` lists entries of the store that are
    not regular files: pipes, sockets, devices, links, folders. `objects` is the prefix of the files' keys in a store of
    backups (`stored_backups`).
    """

    format: int
    version: str
    schema: int
    created_at: str
    files: dict[str, FileEntry]
    missing: list[str]
    skipped: list[str] = []
    objects: str = ""


class BackupSource(Protocol):
    """A backup that can be read: a folder, or one of a store of backups."""

    @property
    def manifest(self) -> Manifest:
        """Returns the manifest."""
        ...

    async def entry(self, name: str) -> FileEntry:
        """Reads a file and returns its entry. Raises OSError when it is missing."""
        ...

    async def copy_to(self, name: str, target: Path) -> FileEntry:
        """Copies a file durably to `target`, a new file, and returns its entry. Raises OSError when it is missing."""
        ...


class FolderBackup:
    """A backup in a folder of its own. Raises SettingError like `read_manifest`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.manifest = read_manifest(folder)

    async def entry(self, name: str) -> FileEntry:
        """Reads a file (see `BackupSource`)."""
        return entry_of(self._folder / name)

    async def copy_to(self, name: str, target: Path) -> FileEntry:
        """Copies a file (see `BackupSource`)."""
        return copy_file(self._folder / name, target)


class NotAFile(OSError):
    """The path is not a regular file."""


def read_manifest(source: Path) -> Manifest:
    """Returns the manifest of a backup. Raises SettingError when it is missing, damaged, or of a later version."""
    file = source / MANIFEST
    try:
        return check_schema(decode_manifest(file.read_bytes(), str(file)))
    except FileNotFoundError:
        raise SettingError(f"{source} is no backup, or one that was cut off: it has no {MANIFEST}.") from None
    except OSError:
        raise SettingError(f"{file} is damaged.") from None


def decode_manifest(data: bytes, place: str) -> Manifest:
    """Returns the manifest in `data`. Raises SettingError, with its place, when it is damaged or unknown."""
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
    except msgspec.MsgspecError:
        raise SettingError(f"{place} is damaged.") from None
    if manifest.format != FORMAT:
        raise SettingError(f"{place} is of a format that this version does not know ({manifest.format}).")
    for name in (DATABASE, *manifest.files):
        if name not in manifest.files or not _is_ours(name):
            raise SettingError(f"{place} is damaged: {name!r}.")
    return manifest


def check_schema(manifest: Manifest) -> Manifest:
    """Returns the manifest unchanged. Raises SettingError when this version cannot serve the backup's database."""
    if manifest.schema > (known := newest_schema()):
        raise SettingError(
            f"The backup's schema is {manifest.schema}, newer than this version knows ({known}): upgrade Pressroom."
        )
    return manifest


def _is_ours(name: str) -> bool:
    path = PurePosixPath(name)
    below = path.parts[:1] == (BLOBS,) and ".." not in path.parts and not path.is_absolute()
    return name == DATABASE or (below and len(path.parts) > 1)


async def find_damaged(source: BackupSource) -> list[str]:
    """Returns the names of files of a backup that are missing, or whose size or checksum is another."""

    async def is_good(name: str) -> bool:
        try:
            return await source.entry(name) == source.manifest.files[name]
        except OSError:
            return False

    verdicts = await in_groups(is_good, source.manifest.files)
    return [name for name, good in zip(source.manifest.files, verdicts, strict=True) if not good]


async def in_groups(work: Callable[[str], Awaitable[T]], names: Iterable[str]) -> list[T]:
    """Returns the results of `work` on each name, done for some at once."""
    results: list[T] = []
    left = iter(names)
    while group := list(islice(left, AT_ONCE)):
        try:
            async with asyncio.TaskGroup() as working:
                tasks = [working.create_task(_awaited(work, name)) for name in group]
        except BaseExceptionGroup as errors:  # the first of them ended the others
            raise errors.exceptions[0] from None
        results += [task.result() for task in tasks]
    return results


async def _awaited(work: Callable[[str], Awaitable[T]], name: str) -> T:
    return await work(name)


def encode_manifest(manifest: Manifest) -> bytes:
    """Returns a manifest as JSON that people can read."""
    return msgspec.json.format(msgspec.json.encode(manifest))


def write_manifest(to: Path, manifest: Manifest) -> None:
    """Completes a backup: its files become durable, then the manifest."""
    sync_tree(to)
    partial = to / f"{MANIFEST}.partial"
    with open(partial, "xb", opener=_private) as writing:
        writing.write(encode_manifest(manifest))
        writing.flush()
        os.fsync(writing.fileno())
    # Last: a folder without a manifest is no backup, so one that was cut off is never restored.
    partial.rename(to / MANIFEST)
    sync_tree(to)


def entry_of(file: Path) -> FileEntry:
    """Returns the entry of a file. Raises OSError, or NotAFile."""
    with open(file, "rb", opener=_regular) as reading:
        return FileEntry(os.fstat(reading.fileno()).st_size, hashlib.file_digest(reading, "sha256").hexdigest())


def is_final(name: str) -> bool:
    """Returns whether a file keeps its content under its name: not the database, nor an account's copy of its data."""
    return name.startswith(f"{BLOBS}/") and not PurePosixPath(name).name.startswith("exports=")


def is_regular(file: Path, size: int) -> bool:
    """Returns whether a path is a regular file of `size` bytes. Raises FileNotFoundError."""
    found = file.lstat()
    return stat.S_ISREG(found.st_mode) and found.st_size == size


def copy_file(source: Path, target: Path) -> FileEntry:
    """Copies a file durably and returns its entry. Raises OSError, or NotAFile, because opening others could hang."""
    digest, size = hashlib.sha256(), 0
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(source, "rb", opener=_regular) as reading, open(target, "xb", opener=_private) as writing:
        while piece := reading.read(PIECE):
            digest.update(piece)
            size += len(piece)
            writing.write(piece)
        writing.flush()
        os.fsync(writing.fileno())
    return FileEntry(size, digest.hexdigest())


def sync_tree(folder: Path) -> None:
    """Makes the names of all files below `folder` durable."""
    for place, _, _ in os.walk(folder):
        sync_folder(Path(place))


def _regular(path: str, flags: int) -> int:
    """Opens a regular file without blocking; checks the open descriptor, since the path may change meanwhile."""
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno in _NO_FILE:
            raise NotAFile(error.errno, "This is no file", path) from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotAFile(errno.EINVAL, "This is no file", path)
    return descriptor


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
