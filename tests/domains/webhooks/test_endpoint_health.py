"""How an endpoint stands after a batch."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressroom.clock import DAY, MINUTE
from pressroom.domains.webhooks.endpoint_health import MOST_FAILURES, AttemptResult, EndpointHealth, health_after

NOW = 1_800_000_000_000
WAITS = [1 * MINUTE, 2 * MINUTE, 4 * MINUTE, 8 * MINUTE]

FINE = AttemptResult(succeeded=True)
BAD = AttemptResult(succeeded=False)
GONE = AttemptResult(succeeded=False, gone=True)

endings = st.one_of(
    st.just(FINE), st.just(GONE), st.builds(AttemptResult, succeeded=st.just(False), asked=st.integers(0, DAY))
)
jitters = st.floats(-1, 1)


def test_an_empty_batch_changes_nothing() -> None:
    before = EndpointHealth(3, NOW - 1)
    assert health_after(before, [], NOW, WAITS, 0) == before


@pytest.mark.parametrize("failures", [0, 1, 2, 3])
def test_a_failure_counts_and_puts_the_next_probe_off(failures: int) -> None:
    before = EndpointHealth(failures, NOW if failures else None)
    assert health_after(before, [BAD], NOW, WAITS, 0) == EndpointHealth(failures + 1, NOW + WAITS[failures])


def test_those_that_were_in_flight_together_fail_as_one() -> None:
    assert health_after(EndpointHealth(0), [BAD] * 8, NOW, WAITS, 0) == EndpointHealth(1, NOW + MINUTE)


def test_the_fifth_failure_in_a_row_disables() -> None:
    after = health_after(EndpointHealth(4, NOW), [BAD], NOW, WAITS, 0)
    assert (after.failures, after.probe_at) == (5, None)
    assert after.disabled_reason == "5 deliveries in a row failed."


def test_a_success_at_the_end_forgives_everything() -> None:
    assert health_after(EndpointHealth(4, NOW), [BAD, FINE], NOW, WAITS, 0) == EndpointHealth(0)


def test_a_success_before_a_failure_starts_the_count_anew() -> None:
    assert health_after(EndpointHealth(4, NOW), [FINE, BAD], NOW, WAITS, 0) == EndpointHealth(1, NOW + MINUTE)


def test_gone_disables_at_once_whatever_else_ended_well() -> None:
    after = health_after(EndpointHealth(0), [FINE, GONE, FINE], NOW, WAITS, 0)
    assert (after.probe_at, after.disabled_reason) == (None, "The endpoint answered 410 Gone.")


def test_retry_after_lengthens_the_wait_and_never_shortens_it() -> None:
    short, long = AttemptResult(succeeded=False, asked=1), AttemptResult(succeeded=False, asked=3 * MINUTE)
    assert health_after(EndpointHealth(0), [short], NOW, WAITS, 0).probe_at == NOW + MINUTE
    assert health_after(EndpointHealth(0), [short, long, short], NOW, WAITS, 0).probe_at == NOW + 3 * MINUTE


class NaiveEndpoint:
    """An endpoint as the contract tells it, told of whole turns and keeping the list of all that happened."""

    def __init__(self) -> None:
        self.history: list[str] = []
        self.disabled = False

    def turn(self, turn: list[AttemptResult]) -> None:
        """Failures of one turn are one failure, noted where the last of them ended."""
        self.disabled = self.disabled or any(ending.gone for ending in turn)
        if any(ending.succeeded for ending in turn):
            self.history.append("success")
        if turn and not turn[-1].succeeded:
            self.history.append("failure")
        self.disabled = self.disabled or self.failures >= MOST_FAILURES

    @property
    def failures(self) -> int:
        """How many failures the history ends with."""
        return len(self.history) - max((n + 1 for n, each in enumerate(self.history) if each == "success"), default=0)


@given(st.lists(st.tuples(st.lists(endings, max_size=9), jitters), max_size=12))
def test_batches_come_to_what_a_naive_endpoint_counts(turns: list[tuple[list[AttemptResult], float]]) -> None:
    naive, standing, now = NaiveEndpoint(), EndpointHealth(0), NOW
    for turn, jitter in turns:
        naive.turn(turn)
        standing = health_after(standing, turn, now, WAITS, jitter)
        assert (standing.disabled_reason is not None) == naive.disabled
        if naive.disabled:
            return
        assert standing.failures == naive.failures
        assert (standing.probe_at is None) == (naive.failures == 0)
        if turn and standing.probe_at is not None:
            asked = max(ending.asked for ending in turn)
            least = WAITS[naive.failures - 1] * 9 // 10
            assert max(least, asked) <= standing.probe_at - now <= max(WAITS[naive.failures - 1] * 11 // 10, asked)
        now += DAY
