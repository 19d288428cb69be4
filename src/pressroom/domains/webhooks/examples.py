"""Examples for the API reference."""

from typing import Final

import msgspec

from pressroom.clock import parse_iso
from pressroom.domains.events.models import EventType, envelope
from pressroom.domains.webhooks.delivery_schemas import (
    AttemptDetailOut,
    DeliveryDetailOut,
    DeliveryRequestOut,
    KindCountOut,
    RedeliveryPreviewOut,
    ResentOut,
)
from pressroom.domains.webhooks.envelope import request_headers
from pressroom.domains.webhooks.events import EVENT_DATA
from pressroom.domains.webhooks.models import Attempt, AttemptStatus, EndpointStatus, State
from pressroom.domains.webhooks.overview_schemas import ListedWebhookOut, SampleOut, SamplesOut, StatisticsOut
from pressroom.domains.webhooks.schemas import (
    CreatedWebhookOut,
    CreateWebhook,
    DeliveryOut,
    EditWebhook,
    FiguresOut,
    LatestOut,
    RedeliveredOut,
    RedeliverEvents,
    ReplacedWebhookOut,
    RotatedOut,
    TestSentOut,
    WebhookOut,
    WebhookStatusOut,
)
from pressroom.ids import first_id
from pressroom.web.openapi.deliveries import EventShape

EVENT_SHAPES: Final = tuple(EventShape(data.event, data.sent_when, data.example()) for data in EVENT_DATA)
"""Examples of the webhooks chapter of the API reference."""

_EVENTS = ["post.created", "apikey.revoked"]

CREATE_WEBHOOK_EXAMPLE = CreateWebhook(url="https://hooks.example.org/pressroom", events=list(_EVENTS))
WEBHOOK_EXAMPLE = WebhookOut(
    id="01KW2F3B6E0N5Q8R7T4V1X9YZA",
    url=CREATE_WEBHOOK_EXAMPLE.url,
    label="Newsroom chat",
    events=list(_EVENTS),
    status=EndpointStatus.ENABLED,
    secret_prefix="whsec_EXAMPL",  # noqa: S106  # the part that is shown
    created_at="2026-06-26T09:15:00.500Z",
    disabled_at=None,
    disabled_reason=None,
    previous_secret_expires_at=None,
    consecutive_failures=0,
)
CREATED_WEBHOOK_EXAMPLE = CreatedWebhookOut(
    **msgspec.structs.asdict(WEBHOOK_EXAMPLE), secret="whsec_EXAMPLE" + "0" * 25
)
REPLACED_WEBHOOK_EXAMPLE = ReplacedWebhookOut(
    **msgspec.structs.asdict(CREATED_WEBHOOK_EXAMPLE), missed_since="2026-11-20T16:08:12.345Z"
)
_EDITED = ["post.created", "comment.created"]
EDIT_WEBHOOK_EXAMPLE = EditWebhook(events=_EDITED, label="Desk chat")
EDITED_WEBHOOK_EXAMPLE = msgspec.structs.replace(WEBHOOK_EXAMPLE, events=_EDITED, label="Desk chat")
PAUSED_WEBHOOK_EXAMPLE = msgspec.structs.replace(WEBHOOK_EXAMPLE, status=EndpointStatus.PAUSED)
ROTATED_EXAMPLE = RotatedOut(
    id=WEBHOOK_EXAMPLE.id,
    secret=CREATED_WEBHOOK_EXAMPLE.secret,
    secret_prefix=WEBHOOK_EXAMPLE.secret_prefix,
    previous_secret_expires_at="2026-11-21T16:08:12.345Z",  # noqa: S106  # a time
)
REDELIVER_EXAMPLE = RedeliverEvents(since="2026-11-20T00:00:00.000Z", event_types=["post.created"])
REDELIVERED_EXAMPLE = RedeliveredOut(queued=42, skipped_duplicates=0)
DELIVERY_EXAMPLE = DeliveryOut(
    id="evt_5f0c9a3e-7f4b-4f57-9a43-6f1f0b0f4d1c",
    event=EventType.POST_CREATED,
    created_at="2026-11-20T16:08:12.345Z",
    state=State.PENDING,
    redelivery=False,
    next_attempt_at="2026-11-20T16:09:13.101Z",
    attempts=[
        Attempt(
            number=1,
            at="2026-11-20T16:08:12.360Z",
            status=AttemptStatus.FAILED,
            http_code=503,
            error="The endpoint answered 503.",
            duration_ms=84,
            response_body="Down for maintenance",
        )
    ],
)
STATUS_EXAMPLE = WebhookStatusOut(
    id=WEBHOOK_EXAMPLE.id,
    status=EndpointStatus.ENABLED,
    consecutive_failures=1,
    next_attempt_at=DELIVERY_EXAMPLE.next_attempt_at,
    waiting=3,
    more_waiting=False,
    latest=LatestOut(delivered=97, failed=0, waiting=3),
    missed_since=DELIVERY_EXAMPLE.created_at,
    last_test=None,
)
LISTED_WEBHOOK_EXAMPLE = ListedWebhookOut(
    **msgspec.structs.asdict(WEBHOOK_EXAMPLE),
    key_id="01KVCVX25JSSB86WQ50AY87SX4",
    key_label="Night desk",
    key_has_ended=False,
    figures=FiguresOut(
        next_attempt_at=None, waiting=0, more_waiting=False, latest=LatestOut(delivered=97, failed=3, waiting=0)
    ),
    last_day=StatisticsOut.example().last_day,
)
TEST_SENT_EXAMPLE = TestSentOut(DELIVERY_EXAMPLE.id)
_SENT = request_headers(
    EventType.POST_CREATED,
    DELIVERY_EXAMPLE.id,
    "Pressroom/1.0",
    "t=1795190892,v1=5257a869e7ecebeda32affa62cdca3fa…",
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
)
DELIVERY_DETAIL_EXAMPLE = DeliveryDetailOut(
    id=DELIVERY_EXAMPLE.id,
    event=DELIVERY_EXAMPLE.event,
    created_at=DELIVERY_EXAMPLE.created_at,
    state=DELIVERY_EXAMPLE.state,
    redelivery=DELIVERY_EXAMPLE.redelivery,
    next_attempt_at=DELIVERY_EXAMPLE.next_attempt_at,
    attempts=[
        AttemptDetailOut(
            **msgspec.structs.asdict(DELIVERY_EXAMPLE.attempts[0]),
            signed_with=WEBHOOK_EXAMPLE.secret_prefix,
            request_headers=_SENT,
            response_headers={"content-type": "text/plain", "server": "nginx", "retry-after": "120"},
        )
    ],
    request=DeliveryRequestOut(
        "POST",
        WEBHOOK_EXAMPLE.url,
        envelope(
            DELIVERY_EXAMPLE.id, first_id(parse_iso(DELIVERY_EXAMPLE.created_at)), DELIVERY_EXAMPLE.event, '{"post":{}}'
        ).decode(),
    ),
)
SAMPLES_EXAMPLE = SamplesOut([SampleOut(DELIVERY_EXAMPLE.event, _SENT, DELIVERY_DETAIL_EXAMPLE.request.body or "")])
RESENT_EXAMPLE = ResentOut(DELIVERY_EXAMPLE.id, queued=True)
REDELIVERY_PREVIEW_EXAMPLE = RedeliveryPreviewOut(
    events=42,
    kinds=[KindCountOut("post.created", 42)],
    oldest="2026-11-20T00:03:59.120Z",
    newest="2026-11-20T23:41:07.004Z",
    waiting=1,
    more=False,
    until="2026-11-21T08:00:00.000Z",
)
