"""The times of retries and probes, and the health of an endpoint after a batch."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressroom.clock import DAY, MINUTE, SECOND
from pressroom.domains.webhooks.retries import (
    MOST_FAILURES,
    AttemptResult,
    EndpointHealth,
    health_after,
    retry_after,
    wait_after,
)

NOW = 1_800_000_000_000
WAITS = [1 * MINUTE, 2 * MINUTE, 4 * MINUTE, 8 * MINUTE]

FINE = AttemptResult(succeeded=True)
BAD = AttemptResult(succeeded=False)
GONE = AttemptResult(succeeded=False, gone=True)

endings = st.one_of(
    st.just(FINE), st.just(GONE), st.builds(AttemptResult, succeeded=st.just(False), asked=st.integers(0, DAY))
)
jitters = st.floats(-1, 1)


def http_date(seconds: float) -> str:
    """The HTTP date so many seconds after NOW."""
    return format_datetime(datetime.fromtimestamp(NOW / SECOND, UTC) + timedelta(seconds=seconds), usegmt=True)


def test_waits_double_from_one_minute_to_eight() -> None:
    assert [wait_after(failures, WAITS, 0) for failures in (1, 2, 3, 4)] == WAITS


def test_longest_wait_repeats_after_further_failures() -> None:
    assert wait_after(40, WAITS, 0) == 8 * MINUTE


def test_the_jitter_moves_a_wait_by_a_tenth_at_the_most() -> None:
    assert (wait_after(1, WAITS, -1), wait_after(1, WAITS, 1)) == (54 * SECOND, 66 * SECOND)


@given(st.integers(1, 100), jitters)
def test_no_wait_is_off_by_more_than_a_tenth(failures: int, jitter: float) -> None:
    plain = wait_after(failures, WAITS, 0)
    assert abs(wait_after(failures, WAITS, jitter) - plain) <= plain / 10


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("0", 0), ("1", 1), ("120", 120), (" 120\t", 120), ("007", 7), ("86400", 86_400)],
)
def test_retry_after_in_seconds(header: str, seconds: int) -> None:
    assert retry_after(header, NOW) == seconds * SECOND


@pytest.mark.parametrize("seconds", [1, 90, 3_600])
def test_retry_after_as_a_date(seconds: int) -> None:
    assert retry_after(http_date(seconds), NOW) == seconds * SECOND


@pytest.mark.parametrize("seconds", [0, -1, -86_400 * 365 * 10])
def test_retry_after_in_the_past_is_no_wait(seconds: int) -> None:
    assert retry_after(http_date(seconds), NOW) == 0


def test_retry_after_in_obsolete_date_formats() -> None:
    moment = datetime.fromtimestamp(NOW / SECOND, UTC) + timedelta(seconds=90)
    assert retry_after(moment.strftime("%A, %d-%b-%y %H:%M:%S GMT"), NOW) == 90 * SECOND
    assert retry_after(format_datetime(moment.astimezone()), NOW) == 90 * SECOND


@pytest.mark.parametrize(
    "header",
    [
        "86401",
        "99999999999",
        "9" * 5_000,
        http_date(86_401),
        http_date(86_400 * 3_000),
        "Fri, 31 Dec 9999 23:59:59 GMT",
    ],
)
def test_retry_after_is_a_day_at_most(header: str) -> None:
    assert retry_after(header, NOW) == DAY


@pytest.mark.parametrize(
    "header",
    [
        "",
        " ",
        "-1",
        "-99999999999",
        "+5",
        "1.5",
        "1e3",
        "soon",
        "12 seconds",
        "\u0661\u0662",
        "\u00b2",
        "0x10",
        "NaN",
        "infinity",
        "Fri, 99 Dec 2027 00:00:00 GMT",
        "Fri, 31 Dec 99999 23:59:59 GMT",
        "Mon, 01 Jan 0000 00:00:00 GMT",
        "Fri, 15 Jan 2027 09:00:00 +9999999",
        "2027-01-15T09:00:00Z",
        "," * 5_000,
        "(" * 100_000,
        "Fri, " * 30,
        "\x00\x01",
        "\ud800",
    ],
)
def test_unreadable_retry_after_is_ignored(header: str) -> None:
    assert retry_after(header, NOW) == 0


@given(st.text() | st.from_regex(r"\A[A-Za-z]{3}, [0-9]+ [A-Za-z]{3} [0-9]+ [0-9:]+ [-+A-Z0-9]+\Z"))
def test_any_retry_after_is_a_wait_of_at_most_a_day(header: str) -> None:
    assert 0 <= retry_after(header, NOW) <= DAY


def test_an_empty_batch_changes_nothing() -> None:
    before = EndpointHealth(3, NOW - 1)
    assert health_after(before, [], NOW, WAITS, 0) == before


@pytest.mark.parametrize("failures", [0, 1, 2, 3])
def test_failure_counts_and_delays_the_next_probe(failures: int) -> None:
    before = EndpointHealth(failures, NOW if failures else None)
    assert health_after(before, [BAD], NOW, WAITS, 0) == EndpointHealth(failures + 1, NOW + WAITS[failures])


def test_failures_in_flight_together_count_as_one() -> None:
    assert health_after(EndpointHealth(0), [BAD] * 8, NOW, WAITS, 0) == EndpointHealth(1, NOW + MINUTE)


def test_the_fifth_failure_in_a_row_disables() -> None:
    after = health_after(EndpointHealth(4, NOW), [BAD], NOW, WAITS, 0)
    assert (after.failures, after.probe_at) == (5, None)
    assert after.disabled_reason == "5 deliveries in a row failed."


def test_final_success_resets_failures() -> None:
    assert health_after(EndpointHealth(4, NOW), [BAD, FINE], NOW, WAITS, 0) == EndpointHealth(0)


def test_success_before_a_failure_restarts_the_count() -> None:
    assert health_after(EndpointHealth(4, NOW), [FINE, BAD], NOW, WAITS, 0) == EndpointHealth(1, NOW + MINUTE)


def test_410_disables_at_once_despite_successes() -> None:
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
def test_health_after_batches_matches_a_naive_endpoint(turns: list[tuple[list[AttemptResult], float]]) -> None:
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
