"""Files written piece by piece, in threads, so that the event loop never waits for a disk."""

import errno
import os
import secrets
from contextlib import suppress
from hashlib import sha256
from io import BufferedWriter
from pathlib import Path
from typing import Final

from pressroom.errors import Unavailable
from pressroom.threads import run_to_end

AT_ONCE: Final = 256 * 1024
"""Bytes that are collected before a thread writes them."""

_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class Spool:
    """One file under a random name in `folder`. `save` or `remove` must be called in the end."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"{secrets.token_hex(16)}.part"
        self._waiting = bytearray()
        self._stream: BufferedWriter | None = None
        self._hash = sha256()

    @property
    def digest(self) -> str:
        """The SHA-256 of the written bytes, in hexadecimal digits."""
        return self._hash.hexdigest()

    async def add(self, data: bytes) -> None:
        """Adds bytes; waits for the disk when many are unwritten. Raises Unavailable when the disk fails."""
        self._waiting += data
        if len(self._waiting) >= AT_ONCE:
            await self._write(last=False)

    async def save(self) -> None:
        """Writes the rest and closes the file. Raises Unavailable when the disk fails."""
        await self._write(last=True)

    def remove(self) -> None:
        """Closes and deletes the file, however far it got. Blocks: call it in a thread."""
        # Nobody wants what could not be written, and one file that cannot be deleted must not keep the others.
        with suppress(OSError):
            if self._stream is not None:
                self._stream.close()
        unlink(self.path)

    async def _write(self, *, last: bool) -> None:
        waiting, self._waiting = self._waiting, bytearray()
        try:
            await run_to_end(lambda: self._write_now(waiting, last=last))
        except OSError as error:
            if error.errno in _NO_ROOM:
                raise Unavailable("The disk is full. Nothing was stored.", 10) from error
            raise Unavailable("The upload cannot be written to disk. Nothing was stored.", 10) from error

    def _write_now(self, data: bytearray, *, last: bool) -> None:
        if self._stream is None:
            self._stream = os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        self._stream.write(data)
        self._hash.update(data)
        if last:
            self._stream.close()


def unlink(path: Path) -> None:
    """Deletes a file that may be gone already. Blocks: call it in a thread."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


async def remove_all(spools: list[Spool]) -> None:
    """Closes and deletes files."""
    if spools:
        await run_to_end(lambda: [spool.remove() for spool in spools])
