"""docs/scaling.md equals its calculator's result for the costs in docs/performance.md."""

from pathlib import Path

import msgspec
import pytest
from benchmarks.scaling import Assumed, Use, measured, on_postgres, page

DOCS = Path(__file__).parents[2] / "docs"
COSTS = (DOCS / "performance.md").read_text("utf-8")


def test_tables_of_the_page_follow_from_the_measured_costs() -> None:
    text = (DOCS / "scaling.md").read_text("utf-8")
    assert text == page(measured(COSTS), Assumed(), text), "run `python -m benchmarks.scaling`"


def test_missing_cost_is_named() -> None:
    with pytest.raises(LookupError, match="Redis, CPU"):
        measured(COSTS.replace("| Redis, CPU, µs |", "| Redis |"))


def test_pieces_are_as_many_as_leave_each_of_them_room() -> None:
    assert [Use("disk", share, "").pieces for share in (0.7, 0.71, 7)] == [1, 2, 10]
    assert [Use("disk", share, "", bound=1).pieces for share in (0.9, 1.1)] == [1, 2]


def test_expiring_rows_take_no_more_space_in_later_years() -> None:
    costs = msgspec.structs.replace(measured(COSTS), postgres_lasting=0)
    (space,) = (use for use in on_postgres(1, costs, Assumed()) if use.resource.startswith("disk, after"))
    month = Assumed().month * costs.postgres_month + 86_400 * costs.postgres_day
    assert space.share == pytest.approx(month / Assumed().space)
