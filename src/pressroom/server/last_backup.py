"""The time of the last backup, for the metrics and `pressroom doctor` (docs/backup.md#every-night)."""

import contextlib
import os
from pathlib import Path
from typing import Final

import msgspec

from pressroom.settings import Settings

NAME: Final = "last-backup.json"


class LastBackup(msgspec.Struct, rename="camel"):
    """The last completed backup: its time (ISO 8601) and its place; and the last attempt, when it failed since."""

    created_at: str | None = None
    folder: str = ""
    failed_at: str | None = None
    failure: str = ""


def record_backup(settings: Settings, created_at: str, place: Path | str) -> None:
    """Records a completed backup, in a folder or elsewhere, in the data folder. Raises OSError."""
    _write(settings, LastBackup(created_at, str(place.resolve() if isinstance(place, Path) else place)))


def record_failure(settings: Settings, failed_at: str, failure: str) -> None:
    """Records an attempt that failed, beside the last completed backup, as far as the disk takes it."""
    last = find_last_backup(settings) or LastBackup()
    with contextlib.suppress(OSError):
        _write(settings, msgspec.structs.replace(last, failed_at=failed_at, failure=failure))


def _write(settings: Settings, last: LastBackup) -> None:
    partial = settings.data_dir / f"{NAME}.partial"
    with open(partial, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(msgspec.json.encode(last))
    partial.rename(settings.data_dir / NAME)


def find_last_backup(settings: Settings) -> LastBackup | None:
    """Returns what `pressroom backup` recorded in this data folder, or None."""
    try:
        return msgspec.json.decode((settings.data_dir / NAME).read_bytes(), type=LastBackup)
    except (OSError, msgspec.MsgspecError):
        return None
