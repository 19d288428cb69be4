"""Whatever is sent with a key, the answer is one that the document speaks of."""

from pathlib import Path

from tests.fuzz.fuzzer import Report, fuzz
from tests.fuzz.slow_steps import found_each_time

REQUESTS = 5_000
SEED = 20_261_121
"""Always the same, so that a run which fails once fails again; `make fuzz` picks another each time."""


def test_thousands_of_fuzzed_requests_are_answered_as_documented(tmp_path: Path) -> None:
    reports: list[Report] = []

    def find() -> set[str]:
        reports.append(fuzz(tmp_path / str(len(reports)), REQUESTS, SEED))
        return {step.function for step in reports[-1].too_slow}

    slow = found_each_time(find)
    report = reports[0]

    assert not report.complaints, str(report)
    assert not report.unreached, f"nothing succeeded here; give tests/fuzz/subjects.py what it takes\n{report}"
    assert report.sent >= REQUESTS, str(report)
    assert not slow
