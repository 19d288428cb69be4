"""Measures webhooks and prints the table: part of `make bench`; alone with `.venv/bin/python -m benchmarks.deliveries`.

Deliveries per second beside a bare loop that does nothing but sign and post, in turn to the same sink; how long after
its commit an event arrives under a steady load, with and without an endpoint that hangs; memory with much waiting.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final, TypeVar

import msgspec
import uvloop

from benchmarks.baseline_deliveries import Baseline
from benchmarks.posting import Posted
from benchmarks.processes import ROOT, Server, free_port, load_average, measure, real_server
from benchmarks.queued import listeners, queue
from benchmarks.sink import Arrived

T = TypeVar("T")

OUT: Final = ROOT / "benchmarks" / "out"
STEADY: Final = 300
LISTENERS: Final = 10
PATIENCE: Final = 180.0


class Plan(msgspec.Struct, frozen=True):
    """How much to measure."""

    rounds: int
    preloaded: int
    waiting: int
    steady_rounds: int
    steady_seconds: float


WHOLE: Final = Plan(rounds=4, preloaded=20_000, waiting=100_000, steady_rounds=3, steady_seconds=10)
QUICK: Final = Plan(rounds=1, preloaded=20_000, waiting=100_000, steady_rounds=1, steady_seconds=5)


class Sink:
    """The sink's process."""

    def __init__(self) -> None:
        self.port = free_port()
        command = [sys.executable, "-m", "benchmarks.sink", "--port", str(self.port)]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        assert self._line() == "ready\n"

    def report(self) -> Arrived:
        """What arrived since the last time."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        return msgspec.json.decode(self._line(), type=Arrived)

    def stop(self) -> None:
        """Ends it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


class Drain(msgspec.Struct):
    """One round of a full queue, beside its baseline: deliveries per second, microseconds of CPU each."""

    baseline: Baseline
    per_second: float
    cpu: float


class Steady(msgspec.Struct):
    """One round of a steady load: milliseconds from an event's own time to its arrival."""

    p50: float
    p99: float
    p50_beside_hanging: float
    p99_beside_hanging: float


def serve(folder: Path, key: str) -> Server:
    """The real server on the database in `folder`, allowed to reach the sink."""
    return real_server(folder, key, DEV=1)


def start_cost(folder: Path, port: int) -> float:
    """Seconds of CPU that a server takes to start, with nothing to deliver."""
    folder.mkdir(parents=True)
    server = serve(folder, uvloop.run(queue(folder / "pressroom.db", port, 0)))
    try:
        return server.cpu_seconds
    finally:
        server.stop()


def drain(folder: Path, sink: Sink, count: int) -> Drain:
    """The baseline, then a server that starts with `count` deliveries waiting; the cost of its start is not counted."""
    folder.mkdir()
    started = start_cost(folder / "idle", sink.port)
    key = uvloop.run(queue(folder / "pressroom.db", sink.port, count))
    baseline = measure("baseline_deliveries", "--port", sink.port, "--count", count, answer=Baseline)
    sink.report()
    server = serve(folder, key)
    try:
        arrived = gather(sink, count)
        cpu = server.cpu_seconds - started
    finally:
        server.stop()
    return Drain(baseline, arrived.count / arrived.seconds, cpu / count * 1e6)


def memory(folder: Path, sink: Sink, count: int) -> float:
    """The most memory, in MB, that a server takes that delivers while `count` deliveries wait."""
    folder.mkdir()
    key = uvloop.run(queue(folder / "pressroom.db", sink.port, count))
    server = serve(folder, key)
    try:
        gather(sink, count // 5)
        return server.peak_megabytes
    finally:
        server.stop()
        sink.report()


def steady(folder: Path, sink: Sink, seconds: float) -> Steady:
    """A steady load on ten endpoints; the same again while one of ten never answers."""
    quiet = _steady(folder / "quiet", sink, [f"/{number}" for number in range(LISTENERS)], seconds)
    paths = ["/hang", *(f"/{number}" for number in range(LISTENERS - 1))]
    beside = _steady(folder / "beside", sink, paths, seconds)
    return Steady(percentile(quiet, 50), percentile(quiet, 99), percentile(beside, 50), percentile(beside, 99))


def _steady(folder: Path, sink: Sink, paths: list[str], seconds: float) -> list[int]:
    folder.mkdir(parents=True)
    keys = uvloop.run(listeners(folder / "pressroom.db", [f"http://127.0.0.1:{sink.port}{path}" for path in paths]))
    (folder / "keys.txt").write_text("\n".join(keys), "utf-8")
    server = serve(folder, keys[0])
    try:
        given = ("--port", server.port, "--keys", folder / "keys.txt", "--per-second", STEADY)
        measure("posting", *given, "--seconds", 1, answer=Posted)
        time.sleep(1)
        sink.report()
        posted = measure("posting", *given, "--seconds", seconds, answer=Posted).count
        return gather(sink, posted * sum(not path.startswith("/hang") for path in paths) // len(paths)).delays
    finally:
        server.stop()
        sink.report()


def gather(sink: Sink, count: int) -> Arrived:
    """Waits until so many have arrived."""
    arrived, deadline = Arrived(0, 0.0, []), time.monotonic() + PATIENCE
    began = time.perf_counter()
    while arrived.count < count:
        if time.monotonic() > deadline:
            raise RuntimeError(f"only {arrived.count:,} of {count:,} deliveries arrived within {PATIENCE:g} s")
        time.sleep(0.05)
        part = sink.report()
        if part.count and not arrived.count:
            began = time.perf_counter() - part.seconds
        arrived = Arrived(arrived.count + part.count, time.perf_counter() - began, arrived.delays + part.delays)
    return arrived


def percentile(values: list[int], which: int) -> float:
    return statistics.quantiles(values, n=100)[which - 1]


def table(drains: list[Drain], loads: list[Steady], megabytes: float) -> str:
    """The figures: medians over the rounds."""
    rate, baseline = _median(drains, lambda one: one.per_second), _median(drains, lambda one: one.baseline.per_second)
    cpu, baseline_cpu = _median(drains, lambda one: one.cpu), _median(drains, lambda one: one.baseline.cpu)
    ratios = [one.per_second / one.baseline.per_second for one in drains]
    p50, p99 = _median(loads, lambda one: one.p50), _median(loads, lambda one: one.p99)
    ratio, slowed = statistics.median(ratios), _median(loads, lambda one: one.p99_beside_hanging / one.p99)
    spread = f"{ratio:.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
    lines = [
        ("deliveries/s", f"{rate:,.0f}", "≥ 3,000", rate >= 3000),
        ("its baseline", f"{baseline:,.0f}", "", None),
        ("ratio (lowest and highest round)", spread, "≥ 0.50", ratio >= 0.5),
        ("CPU per delivery, µs (baseline)", f"{cpu:,.0f} ({baseline_cpu:,.0f})", "", None),
        (f"commit to receipt at {STEADY}/s, p50, ms", f"{p50:.0f}", "", None),
        ("the same, p99, ms", f"{p99:.0f}", "< 60", p99 < 60),
        ("p99 beside one of ten that hangs", f"{slowed:.2f} of that", "≤ 1.3", slowed <= 1.3),
        ("memory with 100,000 waiting, MB", f"{megabytes:.0f}", "< 250", megabytes < 250),
    ]
    marks = {True: "met", False: "NOT MET", None: ""}
    return "\n".join(f"{name:<38} {value:>20}  {target:<8} {marks[met]}" for name, value, target, met in lines)


def _median(rounds: list[T], figure: Callable[[T], float]) -> float:
    return statistics.median(figure(one) for one in rounds)


def main() -> None:
    """The command line. Ends with status 0 whatever was measured: speed is shown here, not tested."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.deliveries", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round of each")
    plan = QUICK if parser.parse_args().quick else WHOLE
    began, busy = time.perf_counter(), load_average()
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=OUT) as place, ExitStack() as stack:
        folder, sink = Path(place), Sink()
        stack.callback(sink.stop)
        drains = [drain(folder / f"drain{number}", sink, plan.preloaded) for number in range(plan.rounds)]
        loads = [steady(folder / f"steady{number}", sink, plan.steady_seconds) for number in range(plan.steady_rounds)]
        megabytes = memory(folder / "memory", sink, plan.waiting)
    (OUT / "deliveries.json").write_bytes(msgspec.json.format(msgspec.json.encode([drains, loads, megabytes])))
    print(f"\nWebhooks. {busy:.1f} processes wanted a core before it began.\n")
    print(table(drains, loads, megabytes))
    print(f"\n{time.perf_counter() - began:.0f} s in all. Every round: benchmarks/out/deliveries.json")


if __name__ == "__main__":
    main()
