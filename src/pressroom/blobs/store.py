"""The interface of every store of media bytes, and the rules of its keys."""

import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from pressroom.errors import PressroomError, Unavailable

KEY_LENGTH: Final = 200
PIECE: Final = 32 * 1024
"""Bytes of the largest chunk that `read` yields."""

_KEY: Final = re.compile(r"[a-z0-9._-]+(?:/[a-z0-9._-]+)*")


class BlobMissing(PressroomError):
    """No blob has the key."""


class BlobsAway(Unavailable):
    """The store is unreachable, refuses access or is full. After a failed put the blob is wholly the old or the new."""


@dataclass(frozen=True, slots=True)
class BlobInfo:
    """A blob's size in bytes, and its strong entity tag without quotes."""

    size: int
    etag: str


class Blobs(Protocol):
    """A store of bytes under keys such as `media/01J…/large.webp`.

    A key is at most 200 characters of a-z, 0-9 and `._-`, in parts separated by single slashes; `..` is not
    allowed. Any other key is a programming error and raises ValueError. Every method may raise BlobsAway. A cancelled
    call changes nothing after it has returned, on local disk; a remote store may still carry it out.
    """

    async def put_file(self, key: str, file: Path, content_type: str) -> None:
        """Stores the content of `file` durably, replacing the blob: wholly or not at all."""
        ...

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        """Stores `data` like `put_file`."""
        ...

    async def fetch_to(self, key: str, file: Path) -> None:
        """Writes the blob to a local `file`, replacing it. Removes the file on failure. Raises BlobMissing."""
        ...

    def read(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes]:
        """Yields the bytes from `start` until before `end` (None for the end of the blob), as far as they exist.

        Chunks have at most 32 KiB. All are of one version of the blob, even if it is replaced meanwhile. Not awaited:
        `async for chunk in blobs.read(key)`. Raises BlobMissing before the first chunk.
        """
        ...

    async def stat(self, key: str) -> BlobInfo | None:
        """Returns size and entity tag, or None when there is no blob."""
        ...

    async def delete(self, *keys: str) -> None:
        """Removes the blobs. Missing ones are ignored."""
        ...

    def list_older(self, prefix: str, before: int) -> AsyncGenerator[str]:
        """Yields the keys below `prefix` that were last written before `before` (Unix time in milliseconds), unordered.

        `prefix` is whole parts of keys (`media` or `media/01J…`), or empty for all. Not awaited, like `read`. Yielded
        keys may be deleted meanwhile. The time is the disk's or store's, never that of a clock set by tests.
        """
        ...

    @property
    def place(self) -> str:
        """Returns where the store is, for the operator: a folder or a bucket, without secrets."""
        ...

    @property
    def origin(self) -> str | None:
        """Returns the origin of presigned addresses, as `https://host`; None on local disk."""
        ...

    def presigned(self, key: str, seconds: int) -> str | None:
        """Returns an address at the store itself that reads the blob for `seconds`, at most a week; None on disk."""
        ...

    async def close(self) -> None:
        """Releases threads and connections."""
        ...


def check_key(key: str) -> str:
    """Returns `key` unchanged. Raises ValueError if it is not a key."""
    parts_are_names = all(part != "." for part in key.split("/"))
    if len(key) > KEY_LENGTH or not _KEY.fullmatch(key) or ".." in key or not parts_are_names:
        raise ValueError(f"{key[:KEY_LENGTH]!r} is not a key: up to {KEY_LENGTH} of a-z 0-9 . _ - and single slashes")
    return key


def check_prefix(prefix: str) -> str:
    """Returns the common start of the keys below `prefix`: empty, or ending in a slash. Raises ValueError."""
    return f"{check_key(prefix.removesuffix('/'))}/" if prefix else ""


def check_range(start: int, end: int | None) -> None:
    """Raises ValueError unless `start` and `end` are a range of bytes."""
    if start < 0 or (end is not None and end < start):
        raise ValueError(f"{start} to {end} is not a range of bytes")


def last_byte(end: int | None, size: int) -> int:
    """Returns the end (exclusive) of a read until `end` in a blob of `size` bytes."""
    return size if end is None else min(end, size)
