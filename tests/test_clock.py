"""Times in and out."""

import time

import pytest

from pressroom.clock import DAY, HOUR, MINUTE, SettableClock, SystemClock, iso, next_midnight, parse_iso, seconds_until
from pressroom.server.clock_watch import skew_notice


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


class Machine:
    """A machine's two clocks, in milliseconds: one that somebody sets, and one that nobody sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.wall, self.awake = 1_800_000_000_000, 5_000
        monkeypatch.setattr(time, "time_ns", lambda: self.wall * 1_000_000)
        monkeypatch.setattr(time, "clock_gettime_ns", lambda _: self.awake * 1_000_000)

    def run(self, milliseconds: int) -> None:
        """Lets both run on."""
        self.wall += milliseconds
        self.awake += milliseconds


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


def test_a_clock_that_was_ahead_heals_without_running_backwards(machine: Machine) -> None:
    clock = SystemClock()
    machine.wall += 10_000
    ahead = clock.now()
    machine.wall -= 10_000
    times = [ahead]
    for _ in range(25):
        machine.run(1_000)
        assert clock.wall() == machine.wall, "what others compare with their clocks is right at once"
        times.append(clock.now())
    assert times == sorted(set(times)), "never back, never still"
    assert times[-1] == machine.wall
    assert times[10] == ahead + 5_000, "at half the speed until then"


@pytest.mark.parametrize("jump", [1, MINUTE])
def test_a_clock_set_ahead_by_a_minute_is_followed_at_once(machine: Machine, jump: int) -> None:
    clock = SystemClock()
    machine.wall += jump
    assert (clock.now(), clock.held, clock.is_settled) == (machine.wall, 0, True)


@pytest.mark.parametrize("jump", [MINUTE + 1, HOUR, 365 * DAY])
def test_a_clock_set_further_ahead_is_followed_after_an_hour(machine: Machine, jump: int) -> None:
    clock = SystemClock()
    start, before = clock.now(), machine.awake
    machine.wall += jump
    for _ in range(60):
        assert (clock.now(), clock.held) == (start + machine.awake - before, jump)
        assert not clock.is_settled
        machine.run(MINUTE)
    assert (clock.now(), clock.held, clock.is_settled) == (machine.wall, 0, True)


def test_each_jump_must_stand_for_an_hour_by_itself(machine: Machine) -> None:
    clock = SystemClock()
    start, before = clock.now(), machine.awake
    machine.wall += HOUR
    clock.now()
    machine.run(50 * MINUTE)
    clock.now()
    machine.wall += HOUR
    clock.now()
    machine.run(50 * MINUTE)
    assert clock.now() == start + machine.awake - before
    machine.wall -= 2 * HOUR
    assert (clock.now(), clock.held, clock.is_settled) == (machine.wall, 0, True), "it was corrected"
    machine.run(HOUR)
    clock.now()
    machine.wall += 2 * HOUR
    assert clock.held == 2 * HOUR, "an earlier jump to there says nothing of this one"


@pytest.mark.parametrize("jump", [-DAY, -HOUR, HOUR, DAY])
def test_steady_time_ignores_changes_of_the_clock(machine: Machine, jump: int) -> None:
    clock = SystemClock()
    start = clock.steady()
    machine.wall += jump
    for _ in range(100):
        clock.now()
        machine.run(MINUTE)
    assert clock.steady() == start + 100 * MINUTE


@pytest.mark.parametrize("behind", [1, HOUR, DAY - 1])
def test_the_time_begins_after_the_newest_record(machine: Machine, behind: int) -> None:
    clock = SystemClock()
    clock.start_after(machine.wall + behind)
    assert clock.now() == machine.wall + behind + 1
    assert clock.is_settled
    machine.run(2 * behind + 2)
    assert clock.now() == machine.wall, "at half the speed until it has caught up"


def test_a_record_of_another_time_is_not_followed(machine: Machine) -> None:
    clock = SystemClock()
    clock.start_after(machine.wall + 30 * DAY)
    assert clock.now() == machine.wall


@pytest.mark.parametrize(("since", "settled"), [(MINUTE, True), (MINUTE + 2, False), (DAY, False)])
def test_a_start_long_after_the_newest_record_is_in_doubt_for_an_hour(
    machine: Machine, since: int, settled: bool
) -> None:
    clock = SystemClock()
    clock.start_after(machine.wall - since)
    assert (clock.now(), clock.is_settled) == (machine.wall, settled)
    machine.run(HOUR)
    assert clock.is_settled


def test_a_database_s_clock_is_followed_at_once_and_in_doubt_for_an_hour(machine: Machine) -> None:
    clock = SystemClock()
    clock.follow(machine.wall + 7 * DAY)
    assert (clock.now(), clock.is_settled) == (machine.wall + 7 * DAY, True)
    clock.follow(machine.wall + 8 * DAY)
    assert (clock.now(), clock.is_settled) == (machine.wall + 8 * DAY, False)
    machine.run(HOUR)
    assert (clock.now(), clock.is_settled) == (machine.wall + 8 * DAY, True)


@pytest.mark.parametrize(
    ("jump", "said"), [(0, None), (2 * HOUR, "was set 7,200 s ahead"), (-HOUR, "is 3,600 s behind the newest records")]
)
def test_clock_jump_is_reported_to_the_operator(machine: Machine, jump: int, said: str | None) -> None:
    clock = SystemClock()
    clock.now()
    machine.wall += jump
    notice = skew_notice(clock)
    assert notice is None if said is None else said in (notice or "")


def test_a_set_clock_stands_still() -> None:
    clock = SettableClock(5)
    assert (clock.now(), clock.now()) == (5, 5)
    clock.advance(10)
    assert clock.now() == 15
