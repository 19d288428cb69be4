"""`pressroom media move`: copies all media into another store, while the server may run (docs/backup.md#move-media)."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from pressroom.blobs import Blobs, opened_blobs
from pressroom.db import Database
from pressroom.db.params import BATCH
from pressroom.domains.media.queries import list_existing
from pressroom.errors import SettingError
from pressroom.operations.blob_copies import ANY_TIME, Copies, copy_blobs
from pressroom.settings import Settings

MEDIA: Final = "media"
"""The prefix of keys of processed files, before the id of the file."""


class Move(msgspec.Struct):
    """The result: the copies, the number of files removed from the target, and both places."""

    copies: Copies
    pruned: int
    source: str
    target: str


async def move_media(
    settings: Settings,
    to: Settings,
    db: Database,
    *,
    prune: bool,
    dry_run: bool,
    progress: Callable[[Copies], None],
) -> Move:
    """Copies every file of the store that another one lacks; a run that was cut off goes on where it ended.

    Args:
        settings: Those of the installation.
        to: The same with the other store.
        db: The installation's database.
        prune: Removes files of the target that were deleted since they were copied: the source lacks them, and no
            row refers to them.
        dry_run: Counts and changes nothing.
        progress: Told after each file.

    Raises SettingError when both stores are one, and the errors of the stores.
    """
    async with opened_blobs(settings) as source, opened_blobs(to) as target:
        if (source.place, source.origin) == (target.place, target.origin):
            raise SettingError(f"The media are in {source.place} already.")
        folder = settings.data_dir / "processing"  # where the server sweeps leftovers of a killed command
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            copies = await copy_blobs(source, target, Path(scratch), reread=False, dry_run=dry_run, progress=progress)
        pruned = await _prune(source, target, db, dry_run=dry_run) if prune else 0
        return Move(copies, pruned, source.place, target.place)


async def _prune(source: Blobs, target: Blobs, db: Database, *, dry_run: bool) -> int:
    """Removes processed files without a row; the server's own sweeps remove those of other kinds. Returns how many."""
    pruned = 0
    batch: list[str] = []

    async def remove() -> int:
        ids = {key: key.split("/")[1].upper() for key in batch}
        kept = set(await db.read(list_existing, list(set(ids.values()))))
        gone = [key for key in batch if ids[key] not in kept]
        if not dry_run:
            await target.delete(*gone)
        batch.clear()
        return len(gone)

    async for key in target.list_older(MEDIA, ANY_TIME):
        if await source.stat(key) is None:
            batch.append(key)
            if len(batch) == BATCH:
                pruned += await remove()
    return pruned + await remove()
