"""Measurements for Prometheus (docs/operations.md#metrics).

`recorder` is None unless PRESSROOM_METRICS_PORT is given: then nothing is measured, and nothing of it is loaded.
"""

from collections.abc import Mapping
from typing import Protocol


class Recorder(Protocol):
    """Counts and times the work of this process. Each method takes a few microseconds and never raises."""

    def request(self, method: str, route: str, status: int, milliseconds: int) -> None:
        """Notes an answered request; `route` is the path as the route declares it, empty where there is none."""
        ...

    def verdict(self, what: str, refused_by: str | None) -> None:
        """Notes the verdict on one of `what` (requests, writes): the limit that refused it, None for none."""
        ...

    def pool_waited(self, seconds: float) -> None:
        """Notes how long a connection to PostgreSQL was waited for."""
        ...

    def round_trip(self) -> None:
        """Notes a statement that was sent to PostgreSQL."""
        ...

    def delivery(self, outcome: str) -> None:
        """Notes the state of a delivery after a saved attempt."""
        ...

    def job(self, kind: str, outcome: str) -> None:
        """Notes how a run of a job ended."""
        ...

    def sweep(self, name: str, outcome: str) -> None:
        """Notes how a clean-up ended."""
        ...

    def slow_step(self, function: str, seconds: float) -> None:
        """Notes a step of the event loop that took long, by the function that ran."""
        ...

    def overdue(self, seconds: float) -> None:
        """Sets for how long the endpoint that has waited longest has been due."""
        ...

    def jobs(self, state: str, counts: Mapping[str, int]) -> None:
        """Sets how many jobs of each kind are in a state; kinds that are not named have none."""
        ...

    def partitions(self, table: str, seconds: float) -> None:
        """Sets for how long from now on a table has partitions."""
        ...

    def level(self, metric: str, value: float) -> None:
        """Sets the value of one of the metrics of `prometheus.LEVELS`; NaN while it is not known."""
        ...

    def unknown(self) -> None:
        """Marks the figures that are looked up in the database as unknown."""
        ...


recorder: Recorder | None = None
"""The recorder of this process."""


def count_round_trip() -> None:
    """Notes a statement that is sent to PostgreSQL."""
    if recorder is not None:
        recorder.round_trip()
