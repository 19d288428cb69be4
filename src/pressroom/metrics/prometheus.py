"""Recording for Prometheus: values in files that the process which serves the metrics adds up.

A process writes below the number of its place among its siblings, not its process id: the process that replaces a
killed one goes on with its counters, so that none runs back and there are never more files than processes.
"""

import os
import shutil
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from pathlib import Path
from typing import Final, cast

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess, values
from prometheus_client.multiprocess import MultiProcessCollector

from pressroom import __version__, metrics
from pressroom.errors import SettingError
from pressroom.metrics.endpoint import MetricsEndpoint
from pressroom.settings import Settings

RESERVED: Final = {
    "counter": 1 << 20,
    "histogram": 1 << 21,
    "gauge_livesum": 1 << 16,
    "gauge_livemostrecent": 1 << 16,
}
"""Bytes of the files of a process: more than all labels there are need."""

LEVELS: Final = {
    "pressroom_disk_free_bytes": "Bytes that are free on the disk of the data folder.",
    "pressroom_disk_bytes": "Bytes of the disk of the data folder.",
    "pressroom_last_backup_timestamp_seconds": "Time of the last backup by `pressroom backup`.",
    "pressroom_redis_up": "1 while Redis counts the rate limits, 0 while it is away.",
    "pressroom_replica_lag_seconds": "Age of the latest transaction that the replica has replayed.",
}
"""Metrics without labels that are shown once they have been set."""

SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
WAITS: Final = (0.001, 0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 30.0)


class PrometheusRecorder:
    """The recorder of one process.

    Args:
        place: The process's number among its siblings, from 0.
        registry: Where the metrics are registered; the values are read from files.
    """

    def __init__(self, place: int, registry: CollectorRegistry) -> None:
        values.ValueClass = _values_below(place)
        counter, histogram = partial(Counter, registry=registry), partial(Histogram, registry=registry)
        processes = Gauge(
            "pressroom_processes", "Processes that run.", ["version"], registry=registry, multiprocess_mode="livesum"
        )
        self._requests = counter("pressroom_requests", "Answered requests.", ["method", "route", "status"])
        self._seconds = histogram(
            "pressroom_request_seconds",
            "Time from a request's head to the end of its answer.",
            ["method", "route"],
            buckets=SECONDS,
        )
        verdicts = counter("pressroom_limiter_verdicts", "Verdicts of the rate limits.", ["what", "verdict"])
        self._verdicts = cache(verdicts.labels)  # to look labels up takes longer than to count
        self._waits = histogram("pressroom_pool_wait_seconds", "Waits for a connection to PostgreSQL.", buckets=WAITS)
        self._round_trips = counter("pressroom_database_round_trips", "Statements sent to PostgreSQL.")
        self._deliveries = counter("pressroom_deliveries", "Attempts to deliver, by what became of it.", ["outcome"])
        self._runs = counter("pressroom_job_runs", "Runs of jobs, by how they ended.", ["kind", "outcome"])
        self._sweeps = counter("pressroom_sweeps", "Clean-ups, by how they ended.", ["sweep", "outcome"])
        self._slow_steps = counter("pressroom_slow_steps", "Steps that held the event loop, by function.", ["function"])
        self._slow_seconds = counter("pressroom_slow_step_seconds", "Time of these steps, by function.", ["function"])
        latest = partial(Gauge, registry=registry, multiprocess_mode="livemostrecent")
        self._overdue = latest(
            "pressroom_deliveries_overdue_seconds", "For how long the endpoint that waits longest has been due."
        )
        self._jobs = latest("pressroom_jobs", "Jobs that wait, and that were given up.", ["kind", "state"])
        self._kinds: set[tuple[str, str]] = set()
        self._partitions = latest(
            "pressroom_partitions_ahead_seconds", "For how long a table on PostgreSQL has partitions.", ["table"]
        )
        self._partitioned: set[str] = set()
        self._make_level = latest
        self._levels: dict[str, Gauge] = {}
        self._of_request: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        processes.labels(__version__).set(1)

    def request(self, method: str, route: str, status: int, milliseconds: int) -> None:
        # Methods of unknown paths are the client's to choose: each would be a label, and labels are never given up.
        key = (method if route else "any", route, status // 100)
        if (found := self._of_request.get(key)) is None:
            labels = (key[0], route or "none")
            found = self._requests.labels(*labels, f"{key[2]}xx"), self._seconds.labels(*labels)
            self._of_request[key] = found
        count, seconds = found
        count.inc()
        seconds.observe(milliseconds / 1_000)

    def verdict(self, what: str, refused_by: str | None) -> None:
        self._verdicts(what, refused_by or "admitted").inc()

    def pool_waited(self, seconds: float) -> None:
        self._waits.observe(seconds)

    def round_trip(self) -> None:
        self._round_trips.inc()

    def delivery(self, outcome: str) -> None:
        self._deliveries.labels(outcome).inc()

    def job(self, kind: str, outcome: str) -> None:
        self._runs.labels(kind, outcome).inc()

    def sweep(self, name: str, outcome: str) -> None:
        self._sweeps.labels(name, outcome).inc()

    def slow_step(self, function: str, seconds: float) -> None:
        self._slow_steps.labels(function).inc()
        self._slow_seconds.labels(function).inc(seconds)

    def overdue(self, seconds: float) -> None:
        self._overdue.set(seconds)

    def jobs(self, state: str, counts: Mapping[str, int]) -> None:
        self._kinds |= {(kind, state) for kind in counts}
        for kind, of_state in self._kinds:
            if of_state == state:
                # Kinds without jobs too: a gauge that is not set keeps its last value for ever.
                self._jobs.labels(kind, state).set(counts.get(kind, 0))

    def partitions(self, table: str, seconds: float) -> None:
        self._partitioned.add(table)
        self._partitions.labels(table).set(seconds)

    def level(self, metric: str, value: float) -> None:
        # A gauge shows 0 from when it is made, which would be a full disk.
        if metric not in self._levels:
            self._levels[metric] = self._make_level(metric, LEVELS[metric])
        self._levels[metric].set(value)

    def unknown(self) -> None:
        # Not 0, which would look like an empty queue while the database is away.
        self._overdue.set(float("nan"))
        for kind, state in self._kinds:
            self._jobs.labels(kind, state).set(float("nan"))
        for table in self._partitioned:
            self._partitions.labels(table).set(float("nan"))


@contextmanager
def recording(settings: Settings, place: int, *, exposed: bool) -> Generator[None]:
    """Records in this process; with `exposed`, as the only one, it serves the metrics too. Raises SettingError."""
    with exposing(settings) if exposed else nullcontext():
        reserve_files(values_folder(settings), place)
        metrics.recorder = PrometheusRecorder(place, CollectorRegistry())
        try:
            yield
        finally:
            metrics.recorder = None


def reserve_files(folder: Path, place: int) -> None:
    """Reserves space for the values: a process that writes to a mapped file on a full disk is killed.

    Each file gets its name when it has its size: what reads the metrics cannot read an empty one.
    """
    with _kept_in(folder):
        for kind, size in RESERVED.items():
            values_file = folder / f"{kind}_{place}.db"
            if values_file.exists():
                continue
            new = values_file.with_suffix(".new")
            with new.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, size)
            new.rename(values_file)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)


@contextmanager
def _kept_in(folder: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise SettingError(f"The values of metrics cannot be kept in {folder}: {error.strerror}.") from None


@contextmanager
def exposing(settings: Settings) -> Generator[Callable[[int], None]]:
    """Serves the metrics of this process and its siblings; yields a function for the place of a process that ended.

    Files of an earlier run are removed from the folder. Raises SettingError when it cannot listen.
    """
    folder = values_folder(settings)
    with MetricsEndpoint(settings.metrics_host, settings.metrics_port or 0) as endpoint:
        shutil.rmtree(folder, ignore_errors=True)
        with _kept_in(folder):
            folder.mkdir(mode=0o700, parents=True)
        endpoint.serve(partial(_render, folder))
        try:
            yield partial(_forget_live_values, folder)
        finally:
            endpoint.close()
            shutil.rmtree(folder, ignore_errors=True)


def values_folder(settings: Settings) -> Path:
    """Returns the folder of the values: one for each address and port, since these belong to one server alone."""
    return settings.data_dir / "metrics" / f"{settings.metrics_host}_{settings.metrics_port}"


def _render(folder: Path) -> bytes:
    """Returns all values as text."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(folder))
    return generate_latest(registry)


def _values_below(place: int) -> type[values.MutexValue]:
    """Returns the class of values that are kept in the files of a place."""
    make = cast("Callable[[Callable[[], int]], type[values.MutexValue]]", values.MultiProcessValue)  # pyright: ignore  # its types are not stated
    return make(lambda: place)


def _forget_live_values(folder: Path, place: int) -> None:
    """Removes the gauges of the process that had this place, which has ended."""
    multiprocess.mark_process_dead(place, str(folder))  # pyright: ignore  # its types are not stated
