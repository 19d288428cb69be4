"""Measures how long a grown PostgreSQL takes to be copied and restored.

.venv/bin/python -m benchmarks.restore [--posts 5000000]

Three ways of docs/backup.md: a base backup, a dump and its restore. Two processes each, as on the 2 cores of the
published figures. The database is filled by `benchmarks.growth`.
"""

import argparse
import asyncio
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Final

from tests.services.postgres import installed

from benchmarks.growth import begin, grow, places

JOBS: Final = "--jobs=2"
SIZE: Final = "SELECT pg_database_size(current_database())"


def run(program: str, *arguments: str) -> str:
    """Runs one of PostgreSQL's programs and returns its output."""
    binaries = (installed() or Path()) / "bin"
    command = [str(binaries / program), "--no-password", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def measure(posts: int, folder: Path) -> None:
    """Fills a database, copies and restores it, and prints the seconds and the rate of each."""
    with places("postgres", folder) as place:
        asyncio.run(begin(place))
        asyncio.run(grow(place, posts))
        size = int(run("psql", "--tuples-only", f"--dbname={place.url}", f"--command={SIZE}"))
        print(f"{posts:,} posts with their events: {size / 1e9:.2f} GB")
        restored, base, dump = place.url.replace("/measured", "/restored"), folder / "base", folder / "dump"
        run("createdb", f"--maintenance-db={place.url}", "restored")
        for program, *arguments in (
            ("pg_basebackup", f"--dbname={place.url}", f"--pgdata={base}", "--checkpoint=fast"),
            ("pg_dump", "--format=directory", JOBS, f"--file={dump}", place.url),
            ("pg_restore", "--no-owner", JOBS, f"--dbname={restored}", str(dump)),
        ):
            began = time.perf_counter()
            run(program, *arguments)
            seconds = time.perf_counter() - began
            rate, hours = size / seconds / 1e6, 1e12 / size * seconds / 3600
            print(f"{program:<14} {seconds:7.1f} s {rate:7.1f} MB/s of the database; 1 TB: {hours:.1f} h")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.restore", description=__doc__)
    parser.add_argument("--posts", type=int, default=5_000_000)
    posts: int = parser.parse_args().posts
    with tempfile.TemporaryDirectory() as folder:
        measure(posts, Path(folder))


if __name__ == "__main__":
    main()
