"""Whatever is sent with a key, the answer is one that the document speaks of."""

from pathlib import Path

from tests.fuzz.fuzzer import fuzz

REQUESTS = 5_000
SEED = 20_261_121
"""Always the same, so that a run which fails once fails again; `make fuzz` picks another each time."""


def test_thousands_of_fuzzed_requests_are_answered_as_documented(tmp_path: Path) -> None:
    report = fuzz(tmp_path, REQUESTS, SEED)

    assert not report.complaints, str(report)
    assert not report.unreached, f"nothing succeeded here; give tests/fuzz/subjects.py what it takes\n{report}"
    assert report.sent >= REQUESTS, str(report)
    assert not report.too_slow, report.too_slow
