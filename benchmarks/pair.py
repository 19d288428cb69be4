"""Two revisions in turn, ABAB: the gain of a change, with the spread of its rounds.

    .venv/bin/python -m benchmarks --pair REV [--only me] [--rounds 8]

A is the revision, in a worktree of its own, B this checkout with uncommitted changes. Both are served by this
environment, each on a database that its own code made; the loads are those of this checkout. CPU is of the whole
server process.
"""

import os
import statistics
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.library import PAGES
from benchmarks.processes import ROOT, Server, measure_load, real_server

KINDS: Final = ("me", "create", *(name.partition(" with")[0].partition(" of")[0] for name in list(PAGES)[:2]))
"""The requests that can be measured: two kinds of requests with a key, and two pages."""

_PATHS: Final = dict(zip(KINDS[2:], PAGES.values(), strict=False))


class Side(msgspec.Struct):
    """One of the two: its server with keys, the one with pages, and the microseconds of CPU of each round by kind."""

    name: str
    real: Server
    pages: Server
    keys: Path
    rounds: dict[str, list[float]] = {}

    def load(self, kind: str, seconds: float) -> None:
        """Measures one kind once."""
        if kind in _PATHS:
            measured = measure_load(self.pages, "page", "--path", _PATHS[kind], "--seconds", seconds)
        else:
            measured = measure_load(self.real, kind, "--keys", self.keys, "--seconds", seconds)
        if measured.load.refused:
            raise RuntimeError(f"{self.name} refused {kind}: {measured.load.first_refusal}")
        self.rounds.setdefault(kind, []).append(measured.cpu)


def run(revision: str, folder: Path, rounds: int, seconds: float, kinds: Sequence[str]) -> None:
    """Measures a revision and this checkout in turn, and prints the difference."""
    with ExitStack() as stack:
        source = stack.enter_context(_worktree(revision, folder / "worktree"))
        before = stack.enter_context(_serve(f"A {revision}", source, folder / "before"))
        after = stack.enter_context(_serve("B this checkout", ROOT, folder / "after"))
        for number in range(rounds):
            for kind in kinds:
                for side in (before, after) if number % 2 == 0 else (after, before):
                    side.load(kind, seconds)
            print(f"round {number + 1} of {rounds}", flush=True)
    print(f"\nCPU of the server per request, µs: A = {revision}, B = this checkout; medians of {rounds} rounds.\n")
    print(f"{'':<12} {'A':>9} {'B':>9} {'B - A':>9}  spread of B - A    {'B / A':>6}  spread of B / A")
    for kind in kinds:
        print(_line(kind, before.rounds[kind], after.rounds[kind]))


def _line(kind: str, before: list[float], after: list[float]) -> str:
    """One kind: the medians, and those of the rounds' own differences and ratios with the lowest and highest."""
    differences = [b - a for a, b in zip(before, after, strict=True)]
    ratios = [b / a for a, b in zip(before, after, strict=True)]
    a, b, difference, ratio = map(statistics.median, (before, after, differences, ratios))
    return (
        f"{kind:<12} {a:9,.1f} {b:9,.1f} {difference:+9,.1f}  {min(differences):+8,.1f} {max(differences):+8,.1f}"
        f"  {ratio:6.3f}  {min(ratios):.3f} {max(ratios):.3f}"
    )


@contextmanager
def _worktree(revision: str, folder: Path) -> Generator[Path]:
    """Checks a revision out into `folder`, until the end."""
    git = ("git", "-C", str(ROOT), "worktree")
    subprocess.run([*git, "add", "--quiet", "--detach", str(folder), revision], check=True)
    try:
        yield folder
    finally:
        subprocess.run([*git, "remove", "--force", str(folder)], check=True)


@contextmanager
def _serve(name: str, source: Path, folder: Path) -> Generator[Side]:
    """Makes the databases of one side and serves them, until the end."""
    keyed, library = folder / "keyed", folder / "library"
    for module, place in (("seed", keyed), ("library", library)):
        place.mkdir(parents=True)
        command = [sys.executable, "-m", f"benchmarks.{module}", str(place)]
        subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(source / "src")}, check=True)
    keys = keyed / "keys.txt"
    with ExitStack() as stack:
        real = real_server(keyed, keys.read_text("utf-8").split()[0], source=source)
        stack.callback(real.stop)
        pages = real_server(library, "", source=source)
        stack.callback(pages.stop)
        yield Side(name, real, pages, keys)
