"""The time of the last backup, for the metrics and `pressroom doctor` (docs/backup.md#every-night)."""

import os
from pathlib import Path
from typing import Final

import msgspec

from pressroom.settings import Settings

NAME: Final = "last-backup.json"


class LastBackup(msgspec.Struct, rename="camel"):
    """A completed backup: its time (ISO 8601) and its folder."""

    created_at: str
    folder: str


def record_backup(settings: Settings, created_at: str, folder: Path) -> None:
    """Records a completed backup in the data folder. Raises OSError."""
    partial = settings.data_dir / f"{NAME}.partial"
    with open(partial, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(msgspec.json.encode(LastBackup(created_at, str(folder.resolve()))))
    partial.rename(settings.data_dir / NAME)


def find_last_backup(settings: Settings) -> LastBackup | None:
    """Returns the last backup that `pressroom backup` made of this data folder, or None."""
    try:
        return msgspec.json.decode((settings.data_dir / NAME).read_bytes(), type=LastBackup)
    except (OSError, msgspec.MsgspecError):
        return None
