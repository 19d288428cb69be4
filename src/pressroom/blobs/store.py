"""What every store of media bytes does, and the rules of its keys."""

import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from pressroom.errors import PressroomError, Unavailable

KEY_LENGTH: Final = 200
PIECE: Final = 32 * 1024
"""Bytes of the largest piece that `read` yields."""

_KEY: Final = re.compile(r"[a-z0-9._-]+(?:/[a-z0-9._-]+)*")


class BlobMissing(PressroomError):
    """There is nothing under the key."""


class BlobsAway(Unavailable):
    """The store is out of reach, refuses us or is full. What a put left behind is the old whole or the new whole."""


@dataclass(frozen=True, slots=True)
class BlobInfo:
    """What is known of a blob: its size in bytes, and a strong entity tag without its quotes."""

    size: int
    etag: str


class Blobs(Protocol):
    """A store of bytes under keys such as `media/01J…/large.webp`.

    A key is at most 200 characters of a-z, 0-9 and `._-`, in parts separated by single slashes; `..` is not
    allowed. Another key is a fault of ours and raises ValueError. Every method may raise BlobsAway. A call that is
    cancelled changes nothing after it has ended, on local disk; a store across a network may still carry it out.
    """

    async def put_file(self, key: str, file: Path, content_type: str) -> None:
        """Stores what is in `file`, durably, in place of what was there: whole or not at all."""
        ...

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        """Stores `data` as `put_file` does."""
        ...

    async def fetch_to(self, key: str, file: Path) -> None:
        """Writes the blob to a local `file`, in place of what was there. Never leaves half of it.

        Raises BlobMissing.
        """
        ...

    def read(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes]:
        """Yields the bytes from `start` until before `end` (None: until the last), as far as they exist.

        They come in pieces of at most 32 KiB and are all of one value, even while another takes its place. Not
        awaited: `async for piece in blobs.read(key)`. Raises BlobMissing before the first piece.
        """
        ...

    async def stat(self, key: str) -> BlobInfo | None:
        """Size and entity tag, or None when there is nothing under the key."""
        ...

    async def delete(self, *keys: str) -> None:
        """Removes what is under the keys; that something is absent is fine."""
        ...

    def list_older(self, prefix: str, before: int) -> AsyncGenerator[str]:
        """Yields the keys below `prefix` last written before `before`, in milliseconds, in no order.

        `prefix` is whole parts of keys (`media` or `media/01J…`), or empty for all. Not awaited, as `read`. Keys that
        have been yielded may be deleted meanwhile. The time is that of the disk or store, never a clock set by tests.
        """
        ...

    @property
    def place(self) -> str:
        """Where the store is, for the operator: a folder, or a bucket; without secrets."""
        ...

    @property
    def origin(self) -> str | None:
        """Where presigned addresses lead, as `https://host`; None on local disk."""
        ...

    def presigned(self, key: str, seconds: int) -> str | None:
        """An address at the store itself that reads the blob for `seconds` (at most a week); None on local disk."""
        ...

    async def close(self) -> None:
        """Lets go of threads and connections."""
        ...


def check_key(key: str) -> str:
    """`key`, if it is one. Raises ValueError."""
    parts_are_names = all(part != "." for part in key.split("/"))
    if len(key) > KEY_LENGTH or not _KEY.fullmatch(key) or ".." in key or not parts_are_names:
        raise ValueError(f"{key[:KEY_LENGTH]!r} is not a key: up to {KEY_LENGTH} of a-z 0-9 . _ - and single slashes")
    return key


def check_prefix(prefix: str) -> str:
    """What the keys below `prefix` start with: empty, or ending in a slash. Raises ValueError."""
    return f"{check_key(prefix.removesuffix('/'))}/" if prefix else ""


def check_range(start: int, end: int | None) -> None:
    """Raises ValueError unless `start` and `end` are a range of bytes."""
    if start < 0 or (end is not None and end < start):
        raise ValueError(f"{start} to {end} is not a range of bytes")


def last_byte(end: int | None, size: int) -> int:
    """Where a read until before `end` stops in a blob of `size` bytes."""
    return size if end is None else min(end, size)
