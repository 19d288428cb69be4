"""Local files, accessed in threads so that the event loop never waits for a disk."""

import contextlib
import errno
import os
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

from pressroom.blobs.store import BlobsAway
from pressroom.threads import Abandoned, run_to_end

T = TypeVar("T")

_FULL: Final = (errno.ENOSPC, errno.EDQUOT)


class Threads:
    """A thread pool for disk access only, so that slow disks do not block name look-ups."""

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="blobs")

    async def run(self, work: Callable[[threading.Event], T]) -> T:
        """Returns what `work` returns.

        A cancellation sets the event of `work` and waits for its end (`run_to_end`), so that nothing is written after
        the caller continues.
        """
        stop = threading.Event()
        return await run_to_end(lambda: work(stop), self._pool, stop)

    def close(self) -> None:
        """Closes the pool without waiting. Submitted work still runs."""
        self._pool.shutdown(wait=False)


def go_on(stop: threading.Event) -> None:
    """Raises Abandoned when the caller was cancelled."""
    if stop.is_set():
        raise Abandoned


def write_whole(descriptor: int, data: bytes) -> None:
    """Writes all of `data`, in several calls if needed."""
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def away(error: OSError) -> BlobsAway:
    """Returns the BlobsAway for an error of the local disk."""
    if error.errno in _FULL:
        return BlobsAway("The disk of the media store is full. Free some space on it.", 30)
    name = errno.errorcode.get(error.errno or 0, "unknown")
    return BlobsAway(f"The disk of the media store cannot be used right now ({name}).")


@contextlib.contextmanager
def disk() -> Generator[None]:
    """Raises BlobsAway instead of every OSError."""
    try:
        yield
    except OSError as error:
        raise away(error) from error


@contextlib.contextmanager
def new_file(file: Path) -> Generator[int]:
    """Creates `file`, empty, and yields its descriptor; removes it when the block fails.

    Raises OSError, or BlobsAway if the disk is full.
    """
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        try:
            yield descriptor
        finally:
            os.close(descriptor)
    except BaseException as error:
        with contextlib.suppress(OSError):
            file.unlink()
        if isinstance(error, OSError) and error.errno in _FULL:
            raise away(error) from error
        raise
