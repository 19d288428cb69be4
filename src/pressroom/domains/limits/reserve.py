"""Stores counts that the database cannot, as on a full disk, in a file whose space is allocated beforehand.

Without it, a process that is killed then would lose counts of any age (docs/limits.md#after-a-crash).
"""

import asyncio
import contextlib
import os
import struct
import zlib
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from pressroom.domains.limits.windows import StoredWindows, latest_of

SIZE: Final = 4 * 1024 * 1024
"""Bytes of the file: the latest counts of some 4,000 keys, more than a process admits requests in a second."""

_HEAD: Final = struct.Struct(">II")
"""How many bytes follow, and their CRC-32."""

_encoder: Final = msgspec.json.Encoder()
_decoder: Final = msgspec.json.Decoder(dict[str, StoredWindows])


class Reserve:
    """The file. One that cannot be made or written, because the disk was full before the start, keeps nothing."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._is_used = False

    def allocate(self) -> None:
        """Allocates the space, so that later writes need none."""
        with contextlib.suppress(OSError), self._opened() as descriptor:
            os.posix_fallocate(descriptor, 0, SIZE)

    async def keep(self, windows: Mapping[str, StoredWindows]) -> None:
        """Overwrites the counts of the reserve."""
        body = _encoder.encode({key_id: latest_of(stored) for key_id, stored in windows.items()})
        if _HEAD.size + len(body) <= SIZE:
            self._is_used = True
            await asyncio.to_thread(self._write, body)

    def load(self) -> dict[str, StoredWindows]:
        """Returns the counts that were kept and not cleared."""
        try:
            with self._file.open("rb") as file:
                length, checksum = _HEAD.unpack(file.read(_HEAD.size))
                body = file.read(length)
            kept = _decoder.decode(body) if body and zlib.crc32(body) == checksum else {}
        except (OSError, struct.error, msgspec.DecodeError):
            return {}
        self._is_used = bool(kept)
        return kept

    async def clear(self) -> None:
        """Removes the counts, which the database has stored."""
        if self._is_used:
            await asyncio.to_thread(self._write, b"")
            self._is_used = False

    def _write(self, body: bytes) -> None:
        with contextlib.suppress(OSError), self._opened() as descriptor:
            os.pwrite(descriptor, _HEAD.pack(len(body), zlib.crc32(body)) + body, 0)
            os.fsync(descriptor)

    @contextlib.contextmanager
    def _opened(self) -> Generator[int]:
        descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
