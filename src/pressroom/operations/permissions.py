"""Closes the server's files to other users of the machine (docs/operations.md#files)."""

import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pressroom.errors import SettingError
from pressroom.settings import RESERVE, Settings

UMASK: Final = 0o077
"""New files are readable and writable by their owner alone."""

_OTHERS: Final = 0o077
_FOLDERS: Final = ("backup.tmp", "blobs", "incoming", "metrics", "processing")
_FILES: Final = (RESERVE, "backup.lock", "last-backup.json")
_BESIDE_DATABASE: Final = ("", "-wal", "-shm", "-journal", ".lock")


def check_owner(settings: Settings) -> None:
    """Raises SettingError when this is root and the server's files are another user's.

    What root makes there, such as the log of a SQLite database, shuts the server out.
    """
    if os.geteuid() != 0:
        return
    for path in filter(None, (settings.data_dir, settings.database_file)):
        try:
            owner = path.stat().st_uid
        except OSError:
            continue
        if owner != 0:
            name = _user_name(owner)
            raise SettingError(f"{path} belongs to {name}, and this is root: run it as sudo -u {name} pressroom …")


def _user_name(number: int) -> str:
    """Returns the name of a user as sudo takes it; a user without an entry has a number."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"'#{number}'"


def close_to_others(settings: Settings) -> list[Path]:
    """Removes all rights of other users from the server's files; returns the paths that it changed.

    Files of another user are left alone, and so is a data folder that also holds things that are not the server's.
    """
    changed: list[Path] = []
    for path, found in _existing(settings):
        if found.st_mode & _OTHERS and found.st_uid == os.geteuid() and _close(path, found):
            changed.append(path)
    return changed


def _close(path: Path, found: os.stat_result) -> bool:
    """Removes the rights of others from `path`; returns False when it is no longer the file that was found.

    While its folder is open to others, they may put a link to another file in its place.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        now = os.fstat(descriptor)
        second_name = stat.S_ISREG(now.st_mode) and now.st_nlink > 1
        if (now.st_dev, now.st_ino) != (found.st_dev, found.st_ino) or second_name:
            return False
        os.fchmod(descriptor, stat.S_IMODE(now.st_mode) & ~_OTHERS)
    finally:
        os.close(descriptor)
    return True


def find_problems(settings: Settings) -> Iterator[str]:
    """Yields a sentence for each of the server's files that others may use, or that this user may not."""
    for path, found in _existing(settings):
        if found.st_uid != os.geteuid():
            yield f"{path} belongs to user {found.st_uid}; this is user {os.geteuid()}. Run every command as one user."
        elif not os.access(path, os.R_OK | os.W_OK | (os.X_OK if stat.S_ISDIR(found.st_mode) else 0)):
            yield f"{path} cannot be read and written (mode {stat.S_IMODE(found.st_mode):04o})."
        elif found.st_mode & _OTHERS:
            yield f"{path} is open to other users (mode {stat.S_IMODE(found.st_mode):04o}); the next serve closes it."


def _existing(settings: Settings) -> Iterator[tuple[Path, os.stat_result]]:
    """Yields the server's existing files and folders, folders first. Follows no links: they may lead elsewhere."""
    for path in _ours(settings):
        try:
            found = path.lstat()
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode):
            yield path, found


def _ours(settings: Settings) -> Iterator[Path]:
    folder = settings.data_dir.resolve()
    scheme, _, file = settings.database_url.partition(":///")
    database = Path(file).parent.resolve() / Path(file).name if scheme == "sqlite" else None
    if _holds_ours_alone(folder, database):
        yield folder
    for name in _FOLDERS:
        yield folder / name
    for name in _FILES:
        yield folder / name
    if database is not None:
        for end in _BESIDE_DATABASE:
            yield database.with_name(database.name + end)


def _holds_ours_alone(folder: Path, database: Path | None) -> bool:
    """Returns whether the folder holds only the server's files. It may be a home folder, or shared by all users."""
    try:
        found = folder.lstat()
        names = [entry.name for entry in os.scandir(folder)] if not found.st_mode & stat.S_ISVTX else ["shared"]
    except OSError:
        return True  # It does not exist, or this user may not read it.
    ours = database.name if database is not None and database.parent == folder else "/"
    return all(name in _FOLDERS or name in _FILES or name.startswith(ours) for name in names)
