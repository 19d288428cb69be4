"""The kinds of event that exist, and the envelope: the JSON in which one is sent (docs/webhooks.md#envelope).

Reserved kinds (post.deleted and its like) are not here, so none can be emitted.
"""

import hashlib
import uuid
from enum import StrEnum
from typing import ClassVar, Self

import msgspec

from pressroom.clock import iso
from pressroom.ids import time_of


class EventType(StrEnum):
    """Every event that the service emits; webhook.test reports no activity and goes to one endpoint alone."""

    POST_CREATED = "post.created"
    POSTCLIP_CREATED = "postclip.created"
    COMMENT_CREATED = "comment.created"
    APIKEY_REVOKED = "apikey.revoked"
    WEBHOOK_TEST = "webhook.test"


class EventData(msgspec.Struct):
    """The `data` of an envelope. Each kind of event has a subclass, in `events.py` of the package that emits it.

    `event` is the kind. `sent_when` is the sentence of the API reference about when it is sent.
    """

    event: ClassVar[EventType]
    sent_when: ClassVar[str]

    @classmethod
    def example(cls) -> Self:
        """Returns an example for the API reference."""
        raise NotImplementedError


class Event(msgspec.Struct):
    """An event as it is stored. `key_id` is set when it concerns that key alone; `data` is JSON text."""

    id: str
    account_id: str
    key_id: str | None
    type: EventType
    data: str


def envelope(envelope_id: str, event_id: str, event_type: str, data: str) -> bytes:
    """Returns the JSON, byte for byte the same on every attempt, reading and process.

    `data` is the event's JSON as it was stored. Its time is the event's own, however late the envelope was made.
    """
    # Put together by hand: an encoder of another version could order or space the fields differently, and receivers
    # compare a redelivery with their stored copy.
    head = f'{{"event":"{event_type}","id":"{envelope_id}","created_at":"{iso(time_of(event_id))}","data":'
    return f"{head}{data}}}".encode()


def envelope_id_of(key_id: str, event_id: str) -> str:
    """Returns the id of the envelope in which a key reads an event: the same at every reading.

    It has the form of a UUID v4, and is derived from both ids, so that no row is needed for each key and event.
    """
    digest = hashlib.sha256(f"{key_id} {event_id}".encode()).digest()
    return f"evt_{uuid.UUID(bytes=digest[:16], version=4)}"
