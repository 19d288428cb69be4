"""Identifiers and numbers in base 62."""

import random
from concurrent.futures import ProcessPoolExecutor
from heapq import merge
from itertools import pairwise
from multiprocessing import get_context

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
    place_of,
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
def test_time_of_a_wrong_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a ULID"):
        time_of(text)


def test_random_text_uses_the_whole_alphabet() -> None:
    assert set(random_base62(20_000)) == set(BASE62)


def test_ids_of_overlapping_transactions_sort_as_made() -> None:
    made = [new_id(now) for now in (1_000, 1_001, 1_000, 1_002, 1_001, 1_000)]
    assert made[0] < made[2] < made[5]
    assert made[1] < made[4]


def test_ids_beside_another_share_its_place_and_sort_as_made() -> None:
    account = new_id(1_000)
    beside, elsewhere = zip(*[(new_id(2_000, account), new_id(2_000)) for _ in range(2_000)], strict=True)

    assert {place_of(each) for each in beside} == {place_of(account)} == {account[-3:]}
    assert len({place_of(each) for each in elsewhere}) > 1_000
    made = [each for pair in zip(beside, elsewhere, strict=True) for each in pair]
    assert made == sorted(made)


PROCESSES = 8
IDS = 125_000
"""Of each process. The test was run once with 1,250,000, ten million in all (docs/decisions/0018-cells.md)."""


def _make(seed: int) -> list[str]:
    """Returns ids of four milliseconds for eight accounts, in the order of their making. Checks the place of each."""
    chance = random.Random(seed)
    accounts = [new_id(1) for _ in range(8)]
    owners = chance.choices(accounts, k=IDS)
    made = [new_id(1_000 + step * 4 // IDS, owner) for step, owner in enumerate(owners)]
    assert all(place_of(each) == place_of(owner) for each, owner in zip(made, owners, strict=True))
    return made


def test_ids_of_many_processes_in_few_milliseconds_differ_and_keep_their_place() -> None:
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as processes:
        made = list(processes.map(_make, range(PROCESSES)))

    assert all(each == sorted(each) for each in made)
    together = list(merge(*made))
    assert len(together) == PROCESSES * IDS
    assert all(before < after for before, after in pairwise(together))
    assert {len(each) for each in together} == {26}
