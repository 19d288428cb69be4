"""Wire shapes of the webhooks package."""

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from pressroom.clock import iso, iso_or_none, parse_iso
from pressroom.domains.events.models import EventType
from pressroom.domains.webhooks.models import (
    CHOOSABLE,
    COUNTED,
    LATEST,
    LONGEST_LABEL,
    Attempt,
    Delivery,
    EndpointFigures,
    EndpointReport,
    EndpointStatus,
    NewWebhook,
    Redelivery,
    ReplacedWebhook,
    State,
    Webhook,
)
from pressroom.errors import Code, FieldError
from pressroom.ids import time_of
from pressroom.outbound import UrlRefused
from pressroom.outbound.urls import MOST_CHARACTERS, read_url
from pressroom.text import name_errors
from pressroom.web.json_bodies import Body
from pressroom.web.wire import ONE_LINE, Id, NextCursor, Time, some_given

_CHOICES = {"enum": [kind.value for kind in CHOOSABLE]}

EventName = Annotated[str, Meta(extra_json_schema=_CHOICES)]
Secret = Annotated[str, Meta(description="whsec_ and 32 letters and digits. Shown this once.")]
SecretPrefix = Annotated[str, Meta(description="The first 12 characters of the signing secret.")]
Moment = Annotated[str, Meta(max_length=40, extra_json_schema={"format": "date-time"})]


EventChoice = Annotated[
    list[EventName],
    Meta(
        min_length=1,
        max_length=len(CHOOSABLE),
        description="The events to receive. Reserved ones cannot be chosen; webhook.test always comes.",
        extra_json_schema={"uniqueItems": True},
    ),
]


class CreateWebhook(Body):
    """An endpoint to create."""

    url: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MOST_CHARACTERS,
            description="Where deliveries are sent: https, on a host that has public addresses alone. Looked up now, "
            "and again for every connection.",
            examples=["https://hooks.example.org/pressroom"],
            extra_json_schema={"format": "uri", "pattern": "^[hH][tT][tT][pP][sS]?://"},
        ),
    ]
    events: EventChoice

    def field_errors(self, now: int) -> Iterator[FieldError]:
        if self.url:
            yield from url_errors(self.url)
        yield from kind_errors("events", self.events)

    def new_webhook(self) -> NewWebhook:
        """Returns the endpoint to add."""
        return NewWebhook(self.url, [EventType(kind) for kind in self.events])


class EditWebhook(Body):
    """The new event types and the new label of an endpoint: at least one of them."""

    json_schema: ClassVar = some_given(events={"type": "array", "items": {}}, label={"type": "string"})

    required_unless: ClassVar = {"body": ("events", "label")}

    events: EventChoice | None = None
    label: (
        Annotated[
            str,
            Meta(
                max_length=LONGEST_LABEL,
                description="Your name for the endpoint. Empty: none.",
                examples=["Newsroom chat"],
                extra_json_schema={"pattern": f"^$|{ONE_LINE}"},
            ),
        ]
        | None
    ) = None

    def field_errors(self, now: int) -> Iterator[FieldError]:
        if self.events is None and self.label is None:
            yield FieldError("body", Code.REQUIRED, "Give at least one of events and label.")
        yield from kind_errors("events", self.events)
        yield from name_errors("label", self.label, "A label")

    def kinds(self) -> list[EventType] | None:
        """Returns the kinds of event, if they were given."""
        return None if self.events is None else [EventType(kind) for kind in self.events]


class RedeliverEvents(Body):
    """The events to send again."""

    since: Annotated[Moment, Meta(description="From then on, this moment included: ISO 8601 with a zone.")]
    until: Annotated[Moment, Meta(description="Up to then, this moment included. Default: now.")] | None = None
    event_types: (
        Annotated[
            list[EventName],
            Meta(
                min_length=1,
                max_length=len(CHOOSABLE),
                description="Of these kinds alone, as far as the endpoint chose them. Default: all that it chose.",
                extra_json_schema={"uniqueItems": True},
            ),
        ]
        | None
    ) = None

    def field_errors(self, now: int) -> Iterator[FieldError]:
        since, until = _moment(self.since), _moment(self.until)
        for field, text, moment in (("since", self.since, since), ("until", self.until, until)):
            if text is not None and moment is None:
                yield FieldError(field, Code.INVALID_FORMAT, "Must be an ISO 8601 time with a zone.")
        if since is not None and self.until is None and since > now:
            yield FieldError("since", Code.OUT_OF_RANGE, "Must not lie in the future.")
        if since is not None and until is not None and since > until:
            yield FieldError("until", Code.OUT_OF_RANGE, "Must not be before since.")
        yield from kind_errors("eventTypes", self.event_types)

    def redelivery(self, now: int) -> Redelivery:
        """Returns what to send again, as of `now` (milliseconds)."""
        until = now if self.until is None else parse_iso(self.until)
        kinds = CHOOSABLE if self.event_types is None else [EventType(kind) for kind in self.event_types]
        return Redelivery(parse_iso(self.since), until, list(kinds))


MissedSince = Annotated[
    Time | None,
    Meta(description="Since when it missed events: redeliver from then on once it was replaced. null: it missed none."),
]


class WebhookOut(msgspec.Struct, rename="camel"):
    """A webhook endpoint."""

    id: Id
    url: str
    label: Annotated[str | None, Meta(description="The owner's name for it; null: none was given.")]
    events: list[EventName]
    status: Annotated[
        EndpointStatus,
        Meta(
            description="paused: its deliveries wait until it is resumed. disabled: sent nothing more. Remove the "
            "endpoint and add it again."
        ),
    ]
    secret_prefix: SecretPrefix
    created_at: Time
    disabled_at: Time | None
    disabled_reason: Annotated[str | None, Meta(description="Why it was disabled.")]
    previous_secret_expires_at: Annotated[
        Time | None, Meta(description="Until when receivers accept the secret before the last rotation.")
    ]
    consecutive_failures: Annotated[int, Meta(ge=0, description="Failures in a row; the fifth disables it.")]


class CreatedWebhookOut(WebhookOut, rename="camel"):
    """A webhook endpoint with its secret, which is shown this once."""

    secret: Secret


class WebhookList(msgspec.Struct, rename="camel"):
    """A page of endpoints, newest first."""

    webhooks: list[WebhookOut]
    next_cursor: NextCursor


class ReplacedWebhookOut(CreatedWebhookOut, rename="camel"):
    """The webhook endpoint that took the place of another, with its secret, which is shown this once."""

    missed_since: MissedSince


class RemovedOut(msgspec.Struct):
    """The removed endpoint."""

    message: str
    id: Id


class TestSentOut(msgspec.Struct):
    """The test that was queued."""

    id: Annotated[str, Meta(description="The envelope's id, as the receiver will find it.")]


class RotatedOut(msgspec.Struct, rename="camel"):
    """A new signing secret."""

    id: Id
    secret: Secret
    secret_prefix: SecretPrefix
    previous_secret_expires_at: Time


class RedeliveredOut(msgspec.Struct, rename="camel"):
    """The result of a redelivery."""

    queued: Annotated[
        int, Meta(ge=0, description="Events that will be sent, those that waited for their next attempt included.")
    ]
    skipped_duplicates: Annotated[int, Meta(ge=0, description="Events that this call had queued already.")]


class DeliveryFields(msgspec.Struct, rename="camel"):
    """A delivery in lists and by itself."""

    id: Annotated[str, Meta(description="The envelope's id: evt_ and a UUID.")]
    event: Annotated[EventType, Meta(description="The kind of event.")]
    created_at: Annotated[Time, Meta(description="When it happened.")]
    state: Annotated[
        State,
        Meta(
            description="pending: to be sent, or sent again. delivered: acknowledged with a 2xx. failed: given up. "
            "held: the endpoint was disabled before. cancelled: the key was revoked before."
        ),
    ]
    redelivery: Annotated[bool, Meta(description="Whether it was sent again on demand.")]
    next_attempt_at: Annotated[
        Time | None,
        Meta(description="When it is tried next; null unless it is pending, and while the endpoint is paused."),
    ]


class DeliveryOut(DeliveryFields, rename="camel"):
    """One event on its way to one endpoint."""

    attempts: Annotated[list[Attempt], Meta(description="The latest 20, oldest first.")]


class DeliveryList(msgspec.Struct, rename="camel"):
    """A page of deliveries, newest event first."""

    deliveries: list[DeliveryOut]
    next_cursor: NextCursor


class LatestOut(msgspec.Struct):
    """How the latest 100 deliveries went, or fewer where there are fewer."""

    delivered: Annotated[int, Meta(ge=0, le=LATEST, description="Acknowledged with a 2xx.")]
    failed: Annotated[int, Meta(ge=0, le=LATEST, description="Given up.")]
    waiting: Annotated[int, Meta(ge=0, le=LATEST, description="Pending, held or cancelled.")]


class FiguresOut(msgspec.Struct, rename="camel", kw_only=True):
    """The waiting deliveries of an endpoint, and the results of its latest ones."""

    next_attempt_at: Annotated[Time | None, Meta(description="When something is sent next; null: nothing waits.")]
    waiting: Annotated[int, Meta(ge=0, le=COUNTED, description="Deliveries that wait, or are held: counted to 1,000.")]
    more_waiting: Annotated[bool, Meta(description="Whether more than 1,000 wait.")]
    latest: LatestOut


class WebhookStatusOut(FiguresOut, rename="camel", kw_only=True):
    """How a webhook endpoint does."""

    id: Id
    status: EndpointStatus
    consecutive_failures: Annotated[int, Meta(ge=0, description="Failures in a row; the fifth disables it.")]
    missed_since: MissedSince
    last_test: Annotated[DeliveryOut | None, Meta(description="The last test and its outcome; null: none was sent.")]


_attempts = msgspec.json.Decoder(list[Attempt])


def url_error(message: str) -> FieldError:
    """Returns the error of an address that nothing may be sent to."""
    return FieldError("url", Code.NOT_ALLOWED, message)


def url_errors(url: str) -> Iterator[FieldError]:
    """Yields the faults of an address on any server; the rest is checked when it is looked up."""
    try:
        read_url(url)
    except UrlRefused as refused:
        yield url_error(refused.message)


def kind_errors(field: str, kinds: Sequence[str | None] | None) -> Iterator[FieldError]:
    """Yields the faults of a choice of events."""
    for place, kind in enumerate(kinds or []):
        where = f"{field}[{place}]"
        if kind is None:
            continue
        if kind not in list(CHOOSABLE):
            yield FieldError(where, Code.INVALID_CHOICE, f"Must be one of {', '.join(CHOOSABLE)}.")
        elif kind in (kinds or [])[:place]:
            yield FieldError(where, Code.DUPLICATE, f"{kind} is given twice.")


def webhook_shape(webhook: Webhook, now: int) -> WebhookOut:
    """Returns the endpoint as its owner sees it at `now` (milliseconds)."""
    overlap = webhook.previous_secret_expires_at
    return WebhookOut(
        id=webhook.id,
        url=webhook.url,
        label=webhook.label,
        events=webhook.events.split(),
        status=webhook.status,
        secret_prefix=webhook.secret_prefix,
        created_at=iso(webhook.created_at),
        disabled_at=iso_or_none(webhook.disabled_at),
        disabled_reason=webhook.disabled_reason,
        previous_secret_expires_at=None if overlap is None or overlap <= now else iso(overlap),
        consecutive_failures=webhook.consecutive_failures,
    )


def created_webhook_shape(webhook: Webhook, secret: str, now: int) -> CreatedWebhookOut:
    """Returns an endpoint that was just added, with its secret."""
    return CreatedWebhookOut(**msgspec.structs.asdict(webhook_shape(webhook, now)), secret=secret)


def delivery_shape(delivery: Delivery) -> DeliveryOut:
    """Returns the delivery as the owner of the endpoint sees it."""
    is_tried = delivery.state == State.PENDING and not delivery.paused
    next_at = max(delivery.due_at, delivery.probe_at or 0) if is_tried else None
    return DeliveryOut(
        id=delivery.id,
        event=EventType(delivery.event),
        created_at=iso(time_of(delivery.event_id)),
        state=State(delivery.state),
        redelivery=delivery.redelivery,
        next_attempt_at=iso_or_none(next_at),
        attempts=_attempts.decode(delivery.attempts),
    )


def replaced_webhook_shape(replaced: ReplacedWebhook, now: int) -> ReplacedWebhookOut:
    """Returns an endpoint that took the place of another, with its secret."""
    missed = replaced.missed_since
    return ReplacedWebhookOut(
        **msgspec.structs.asdict(webhook_shape(replaced.webhook, now)),
        secret=replaced.secret,
        missed_since=iso_or_none(missed),
    )


def status_shape(found: EndpointReport) -> WebhookStatusOut:
    """Returns how an endpoint does, as its owner sees it."""
    webhook, missed = found.webhook, found.missed_since
    return WebhookStatusOut(
        id=webhook.id,
        status=webhook.status,
        consecutive_failures=webhook.consecutive_failures,
        missed_since=iso_or_none(missed),
        last_test=None if found.last_test is None else delivery_shape(found.last_test),
        **msgspec.structs.asdict(figures_shape(webhook, found.figures)),
    )


def figures_shape(webhook: Webhook, figures: EndpointFigures) -> FiguresOut:
    """Returns the backlog of an endpoint, and the results of its latest deliveries."""
    next_at = figures.next_due_at if webhook.status is EndpointStatus.ENABLED else None
    rest = figures.latest - figures.delivered - figures.failed
    return FiguresOut(
        next_attempt_at=iso_or_none(next_at),
        waiting=min(figures.waiting, COUNTED),
        more_waiting=figures.waiting > COUNTED,
        latest=LatestOut(figures.delivered, figures.failed, rest),
    )


def _moment(text: str | None) -> int | None:
    try:
        return None if text is None else parse_iso(text)
    except (ValueError, OverflowError):
        return None
