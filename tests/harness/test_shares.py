"""The order in which modules begin."""

from pathlib import Path

from tests.harness.shares import APART, BY_THE_TEST, FILLING, LONG, in_turn

REPOSITORY = Path(__file__).parents[2]


def test_every_name_is_that_of_a_module_or_folder() -> None:
    assert [name for name in (*BY_THE_TEST, *LONG, *FILLING) if not (REPOSITORY / name).exists()] == []


def test_long_modules_begin_early_one_by_one_and_those_that_fill_gaps_last() -> None:
    others = [f"tests/test_{number}.py" for number in range(2 * APART)]
    first, second = LONG[1], LONG[0]

    order = in_turn([*FILLING, *others, first, second])

    assert order == [first, *others[: APART - 1], second, *others[APART - 1 :], *FILLING]


def test_a_run_of_a_few_modules_keeps_them_all() -> None:
    assert in_turn([*LONG]) == [*LONG]
    assert in_turn([]) == []
