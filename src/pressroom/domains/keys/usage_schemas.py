"""Wire shapes of a key's usage (docs/keys.md#usage)."""

from typing import Annotated, Self

import msgspec
from msgspec import Meta

from pressroom.clock import HOUR, MINUTE, iso, iso_or_none, next_midnight, parse_iso
from pressroom.domains.keys.models import DAYS_SHOWN, HOURS_SHOWN, RECENT_REFUSALS, KeyStatus, Period, Refusal, Usage
from pressroom.web.services import Left
from pressroom.web.wire import Time

Count = Annotated[int, Meta(ge=0)]


class PeriodOut(msgspec.Struct, rename="camel"):
    """The requests of an hour or a UTC day, by what became of them."""

    starts_at: Time
    accepted: Annotated[Count, Meta(description="Answered with 2xx or 3xx.")]
    limited: Annotated[Count, Meta(description="429: a rate limit or the daily quota.")]
    refused: Annotated[Count, Meta(description="Any other 4xx.")]
    failed: Annotated[Count, Meta(description="5xx.")]


class LeftOut(msgspec.Struct, rename="camel"):
    """The rest of a limit."""

    limit: Count
    remaining: Count
    resets_at: Annotated[
        Time | None,
        Meta(
            description="Rolling windows: when the oldest counted request leaves the window; null: none is counted. "
            "The quota: the next UTC midnight."
        ),
    ]


class LimitsOut(msgspec.Struct, rename="camel"):
    """The rest of a key's limits, and of the quota that it shares with the account's other keys."""

    minute: LeftOut
    day: LeftOut
    content: LeftOut


class RefusalOut(msgspec.Struct, rename="camel"):
    """A request that was refused with a 4xx."""

    at: Time
    method: str
    route: Annotated[str, Meta(description="The path as the reference names it.", examples=["/api/posts/{id}"])]
    status: int
    error: Annotated[str, Meta(description="The label of the answer's error.")]
    address: Annotated[str, Meta(description="Where the request came from.")]
    request_id: Annotated[str, Meta(description="The answer's X-Request-Id.")]


class KeyUsageOut(msgspec.Struct, rename="camel"):
    """How much a key was used. Counts are written once a second, so the last second may be missing."""

    hours: Annotated[
        list[PeriodOut],
        Meta(min_length=HOURS_SHOWN, max_length=HOURS_SHOWN, description="The last 24 hours, oldest first."),
    ]
    days: Annotated[
        list[PeriodOut],
        Meta(min_length=DAYS_SHOWN, max_length=DAYS_SHOWN, description="The last 30 UTC days, oldest first."),
    ]
    limits: Annotated[LimitsOut | None, Meta(description="Null for a key that is not active.")]
    refusals: Annotated[
        list[RefusalOut], Meta(description="The last 50 refusals, newest first.", max_length=RECENT_REFUSALS)
    ]

    @classmethod
    def example(cls) -> Self:
        return cls(
            hours=_example_periods("2026-07-01T21:00:00.000Z", HOURS_SHOWN, HOUR),
            days=_example_periods("2026-07-01T00:00:00.000Z", DAYS_SHOWN, HOUR * 24),
            limits=LimitsOut(
                LeftOut(60, 57, iso(parse_iso("2026-07-01T21:40:12.000Z") + MINUTE)),
                LeftOut(10_000, 9_882, "2026-07-02T21:03:00.000Z"),
                LeftOut(1_000, 941, "2026-07-02T00:00:00.000Z"),
            ),
            refusals=[
                RefusalOut(
                    at="2026-07-01T21:40:12.118Z",
                    method="DELETE",
                    route="/api/posts/{id}",
                    status=403,
                    error="Missing required scope",
                    address="203.0.113.7",
                    request_id="5f0c2d8be0a94e71",
                )
            ],
        )


def usage_shape(usage: Usage, rates: tuple[Left, Left] | None, quota: int, now: int) -> KeyUsageOut:
    """Returns the usage of a key at `now` (milliseconds).

    `rates` are the requests left in minute and day; None for a key that is not active. `quota` is the account's.
    """
    return KeyUsageOut(
        [_period(period) for period in usage.hours],
        [_period(period) for period in usage.days],
        None if rates is None else _limits(rates, quota, usage.content_used, now),
        [_refusal(refusal) for refusal in usage.refusals],
    )


def is_active(usage: Usage, now: int) -> bool:
    """Returns whether the key can be used at `now` (milliseconds), so that it has limits."""
    return usage.key.status(now) is KeyStatus.ACTIVE


def _period(period: Period) -> PeriodOut:
    return PeriodOut(iso(period.starts_at), period.accepted, period.limited, period.refused, period.failed)


def _limits(rates: tuple[Left, Left], quota: int, used: int, now: int) -> LimitsOut:
    minute, day = rates
    return LimitsOut(_left(minute), _left(day), LeftOut(quota, max(0, quota - used), iso(next_midnight(now))))


def _left(left: Left) -> LeftOut:
    return LeftOut(left.limit, left.remaining, iso_or_none(left.resets_at))


def _refusal(refusal: Refusal) -> RefusalOut:
    return RefusalOut(
        iso(refusal.refused_at),
        refusal.method,
        refusal.route,
        refusal.status,
        refusal.label,
        refusal.address,
        refusal.request_id,
    )


def _example_periods(last: str, number: int, length: int) -> list[PeriodOut]:
    """Returns periods that end with the one that begins at `last`, with requests in the last alone."""
    end = parse_iso(last)
    empty = [PeriodOut(iso(end - place * length), 0, 0, 0, 0) for place in range(number - 1, 0, -1)]
    return [*empty, PeriodOut(last, 118, 3, 1, 0)]
