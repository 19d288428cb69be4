"""When a delivery is tried again."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressroom.clock import DAY, MINUTE, SECOND
from pressroom.domains.webhooks.retry import retry_after, wait_after

NOW = 1_800_000_000_000
WAITS = [1 * MINUTE, 2 * MINUTE, 4 * MINUTE, 8 * MINUTE]

jitters = st.floats(-1, 1)


def http_date(seconds: float) -> str:
    """The HTTP date so many seconds after NOW."""
    return format_datetime(datetime.fromtimestamp(NOW / SECOND, UTC) + timedelta(seconds=seconds), usegmt=True)


def test_waits_double_from_one_minute_to_eight() -> None:
    assert [wait_after(failures, WAITS, 0) for failures in (1, 2, 3, 4)] == WAITS


def test_the_longest_wait_stays_when_failures_go_on() -> None:
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
def test_a_date_that_is_past_asks_for_nothing(seconds: int) -> None:
    assert retry_after(http_date(seconds), NOW) == 0


def test_the_other_forms_of_a_date_that_http_knows() -> None:
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
def test_invalid_preference_is_ignored(header: str) -> None:
    assert retry_after(header, NOW) == 0


@given(st.text() | st.from_regex(r"\A[A-Za-z]{3}, [0-9]+ [A-Za-z]{3} [0-9]+ [0-9:]+ [-+A-Z0-9]+\Z"))
def test_whatever_a_receiver_sends_is_a_wait_of_at_most_a_day(header: str) -> None:
    assert 0 <= retry_after(header, NOW) <= DAY
