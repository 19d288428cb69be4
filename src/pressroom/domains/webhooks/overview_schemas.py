"""Wire shapes of all endpoints of an account, of an endpoint's statistics, and of sample messages."""

from typing import Annotated, Self

import msgspec
from msgspec import Meta

from pressroom.clock import DAY, HOUR, iso, parse_iso
from pressroom.domains.events.models import EventType
from pressroom.domains.webhooks.schemas import FiguresOut, WebhookOut, figures_shape, webhook_shape
from pressroom.domains.webhooks.statistics import (
    DAYS_SHOWN,
    HOURS_SHOWN,
    Attempts,
    EndpointOverview,
    Statistics,
    percentile,
)
from pressroom.web.wire import Id, NextCursor, Time

Count = Annotated[int, Meta(ge=0)]
Milliseconds = Annotated[int | None, Meta(description="Milliseconds; null: no attempt was answered.")]


class AttemptCountsOut(msgspec.Struct, rename="camel"):
    """The attempts of some time, tests included, by their outcome, and how quickly the receiver answered."""

    accepted: Annotated[Count, Meta(description="Answered with 2xx.")]
    redirected: Annotated[Count, Meta(description="3xx, which is not followed.")]
    refused: Annotated[Count, Meta(description="4xx.")]
    failed: Annotated[Count, Meta(description="5xx.")]
    unanswered: Annotated[Count, Meta(description="No complete answer within 10 seconds.")]
    p50_ms: Annotated[Milliseconds, Meta(description="Half of the answers came within this time.")]
    p95_ms: Annotated[Milliseconds, Meta(description="95 of 100 answers came within this time.")]


class AttemptPeriodOut(AttemptCountsOut, rename="camel", kw_only=True):
    """The attempts of an hour or a UTC day."""

    starts_at: Time


class StatisticsOut(msgspec.Struct, rename="camel"):
    """How an endpoint answered. Times are estimated from a histogram."""

    hours: Annotated[
        list[AttemptPeriodOut],
        Meta(min_length=HOURS_SHOWN, max_length=HOURS_SHOWN, description="The last 24 hours, oldest first."),
    ]
    days: Annotated[
        list[AttemptPeriodOut],
        Meta(min_length=DAYS_SHOWN, max_length=DAYS_SHOWN, description="The last 30 UTC days, oldest first."),
    ]
    last_day: Annotated[AttemptCountsOut, Meta(description="All of `hours` together.")]
    last_month: Annotated[AttemptCountsOut, Meta(description="All of `days` together.")]

    @classmethod
    def example(cls) -> Self:
        counts = AttemptCountsOut(118, 0, 2, 1, 1, 84, 610)
        return cls(
            hours=_example_periods("2026-07-01T21:00:00.000Z", HOURS_SHOWN, HOUR, counts),
            days=_example_periods("2026-07-01T00:00:00.000Z", DAYS_SHOWN, DAY, counts),
            last_day=counts,
            last_month=counts,
        )


class ListedWebhookOut(WebhookOut, rename="camel", kw_only=True):
    """A webhook endpoint in the list of all, with its key and its health."""

    key_id: Id
    key_label: str
    key_has_ended: Annotated[bool, Meta(description="Its key is revoked or has expired: it gets nothing more.")]
    figures: FiguresOut
    last_day: AttemptCountsOut


class AllWebhooksOut(msgspec.Struct, rename="camel"):
    """A page of endpoints, newest first."""

    webhooks: list[ListedWebhookOut]
    next_cursor: NextCursor


class SampleOut(msgspec.Struct):
    """A message as the endpoint would receive it, with example data."""

    event: EventType
    headers: Annotated[dict[str, str], Meta(description="Signed now: receivers accept it for five minutes.")]
    body: Annotated[str, Meta(description="The text that the signature covers.")]


class SamplesOut(msgspec.Struct):
    """A sample message of each kind of event."""

    samples: list[SampleOut]


def counts_shape(attempts: Attempts) -> AttemptCountsOut:
    """Returns attempts by outcome, with percentiles of their times."""
    return AttemptCountsOut(
        accepted=attempts.accepted,
        redirected=attempts.redirected,
        refused=attempts.refused,
        failed=attempts.failed,
        unanswered=attempts.unanswered,
        p50_ms=percentile(attempts.took, 0.5),
        p95_ms=percentile(attempts.took, 0.95),
    )


def statistics_shape(found: Statistics) -> StatisticsOut:
    """Returns how an endpoint answered, as its owner sees it."""
    hours, days = (
        [_period(counts_shape(each), iso(each.starts_at)) for each in periods] for periods in (found.hours, found.days)
    )
    return StatisticsOut(hours, days, counts_shape(found.last_day), counts_shape(found.last_month))


def overview_shape(found: EndpointOverview, now: int) -> ListedWebhookOut:
    """Returns an endpoint in the list of all as its owner sees it at `now` (milliseconds)."""
    webhook = found.webhook
    return ListedWebhookOut(
        **msgspec.structs.asdict(webhook_shape(webhook, now)),
        key_id=webhook.key_id,
        key_label=webhook.key_label,
        key_has_ended=webhook.is_silent(now),
        figures=figures_shape(webhook, found.figures),
        last_day=counts_shape(found.last_day),
    )


def _period(counts: AttemptCountsOut, starts_at: str) -> AttemptPeriodOut:
    return AttemptPeriodOut(**msgspec.structs.asdict(counts), starts_at=starts_at)


def _example_periods(last: str, number: int, length: int, counts: AttemptCountsOut) -> list[AttemptPeriodOut]:
    """Returns periods that end with the one that begins at `last`, with attempts in the last alone."""
    end, none = parse_iso(last), AttemptCountsOut(0, 0, 0, 0, 0, None, None)
    empty = [_period(none, iso(end - place * length)) for place in range(number - 1, 0, -1)]
    return [*empty, _period(counts, last)]
