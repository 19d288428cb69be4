"""Thousands of small cases in a few tests: one set-up for all of a group, and every case that fails is named."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

T = TypeVar("T")


def try_each(cases: Iterable[T], check: Callable[[T], None]) -> None:
    """Checks every case, those behind one that fails as well.

    Args:
        cases: What to try. Their text is their name.
        check: Asserts what holds for one case.

    Raises:
        Failed: At least one check failed. Each such case is named, with what its check said.
    """
    failures = [f"{case}\n{said}" for case in cases if (said := _failure(case, check)) is not None]
    if failures:
        pytest.fail("\n\n".join([f"{len(failures)} cases failed:", *failures]), pytrace=False)


def _failure(case: T, check: Callable[[T], None]) -> str | None:
    try:
        check(case)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None
