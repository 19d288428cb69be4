"""docs/scaling.md is what its calculator makes of the costs in docs/performance.md."""

from pathlib import Path

import pytest
from benchmarks.scaling import Assumed, Need, measured, page

DOCS = Path(__file__).parents[2] / "docs"
COSTS = (DOCS / "performance.md").read_text("utf-8")


def test_the_page_follows_from_the_measured_costs() -> None:
    assert (DOCS / "scaling.md").read_text("utf-8") == page(measured(COSTS), Assumed()), (
        "run `python -m benchmarks.scaling`"
    )


def test_a_cost_that_is_gone_from_the_tables_is_named() -> None:
    with pytest.raises(LookupError, match="Redis, CPU"):
        measured(COSTS.replace("| Redis, CPU, µs |", "| Redis |"))


def test_pieces_are_as_many_as_leave_each_of_them_room() -> None:
    assert [Need("disk", needed, 10, "bytes", "").pieces for needed in (7, 7.1, 70)] == [1, 2, 10]
