"""Counts the instructions of a request in the application alone, which other programs on the machine do not disturb.

    .venv/bin/python -m benchmarks.instructions [--source DIR] [--kind create]

Runs `benchmarks.alone` in valgrind (which must be installed) with few requests and with more, and divides the
difference by the requests between. DIR is another checkout, whose `src` is counted. Two runs differ by about 0.5 %. The
kernel's instructions are not counted, nor the different times of instructions.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.alone import KINDS
from benchmarks.processes import ROOT

FEW: Final = 320
MORE: Final = 1_280

SLOWED: Final = 100
"""How many times slower a program runs in valgrind, at most. Otherwise each request would wait for a turn, because the
one before has taken more than the time that one round of the event loop has, and creates would be 503 until the counts
of limits, older than a second, are saved."""


def count(source: Path, folder: Path, kind: str, requests: int) -> int:
    """Returns the instructions of a whole run with so many requests."""
    report = folder / "report"
    subprocess.run(
        [
            "valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
            f"--log-file={report}", sys.executable, "-m", "benchmarks.alone", str(folder), "--kind", kind,
            "--count", str(requests), "--slowed", str(SLOWED),
        ],
        env={**os.environ, "PYTHONPATH": str(source / "src"), "PYTHONHASHSEED": "0"},
        cwd=ROOT, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    found = re.search(r"I +refs: +([0-9,]+)", report.read_text("utf-8"))
    assert found is not None, "valgrind says how many instructions there were"
    return int(found[1].replace(",", ""))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.instructions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--source", type=Path, default=ROOT)
    parser.add_argument("--kind", action="append", choices=KINDS)
    given = parser.parse_args()
    if shutil.which("valgrind") is None:
        parser.error("valgrind is not installed.")
    for kind in given.kind or KINDS:
        with tempfile.TemporaryDirectory() as name:
            folder, env = Path(name), {**os.environ, "PYTHONPATH": str(given.source / "src")}
            subprocess.run([sys.executable, "-m", "benchmarks.seed", name], env=env, cwd=ROOT, check=True)
            few, more = (count(given.source, folder, kind, requests) for requests in (FEW, MORE))
        print(f"{kind}: {(more - few) // (MORE - FEW):,} instructions")


if __name__ == "__main__":
    main()
