"""Measures everything beside its limits and prints it: `make bench`.

.venv/bin/python -m benchmarks --quick       half a minute, for a first look
.venv/bin/python -m benchmarks --pair REV    this checkout and a revision, in turn, and their difference
"""

import argparse
import asyncio
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import msgspec
import uvloop

from benchmarks import figures, pair
from benchmarks.drift import drift
from benchmarks.figures import Measured, Round, Run
from benchmarks.library import PAGES, make_library
from benchmarks.limit_db import Statements
from benchmarks.other_load import OtherLoad, cores_in_use, warning
from benchmarks.processes import ROOT, Server, bare_server, measure, measure_load, real_server
from benchmarks.seed import seed

OUT: Final = ROOT / "benchmarks" / "out"


class Plan(msgspec.Struct, frozen=True):
    """How long to measure: seconds per load and round; those of a page are fewer, as there are several."""

    rounds: int
    starts: int
    seconds: float
    db_seconds: float
    page_seconds: float


WHOLE: Final = Plan(rounds=8, starts=5, seconds=3.0, db_seconds=1.0, page_seconds=1.5)
QUICK: Final = Plan(rounds=2, starts=2, seconds=1.0, db_seconds=0.3, page_seconds=0.7)


def run(plan: Plan, folder: Path) -> Run:
    """Measures everything as planned, in `folder`."""
    served, apart, library, keys_file = folder / "served", folder / "apart", folder / "library", folder / "keys.txt"
    for place in (served, apart, library):
        place.mkdir()
    library_key = uvloop.run(make_library(library / "pressroom.db"))
    keys = uvloop.run(seed(apart / "pressroom.db"))
    keys_file.write_text("\n".join(keys), "utf-8")
    shutil.copy(apart / "pressroom.db", served)
    found = asyncio.run(drift(apart, keys[0]))

    starts: list[Server] = []
    for _ in range(plan.starts - 1):
        starts.append(real_server(served, keys[0]))
        starts[-1].stop()
    with ExitStack() as stack:
        real = real_server(served, keys[0])
        stack.callback(real.stop)
        starts.append(real)
        time.sleep(1)
        at_rest = real.megabytes
        bare = bare_server(folder, keys[0])
        stack.callback(bare.stop)
        pages = real_server(library, library_key)
        stack.callback(pages.stop)
        bench = Bench(plan, real, bare, pages, apart / "pressroom.db", keys_file)
        return Run(
            machine=figures.machine(),
            rounds=list(bench.rounds()),
            started=[server.started for server in starts],
            answered=[server.answered for server in starts],
            at_rest=at_rest,
            after_load=real.megabytes,
            drift=found,
        )


class Bench:
    """Rounds against three servers that run, and a database for the limit alone."""

    def __init__(self, plan: Plan, real: Server, bare: Server, pages: Server, file: Path, keys: Path) -> None:
        self._plan = plan
        self._real = real
        self._bare = bare
        self._pages = pages
        self._file = file
        self._keys = keys

    def rounds(self) -> Iterator[Round]:
        """Yields the rounds: in each, every figure right after its limit."""
        for number in range(self._plan.rounds):
            limit_create, before = self._load(self._bare, "create"), self._statements()
            create, after = self._load(self._real, "create"), self._statements()
            its = Round(
                limit_create=limit_create,
                statements=Statements((before.per_second + after.per_second) / 2, (before.cpu + after.cpu) / 2),
                create=create,
                limit_me=self._load(self._bare, "me"),
                me=self._load(self._real, "me"),
                pages={name: self._load_page(path) for name, path in PAGES.items()},
            )
            print(
                f"round {number + 1} of {self._plan.rounds}: create {its.create.cpu:,.0f} µs of CPU, limit"
                f" {its.allowed_cpu:,.0f}; me {its.me.cpu:,.0f}, limit {its.limit_me.cpu:,.0f}",
                flush=True,
            )
            yield its

    def _statements(self) -> Statements:
        """The bare statements. Measured before and after each load: a disk's speed varies."""
        given = ("--file", self._file, "--keys", self._keys, "--seconds", self._plan.db_seconds)
        return measure("limit_db", *given, answer=Statements)

    def _load(self, server: Server, kind: str) -> Measured:
        return measure_load(server, kind, "--keys", self._keys, "--seconds", self._plan.seconds)

    def _load_page(self, path: str) -> Measured:
        """The same of one page, by visitors who are not signed in."""
        return measure_load(self._pages, "page", "--path", path, "--seconds", self._plan.page_seconds)


def main() -> None:
    """The command line. Ends with status 0 whatever was measured: speed is shown here, not tested."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="30 seconds, for a first look")
    parser.add_argument("--pair", metavar="REV", help="measure a revision too, in turn, and print the difference")
    parser.add_argument("--rounds", type=int, help="how many rounds")
    parser.add_argument("--only", action="append", choices=pair.KINDS, help="of --pair: measure these alone")
    given = parser.parse_args()
    plan = QUICK if given.quick else WHOLE
    began, before = time.perf_counter(), cores_in_use()
    other = OtherLoad()
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=OUT) as folder:
        if given.pair:
            pair.run(given.pair, Path(folder), given.rounds or plan.rounds, plan.seconds, given.only or pair.KINDS)
        else:
            _show(run(msgspec.structs.replace(plan, rounds=given.rounds or plan.rounds), Path(folder)))
    if doubt := warning(before, other.cores()):
        print(f"\n! {doubt}")
    print(f"\n{time.perf_counter() - began:.0f} s in all.")


def _show(measured: Run) -> None:
    (OUT / "last.json").write_bytes(msgspec.json.format(msgspec.json.encode(measured)))
    print("\n" + ", ".join(f"{name} {what}" for name, what in measured.machine.items()))
    print(f"{figures.spread(measured)}\n")
    print(figures.table(figures.rows(measured)))
    for doubt in figures.doubts(measured):
        print(f"\n! {doubt}")
    print("\nEvery round: benchmarks/out/last.json")


if __name__ == "__main__":
    main()
