"""Media are copied from a folder into the configured store and read back."""

import asyncio
import contextlib
import hashlib
import stat
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Final

from pressroom.blobs import Blobs
from pressroom.blobs.disk import DiskBlobs, blob_file
from pressroom.blobs.store import check_key
from pressroom.errors import SettingError

AT_ONCE: Final = 8
"""Files that are copied at once."""

ANY_TIME: Final = 2**60
"""Later than any file, in milliseconds."""

_TYPES: Final = {".webp": "image/webp", ".mp4": "video/mp4"}


async def copy_files(folder: Path, to: Blobs) -> tuple[int, list[str]]:
    """Copies every file of the store in `folder` and compares its size and SHA-256 with what `to` returns.

    Equal files are not written again. Returns how many files there are, and the names of entries that are none.

    Raises SettingError when a file differs after it was written, and the errors of the stores.
    """
    source, turns, count, skipped = DiskBlobs.open(folder), asyncio.Semaphore(AT_ONCE), 0, list[str]()
    try:
        async with asyncio.TaskGroup() as copying:
            async for key in source.list_older("", ANY_TIME):
                if not _is_file(folder, key):
                    skipped.append(key)
                    continue
                count += 1
                await turns.acquire()
                task = copying.create_task(_copy(source, folder, to, key))
                task.add_done_callback(lambda _: turns.release())
    except ExceptionGroup as errors:  # the first of them ended the others
        raise errors.exceptions[0] from None
    finally:
        await source.close()
    return count, sorted(skipped)


async def find_missing(keys: AsyncGenerator[str], store: Blobs) -> list[str]:
    """Returns those of `keys` that the store lacks."""
    return [key async for key in keys if await store.stat(key) is None]


def _is_file(folder: Path, key: str) -> bool:
    try:
        return stat.S_ISREG((folder / blob_file(check_key(key))).lstat().st_mode)
    except (ValueError, FileNotFoundError):
        return False


async def _copy(source: DiskBlobs, folder: Path, to: Blobs, key: str) -> None:
    wanted = await _digest(source, key)
    if await to.stat(key) is not None and await _digest(to, key) == wanted:
        return
    await to.put_file(key, folder / blob_file(key), _content_type(key))
    if await _digest(to, key) != wanted:
        raise SettingError(f"{key} in {to.place} is not what was copied there. Run the transfer once more.")


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
