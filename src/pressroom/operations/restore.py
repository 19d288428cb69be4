"""`pressroom restore`: a backup becomes the data folder of an installation (docs/backup.md#restore).

Everything is copied to DATA_DIR/.restoring and checked, then moved to its place, the database last. While `.restoring`
exists no server starts, so an interrupted restore is never served; run it again, and it starts over.
"""

import shutil
from pathlib import Path
from typing import Final

from pressroom.errors import SettingError
from pressroom.folders import make_folder, sync_folder
from pressroom.operations.backup import ON_POSTGRES
from pressroom.operations.manifests import BLOBS, DATABASE, BackupSource, Manifest, in_groups, sync_tree
from pressroom.server.sole_counter import alone_on_file
from pressroom.settings import RESTORING, Settings

LOCK: Final = f"{DATABASE}.lock"


async def restore(settings: Settings, source: BackupSource) -> Manifest:
    """Restores a backup into PRESSROOM_DATA_DIR, which must be empty and without a running server.

    Moves nothing to its place before every file is copied and matches the manifest. Returns the manifest. Raises
    SettingError.
    """
    folder = target_of(settings)
    with alone_on_file(settings):
        try:
            _clear(folder)
            await _copy(source, folder / RESTORING)
            _put_in_place(folder)
        except OSError as error:
            raise SettingError(f"Not restored: {error.filename or folder}: {error.strerror}.") from None
    return source.manifest


def target_of(settings: Settings) -> Path:
    """Returns the folder to fill. Raises SettingError for an installation that `pressroom restore` cannot fill."""
    if not settings.database_url.startswith("sqlite:///"):
        raise SettingError(ON_POSTGRES)
    folder = settings.data_dir
    elsewhere = Path(settings.database_url.removeprefix("sqlite:///")) != folder / DATABASE
    if elsewhere or settings.blobs_url != f"file://{folder / BLOBS}":
        raise SettingError(
            "A restore fills PRESSROOM_DATA_DIR alone: unset PRESSROOM_DATABASE_URL and PRESSROOM_BLOBS_URL,"
            " restore, and move the files then."
        )
    return folder


def _clear(folder: Path) -> None:
    """Removes the files of an interrupted restore. Raises SettingError if the folder holds anything else."""
    found = {entry.name for entry in folder.iterdir()} - {LOCK}
    # Only such a folder shows that the other two are this command's own, and may be removed.
    if RESTORING in found:
        shutil.rmtree(folder / BLOBS, ignore_errors=True)
        (folder / DATABASE).unlink(missing_ok=True)
        shutil.rmtree(folder / RESTORING)
    elif found:
        raise SettingError(f"{folder} is not empty: it holds {min(found)}. Restore into a folder of its own.")


async def _copy(source: BackupSource, staged: Path) -> None:
    async def copy(name: str) -> None:
        try:
            good = await source.copy_to(name, staged / name) == source.manifest.files[name]
        except FileNotFoundError:
            good = False
        if not good:
            raise SettingError(f"The backup is damaged: {name} is missing, or differs from the manifest.")

    make_folder(staged / BLOBS, 0o700)
    try:
        await in_groups(copy, source.manifest.files)
        sync_tree(staged)
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise


def _put_in_place(folder: Path) -> None:
    # The database last: a server that starts meanwhile finds none, and never one without its media.
    for name in (BLOBS, DATABASE):
        (folder / RESTORING / name).rename(folder / name)
        sync_folder(folder)
    (folder / RESTORING).rmdir()
    sync_folder(folder)
