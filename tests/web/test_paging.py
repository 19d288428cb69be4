"""Lists in pages."""

import pytest

from pressroom.errors import Invalid
from pressroom.ids import BEYOND, new_id
from pressroom.web.paging import Page, read_page, split

CURSOR = "01MCC5RM008AES41NG5QK8NWCS"


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("", Page(20)),
        ("limit=1", Page(1)),
        ("limit=100", Page(100)),
        ("limit=007", Page(7)),
        ("limit=%35", Page(5)),
        (f"cursor={CURSOR}", Page(20, CURSOR)),
        (f"limit=5&cursor={CURSOR}&utm_source=x", Page(5, CURSOR)),
        ("limit=5&limit=6", Page(6)),
        ("%ff&&&===;limit=5", Page(20)),
    ],
)
def test_valid_limit_and_cursor_are_read(query: str, page: Page) -> None:
    assert read_page(query) == page


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("limit=0", ["limit"]),
        ("limit=101", ["limit"]),
        ("limit=1000", ["limit"]),
        ("limit=-5", ["limit"]),
        ("limit=%2B5", ["limit"]),
        ("limit=5%0a", ["limit"]),
        ("limit=%EF%BC%95", ["limit"]),
        ("limit", ["limit"]),
        ("cursor=", ["cursor"]),
        ("cursor=" + CURSOR.lower(), ["cursor"]),
        ("cursor=" + CURSOR[1:], ["cursor"]),
        ("cursor=" + CURSOR + "%0a", ["cursor"]),
        ("cursor=" + "A" * 25 + "%00", ["cursor"]),
        ("cursor=x&limit=x", ["limit", "cursor"]),
    ],
)
def test_wrong_limit_or_cursor_is_refused(query: str, fields: list[str]) -> None:
    with pytest.raises(Invalid) as refusal:
        read_page(query)
    assert [field_error.field for field_error in refusal.value.field_errors] == fields


def test_the_first_page_begins_after_every_identifier() -> None:
    assert all("" == Page(1).after < new_id(at) < Page(1).before == BEYOND for at in (0, 1_800_000_000_000, 2**48 - 1))


@pytest.mark.parametrize(
    ("rows", "shown", "cursor"),
    [
        ([], [], None),
        (["c"], ["c"], None),
        (["c", "b"], ["c", "b"], None),
        (["c", "b", "a"], ["c", "b"], "b"),
    ],
)
def test_split(rows: list[str], shown: list[str], cursor: str | None) -> None:
    assert split(rows, Page(2), str) == (shown, cursor)
