"""A folder of backups: each shares media with the one before, old ones are removed (docs/backup.md#every-night).

FOLDER/2026-11-22T03-15-00Z/   a backup like that of `pressroom backup --to`, named after its time (UTC)
FOLDER/.lock                   held while a backup is made
"""

import contextlib
import fcntl
import re
import shutil
from collections.abc import Generator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from pressroom.clock import SECOND, SystemClock
from pressroom.errors import SettingError
from pressroom.folders import make_folder, sync_folder
from pressroom.operations.backup import back_up, source_of, written_to
from pressroom.operations.manifests import MANIFEST, Manifest, read_manifest
from pressroom.settings import Settings

LOCK: Final = ".lock"

_NAME: Final = "%Y-%m-%dT%H-%M-%SZ"
_NAMES: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ")
_PERIODS: Final[Mapping[str, str]] = {"daily": "%Y-%m-%d", "weekly": "%G-%V", "monthly": "%Y-%m"}
"""The periods of backups, each with the format that gives all times of one period the same text."""

_RULE: Final = re.compile(rf"({'|'.join(_PERIODS)})=([1-9][0-9]{{0,3}})")


class MadeBackup(msgspec.Struct):
    """A new backup, its place, and the names of the backups that were removed."""

    manifest: Manifest
    place: str
    removed: list[str]


def parse_keep(rules: str) -> dict[str, int]:
    """Returns how many backups of each period are kept, of rules such as `daily=7,weekly=4`. Raises SettingError."""
    found = [_RULE.fullmatch(rule.strip()) for rule in rules.split(",")]
    kept = {rule[1]: int(rule[2]) for rule in found if rule is not None}
    if len(kept) != len(found):
        raise SettingError(f"--keep {rules!r} is not understood: write daily=7,weekly=4,monthly=12, or some of these.")
    return kept


def kept(names: list[str], keep: Mapping[str, int]) -> set[str]:
    """Returns the names of the backups to keep: the newest of all, and the newest of each of the last periods.

    Args:
        names: The names of all complete backups.
        keep: How many of each period: the last 7 days with a backup, not the last 7 days.
    """
    newest_first = sorted(names, reverse=True)
    chosen = set(newest_first[:1])
    for period, count in keep.items():
        newest: dict[str, str] = {}
        for name in newest_first:
            newest.setdefault(_time(name).strftime(_PERIODS[period]), name)
        chosen.update(list(newest.values())[:count])
    return chosen


async def back_up_into(settings: Settings, folder: Path, keep: Mapping[str, int]) -> MadeBackup:
    """Makes a backup in a folder of its own, links the media of the newest one, and removes those not to keep.

    Args:
        settings: Those of the installation.
        folder: The folder of all backups.
        keep: How many of each period are kept; empty keeps all.

    Returns the new backup. Raises SettingError.
    """
    source_of(settings)
    with written_to(settings, str(folder)), alone(folder / LOCK, str(folder)):
        earlier = _complete(folder)
        for name in _names(folder):
            if name not in earlier:  # of a command that was cut off: nobody else makes one now
                shutil.rmtree(folder / name)
        to = folder / time_name(SystemClock().now())
        before = folder / max(earlier) if earlier else None
        manifest = await back_up(settings, to, before and (before, read_manifest(before)))
        removed = past_rules([*earlier, to.name], keep)
        for name in removed:
            _remove(folder / name)
    return MadeBackup(manifest, str(to), removed)


def past_rules(names: list[str], keep: Mapping[str, int]) -> list[str]:
    """Returns the names of the backups to remove, of all; none without rules."""
    return sorted(set(names) - kept(names, keep)) if keep else []


def _remove(backup: Path) -> None:
    # The manifest first: a removal that is cut off must not leave a folder that passes for a backup.
    (backup / MANIFEST).unlink()
    sync_folder(backup)
    shutil.rmtree(backup)


@contextlib.contextmanager
def alone(lock: Path, place: str) -> Generator[None]:
    """Holds a lock while a backup is made in `place`. Raises SettingError when another command holds it."""
    make_folder(lock.parent, 0o700)
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise SettingError(f"Another command makes a backup in {place}: try again when it has ended.") from None
        yield


def _names(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir() if is_name(entry.name)]


def _complete(folder: Path) -> list[str]:
    return [name for name in _names(folder) if (folder / name / MANIFEST).is_file()]


def is_name(text: str) -> bool:
    """Returns whether `text` is the name of a backup."""
    return _NAMES.fullmatch(text) is not None


def _time(name: str) -> datetime:
    return datetime.strptime(name, _NAME).replace(tzinfo=UTC)


def time_name(now: int) -> str:
    """Returns the name of a backup made at this time (milliseconds)."""
    return datetime.fromtimestamp(now // SECOND, UTC).strftime(_NAME)
