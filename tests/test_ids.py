"""Identifiers and numbers in base 62."""

import pytest
from ulid import ULID

from pressroom.ids import (
    BASE62,
    LATEST,
    base62_of_32_bits,
    first_id,
    id_before,
    last_id,
    new_id,
    random_base62,
    time_of,
)


@pytest.mark.parametrize(("number", "text"), [(0, "000000"), (61, "00000z"), (62, "000010"), (2**32 - 1, "4gfFC3")])
def test_numbers_in_base_62(number: int, text: str) -> None:
    assert base62_of_32_bits(number) == text


def test_identifiers_sort_by_their_time() -> None:
    made = [new_id(1_800_000_000_000 + step) for step in range(1000)]
    assert made == sorted(made)
    assert len({new_id(1) for _ in range(1000)}) == 1000
    assert {len(each) for each in made} == {26}


def test_the_id_before_another() -> None:
    assert id_before("01M7WVE9SS0371E5H43QNHTM00") == "01M7WVE9SS0371E5H43QNHTKZZ"
    assert id_before("0" * 26) == "0" * 26


@pytest.mark.parametrize("at", [0, 1, 31, 1_800_000_000_000, LATEST])
def test_the_time_of_an_id(at: int) -> None:
    assert time_of(first_id(at)) == time_of(last_id(at)) == at == ULID.from_str(first_id(at)).milliseconds


@pytest.mark.parametrize(
    "text", ["", "0" * 25, "0" * 27, "8" + "0" * 25, "0" * 25 + "U", "0" * 25 + "\n", "-" + "0" * 25]
)
def test_the_time_of_what_is_no_id(text: str) -> None:
    with pytest.raises(ValueError, match="not a ULID"):
        time_of(text)


def test_random_text_uses_the_whole_alphabet() -> None:
    assert set(random_base62(20_000)) == set(BASE62)


def test_ids_of_overlapping_transactions_sort_as_made() -> None:
    made = [new_id(now) for now in (1_000, 1_001, 1_000, 1_002, 1_001, 1_000)]
    assert made[0] < made[2] < made[5]
    assert made[1] < made[4]
