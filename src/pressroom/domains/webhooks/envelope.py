"""Envelopes: the bytes that a delivery sends (docs/webhooks.md#envelope). Pure, except for random ids."""

import uuid
from typing import Final

from pressroom.clock import iso
from pressroom.ids import time_of

SIGNATURE: Final = "X-Service-Signature"


def new_envelope_id() -> str:
    """Returns `evt_` and a UUID v4, 40 characters."""
    return f"evt_{uuid.uuid4()}"


def envelope(envelope_id: str, event_id: str, event_type: str, data: str) -> bytes:
    """The exact bytes that are signed and sent: the same on every attempt and process (docs/webhooks.md#envelope).

    `data` is the event's JSON as it was stored. Its time is the event's own, however late the envelope was made.
    """
    head = f'{{"event":"{event_type}","id":"{envelope_id}","created_at":"{iso(time_of(event_id))}","data":'
    return f"{head}{data}}}".encode()


def request_headers(event_type: str, envelope_id: str, user_agent: str, signature: str) -> dict[str, str]:
    """Returns the headers of an attempt, apart from those that HTTP itself needs."""
    return {
        "Content-Type": "application/json",
        "User-Agent": user_agent,
        SIGNATURE: signature,
        "X-Service-Event": event_type,
        "X-Service-Delivery-Id": envelope_id,
    }
