"""The quick suite leaves out tests that exist."""

from pathlib import Path

import pytest

from tests.harness.quick import BOTH_ENGINES, JOURNEY, LARGE, PROCESSES, is_left_out

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("prefix", [*PROCESSES, JOURNEY, *LARGE, *BOTH_ENGINES])
def test_prefix_names_tests_of_today(prefix: str) -> None:
    path, _, function = prefix.partition("::")
    files = list(ROOT.glob(f"{path}*"))

    assert files, prefix
    assert not function or f"def {function}" in files[0].read_text("utf-8")


def test_folders_and_files_without_quick_tests_are_left_out() -> None:
    left_out = [prefix for prefix in (*PROCESSES, *LARGE) if "::" not in prefix]

    assert [prefix for prefix in left_out if not is_left_out(Path(prefix))] == []
    assert is_left_out(Path("tests/e2e/test_kill.py"))
    of_some = {Path(prefix.partition("::")[0]) for prefix in LARGE if "::" in prefix}
    assert [path for path in (Path("tests"), Path("tests/pages"), *of_some) if is_left_out(path)] == []
