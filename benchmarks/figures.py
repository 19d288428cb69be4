"""Medians and ratios of the rounds, and the table."""

import os
import platform
import re
import statistics
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Final

import apsw
import msgspec

from benchmarks.limit_db import Statements
from benchmarks.load import Load


class Measured(msgspec.Struct):
    """One load, and the microseconds of CPU that the server spent on each of its requests, with all its threads."""

    load: Load
    cpu: float


class Round(msgspec.Struct):
    """One round: each figure right after its limit, so that noise hits both alike."""

    limit_create: Measured
    statements: Statements
    create: Measured
    limit_me: Measured
    me: Measured
    pages: dict[str, Measured]

    @property
    def allowed(self) -> float:
        """Creates per second if a create cost no more than its two limits, one after the other."""
        return 1 / (1 / self.limit_create.load.per_second + 1 / self.statements.per_second)

    @property
    def allowed_cpu(self) -> float:
        """Microseconds of CPU of a create that costs no more than its two limits."""
        return self.limit_create.cpu + self.statements.cpu


class Run(msgspec.Struct):
    """All that a run measured. Starts in seconds, memory in MB."""

    machine: dict[str, str]
    rounds: list[Round]
    started: list[float]
    answered: list[float]
    at_rest: float
    after_load: float
    drift: str


class Row(msgspec.Struct):
    """A line of the table."""

    figure: str
    measured: str
    limit: str = ""
    ratio: str = ""
    target: str = ""
    met: str = ""


HEADINGS: Final = Row("figure", "measured", "limit", "ratio", "target", "met")


def rows(run: Run) -> list[Row]:
    """The table. A ratio is the median of the rounds' ratios, each of neighbours in time."""
    rounds = run.rounds
    create = _median(rounds, lambda its: its.create.cpu / its.allowed_cpu)
    me = _median(rounds, lambda its: its.me.cpu / its.limit_me.cpu)
    start = statistics.median(run.answered)
    return [
        Row(
            "CPU per create, µs", _whole(rounds, lambda its: its.create.cpu),
            _whole(rounds, lambda its: its.allowed_cpu), f"{create:.2f}", "≤ 2.0", _met(create <= 2.0),
        ),
        Row("  of the limit: bare handler", "", _whole(rounds, lambda its: its.limit_create.cpu)),
        Row("  of the limit: bare statements", "", _whole(rounds, lambda its: its.statements.cpu)),
        Row(
            "CPU per GET me, µs", _whole(rounds, lambda its: its.me.cpu), _whole(rounds, lambda its: its.limit_me.cpu),
            f"{me:.2f}", "≤ 2.5", _met(me <= 2.5),
        ),
        Row(
            "creates/s", _whole(rounds, lambda its: its.create.load.per_second),
            _whole(rounds, lambda its: its.allowed),
            f"{_median(rounds, lambda its: its.create.load.per_second / its.allowed):.2f}",
        ),
        Row("  bare handler, POST /s", "", _whole(rounds, lambda its: its.limit_create.load.per_second)),
        Row("  bare statements, creates/s", "", _whole(rounds, lambda its: its.statements.per_second)),
        Row(
            "GET /api/auth/me /s", _whole(rounds, lambda its: its.me.load.per_second),
            _whole(rounds, lambda its: its.limit_me.load.per_second),
            f"{_median(rounds, lambda its: its.me.load.per_second / its.limit_me.load.per_second):.2f}",
        ),
        Row(
            "create, ms, median and p99",
            _latency(rounds, lambda its: its.create.load), _latency(rounds, lambda its: its.limit_create.load),
        ),
        *(row for name in rounds[0].pages for row in _page(rounds, name)),
        Row("memory at rest, MB", f"{run.at_rest:.0f}", "", "", "< 70", _met(run.at_rest < 70)),
        Row("  after all the load, MB", f"{run.after_load:.0f}"),
        Row("start to first answer, s", f"{start:.2f}", "", "", "< 0.5", _met(start < 0.5)),
        Row("  of it until /healthz, s", f"{statistics.median(run.started):.2f}"),
    ]  # fmt: skip


def table(lines: list[Row]) -> str:
    """The rows as text, one column under the other."""
    cells = [[str(getattr(row, name)) for name in Row.__struct_fields__] for row in (HEADINGS, *lines)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    padded = [[cells_of[0].ljust(widths[0]), *map(str.rjust, cells_of[1:], widths[1:])] for cells_of in cells]
    lines_of = ["  ".join(row).rstrip() for row in padded]
    return "\n".join([lines_of[0], "-" * (sum(widths) + 2 * len(widths) - 2), *lines_of[1:]])


def doubts(run: Run) -> list[str]:
    """Returns what makes the figures doubtful, a sentence each."""
    found = [run.drift] if run.drift else []
    loads = [
        measured.load
        for its in run.rounds
        for measured in (its.limit_create, its.create, its.limit_me, its.me, *its.pages.values())
    ]
    refused = sum(load.refused for load in loads)
    if refused:
        first = next(load.first_refusal for load in loads if load.refused)
        found.append(f"{refused:,} requests were not answered as they should be; the first:\n{first}")
    busiest = max(load.busy for load in loads)
    if busiest > 0.85:
        found.append(f"The load took {busiest:.0%} of a core: it may be the load that was measured.")
    return found


def spread(run: Run) -> str:
    """Returns how far apart the rounds lay, in one sentence."""
    create = [its.create.cpu / its.allowed_cpu for its in run.rounds]
    me = [its.me.cpu / its.limit_me.cpu for its in run.rounds]
    busy = statistics.median(its.me.load.busy for its in run.rounds)
    return (
        f"{len(run.rounds)} rounds; ratios of CPU from {min(create):.2f} to {max(create):.2f} (create) and"
        f" {min(me):.2f} to {max(me):.2f} (me); the load took {busy:.0%} of its core."
    )


def machine() -> dict[str, str]:
    """Returns the machine and versions of the run, without names of hosts or folders."""
    file = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.*)", file.read_text("utf-8")) if file.exists() else None
    parts = ("granian", "uvloop", "msgspec")
    return {
        "cores": str(os.cpu_count()),
        "processor": model[1] if model else platform.machine(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{part: version(part) for part in parts},
        "apsw": f"{apsw.apsw_version()} (SQLite {apsw.sqlite_lib_version()})",
    }


def _page(rounds: list[Round], name: str) -> list[Row]:
    """A page: its rate, and the milliseconds of CPU that each took."""
    return [
        Row(f"{name} /s", _whole(rounds, lambda its: its.pages[name].load.per_second)),
        Row("  ms of CPU", f"{_median(rounds, lambda its: its.pages[name].cpu) / 1000:.2f}"),
    ]


def _median(rounds: Iterable[Round], of: Callable[[Round], float]) -> float:
    return statistics.median(of(its) for its in rounds)


def _whole(rounds: Iterable[Round], of: Callable[[Round], float]) -> str:
    return f"{_median(rounds, of):,.0f}"


def _latency(rounds: Iterable[Round], of: Callable[[Round], Load]) -> str:
    return f"{_median(rounds, lambda its: of(its).median_ms):.1f} {_median(rounds, lambda its: of(its).p99_ms):.1f}"


def _met(met: bool) -> str:
    return "met" if met else "NOT MET"
