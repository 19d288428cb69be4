"""A disk that keeps synced data and nothing else: the worst result of a power cut.

The bytes of a file are kept when it is synced, and its name when its folder is, as POSIX promises and no more. Both are
recorded in a folder beside it, by inode, so that a process may be killed at any moment. Run as a program, this module
is `pressroom` on such a disk.
"""

import contextlib
import json
import os
import stat
import sys
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from unittest.mock import patch

import apsw

ROOT = "root"

SYSTEM = "unix"
"""The VFS of SQLite that reads and writes files."""


class PowerCut(BaseException):
    """The power was cut: nothing that follows reaches the disk."""


class VolatileDisk:
    """The folder `seen`, and in `kept` its state after a power cut; `cut_at` is the sync that is the last."""

    def __init__(self, seen: Path, kept: Path, cut_at: int | None = None) -> None:
        self.syncs = 0
        self._seen = seen.resolve()
        self._kept = kept
        self._cut_at = cut_at
        self._held: list[int] = []
        self._keeping = threading.Lock()
        self._fsync = os.fsync
        if not (kept / ROOT).exists():
            kept.mkdir(parents=True, exist_ok=True)
            for place, _, files in os.walk(self._seen):
                for file in files:
                    self._keep(Path(place, file))
                self._keep(Path(place))
            (kept / ROOT).write_text(str(self._seen.stat().st_ino))

    def sync(self, descriptor: int) -> None:
        """Keeps the bytes of a file, or the names in a folder. Raises PowerCut at the sync that is one too many."""
        self._fsync(descriptor)
        self.sync_path(Path(f"/proc/self/fd/{descriptor}").readlink())

    def sync_path(self, place: Path) -> None:
        """Does the same by name, which SQLite's files are known by."""
        if not place.is_relative_to(self._seen):
            return
        with self._keeping:  # threads may sync one folder at the same time
            if self.syncs == self._cut_at:
                raise PowerCut
            self.syncs += 1
            self._keep(place)

    def _keep(self, place: Path) -> None:
        try:
            descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return  # the file is open and has lost its name
        self._held.append(descriptor)  # so that its inode is given to no other file
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            names = {entry.name: entry.inode() for entry in os.scandir(descriptor)}
            self._write(f"{found.st_ino}.folder", json.dumps(names).encode())
            for entry in os.scandir(descriptor):
                if entry.is_dir() and not (self._kept / f"{entry.inode()}.folder").exists():
                    self._write(f"{entry.inode()}.folder", b"{}")
        elif stat.S_ISREG(found.st_mode):
            self._write(str(found.st_ino), place.read_bytes())

    def _write(self, name: str, data: bytes) -> None:
        partial = self._kept / f"{name}.partial"
        partial.write_bytes(data)
        partial.replace(self._kept / name)


def after_power_cut(kept: Path, into: Path) -> Path:
    """Writes the state after a power cut into a new folder, which it returns."""
    _bring_back(kept, (kept / ROOT).read_text(), into)
    return into


def _bring_back(kept: Path, inode: str, place: Path) -> None:
    folder = kept / f"{inode}.folder"
    if folder.exists():
        place.mkdir(mode=0o700)
        for name, each in json.loads(folder.read_text()).items():
            _bring_back(kept, str(each), place / name)
        return
    file = kept / inode
    place.write_bytes(file.read_bytes() if file.exists() else b"")
    place.chmod(0o600)


@contextlib.contextmanager
def mounted(disk: VolatileDisk) -> Generator[VolatileDisk]:
    """Has Python sync to the disk, and not SQLite, of whose files only what Python syncs is kept."""
    with patch("os.fsync", disk.sync):
        yield disk


class _Vfs(apsw.VFS):
    """SQLite's own files, whose syncs the disk is told of; in the places where SQLite syncs a folder, of that too."""

    def __init__(self, disk: VolatileDisk) -> None:
        self._disk = disk
        super().__init__("volatile", SYSTEM, makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> "_File":  # noqa: N802  # SQLite's name
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        is_log = bool(flags[0] & (apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL))
        with_folder = is_log and bool(flags[0] & apsw.SQLITE_OPEN_CREATE)
        sync = self._disk.sync_path if path else lambda _: None
        return _File(name, flags, sync, Path(path or ""), with_folder=with_folder)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802  # SQLite's signature
        super().xDelete(filename, syncdir)
        if syncdir:
            self._disk.sync_path(Path(filename).parent)


class _File(apsw.VFSFile):
    def __init__(
        self,
        name: str | apsw.URIFilename | None,
        flags: list[int],
        sync: Callable[[Path], None],
        path: Path,
        *,
        with_folder: bool,
    ) -> None:
        super().__init__(SYSTEM, name, flags)
        self._sync = sync
        self._path = path
        self._with_folder = with_folder

    def xSync(self, flags: int) -> None:  # noqa: N802  # SQLite's name
        super().xSync(flags)
        self._sync(self._path)
        if self._with_folder:
            self._with_folder = False
            self._sync(self._path.parent)


if __name__ == "__main__":
    seen, kept, *arguments = sys.argv[1:]
    with mounted(VolatileDisk(Path(seen), Path(kept))) as disk:
        vfs = _Vfs(disk)
        from pressroom.cli import main

        sys.argv = ["pressroom", *arguments]
        main()
