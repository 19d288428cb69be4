"""Waiting lines: who is served when, and who leaves when there are no places left."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pressroom.domains.accounts.lines import Lines

Step = tuple[str, bool]


def test_lines_are_served_in_turn() -> None:
    lines = Lines[str](10)
    for item in ("a1", "a2", "a3", "b1", "c1", "c2"):
        assert lines.join(item[0], item) is None

    assert [lines.next() for _ in range(7)] == ["a1", "b1", "c1", "a2", "c2", "a3", None]


def test_the_last_of_the_longest_line_leaves_first() -> None:
    lines = Lines[str](3)
    for item in ("a1", "a2", "a3"):
        lines.join("a", item)

    assert lines.join("a", "a4") == "a4"
    assert lines.join("b", "b1") == "a3"
    assert lines.join("b", "b2") == "b2", "then their line would be as long as the longest"
    assert lines.join("c", "c1") == "a2"
    assert lines.join("d", "d1") == "d1", "everybody has one place"
    assert [lines.next() for _ in range(4)] == ["a1", "b1", "c1", None]


def test_who_leaves_is_not_served() -> None:
    lines = Lines[str](3)
    lines.join("a", "a1")
    lines.join("a", "a2")

    assert (lines.leave("a", "a1"), lines.leave("a", "a1"), lines.leave("b", "a2")) == (True, False, False)
    assert (len(lines), lines.next(), lines.next(), len(lines)) == (1, "a2", None, 0)


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.booleans()), max_size=60), st.integers(1, 6))
def test_places_are_shared(steps: list[Step], places: int) -> None:
    lines, waiting = Lines[tuple[str, int]](places), list[tuple[str, int]]()
    for number, (address, serves) in enumerate(steps):
        if serves:
            served = lines.next()
            assert (served is None) is (not waiting)
            if served is not None:
                assert served == next(item for item in waiting if item[0] == served[0]), "in the order of the line"
                waiting.remove(served)
            continue
        item = (address, number)
        displaced = lines.join(address, item)
        waiting.append(item)
        if displaced is not None:
            counts = Counter(who for who, _ in waiting)
            assert counts[displaced[0]] == max(counts.values()), "nobody leaves for a longer line"
            waiting.remove(displaced)
        assert len(lines) == len(waiting) <= places
