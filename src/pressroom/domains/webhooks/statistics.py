"""How an endpoint answered, by hour and by day: counts, and percentiles of its time. Pure."""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from pressroom.clock import DAY, HOUR
from pressroom.domains.webhooks.models import CodeClass, EndpointFigures, ListedWebhook

HOURS_SHOWN: Final = 24
DAYS_SHOWN: Final = 30

KEPT: Final = 31 * DAY
"""How long counts are kept, in milliseconds."""

BOUNDS: Final = (20, 50, 100, 200, 350, 500, 750, 1_000, 1_500, 2_000, 3_500, 5_000, 7_500, 10_000)
"""The buckets of the histogram of answer times, by their upper bounds in milliseconds; the last takes the rest."""

OUTCOMES: Final = {
    CodeClass.SUCCESS: "accepted",
    CodeClass.REDIRECT: "redirected",
    CodeClass.CLIENT_ERROR: "refused",
    CodeClass.SERVER_ERROR: "failed",
    CodeClass.NONE: "unanswered",
}
"""The name of the count that each class of answers adds to."""


class Attempts(msgspec.Struct):
    """The attempts of some time by their outcome; `took` are those that were answered, by bucket of BOUNDS."""

    accepted: int = 0
    redirected: int = 0
    refused: int = 0
    failed: int = 0
    unanswered: int = 0
    took: Sequence[int] = (0,) * len(BOUNDS)

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.counts)

    @property
    def counts(self) -> tuple[int, ...]:
        """The counts in the order of OUTCOMES."""
        return self.accepted, self.redirected, self.refused, self.failed, self.unanswered


class AttemptPeriod(Attempts, kw_only=True):
    """The attempts of an hour or a UTC day, which begins at `starts_at` (milliseconds)."""

    starts_at: int


class Statistics(msgspec.Struct):
    """The attempts at an endpoint by hour and by day, oldest first, and those of each whole."""

    hours: list[AttemptPeriod]
    days: list[AttemptPeriod]
    last_day: Attempts
    last_month: Attempts


class EndpointOverview(msgspec.Struct):
    """An endpoint with its figures and the attempts of its last 24 hours."""

    webhook: ListedWebhook
    figures: EndpointFigures
    last_day: Attempts


def bucket(milliseconds: int) -> int:
    """Returns the index in BOUNDS of the bucket of an answer that took so long."""
    return next((place for place, bound in enumerate(BOUNDS) if milliseconds <= bound), len(BOUNDS) - 1)


def percentile(took: Sequence[int], share: float) -> int | None:
    """Returns the time (milliseconds) within which `share` of the answers came; None without an answer.

    Within a bucket answers count as spread evenly.
    """
    wanted = share * sum(took)
    if not wanted:
        return None
    below = 0
    for place, number in enumerate(took):
        if number and below + number >= wanted:
            start = BOUNDS[place - 1] if place else 0
            return round(start + (BOUNDS[place] - start) * (wanted - below) / number)
        below += number
    return BOUNDS[-1]


def combined(parts: Iterable[Attempts]) -> Attempts:
    """Returns the sum of attempts."""
    whole = Attempts()
    for part in parts:
        for name in OUTCOMES.values():
            setattr(whole, name, getattr(whole, name) + getattr(part, name))
        whole.took = [one + other for one, other in zip(whole.took, part.took, strict=True)]
    return whole


def summed_up(hours: dict[int, Attempts], days: dict[int, Attempts], now: int) -> Statistics:
    """Returns the statistics at `now` (milliseconds) of counts by hour and by day since 1970."""
    by_hour = _periods(hours, now, HOUR, HOURS_SHOWN)
    by_day = _periods(days, now, DAY, DAYS_SHOWN)
    return Statistics(by_hour, by_day, combined(by_hour), combined(by_day))


def _periods(found: dict[int, Attempts], now: int, length: int, number: int) -> list[AttemptPeriod]:
    last = now // length
    return [
        AttemptPeriod(**msgspec.structs.asdict(found.get(place, _NONE)), starts_at=place * length)
        for place in range(last - number + 1, last + 1)
    ]


_NONE: Final = Attempts()
