"""Disks that are soon full."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def small_disk(folder: Path, size: str) -> Generator[None]:
    """A disk of its own for a folder, with hardly any room."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def can_mount(folder: Path) -> bool:
    """Whether this account may mount a disk."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return False
    try:
        with small_disk(folder, "16k"):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False
