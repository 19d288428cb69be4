"""Rate limits told the slow way: from a log of all attempts, with nothing forgotten."""

from dataclasses import dataclass

from pressroom.clock import DAY, MINUTE
from pressroom.domains.limits.models import Rates


@dataclass(frozen=True)
class Attempt:
    """One attempt and its verdict."""

    at: int
    is_post: bool
    admitted: bool


class NaiveLog:
    """Every attempt ever made with one key."""

    def __init__(self, rates: Rates) -> None:
        self.rates = rates
        self.attempts: list[Attempt] = []

    def decide(self, now: int, *, is_post: bool) -> bool:
        """Whether the attempt at `now` is admitted; it is logged either way."""
        admitted = not self.refusers(now, is_post=is_post)
        self.attempts.append(Attempt(now, is_post, admitted))
        return admitted

    def refusers(self, now: int, *, is_post: bool) -> set[str]:
        """The limits that an attempt at `now` would meet."""
        recent = [each for each in self.attempts if each.at > now - MINUTE]
        found: set[str] = set()
        if len(recent) >= self.rates.per_minute:
            found.add("minute")
        if is_post and sum(each.is_post for each in recent) >= self.rates.posts_per_minute:
            found.add("posts")
        # A bucket of a minute counts until its last millisecond is 24 hours old.
        day = sum(each.admitted and (each.at // MINUTE + 1) * MINUTE + DAY > now for each in self.attempts)
        if self.rates.per_day and day >= self.rates.per_day:
            found.add("day")
        return found

    def admitted_within(self, window: int, *, posts: bool = False) -> int:
        """The most attempts that were admitted in any `window` milliseconds."""
        times = [each.at for each in self.attempts if each.admitted and (each.is_post or not posts)]
        return max((sum(at <= other < at + window for other in times) for at in times), default=0)
