"""The fair queue: who is served when, and who leaves when there are no places left."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pressroom.fair_queue import FairQueue

Step = tuple[str, bool]


def test_addresses_are_served_one_after_the_other() -> None:
    queue = FairQueue[str](10)
    for item in ("a1", "a2", "a3", "b1", "c1", "c2"):
        assert queue.join(item[0], item) is None

    assert [queue.next() for _ in range(7)] == ["a1", "b1", "c1", "a2", "c2", "a3", None]


def test_the_last_of_the_longest_line_leaves_first() -> None:
    queue = FairQueue[str](3)
    for item in ("a1", "a2", "a3"):
        queue.join("a", item)

    assert queue.join("a", "a4") == "a4"
    assert queue.join("b", "b1") == "a3"
    assert queue.join("b", "b2") == "b2", "then their line would be as long as the longest"
    assert queue.join("c", "c1") == "a2"
    assert queue.join("d", "d1") == "d1", "everybody has one place"
    assert [queue.next() for _ in range(4)] == ["a1", "b1", "c1", None]


def test_leaving_waiter_is_not_served() -> None:
    queue = FairQueue[str](3)
    queue.join("a", "a1")
    queue.join("a", "a2")

    assert (queue.leave("a", "a1"), queue.leave("a", "a1"), queue.leave("b", "a2")) == (True, False, False)
    assert (len(queue), queue.next(), queue.next(), len(queue)) == (1, "a2", None, 0)


def test_rejoined_item_needs_no_place_and_goes_first_in_its_line() -> None:
    queue = FairQueue[str](1, 1)
    queue.join("a", "new")
    queue.rejoin("a", "begun")
    queue.rejoin("b", "begun too")

    assert queue.join("c", "c") == "c"
    assert [queue.next() for _ in range(4)] == ["begun", "begun too", "new", None]


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.booleans()), max_size=60), st.integers(1, 6))
def test_places_are_shared(steps: list[Step], places: int) -> None:
    queue, waiting = FairQueue[tuple[str, int]](places), list[tuple[str, int]]()
    for number, (address, serves) in enumerate(steps):
        if serves:
            served = queue.next()
            assert (served is None) is (not waiting)
            if served is not None:
                assert served == next(item for item in waiting if item[0] == served[0]), "in the order of the line"
                waiting.remove(served)
            continue
        item = (address, number)
        displaced = queue.join(address, item)
        waiting.append(item)
        if displaced is not None:
            counts = Counter(who for who, _ in waiting)
            assert counts[displaced[0]] == max(counts.values()), "nobody leaves for a longer line"
            waiting.remove(displaced)
        assert len(queue) == len(waiting) <= places
