"""Stores media bytes on local disk. Not with obstore's LocalStore, which syncs neither files nor folders.

FOLDER/ab/cd/media=01J…=large.webp     `ab` and `cd` are a digest of the key, so that no folder grows large
FOLDER/tmp/…                           files being written; those of killed processes are swept at a start
"""

import contextlib
import hashlib
import os
import re
import secrets
import socket
import stat
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from io import BytesIO, FileIO
from pathlib import Path
from typing import BinaryIO, Final

from pressroom.blobs.files import Threads, disk, go_on, new_file, write_whole
from pressroom.blobs.store import PIECE, BlobInfo, BlobMissing, check_key, check_prefix, check_range, last_byte
from pressroom.errors import SettingError
from pressroom.folders import make_folder, sync_folder

THREADS: Final = 8
TEMPORARY: Final = "tmp"
LEFTOVER_SECONDS: Final = 3_600.0
"""Seconds since its last write after which a file in `tmp` is abandoned."""

_SLASH: Final = "="
_TEMPORARY_NAME: Final = re.compile(r"[0-9a-f]{32}\.blob")


class DiskBlobs:
    """Blobs in a folder. Any number of processes may share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._threads = Threads(THREADS)
        self._settled: set[Path] = set()

    @classmethod
    def open(cls, folder: Path) -> "DiskBlobs":
        """Opens the store in `folder`, which is created if needed. Raises SettingError."""
        temporary = folder / TEMPORARY
        try:
            make_folder(folder, 0o700)
            temporary.mkdir(mode=0o700, exist_ok=True)
            probe = temporary / _temporary_name()
            probe.touch(mode=0o600)
            probe.unlink()
            for file in temporary.iterdir():
                if _TEMPORARY_NAME.fullmatch(file.name):  # Other programs may use the folder too.
                    _sweep(file, time.time() - LEFTOVER_SECONDS)
        except OSError as error:
            raise SettingError(f"PRESSROOM_BLOBS_URL: {folder} cannot be used: {error.strerror}.") from None
        return cls(folder)

    async def put_file(self, key: str, file: Path, content_type: str) -> None:
        """Stores a file; its type is not stored (see `Blobs`)."""
        place = self.file(key)

        def copy(stop: threading.Event) -> None:
            with file.open("rb", buffering=0) as source:
                self._write(place, source, stop)

        await self._threads.run(copy)

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        """Stores bytes (see `Blobs`)."""
        place = self.file(key)
        await self._threads.run(lambda stop: self._write(place, BytesIO(data), stop))

    async def fetch_to(self, key: str, file: Path) -> None:
        """Copies a blob to a local file (see `Blobs`)."""
        place = self.file(key)

        def copy(stop: threading.Event) -> None:
            with _opened(place, key) as source, new_file(file) as descriptor:
                while piece := _piece(source, PIECE):
                    go_on(stop)
                    write_whole(descriptor, piece)

        await self._threads.run(copy)

    async def read(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes]:
        """Yields a range of bytes (see `Blobs`)."""
        place = self.file(key)
        check_range(start, end)
        with contextlib.ExitStack() as files:  # closes a file also when the caller was cancelled while it was opened
            source = await self._threads.run(lambda _: files.enter_context(_opened(place, key)))
            size = os.fstat(source.fileno()).st_size
            source.seek(start)
            left = last_byte(end, size) - start
            while left > 0:
                wanted = min(left, PIECE)
                piece = await self._threads.run(lambda _, wanted=wanted: _piece(source, wanted))
                if not piece:
                    return
                left -= len(piece)
                yield piece

    async def stat(self, key: str) -> BlobInfo | None:
        """Size and entity tag (see `Blobs`)."""
        place = self.file(key)
        return await self._threads.run(lambda _: _info(place))

    async def delete(self, *keys: str) -> None:
        """Removes blobs (see `Blobs`)."""
        places = [self.file(key) for key in keys]

        def remove(_: threading.Event) -> None:
            with disk():
                for place in places:
                    with contextlib.suppress(FileNotFoundError):
                        place.unlink()
                        sync_folder(place.parent)

        if places:
            await self._threads.run(remove)

    async def list_older(self, prefix: str, before: int) -> AsyncGenerator[str]:
        """Yields keys by their age (see `Blobs`), with those of 1 in 256 folders in memory at a time."""
        begin = check_prefix(prefix)
        for first in await self._threads.run(lambda _: _folders(self._folder)):
            for key in await self._threads.run(lambda stop, first=first: _older(first, begin, before, stop)):
                yield key

    @property
    def place(self) -> str:
        """Returns the folder and the machine."""
        return f"the folder {self._folder} on {socket.gethostname()}"

    @property
    def origin(self) -> str | None:
        """Returns None: only Pressroom reads this disk."""
        return None

    def presigned(self, key: str, seconds: int) -> str | None:
        """Returns None: only Pressroom reads this disk."""
        check_key(key)

    def file(self, key: str) -> Path:
        """Returns the path of a blob, which need not exist. Raises ValueError if `key` is not a key."""
        return self._folder / blob_file(key)

    async def close(self) -> None:
        """Releases the threads (see `Blobs`)."""
        self._threads.close()

    def _write(self, place: Path, source: BinaryIO | FileIO, stop: threading.Event) -> None:
        """Writes a temporary file, syncs it, renames it and syncs its folder. Raises OSError for errors of `source`."""
        temporary = self._folder / TEMPORARY / _temporary_name()
        try:
            with disk():
                # Under another name first: a reader, or a kill, never meets half a file under the key's name.
                descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                while piece := source.read(PIECE):
                    go_on(stop)
                    with disk():
                        write_whole(descriptor, piece)
                with disk():
                    # The kernel's time of a write is too coarse: two quick writes would get the same entity tag.
                    os.utime(descriptor, ns=(time.time_ns(), time.time_ns()))
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
            # The last moment to stop: once renamed, the blob is there, and the caller takes it for not stored.
            go_on(stop)
            with disk():
                # In this order: a name in a folder that a power cut removes would be lost with it.
                self._settle(place.parent)
                temporary.replace(place)
                # The rename itself is durable only with its folder.
                sync_folder(place.parent)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise

    def _settle(self, folder: Path) -> None:
        """Creates both levels of folders, and makes each name durable before it is used."""
        for each in (folder.parent, folder):
            made = False
            with contextlib.suppress(FileExistsError):
                each.mkdir(mode=0o700)
                made = True
            # Another process may have created it without syncing it yet, so each process syncs it once.
            if made or each not in self._settled:
                sync_folder(each.parent)
                self._settled.add(each)


def blob_file(key: str) -> Path:
    """Returns the file of a blob, relative to the store's folder. Raises ValueError if `key` is not a key."""
    # The name has no slashes, because both `a` and `a/b` may be keys.
    digest = hashlib.blake2b(check_key(key).encode(), digest_size=2).hexdigest()
    return Path(digest[:2], digest[2:], key.replace("/", _SLASH))


def blob_files(folder: Path) -> Iterator[Path]:
    """Yields the files of all blobs in the store of `folder`."""
    for first in _folders(folder):
        for second in _folders(first):
            yield from second.iterdir()


def _temporary_name() -> str:
    return f"{secrets.token_hex(16)}.blob"


def _opened(place: Path, key: str) -> FileIO:
    with disk():
        try:
            return place.open("rb", buffering=0)
        except FileNotFoundError:
            raise BlobMissing(f"There is no blob {key}.") from None


def _piece(source: FileIO, size: int) -> bytes:
    with disk():
        return source.read(size) or b""


def _info(place: Path) -> BlobInfo | None:
    with disk():
        try:
            found = place.stat()
        except FileNotFoundError:
            return None
    return BlobInfo(found.st_size, f"{found.st_mtime_ns:x}-{found.st_ino:x}-{found.st_size:x}")


def _folders(folder: Path) -> list[Path]:
    """Returns the folders in `folder` that hold blobs: their names have two characters."""
    with disk():
        try:
            return [each for each in folder.iterdir() if len(each.name) == 2]
        except FileNotFoundError:
            return []


def _older(first: Path, begin: str, before: int, stop: threading.Event) -> list[str]:
    """Returns the keys in a first-level folder that start with `begin`, written before `before` (milliseconds)."""
    keys: list[str] = []
    for folder in _folders(first):
        go_on(stop)
        with disk(), os.scandir(folder) as entries:
            for entry in entries:
                key = entry.name.replace(_SLASH, "/")
                with contextlib.suppress(FileNotFoundError):
                    if key.startswith(begin) and entry.stat().st_mtime_ns < before * 1_000_000:
                        keys.append(key)
    return keys


def _sweep(file: Path, before: float) -> None:
    """Removes a temporary file last written before `before` (Unix time in seconds)."""
    with contextlib.suppress(FileNotFoundError):
        found = file.stat()
        if stat.S_ISREG(found.st_mode) and found.st_mtime < before:
            file.unlink()
