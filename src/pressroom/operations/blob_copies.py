"""Media are copied from one store into another and compared (docs/backup.md#move-media)."""

import asyncio
import contextlib
import hashlib
import secrets
import stat
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Final

import msgspec

from pressroom.blobs import BlobMissing, Blobs
from pressroom.blobs.disk import DiskBlobs
from pressroom.blobs.store import check_key
from pressroom.errors import SettingError
from pressroom.threads import run_to_end

AT_ONCE: Final = 16
"""Files that are compared or copied at once."""

ANY_TIME: Final = 2**60
"""Later than any file, in milliseconds."""

PIECE: Final = 1024 * 1024

EXPORTS: Final = "exports/"
"""Where a new copy for an account's owner replaces the one before, under the same key."""

_TYPES: Final = {".webp": "image/webp", ".mp4": "video/mp4"}


class Copies(msgspec.Struct):
    """The result of a run.

    Attributes:
        files: Files of the source.
        copied: Those that the target lacked, or had with another content.
        copied_bytes: Their bytes.
        skipped: Names of entries of the source that are no files of a store.
    """

    files: int = 0
    copied: int = 0
    copied_bytes: int = 0
    skipped: list[str] = msgspec.field(default_factory=list)


async def copy_blobs(
    source: Blobs,
    to: Blobs,
    scratch: Path,
    *,
    reread: bool,
    dry_run: bool = False,
    progress: Callable[[Copies], None] = lambda copies: None,
) -> Copies:
    """Copies every file that `to` lacks and compares size and SHA-256 with what `to` returns.

    But for exports, a file of a store is never changed under its key. So one that `to` has in the same size counts as
    copied, unless `reread` has both read and compared.

    Args:
        source: The store to read; files that are removed meanwhile are left out.
        to: The store to fill.
        scratch: An existing folder for files on their way from a store that is not on this disk.
        reread: Compares the content of files in `to`, too.
        dry_run: Counts and copies nothing.
        progress: Told after each file.

    Raises SettingError when a file differs after it was written, and the errors of the stores.
    """
    copies, turns = Copies(), asyncio.Semaphore(AT_ONCE)

    async def copy(key: str) -> None:
        try:
            size = await _copy(source, to, key, scratch, reread=reread, dry_run=dry_run)
        except BlobMissing:
            return
        finally:
            turns.release()
        copies.files += 1
        if size is not None:
            copies.copied += 1
            copies.copied_bytes += size
        progress(copies)

    try:
        async with asyncio.TaskGroup() as copying:
            async for key in source.list_older("", ANY_TIME):
                if not _is_file(source, key):
                    copies.skipped.append(key)
                    continue
                await turns.acquire()
                copying.create_task(copy(key))
    except ExceptionGroup as errors:  # the first of them ended the others
        raise errors.exceptions[0] from None
    copies.skipped.sort()
    return copies


async def find_missing(keys: AsyncGenerator[str], store: Blobs) -> list[str]:
    """Returns those of `keys` that the store lacks."""
    return [key async for key in keys if await store.stat(key) is None]


def _is_file(source: Blobs, key: str) -> bool:
    try:
        check_key(key)
        # To open a pipe would wait for ever.
        return not isinstance(source, DiskBlobs) or stat.S_ISREG(source.file(key).lstat().st_mode)
    except (ValueError, FileNotFoundError):
        return False


async def _copy(source: Blobs, to: Blobs, key: str, scratch: Path, *, reread: bool, dry_run: bool) -> int | None:
    """Returns the bytes that were copied; None when `to` had the file. Raises BlobMissing when the source lost it."""
    there, here = await to.stat(key), await source.stat(key)
    if here is None:
        raise BlobMissing(f"There is no blob {key}.")
    if there is not None and there.size == here.size:
        must_read = reread or key.startswith(EXPORTS)
        if not must_read or await _digest(to, key) == await _digest(source, key):
            return None
    if dry_run:
        return here.size
    if isinstance(source, DiskBlobs):
        return await _put(source.file(key), to, key)
    fetched = scratch / secrets.token_hex(16)
    try:
        await source.fetch_to(key, fetched)
        return await _put(fetched, to, key)
    finally:
        fetched.unlink(missing_ok=True)


async def _put(file: Path, to: Blobs, key: str) -> int:
    try:
        wanted = await run_to_end(lambda: _digest_file(file))
        await to.put_file(key, file, _content_type(key))
    except FileNotFoundError:  # removed meanwhile
        raise BlobMissing(f"There is no blob {key}.") from None
    if await _digest(to, key) != wanted:
        raise SettingError(f"The copy of {key} in {to.place} differs from its source. Run the command once more.")
    return wanted[0]


def _digest_file(file: Path) -> tuple[int, bytes]:
    size, sha256 = 0, hashlib.sha256()
    with file.open("rb") as reading:
        while piece := reading.read(PIECE):
            size += len(piece)
            sha256.update(piece)
    return size, sha256.digest()


async def _digest(store: Blobs, key: str) -> tuple[int, bytes]:
    """Returns the size in bytes and the SHA-256 of a blob."""
    size, sha256 = 0, hashlib.sha256()
    async with contextlib.aclosing(store.read(key)) as pieces:  # cancelled when another file fails
        async for piece in pieces:
            size += len(piece)
            sha256.update(piece)
    return size, sha256.digest()


def _content_type(key: str) -> str:
    """Returns the media type that the server gave a blob of this key."""
    if key.startswith("cards/"):
        return "image/webp"
    return _TYPES.get(Path(key).suffix, "application/octet-stream")
