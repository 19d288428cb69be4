"""The arithmetic of rolling windows, without I/O (docs/limits.md#rolling-windows).

An attempt is in the minute window while it is less than 60 seconds old. The window holds the latest attempts, refused
ones too, up to the limit: more would not change the next decision. The day window counts admitted requests in buckets
of a minute, and drops a bucket when its last millisecond is 24 hours old. So a request may wait up to a minute longer
than it had to, but the limit is never exceeded. `windows.lua` is the same in Redis; `guard.py` says `retryAfter` of it.
"""

from collections import Counter, deque
from collections.abc import Sequence

import msgspec

from pressroom.clock import DAY, MINUTE
from pressroom.domains.limits.models import DAY_LIMIT, MINUTE_LIMIT, POSTS_LIMIT, KeyWrite, Left, Rates, Verdict


def is_abuse(refusals: Sequence[int], now: int, rates: Rates) -> bool:
    """Returns whether the latest refusals, at these times (milliseconds), the last at `now`, amount to abuse."""
    return len(refusals) >= rates.abuse_refusals and now - refusals[-rates.abuse_refusals] < rates.abuse_window


def abuse_reason(rates: Rates) -> str:
    """Returns why the key was revoked, for its owner and in the event."""
    return f"{rates.abuse_refusals:,} refused requests within {rates.abuse_window // 1000:,} seconds."


class StoredWindows(msgspec.Struct):
    """The windows of a key as the database stores them. All times are in milliseconds since 1970.

    `day` holds pairs of a minute since 1970 and its requests. `saved_at` is when the windows were copied for saving.
    """

    attempts: list[int]
    posts: list[int]
    day: list[tuple[int, int]]
    refusals: list[int]
    saved_at: int = 0


class Windows:
    """All the windows of one key."""

    __slots__ = ("_attempts", "_day", "_day_frees_at", "_day_total", "_posts", "_rates", "_refusals")

    def __init__(self, rates: Rates, stored: StoredWindows | None = None) -> None:
        self._rates = rates
        self._attempts = deque[int](stored.attempts if stored else (), rates.per_minute)
        self._posts = deque[int](stored.posts if stored else (), rates.posts_per_minute)
        self._refusals = deque[int](stored.refusals if stored else (), rates.abuse_refusals)
        self._day = deque[list[int]]([list(bucket) for bucket in stored.day] if stored else ())
        self._day_total = sum(count for _, count in self._day)
        self._day_frees_at = _leaves_at(self._day[0]) if self._day else 0

    @property
    def rates(self) -> Rates:
        """Returns the limits."""
        return self._rates

    def limit(self, rates: Rates) -> None:
        """Replaces the limits. Counts stay, as far as they can change a decision."""
        self._rates = rates
        # A lower limit forgets older attempts: raised again within the minute, it does not count them.
        self._attempts = deque(self._attempts, rates.per_minute)
        self._posts = deque(self._posts, rates.posts_per_minute)
        self._refusals = deque(self._refusals, rates.abuse_refusals)

    def attempt(self, now: int, *, is_post: bool) -> Verdict:
        """Charges an attempt at `now` (milliseconds) after checking all limits; returns the verdict.

        An admitted attempt counts in every window, a refused one in the minute windows but not in the day.
        """
        now = self._pass_time(now)
        rates, attempts = self._rates, self._attempts
        # Written out for each request: a call costs as much as the comparison in it.
        if len(attempts) >= rates.per_minute or is_post or 0 < rates.per_day <= self._day_total:
            refused_by = self._refusers(is_post=is_post)
            if is_post:
                self._posts.append(now)
            if refused_by:
                # Refused attempts count in the minute: a program that hammers stays refused until it pauses.
                attempts.append(now)
                return self._refuse(now, refused_by, is_post=is_post)
        attempts.append(now)
        if rates.per_day:
            self._count_in_day(now)
        return self._verdict(now, is_post=is_post)

    def peek(self, now: int, *, is_post: bool) -> Verdict:
        """Returns the state of the windows at `now` (milliseconds); charges nothing."""
        return self._verdict(self._pass_time(now), is_post=is_post)

    def look(self, now: int) -> tuple[Left, Left]:
        """Returns the remaining requests of the minute and of the day at `now` (milliseconds); charges nothing."""
        self._pass_time(now)
        rates, attempts, day = self._rates, self._attempts, self._day
        minute_ends = attempts[0] + MINUTE if attempts else None
        day_ends = self._day_frees_at if day else None
        return (
            Left(rates.per_minute, max(0, rates.per_minute - len(attempts)), minute_ends),
            Left(rates.per_day, max(0, rates.per_day - self._day_total), day_ends),
        )

    def stored(self, now: int) -> StoredWindows:
        """Returns the windows to store at `now` (milliseconds)."""
        day = [(minute, count) for minute, count in self._day]
        return StoredWindows(list(self._attempts), list(self._posts), day, list(self._refusals), now)

    def _refusers(self, *, is_post: bool) -> list[str]:
        """Returns the limits that refuse another request."""
        rates = self._rates
        refused_by: list[str] = []
        if len(self._attempts) >= rates.per_minute:
            refused_by.append(MINUTE_LIMIT)
        if is_post and len(self._posts) >= rates.posts_per_minute:
            refused_by.append(POSTS_LIMIT)
        if 0 < rates.per_day <= self._day_total:
            refused_by.append(DAY_LIMIT)
        return refused_by

    def _refuse(self, now: int, refused_by: list[str], *, is_post: bool) -> Verdict:
        rates, refusals = self._rates, self._refusals
        refusals.append(now)
        free = {MINUTE_LIMIT: now, POSTS_LIMIT: now, DAY_LIMIT: now}
        if len(self._attempts) >= rates.per_minute:
            free[MINUTE_LIMIT] = self._attempts[0] + MINUTE
        if is_post and len(self._posts) >= rates.posts_per_minute:
            free[POSTS_LIMIT] = self._posts[0] + MINUTE
        if 0 < rates.per_day <= self._day_total:
            free[DAY_LIMIT] = self._day_free_at()
        verdict = self._verdict(now, is_post=is_post)
        # The limit that frees last: a retry at the time of another one would be refused again.
        verdict.refused_by = max(refused_by, key=lambda limit: free[limit])
        verdict.free_at = max(free.values())
        verdict.abused = is_abuse(refusals, now, rates)
        return verdict

    def _verdict(self, now: int, *, is_post: bool) -> Verdict:
        """Returns the state of the windows, as of an attempt that is admitted."""
        rates, attempts, total = self._rates, self._attempts, self._day_total
        verdict = Verdict(
            now,
            rates.per_minute - len(attempts),
            attempts[0] + MINUTE if attempts else now,
            rates.per_day - total if total < rates.per_day else 0,
            (self._day_frees_at if total <= rates.per_day else self._day_free_at()) if total else now,
        )
        if is_post:
            verdict.posts_remaining = rates.posts_per_minute - len(self._posts)
            verdict.posts_frees_at = self._posts[0] + MINUTE if self._posts else now
        return verdict

    def _pass_time(self, now: int) -> int:
        """Drops requests that have left their window; returns the time to use, which never runs backwards for a key."""
        attempts, posts, day = self._attempts, self._posts, self._day
        # After a clock was set back. Out of order, an attempt would leave its window before an older one.
        if attempts and attempts[-1] > now:
            now = attempts[-1]
        while attempts and now - attempts[0] >= MINUTE:
            attempts.popleft()
        while posts and now - posts[0] >= MINUTE:
            posts.popleft()
        while day and self._day_frees_at <= now:
            self._day_total -= day.popleft()[1]
            self._day_frees_at = _leaves_at(day[0]) if day else 0
        return now

    def _count_in_day(self, now: int) -> None:
        minute, day = now // MINUTE, self._day
        if day and day[-1][0] == minute:
            day[-1][1] += 1
        else:
            day.append([minute, 1])
            self._day_frees_at = _leaves_at(day[0])
        self._day_total += 1

    def _day_free_at(self) -> int:
        """Returns when (milliseconds) enough buckets have left the day for one more request."""
        left = self._day_total
        for bucket in self._day:
            left -= bucket[1]
            if left < self._rates.per_day:
                return _leaves_at(bucket)
        return 0


def _leaves_at(bucket: Sequence[int]) -> int:
    """Returns when (milliseconds) a bucket of the day, a minute and its requests, has left its 24 hours."""
    return (bucket[0] + 1) * MINUTE + DAY


def merged(one: StoredWindows, other: StoredWindows) -> StoredWindows:
    """Returns the union of two copies of a key's windows; each may lack requests of the other."""
    days = dict(one.day)
    for minute, count in other.day:
        # The maximum, not the sum: both copies hold the same requests, but for the last ones.
        days[minute] = max(count, days.get(minute, 0))
    return StoredWindows(
        attempts=_either(one.attempts, other.attempts),
        posts=_either(one.posts, other.posts),
        day=sorted(days.items()),
        refusals=_either(one.refusals, other.refusals),
        saved_at=max(one.saved_at, other.saved_at),
    )


def moved(stored: StoredWindows, by: int) -> StoredWindows:
    """Returns the windows with `by` milliseconds added to all times. Buckets of the day move by whole minutes, rounded
    up, so that none leaves its 24 hours early."""
    if by == 0:
        return stored
    minutes = -(-by // MINUTE)
    return StoredWindows(
        attempts=[at + by for at in stored.attempts],
        posts=[at + by for at in stored.posts],
        day=[(minute + minutes, count) for minute, count in stored.day],
        refusals=[at + by for at in stored.refusals],
        saved_at=stored.saved_at + by,
    )


def latest_of(stored: StoredWindows) -> StoredWindows:
    """Returns the part of a key's windows that requests of the last second can have changed."""
    return StoredWindows(stored.attempts, stored.posts, stored.day[-2:], [], stored.saved_at)


def with_writes(stored: StoredWindows, writes: Sequence[KeyWrite]) -> StoredWindows:
    """Returns the windows stored before a crash plus the writes since, each by an admitted request that was not saved.

    A write counts at its own time, which is never before its request's, so it leaves no window too early. A request
    that was admitted just before the save and wrote just after counts twice (docs/limits.md#after-a-crash).
    """
    days = Counter(dict(stored.day))
    days.update(write.at // MINUTE for write in writes)
    return StoredWindows(
        attempts=sorted([*stored.attempts, *(write.at for write in writes)]),
        posts=sorted([*stored.posts, *(write.at for write in writes if write.is_post)]),
        day=sorted(days.items()),
        refusals=stored.refusals,
        saved_at=stored.saved_at,
    )


def not_after(stored: StoredWindows, now: int) -> StoredWindows:
    """Returns the stored windows with times after `now` (milliseconds) set to `now`.

    Otherwise a clock that was set back would lock the key out.
    """
    return StoredWindows(
        attempts=[min(at, now) for at in stored.attempts],
        posts=[min(at, now) for at in stored.posts],
        day=[(min(minute, now // MINUTE), count) for minute, count in stored.day],
        refusals=[min(at, now) for at in stored.refusals],
        saved_at=min(stored.saved_at, now),
    )


def _either(one: list[int], other: list[int]) -> list[int]:
    return sorted((Counter(one) | Counter(other)).elements())
