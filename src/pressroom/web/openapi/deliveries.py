"""The part `webhooks` of the document: the requests to receivers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from pressroom.web.openapi.operations import plain
from pressroom.web.openapi.schemas import Json, Schemas

ENVELOPE_ID: Final = "evt_5f0c9a3e-7f4b-4f57-9a43-6f1f0b0f4d1c"

RESPONSES: Final[dict[str, Json]] = {
    "Acknowledgement": {"description": "Acknowledged. The body is kept for the owner to see, up to 2 KiB of it."},
    "FailedDelivery": {
        "description": "A failure, like no complete answer within 10 seconds; redirects are not followed. Tried again "
        "after about 1, 2, 4 and 8 minutes, later if `Retry-After` says so. Five failures in a row, or a 410, disable "
        "the endpoint."
    },
}
"""The answers of receivers."""

_SIGNATURE: Final = """\
`t=<unix-timestamp>,v1=<hex>`: HMAC-SHA256 of `<t>.` and the body's bytes as they came, keyed with the whole secret. \
Fresh on every attempt. Compare in constant time, and refuse a `t` that is more than 5 minutes off."""
_STANDARD: Final = """\
`v1,<base64>`, for libraries of [Standard Webhooks](https://www.standardwebhooks.com): HMAC-SHA256 of `webhook-id`, \
`webhook-timestamp` and the body's bytes, with dots between them, keyed with the base64-decoded part of the same \
secret after `whsec_`."""
_DELIVERY_ID: Final = "The envelope's id. An envelope can arrive more than once: drop ids that you know."


def _header(name: str, description: str, example: str) -> Json:
    return {
        "name": name,
        "in": "header",
        "required": True,
        "description": description,
        "schema": {"type": "string"},
        "example": example,
    }


PARAMETERS_OF_DELIVERIES: Final[dict[str, Json]] = {
    "signatureHeader": _header("X-Service-Signature", _SIGNATURE, "t=1795190892,v1=" + "0" * 64),
    "eventHeader": _header("X-Service-Event", "The event's name.", "post.created"),
    "deliveryIdHeader": _header("X-Service-Delivery-Id", _DELIVERY_ID, ENVELOPE_ID),
    "standardIdHeader": _header("webhook-id", "The envelope's id again.", ENVELOPE_ID),
    "standardTimestampHeader": _header("webhook-timestamp", "The `t` of X-Service-Signature again.", "1795190892"),
    "standardSignatureHeader": _header("webhook-signature", _STANDARD, f"v1,{'0' * 43}="),
}
"""The headers of every delivery."""


@dataclass(frozen=True, slots=True)
class EventShape:
    """An event as receivers see it: its name, when it is sent, and an example of its data."""

    name: str
    description: str
    data: msgspec.Struct


def describe_deliveries(events: Sequence[EventShape], schemas: Schemas) -> Json:
    """Returns the path item of each event, by its name."""
    return {event.name: {"post": _delivery(event, schemas)} for event in events}


def _delivery(event: EventShape, schemas: Schemas) -> Json:
    envelope: Json = {
        "event": event.name,
        "id": ENVELOPE_ID,
        "created_at": "2026-11-20T16:08:12.345Z",
        "data": plain(event.data),
    }
    return {
        "tags": ["Webhooks"],
        "operationId": "receive" + "".join(word.capitalize() for word in event.name.split(".")),
        "summary": event.name,
        "description": event.description,
        "parameters": [{"$ref": f"#/components/parameters/{name}"} for name in PARAMETERS_OF_DELIVERIES],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": _envelope(event, schemas), "example": envelope}},
        },
        "responses": {
            "2XX": {"$ref": "#/components/responses/Acknowledgement"},
            "default": {"$ref": "#/components/responses/FailedDelivery"},
        },
        "security": [],
    }


def _envelope(event: EventShape, schemas: Schemas) -> Json:
    return {
        "type": "object",
        "properties": {
            "event": {"type": "string", "const": event.name},
            "id": {"type": "string", "pattern": "^evt_[0-9a-f-]{36}$"},
            "created_at": {"type": "string", "format": "date-time"},
            "data": schemas.reference(type(event.data)),
        },
        "required": ["event", "id", "created_at", "data"],
    }
