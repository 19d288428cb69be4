"""Envelopes: the JSON in which an event is sent (docs/webhooks.md#envelope). Pure."""

import hashlib
import uuid

from pressroom.clock import iso
from pressroom.ids import time_of


def envelope(envelope_id: str, event_id: str, event_type: str, data: str) -> bytes:
    """Returns the JSON, byte for byte the same on every attempt, reading and process.

    `data` is the event's JSON as it was stored. Its time is the event's own, however late the envelope was made.
    """
    # Put together by hand: an encoder of another version could order or space the fields differently, and receivers
    # compare a redelivery with what they stored.
    head = f'{{"event":"{event_type}","id":"{envelope_id}","created_at":"{iso(time_of(event_id))}","data":'
    return f"{head}{data}}}".encode()


def envelope_id_of(key_id: str, event_id: str) -> str:
    """Returns the id of the envelope in which a key reads an event: the same at every reading.

    It has the form of a UUID v4, and is derived from both ids, so that no row is needed for each key and event.
    """
    digest = hashlib.sha256(f"{key_id} {event_id}".encode()).digest()
    return f"evt_{uuid.UUID(bytes=digest[:16], version=4)}"
