"""The windows against a naive log of all requests, over random clocks; in memory and in Redis alike."""

import asyncio
import uuid

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pressroom.clock import DAY, MINUTE, SECOND, SettableClock, seconds_until
from pressroom.domains.limits.models import Rates, Verdict
from pressroom.domains.limits.redis import RedisLimiter
from pressroom.domains.limits.windows import StoredWindows, Windows, latest_of
from tests.domains.limits.naive import NaiveLog
from tests.services.redis import RedisServer

RATES = Rates(per_minute=6, per_day=25, posts_per_minute=3, abuse_refusals=5, abuse_window=10 * MINUTE)
LOWER = Rates(per_minute=2, per_day=20, posts_per_minute=1, abuse_refusals=5, abuse_window=10 * MINUTE)
HIGHER = Rates(per_minute=9, per_day=40, posts_per_minute=5, abuse_refusals=5, abuse_window=10 * MINUTE)
SIGNED_IN = Rates(per_minute=6, per_day=0, posts_per_minute=1, abuse_refusals=1, abuse_window=0, what="writes")
START = 1_800_000_012_345

# Steps cluster around the edges of the windows, where mistakes are made.
STEPS = st.one_of(
    st.integers(0, 3_000),
    st.sampled_from([0, 1, MINUTE - 1, MINUTE, MINUTE + 1, 10 * SECOND, DAY - MINUTE, DAY, DAY + MINUTE]),
    st.integers(0, 3 * MINUTE),
)
CHANGES = st.lists(st.tuples(STEPS, st.booleans(), st.sampled_from([RATES, LOWER, HIGHER])), max_size=80)
REQUESTS = st.lists(st.tuples(STEPS, st.booleans()), max_size=120)


@given(REQUESTS)
@example([(0, False)] * 70)
@example([(MINUTE // 6, False)] * 100)
@settings(max_examples=300)
def test_memory_decides_as_a_log_of_all_requests_would(requests: list[tuple[int, bool]]) -> None:
    windows, log, now = Windows(RATES), NaiveLog(RATES), START
    for step, is_post in requests:
        now += step
        verdict = windows.attempt(now, is_post=is_post)
        refusers = log.refusers(now, is_post=is_post)
        assert log.decide(now, is_post=is_post) == (verdict.refused_by is None)
        if verdict.refused_by is not None:
            assert verdict.refused_by in refusers
            check_retry_after_is_exact(log, verdict, is_post=is_post)
        recent = [each.at for each in log.attempts if each.at > now - MINUTE][-RATES.per_minute :]
        assert verdict.remaining == max(0, RATES.per_minute - len(recent))
        assert verdict.reset_at == recent[0] + MINUTE
    assert log.admitted_within(MINUTE) <= RATES.per_minute
    assert log.admitted_within(MINUTE, posts=True) <= RATES.posts_per_minute
    assert log.admitted_within(DAY) <= RATES.per_day


def check_retry_after_is_exact(log: NaiveLog, verdict: Verdict, *, is_post: bool) -> None:
    """After retryAfter seconds one request passes; a second earlier it would not."""
    seconds = seconds_until(verdict.free_at, verdict.now)
    assert not log.refusers(verdict.now + seconds * SECOND, is_post=is_post)
    assert log.refusers(verdict.now + (seconds - 1) * SECOND, is_post=is_post)


@given(REQUESTS, st.sampled_from([LOWER, HIGHER]), st.integers(0, 60))
@settings(max_examples=200)
def test_changed_limits_admit_no_more_than_each_of_them(
    requests: list[tuple[int, bool]], after: Rates, cut: int
) -> None:
    windows, admitted, now = Windows(RATES), list[tuple[int, bool]](), START
    for place, (step, is_post) in enumerate(requests):
        now += step
        rates = after if place >= cut else RATES
        windows.limit(rates)
        verdict = windows.attempt(now, is_post=is_post)
        if verdict.refused_by is None:
            admitted.append((now, is_post))
            assert sum(now - at < MINUTE for at, _ in admitted) <= rates.per_minute
            assert sum(now - at < MINUTE for at, post in admitted if post) <= rates.posts_per_minute or not is_post
            assert sum(now - at < DAY for at, _ in admitted) <= rates.per_day


def test_sixty_pass_in_any_sixty_seconds_and_the_sixty_first_does_not() -> None:
    windows = Windows(Rates())
    verdicts = [windows.attempt(START + 500 * number, is_post=False) for number in range(61)]
    assert [verdict.refused_by for verdict in verdicts] == [None] * 60 + ["minute"]
    assert verdicts[-1].free_at == START + 500 + MINUTE


@pytest.mark.parametrize(("after", "refused_by"), [(MINUTE - 1, "posts"), (MINUTE, None)])
def test_a_post_leaves_its_window_after_sixty_seconds_to_the_millisecond(after: int, refused_by: str | None) -> None:
    windows = Windows(Rates())
    for _ in range(10):
        windows.attempt(START, is_post=True)
    assert windows.attempt(START + after, is_post=True).refused_by == refused_by


def test_the_latest_counts_are_those_of_two_minutes_of_the_day() -> None:
    """A second may lie in two of them."""
    stored = StoredWindows([1, 2], [2], [(7, 1), (8, 2), (9, 3)], [4], 5)
    assert latest_of(stored) == StoredWindows([1, 2], [2], [(8, 2), (9, 3)], [], 5)


def test_each_minute_leaves_the_day_by_itself() -> None:
    windows, start = Windows(Rates(per_day=2)), START // MINUTE * MINUTE
    for at in (start, start + 30 * MINUTE):
        assert windows.attempt(at, is_post=False).refused_by is None
    first_leaves = start + MINUTE + DAY
    assert windows.attempt(first_leaves - 1, is_post=False).free_at == first_leaves
    verdicts = [windows.attempt(first_leaves, is_post=False) for _ in range(2)]
    assert [verdict.refused_by for verdict in verdicts] == [None, "day"]
    assert verdicts[1].free_at == first_leaves + 30 * MINUTE


def test_hot_looping_extends_the_lock_out() -> None:
    windows = Windows(Rates())
    for number in range(60):
        windows.attempt(START + number, is_post=False)
    verdicts = [windows.attempt(START + step * 500, is_post=False) for step in range(1, 240)]
    assert {verdict.refused_by for verdict in verdicts} == {"minute"}
    assert windows.attempt(verdicts[-1].free_at - 1, is_post=False).refused_by == "minute"


def test_clock_set_back_admits_no_further_request() -> None:
    windows = Windows(RATES)
    for _ in range(RATES.per_minute):
        assert windows.attempt(START, is_post=False).refused_by is None
    assert windows.attempt(START - DAY, is_post=False).refused_by == "minute"


@given(REQUESTS, st.integers(0, 120))
@settings(max_examples=100)
def test_windows_survive_being_stored(requests: list[tuple[int, bool]], cut: int) -> None:
    kept, stored, now = Windows(RATES), Windows(RATES), START
    for place, (step, is_post) in enumerate(requests):
        now += step
        if place == cut:
            state = msgspec.json.encode(stored.stored(now))
            stored = Windows(RATES, msgspec.json.decode(state, type=StoredWindows))
        assert kept.attempt(now, is_post=is_post) == stored.attempt(now, is_post=is_post)


@pytest.fixture(scope="module")
def redis_url(redis_server: RedisServer) -> str:
    return redis_server.url


@given(st.lists(STEPS, max_size=60))
@example([0] * 70)
@settings(max_examples=100)
def test_without_a_limit_of_the_day_the_minute_decides_alone(steps: list[int]) -> None:
    windows, log, now = Windows(SIGNED_IN), NaiveLog(SIGNED_IN), START
    for step in steps:
        now += step
        verdict = windows.attempt(now, is_post=False)
        assert log.decide(now, is_post=False) == (verdict.refused_by is None)
        assert verdict.refused_by in (None, "minute")
        assert not verdict.abused
    assert log.admitted_within(MINUTE) <= SIGNED_IN.per_minute


@given(REQUESTS, st.sampled_from([RATES, SIGNED_IN]))
@example([(MINUTE // 6, False)] * 30, RATES).via("a day that is full")
@example([(0, False)] * 6 + [(-DAY, False)] * 2, RATES).via("a clock that goes back")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_redis_decides_as_memory_does(redis_url: str, requests: list[tuple[int, bool]], rates: Rates) -> None:
    asyncio.run(compare_with_redis(redis_url, requests, rates))


@given(CHANGES)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_redis_decides_as_memory_does_while_limits_change(
    redis_url: str, requests: list[tuple[int, bool, Rates]]
) -> None:
    asyncio.run(compare_changes_with_redis(redis_url, requests))


async def compare_changes_with_redis(url: str, requests: list[tuple[int, bool, Rates]]) -> None:
    """Every verdict, every peek and every look is the same."""
    clock = SettableClock(START)
    limiter, windows, key_id = RedisLimiter(RATES, url, 5, clock), Windows(RATES), uuid.uuid4().hex
    try:
        for step, is_post, rates in requests:
            clock.advance(step)
            windows.limit(rates)
            peeked = await limiter.peek(key_id, is_post=is_post, rates=rates)
            assert peeked == windows.peek(clock.now(), is_post=is_post)
            assert await limiter.look(key_id, rates) == windows.look(clock.now())
            decided = await limiter.attempt(key_id, is_post=is_post, rates=rates)
            assert decided == windows.attempt(clock.now(), is_post=is_post)
    finally:
        await limiter.close()


async def compare_with_redis(url: str, requests: list[tuple[int, bool]], rates: Rates) -> None:
    """Every verdict, every peek and every look is the same."""
    clock = SettableClock(START)
    limiter, windows, key_id = RedisLimiter(rates, url, 5, clock), Windows(rates), uuid.uuid4().hex
    try:
        for step, is_post in requests:
            clock.advance(step)
            for kind in (False, True):
                assert await limiter.peek(key_id, is_post=kind) == windows.peek(clock.now(), is_post=kind)
            assert await limiter.look(key_id) == windows.look(clock.now())
            assert await limiter.attempt(key_id, is_post=is_post) == windows.attempt(clock.now(), is_post=is_post)
    finally:
        await limiter.close()
