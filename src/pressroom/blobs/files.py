"""Local files, handled in threads so that the event loop never waits for a disk."""

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
    """A few threads of their own, so that slow disks do not take those that look up names."""

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="blobs")

    async def run(self, work: Callable[[threading.Event], T]) -> T:
        """Returns what `work` returns. A cancellation sets its event and waits for its end (`run_to_end`), so that
        nothing is written after the caller has gone on.
        """
        stop = threading.Event()
        return await run_to_end(lambda: work(stop), self._pool, stop)

    def close(self) -> None:
        """Starts nothing more; what was asked for comes to its end."""
        self._pool.shutdown(wait=False)


def go_on(stop: threading.Event) -> None:
    """Raises Abandoned when nobody waits for the work any more."""
    if stop.is_set():
        raise Abandoned


def write_whole(descriptor: int, data: bytes) -> None:
    """Writes all of `data`, however little of it each call takes."""
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def sync_folder(folder: Path) -> None:
    """Makes the names in `folder` durable, where the file system knows how to."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(descriptor)


def away(error: OSError) -> BlobsAway:
    """The refusal for an error of the local disk."""
    if error.errno in _FULL:
        return BlobsAway("The disk that holds the media is full. Free some space on it.", 30)
    name = errno.errorcode.get(error.errno or 0, "unknown")
    return BlobsAway(f"The disk that keeps media cannot be used right now ({name}).")


@contextlib.contextmanager
def disk() -> Generator[None]:
    """Turns every error of the disk into BlobsAway."""
    try:
        yield
    except OSError as error:
        raise away(error) from error


@contextlib.contextmanager
def new_file(file: Path) -> Generator[int]:
    """A descriptor of `file`, made empty; removed again when the block fails. Raises OSError, and BlobsAway if full."""
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
