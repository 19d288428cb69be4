"""Measures everything once and prints it: `make bench`, or `.venv/bin/python -m benchmarks --quick` for 30 seconds."""

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

from benchmarks import figures
from benchmarks.drift import drift
from benchmarks.figures import Round, Run
from benchmarks.library import PAGES, make_library
from benchmarks.load import Load
from benchmarks.processes import ROOT, Server, bare_server, load_average, measure, real_server
from benchmarks.seed import seed

QUIET: Final = 0.5
"""Load average above which the figures deserve a warning."""

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
    """Rounds against three servers that run, and a database for the baseline alone."""

    def __init__(self, plan: Plan, real: Server, bare: Server, pages: Server, file: Path, keys: Path) -> None:
        self._plan = plan
        self._real = real
        self._bare = bare
        self._pages = pages
        self._file = file
        self._keys = keys

    def rounds(self) -> Iterator[Round]:
        """Yields the rounds: in each, every figure right after its baseline."""
        for number in range(self._plan.rounds):
            http_create, http_create_cpu = self._load(self._bare, "create")
            before = self._statements()
            create, create_cpu = self._load(self._real, "create")
            db = (before + self._statements()) / 2
            http_me, http_me_cpu = self._load(self._bare, "me")
            me, me_cpu = self._load(self._real, "me")
            pages = {name: self._load_page(path) for name, path in PAGES.items()}
            its = Round(
                http_create=http_create, db=db, create=create, create_cpu=create_cpu, http_me=http_me, me=me,
                me_cpu=me_cpu, http_create_cpu=http_create_cpu, http_me_cpu=http_me_cpu,
                pages={name: load for name, (load, _) in pages.items()},
                pages_cpu={name: cpu for name, (_, cpu) in pages.items()},
            )  # fmt: skip
            print(
                f"round {number + 1} of {self._plan.rounds}: {create.per_second:,.0f} of {its.allowed:,.0f} creates/s,"
                f" {me.per_second:,.0f} of {http_me.per_second:,.0f} me/s",
                flush=True,
            )
            yield its

    def _statements(self) -> float:
        """Creates per second of the bare statements. Measured before and after each load: a disk's speed varies."""
        given = ("--file", self._file, "--keys", self._keys, "--seconds", self._plan.db_seconds)
        return measure("baseline_db", *given, answer=float)

    def _load(self, server: Server, kind: str) -> tuple[Load, float]:
        """One load, and the microseconds of CPU that the server spent on each request."""
        return self._measure(server, kind, "--keys", self._keys, "--seconds", self._plan.seconds)

    def _load_page(self, path: str) -> tuple[Load, float]:
        """The same of one page, by visitors who are not signed in."""
        return self._measure(self._pages, "page", "--path", path, "--seconds", self._plan.page_seconds)

    def _measure(self, server: Server, kind: str, *given: object) -> tuple[Load, float]:
        before = server.cpu_seconds
        load = measure("load", kind, "--port", server.port, *given, answer=Load)
        return load, (server.cpu_seconds - before) / load.answered * 1e6


def main() -> None:
    """The command line. Ends with status 0 whatever was measured: speed is shown here, not tested."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="30 seconds, for a first look")
    plan = QUICK if parser.parse_args().quick else WHOLE
    began, busy = time.perf_counter(), load_average()
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=OUT) as folder:
        measured = run(plan, Path(folder))
    (OUT / "last.json").write_bytes(msgspec.json.format(msgspec.json.encode(measured)))
    print("\n" + ", ".join(f"{name} {what}" for name, what in measured.machine.items()))
    print(f"{figures.spread(measured)} {busy:.1f} processes wanted a core before it began.\n")
    print(figures.table(figures.rows(measured)))
    if busy > QUIET:
        print(f"\n! The machine was not quiet ({busy:.1f} processes): ratios of two such runs differ by 0.2 and more.")
    for doubt in figures.doubts(measured):
        print(f"\n! {doubt}")
    print(f"\n{time.perf_counter() - began:.0f} s in all. Every round: benchmarks/out/last.json")


if __name__ == "__main__":
    main()
