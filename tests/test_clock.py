"""Times in and out."""

import time

import pytest

from pressroom.clock import DAY, SettableClock, SystemClock, iso, next_midnight, parse_iso, seconds_until


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_795_190_892_345, "2026-11-20T16:08:12.345Z"),
        (951_782_400_001, "2000-02-29T00:00:00.001Z"),
        (2_187_708_318_490, "2039-04-29T16:45:18.490Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ],
)
def test_times_are_sent_with_milliseconds_and_read_back(at: int, text: str) -> None:
    assert iso(at) == text
    assert parse_iso(text) == at


@pytest.mark.parametrize(
    "text", ["2026-11-20T16:08:12.345+00:00", "2026-11-20T17:08:12.345+01:00", "2026-11-20T17:08:12.345+0100"]
)
def test_other_zones_and_forms_are_understood(text: str) -> None:
    assert parse_iso(text) == 1_795_190_892_345


@pytest.mark.parametrize(
    "text",
    ["2026-11-20T16:08:12", "2026-11-20💩16:08:12Z", "2026-11-20", "tomorrow", "", "1795190892345"],
)
def test_a_time_without_a_zone_is_none(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # any reason will do
        parse_iso(text)


@pytest.mark.parametrize("text", ["0001-01-01T00:00+23:59", "9999-12-31T23:59-00:01"])
def test_a_time_that_its_zone_carries_out_of_the_calendar_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="1 to 9999"):
        parse_iso(text)


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"])
def test_the_ends_of_the_calendar_are_written_as_they_are_read(text: str) -> None:
    assert iso(parse_iso(text)) == text


@pytest.mark.parametrize(
    ("later", "now", "seconds"), [(1_000, 0, 1), (1_001, 0, 2), (1, 0, 1), (0, 0, 1), (60_000, 1, 60)]
)
def test_seconds_are_rounded_up(later: int, now: int, seconds: int) -> None:
    assert seconds_until(later, now) == seconds


def test_midnight_is_always_ahead() -> None:
    assert next_midnight(0) == next_midnight(DAY - 1) == DAY
    assert next_midnight(DAY) == 2 * DAY


def test_a_clock_that_is_set_back_runs_on(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SystemClock()
    before = clock.now()
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() - 3_600 * 10**9)
    assert clock.now() >= before
    monkeypatch.setattr(time, "time_ns", lambda: real() + 3_600 * 10**9)
    assert clock.now() >= before + 3_600_000


def test_a_clock_that_was_ahead_heals_without_running_backwards(monkeypatch: pytest.MonkeyPatch) -> None:
    wall, monotonic = 1_800_000_000_000, 0
    monkeypatch.setattr(time, "time_ns", lambda: wall * 1_000_000)
    monkeypatch.setattr(time, "monotonic_ns", lambda: monotonic * 1_000_000)
    clock = SystemClock()
    wall += 10_000
    ahead = clock.now()
    wall -= 10_000
    times = [ahead]
    for _ in range(25):
        wall, monotonic = wall + 1_000, monotonic + 1_000
        assert clock.wall() == wall, "what others compare with their clocks is right at once"
        times.append(clock.now())
    assert times == sorted(set(times)), "never back, never still"
    assert times[-1] == wall
    assert times[10] == ahead + 5_000, "at half the speed until then"


def test_a_set_clock_stands_still() -> None:
    clock = SettableClock(5)
    assert (clock.now(), clock.now()) == (5, 5)
    clock.advance(10)
    assert clock.now() == 15
