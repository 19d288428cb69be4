"""The quick suite leaves out tests that exist."""

from pathlib import Path

import pytest

from tests.harness.quick import BOTH_ENGINES, BROWSERS, LARGE, PROCESSES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("prefix", [*PROCESSES, *BROWSERS, *LARGE, *BOTH_ENGINES])
def test_prefix_names_tests_of_today(prefix: str) -> None:
    path, _, function = prefix.partition("::")
    files = list(ROOT.glob(f"{path}*"))

    assert files, prefix
    assert not function or f"def {function}" in files[0].read_text("utf-8")
