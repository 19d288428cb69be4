"""Processes that share one target: counters of a dead one stay, and its gauges go."""

import http.client
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from pressroom.errors import SettingError
from pressroom.metrics import prometheus
from pressroom.metrics.endpoint import MetricsEndpoint
from pressroom.metrics.prometheus import exposing, values_folder
from pressroom.settings import Settings
from tests.services.ports import free_port

MEMBER = """
import os, sys
from pathlib import Path
from pressroom import metrics
from pressroom.metrics.prometheus import recording
from pressroom.settings import Settings
settings = Settings({"PRESSROOM_DATA_DIR": sys.argv[1], "PRESSROOM_METRICS_PORT": sys.argv[2]})
with recording(settings, int(sys.argv[3]), exposed=False):
    metrics.recorder.request("GET", "/", 200, 3)
    metrics.recorder.overdue(7)
    os._exit(9)
"""
EMPTIED = MEMBER.replace(
    "metrics.recorder.overdue(7)",
    'metrics.recorder.jobs("waiting", {"mail": 2}); metrics.recorder.jobs("waiting", {"media": 3})',
)
"""Counts jobs of a kind that are done at the next count."""


def settings_for(folder: Path) -> Settings:
    return Settings({"PRESSROOM_DATA_DIR": str(folder), "PRESSROOM_METRICS_PORT": str(free_port())})


def run_member(settings: Settings, place: int, program: str = MEMBER) -> None:
    """A process that records and then dies without a word."""
    command = [sys.executable, "-c", program, str(settings.data_dir), str(settings.metrics_port), str(place)]
    assert subprocess.run(command, check=False, timeout=120).returncode == 9


def read(settings: Settings) -> dict[str, float]:
    """The sum of each metric's values, by its name."""
    connection = http.client.HTTPConnection("127.0.0.1", settings.metrics_port, timeout=60)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found[sample.name] = found.get(sample.name, 0) + sample.value
    return found


def test_counts_of_the_dead_stay_and_their_gauges_go(tmp_path: Path) -> None:
    settings = settings_for(tmp_path)
    with exposing(settings) as note_end:
        for place in (0, 1):
            run_member(settings, place)
        both = read(settings)
        assert (both["pressroom_processes"], both["pressroom_requests_total"]) == (2, 2)
        note_end(1)
        one = read(settings)
        assert (one["pressroom_processes"], one["pressroom_requests_total"]) == (1, 2)
        note_end(0)
        none = read(settings)
        assert none["pressroom_requests_total"] == none["pressroom_request_seconds_count"] == 2
        assert not {"pressroom_processes", "pressroom_deliveries_overdue_seconds"} & none.keys()
        run_member(settings, 1)
        again = read(settings)
        assert (again["pressroom_processes"], again["pressroom_requests_total"]) == (1, 3)


def test_kind_without_jobs_has_none(tmp_path: Path) -> None:
    settings = settings_for(tmp_path)
    with exposing(settings):
        run_member(settings, 0, EMPTIED)

        assert read(settings)["pressroom_jobs"] == 3


def test_leftovers_of_an_earlier_run_are_ignored(tmp_path: Path) -> None:
    settings = settings_for(tmp_path)
    left = values_folder(settings) / "counter_7.db"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"\xff" * 100)
    with exposing(settings):
        assert read(settings) == {}
        assert not left.exists()


def test_an_end_right_after_the_begin_is_without_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong: list[object] = []
    monkeypatch.setattr(threading, "excepthook", wrong.append)
    for _ in range(50):
        endpoint = MetricsEndpoint("127.0.0.1", 0)
        endpoint.serve(bytes)
        endpoint.close()
    assert wrong == []


def test_files_have_their_size_before_their_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_for(tmp_path)

    def fill(descriptor: int, start: int, size: int) -> None:
        assert read(settings) == {}
        os.truncate(descriptor, start + size)

    with exposing(settings):
        monkeypatch.setattr(os, "posix_fallocate", fill)
        monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "")
        prometheus.reserve_files(values_folder(settings), 0)
        assert read(settings) == {}


def test_unreadable_metric_files_are_500(tmp_path: Path) -> None:
    settings = settings_for(tmp_path)
    with exposing(settings):
        (values_folder(settings) / "counter_0.db").write_bytes(b"\xff")
        connection = http.client.HTTPConnection("127.0.0.1", settings.metrics_port, timeout=60)
        connection.request("GET", "/metrics")
        assert connection.getresponse().status == 500
        connection.close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "metrics").write_text("a file")
    with pytest.raises(SettingError) as refused, exposing(settings_for(tmp_path)):
        pass
    assert str(tmp_path / "metrics") in refused.value.message
