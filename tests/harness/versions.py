"""Programs of other versions: the one before, out of the repository's history, and ones that are yet to come."""

import io
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import pressroom
from pressroom.db.migrate import newest_schema
from tests.harness.process import ServerProcess

ROOT: Final = Path(__file__).parents[2]
MIGRATIONS: Final = Path("src/pressroom/db/migrations")

PREVIOUS_FILE: Final = ROOT / "tests/corpus/releases/previous"
PREVIOUS: Final = PREVIOUS_FILE.read_text("utf-8").strip() if PREVIOUS_FILE.exists() else None
"""The tag of the version before this one (docs/releasing.md#checklist). None before the first release: then today's
program stands for it, and `LATER` for the migrations of the next version."""

LATER: Final[Mapping[str, str]] = {"language": "ALTER TABLE posts ADD COLUMN language TEXT;"}


@cache
def absent() -> str | None:
    """Why the version before cannot be had, or None if it can."""
    if PREVIOUS is None:
        return None
    if shutil.which("git") is None:
        return "git is not installed, which the version before is read with"
    try:
        _git("cat-file", "-e", f"{PREVIOUS}^{{commit}}")
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip()
        return f"git does not find {PREVIOUS}, the version before, here: {said}"
    return None


def previous_schema() -> int:
    """The newest migration of the version before."""
    if PREVIOUS is None:
        return newest_schema()
    names = _git("ls-tree", "--name-only", PREVIOUS, f"{MIGRATIONS}/").decode().split()
    return max(int(Path(name).name[:4]) for name in names)


def previous_source(folder: Path) -> Path:
    """Puts the source of the version before, with its tests, into `folder`; returns that."""
    if PREVIOUS is None:
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".*", "__pycache__", "dist"), dirs_exist_ok=True)
    else:
        unpack(PREVIOUS, folder)
    return folder


def unpack(commit: str, folder: Path) -> None:
    """Puts the source of a commit into `folder`."""
    with tarfile.open(fileobj=io.BytesIO(_git("archive", commit))) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # which Python has from 3.11.4 on
        archive.extractall(folder)  # noqa: S202  # our own


def put_migrations(source: Path, later: Mapping[str, str] | None = None) -> None:
    """Adds to a source the migrations of today, and `later` ones by their changes."""
    for file in (ROOT / MIGRATIONS).glob("*.sql"):
        shutil.copy(file, source / MIGRATIONS)
    for number, (name, sql) in enumerate((later or {}).items(), newest_schema() + 1):
        (source / MIGRATIONS / f"{number:04d}_{name}.sql").write_text(sql, "utf-8")


def later_source(folder: Path, later: Mapping[str, str]) -> Path:
    """Makes a source of today's program that knows migrations of its own, by their changes."""
    ignored = shutil.ignore_patterns("*.pyc.*")  # bytecode that another process is writing
    shutil.copytree(Path(pressroom.__file__).parent, folder / "src/pressroom", ignore=ignored)
    put_migrations(folder, later)
    return folder


def environment(source: Path) -> dict[str, str]:
    """An environment in which Python finds the program of a source."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PRESSROOM_", "PYTEST_"))}
    return {**kept, "PYTHONPATH": str(source / "src")}


def of(source: Path, server: ServerProcess) -> ServerProcess:
    """Makes a server one of another version."""
    server.program = ["env", f"PYTHONPATH={source / 'src'}", sys.executable, "-m", "pressroom"]
    return server


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, timeout=60).stdout
