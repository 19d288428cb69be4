"""Wire shapes of one delivery with its attempts, and of redeliveries."""

import shlex
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from pressroom.clock import iso, iso_or_none
from pressroom.domains.events.models import envelope
from pressroom.domains.webhooks.envelope import request_headers
from pressroom.domains.webhooks.models import (
    Attempt,
    AttemptRecord,
    Delivery,
    DeliveryRecord,
    Redelivery,
    RedeliveryPreview,
)
from pressroom.domains.webhooks.schemas import DeliveryFields, EventName, SecretPrefix, delivery_shape
from pressroom.web.wire import Time


class AttemptDetailOut(Attempt, rename="camel"):
    """One attempt, with what was sent and what came back."""

    signed_with: Annotated[SecretPrefix | None, Meta(description="The beginning of the secret that signed it.")]
    request_headers: Annotated[
        dict[str, str] | None, Meta(description="The headers as sent. null: the attempt is older than these are kept.")
    ]
    response_headers: Annotated[
        dict[str, str],
        Meta(description="Of the answer: content-type, server, location and retry-after, the first 256 bytes of each."),
    ]


class DeliveryRequestOut(msgspec.Struct, rename="camel"):
    """The request of a delivery."""

    method: str
    url: str
    body: Annotated[
        str | None, Meta(description="The very text, the same on every attempt. null: the event has been removed.")
    ]


class DeliveryDetailOut(DeliveryFields, rename="camel"):
    """One event on its way to one endpoint, with all that was sent."""

    attempts: Annotated[list[AttemptDetailOut], Meta(description="The latest 20, oldest first.")]
    request: DeliveryRequestOut


class ResentOut(msgspec.Struct):
    """The result of sending a delivery once more."""

    id: Annotated[str, Meta(description="The envelope's id, the same as before.")]
    queued: Annotated[bool, Meta(description="false: it was due already, or under way.")]


class KindCountOut(msgspec.Struct):
    """How many events of one kind."""

    event: EventName
    count: Annotated[int, Meta(ge=1)]


class RedeliveryPreviewOut(msgspec.Struct, rename="camel"):
    """The result that a redelivery would have now."""

    events: Annotated[int, Meta(ge=0, description="Events that it would look at: the oldest 1,000 at most.")]
    kinds: Annotated[list[KindCountOut], Meta(description="The same, by kind.")]
    oldest: Annotated[Time | None, Meta(description="When the first of them happened.")]
    newest: Annotated[Time | None, Meta(description="When the last of them happened.")]
    waiting: Annotated[
        int, Meta(ge=0, description="Of them, those that wait to be sent already; they would be sent now.")
    ]
    more: Annotated[bool, Meta(description="Whether there are further ones, which it would leave out.")]
    until: Annotated[Time, Meta(description="Up to when: redeliver with this `until` takes no event that came later.")]


_records: Final = msgspec.json.Decoder(list[AttemptRecord])


def delivery_detail_shape(delivery: DeliveryRecord) -> DeliveryDetailOut:
    """Returns the same with all that was sent."""
    body = None
    if delivery.data is not None:
        body = envelope(delivery.id, delivery.event_id, delivery.event, delivery.data).decode()
    shown = msgspec.structs.asdict(delivery_shape(delivery))
    shown["attempts"] = [_detail(each, delivery) for each in _records.decode(delivery.attempts)]
    return DeliveryDetailOut(**shown, request=DeliveryRequestOut("POST", delivery.url, body))


def as_curl(delivery: DeliveryDetailOut) -> str | None:
    """Returns the latest attempt as a curl command for a POSIX shell; None without its headers or body."""
    headers = delivery.attempts[-1].request_headers if delivery.attempts else None
    if headers is None or delivery.request.body is None:
        return None
    return curl_of(delivery.request.url, headers, delivery.request.body)


def curl_of(url: str, headers: dict[str, str], body: str) -> str:
    """Returns a request as a curl command for a POSIX shell."""
    parts = [f"curl -X POST {shlex.quote(url)}"]
    parts += [f"-H {shlex.quote(f'{name}: {value}')}" for name, value in headers.items()]
    return " \\\n  ".join([*parts, f"--data-binary {shlex.quote(body)}"])


def _detail(attempt: AttemptRecord, delivery: Delivery) -> AttemptDetailOut:
    sent = None
    if attempt.user_agent and attempt.signature and attempt.standard_signature:
        sent = request_headers(
            delivery.event, delivery.id, attempt.user_agent, attempt.signature, attempt.standard_signature
        )
    return AttemptDetailOut(
        **{field: getattr(attempt, field) for field in Attempt.__struct_fields__},
        signed_with=attempt.signed_with,
        request_headers=sent,
        response_headers=attempt.response_headers,
    )


def preview_shape(found: RedeliveryPreview, wanted: Redelivery) -> RedeliveryPreviewOut:
    """Returns the preview of a redelivery."""
    return RedeliveryPreviewOut(
        events=found.events,
        kinds=[KindCountOut(kind.event, kind.count) for kind in found.kinds],
        oldest=iso_or_none(found.oldest),
        newest=iso_or_none(found.newest),
        waiting=found.waiting,
        more=found.more,
        until=iso(wanted.until),
    )
