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

from benchmarks.load import Load


class Round(msgspec.Struct):
    """One round: each figure right after its baselines, so that noise hits both alike."""

    http_create: Load
    db: float
    create: Load
    create_cpu: float
    http_me: Load
    me: Load
    me_cpu: float
    http_create_cpu: float
    http_me_cpu: float
    pages: dict[str, Load]
    pages_cpu: dict[str, float]

    @property
    def allowed(self) -> float:
        """Creates per second if a create cost no more than the two baselines, one after the other."""
        return 1 / (1 / self.http_create.per_second + 1 / self.db)


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
    baseline: str = ""
    ratio: str = ""
    target: str = ""
    met: str = ""


HEADINGS: Final = Row("figure", "measured", "baseline", "ratio", "target", "met")


def rows(run: Run) -> list[Row]:
    """The table. A ratio is the median of the rounds' ratios, each of neighbours in time."""
    rounds = run.rounds
    create = _median(rounds, lambda its: its.create.per_second / its.allowed)
    me = _median(rounds, lambda its: its.me.per_second / its.http_me.per_second)
    cpu = _median(rounds, lambda its: its.create_cpu)
    start = statistics.median(run.answered)
    baselines = [
        Row("  bare handler, POST /s", _whole(rounds, lambda its: its.http_create.per_second)),
        Row("  bare statements, creates/s", _whole(rounds, lambda its: its.db)),
    ]
    return [
        Row(
            "creates/s", _whole(rounds, lambda its: its.create.per_second), _whole(rounds, lambda its: its.allowed),
            f"{create:.2f}", "≥ 0.60", _met(create >= 0.6),
        ),
        *baselines,
        Row(
            "GET /api/auth/me /s", _whole(rounds, lambda its: its.me.per_second),
            _whole(rounds, lambda its: its.http_me.per_second), f"{me:.2f}", "≥ 0.55", _met(me >= 0.55),
        ),
        Row(
            "CPU per create, µs", f"{cpu:,.0f}", _whole(rounds, lambda its: its.http_create_cpu), "",
            "< 400", _met(cpu < 400),
        ),
        Row("CPU per GET me, µs", _whole(rounds, lambda its: its.me_cpu), _whole(rounds, lambda its: its.http_me_cpu)),
        Row(
            "create, ms, median and p99",
            _latency(rounds, lambda its: its.create), _latency(rounds, lambda its: its.http_create),
        ),
        *(row for name in rounds[0].pages for row in _page(rounds, name)),
        Row("memory at rest, MB", f"{run.at_rest:.0f}", "", "", "< 150", _met(run.at_rest < 150)),
        Row("  after all the load, MB", f"{run.after_load:.0f}"),
        Row("start to first answer, s", f"{start:.2f}", "", "", "< 1.5", _met(start < 1.5)),
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
    loads: list[Load] = []
    for its in run.rounds:
        loads += [its.http_create, its.create, its.http_me, its.me, *its.pages.values()]
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
    create = [its.create.per_second / its.allowed for its in run.rounds]
    me = [its.me.per_second / its.http_me.per_second for its in run.rounds]
    busy = statistics.median(its.me.busy for its in run.rounds)
    return (
        f"{len(run.rounds)} rounds; ratios from {min(create):.2f} to {max(create):.2f} (create) and"
        f" {min(me):.2f} to {max(me):.2f} (me); the load took {busy:.0%} of its core."
    )


def machine() -> dict[str, str]:
    """Returns what the run was made on, without names of hosts or folders."""
    file = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.*)", file.read_text("utf-8")) if file.exists() else None
    parts = ("granian", "litestar", "uvloop", "msgspec")
    return {
        "cores": str(os.cpu_count()),
        "processor": model[1] if model else platform.machine(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{part: version(part) for part in parts},
        "apsw": f"{apsw.apsw_version()} (SQLite {apsw.sqlite_lib_version()})",
    }


def _page(rounds: list[Round], name: str) -> list[Row]:
    """A page. It stands beside the same bare handler, which finds nothing and renders nothing."""
    ratio = _median(rounds, lambda its: its.pages[name].per_second / its.http_me.per_second)
    return [
        Row(
            f"{name} /s", _whole(rounds, lambda its: its.pages[name].per_second),
            _whole(rounds, lambda its: its.http_me.per_second), f"{ratio:.3f}",
        ),
        Row(
            "  ms a page, ms of CPU",
            _milliseconds(rounds, lambda its: its.pages[name], lambda its: its.pages_cpu[name]),
            _milliseconds(rounds, lambda its: its.http_me, lambda its: its.http_me_cpu),
        ),
    ]  # fmt: skip


def _milliseconds(rounds: list[Round], of: Callable[[Round], Load], cpu: Callable[[Round], float]) -> str:
    """From one answer of a busy server to the next, and what the server worked for each."""
    each, work = _median(rounds, lambda its: 1000 / of(its).per_second), _median(rounds, cpu) / 1000
    return f"{each:.2f} {work:.2f}"


def _median(rounds: Iterable[Round], of: Callable[[Round], float]) -> float:
    return statistics.median(of(its) for its in rounds)


def _whole(rounds: Iterable[Round], of: Callable[[Round], float]) -> str:
    return f"{_median(rounds, of):,.0f}"


def _latency(rounds: Iterable[Round], of: Callable[[Round], Load]) -> str:
    return f"{_median(rounds, lambda its: of(its).median_ms):.1f} {_median(rounds, lambda its: of(its).p99_ms):.1f}"


def _met(met: bool) -> str:
    return "met" if met else "NOT MET"
