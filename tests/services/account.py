"""The account that runs PostgreSQL, which refuses to run as root, and the folders it can reach."""

import os
import pwd
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

UNPRIVILEGED = ("nobody", "daemon")


@dataclass(frozen=True)
class Account:
    """Numbers of an existing account without rights."""

    uid: int
    gid: int

    def own(self, folder: Path) -> None:
        """Give a folder and all below it to this account."""
        for path in (folder, *folder.rglob("*")):
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


def is_root() -> bool:
    """Tell whether this process runs as root."""
    return os.geteuid() == 0


def unprivileged() -> Account | None:
    """Find the account to drop to: None if there is none."""
    for name in UNPRIVILEGED:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid)
    return None


def open_to_all(path: Path) -> bool:
    """Tell whether any account can get to `path` and read it, or run it if it is a program."""
    path = path.resolve()
    if not all(folder.stat().st_mode & stat.S_IXOTH for folder in path.parents):
        return False
    mode = path.stat().st_mode
    needed = stat.S_IROTH
    if path.is_dir() or mode & stat.S_IXUSR:
        needed |= stat.S_IXOTH
    return mode & needed == needed


def folder_for(account: Account, wanted: Path) -> Path:
    """Make a folder of the account's own: in `wanted` if within its reach, else in a temporary folder."""
    for base in (wanted, Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")):
        if base.is_dir() and open_to_all(base):
            folder = Path(tempfile.mkdtemp(prefix="pressroom-postgres-", dir=base))
            account.own(folder)
            return folder
    raise RuntimeError("no temporary folder is open to an account without rights")
