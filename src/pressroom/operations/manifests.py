"""The contents of a backup: its files, their sizes and checksums (docs/backup.md#backup)."""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from pressroom.db.migrate import newest_schema
from pressroom.errors import SettingError
from pressroom.folders import sync_folder

MANIFEST: Final = "manifest.json"
DATABASE: Final = "pressroom.db"
BLOBS: Final = "blobs"
FORMAT: Final = 1

PIECE: Final = 1024 * 1024

_NO_FILE: Final = (errno.ELOOP, errno.ENXIO, errno.ENODEV)
"""Errors of opening a link, a socket, or a device without hardware."""


class FileEntry(msgspec.Struct):
    """A file of a backup: its size in bytes and its SHA-256 in hexadecimal."""

    size: int
    sha256: str


class Manifest(msgspec.Struct, rename="camel"):
    """The contents of a backup.

    `missing` lists blobs that the database refers to and the store lacks. `skipped` lists entries of the store that are
    not regular files: pipes, sockets, devices, links, folders.
    """

    format: int
    version: str
    schema: int
    created_at: str
    files: dict[str, FileEntry]
    missing: list[str]
    skipped: list[str] = []


class NotAFile(OSError):
    """The path is not a regular file."""


def read_manifest(source: Path) -> Manifest:
    """Returns the manifest of a backup. Raises SettingError when it is missing, damaged, or of a later version."""
    file = source / MANIFEST
    try:
        manifest = msgspec.json.decode(file.read_bytes(), type=Manifest)
    except FileNotFoundError:
        raise SettingError(f"{source} is no backup, or one that was cut off: it has no {MANIFEST}.") from None
    except (OSError, msgspec.MsgspecError):
        raise SettingError(f"{file} is damaged.") from None
    if manifest.format != FORMAT:
        raise SettingError(f"{file} is of a format that this version does not know ({manifest.format}).")
    if manifest.schema > (known := newest_schema()):
        raise SettingError(
            f"The backup's schema is {manifest.schema}, newer than this version knows ({known}): upgrade Pressroom."
        )
    for name in (DATABASE, *manifest.files):
        if name not in manifest.files or not _is_ours(name):
            raise SettingError(f"{file} is damaged: {name!r}.")
    return manifest


def _is_ours(name: str) -> bool:
    path = PurePosixPath(name)
    below = path.parts[:1] == (BLOBS,) and ".." not in path.parts and not path.is_absolute()
    return name == DATABASE or (below and len(path.parts) > 1)


def find_damaged(source: Path, manifest: Manifest) -> Iterator[str]:
    """Yields the names of files of a backup that are missing, or whose size or checksum is another."""
    for name, entry in manifest.files.items():
        try:
            good = entry_of(source / name) == entry
        except OSError:
            good = False
        if not good:
            yield name


def write_manifest(to: Path, manifest: Manifest) -> None:
    """Completes a backup: its files become durable, then the manifest."""
    sync_tree(to)
    partial = to / f"{MANIFEST}.partial"
    with open(partial, "xb", opener=_private) as writing:
        writing.write(msgspec.json.format(msgspec.json.encode(manifest)))
        writing.flush()
        os.fsync(writing.fileno())
    # Last: a folder without a manifest is no backup, so one that was cut off is never restored.
    partial.rename(to / MANIFEST)
    sync_tree(to)


def entry_of(file: Path) -> FileEntry:
    """Returns the entry of a file. Raises OSError, or NotAFile."""
    with open(file, "rb", opener=_regular) as reading:
        return FileEntry(os.fstat(reading.fileno()).st_size, hashlib.file_digest(reading, "sha256").hexdigest())


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
