"""Envelopes: the bytes that a delivery sends (docs/webhooks.md#envelope). Pure, except for random ids."""

import uuid

from pressroom.clock import iso
from pressroom.ids import time_of


def new_envelope_id() -> str:
    """Returns `evt_` and a UUID v4, 40 characters."""
    return f"evt_{uuid.uuid4()}"


def envelope(envelope_id: str, event_id: str, event_type: str, data: str) -> bytes:
    """The exact bytes that are signed and sent: the same on every attempt and process (docs/webhooks.md#envelope).

    `data` is the event's JSON as it was stored. Its time is the event's own, however late the envelope was made.
    """
    head = f'{{"event":"{event_type}","id":"{envelope_id}","created_at":"{iso(time_of(event_id))}","data":'
    return f"{head}{data}}}".encode()
