"""Folders whose names survive a power cut."""

import errno
import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Makes the names in `folder` durable, if the file system supports that."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(descriptor)


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Creates `folder`, and those above it, durably, where it is missing. `mode` is that of the last one."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(mode=mode, parents=True, exist_ok=True)
    for each in missing:
        sync_folder(each.parent)
