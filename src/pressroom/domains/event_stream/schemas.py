"""Wire shapes of events by pull, and the query that asks for them."""

from typing import Annotated, Final, Self

import msgspec
from msgspec import Meta

from pressroom.domains.event_stream.cursors import Cursor, parse_cursor
from pressroom.domains.events.models import EventType
from pressroom.errors import Code, FieldError, Invalid
from pressroom.web.query import parse_query, whole_number
from pressroom.web.wire import Time

MOST: Final = 100
LONGEST_WAIT: Final = 30

BAD_CURSOR: Final = Invalid(
    [FieldError("after", Code.INVALID_FORMAT, "Use a cursor that an answer gave, unchanged, or begin now without one.")]
)


class EnvelopeOut(msgspec.Struct):
    """An event as a key reads it: the same bytes at every reading."""

    event: Annotated[EventType, Meta(description="The kind of event.")]
    id: Annotated[
        str, Meta(pattern="^evt_[0-9a-f-]{36}$", description="The same at every reading by this key: drop known ids.")
    ]
    created_at: Annotated[Time, Meta(description="When it happened.")]
    data: Annotated[dict[str, object], Meta(description="As in the webhook of this kind.")]


class EventList(msgspec.Struct):
    """Events that follow a cursor, oldest first."""

    events: list[EnvelopeOut]
    cursor: Annotated[str, Meta(description="`after` of the next request. Store it once these events are handled.")]

    @classmethod
    def example(cls) -> Self:
        """Returns an example for the API reference."""
        post: dict[str, object] = {
            "id": "01KW2F3B6E0N5Q8R7T4V1X9YZA",
            "authorId": "01KW2EXM0Q3V5Z8B1N4R7T9YZA",
            "content": "Hello",
            "type": "POST",
            "visibility": "PUBLIC",
            "isShare": False,
            "originalPostId": None,
            "hubId": None,
            "createdAt": "2026-11-20T16:08:12.345Z",
        }
        envelope = EnvelopeOut(
            EventType.POST_CREATED,
            "evt_5f0c9a3e-7f4b-4f57-9a43-6f1f0b0f4d1c",
            "2026-11-20T16:08:12.345Z",
            {"post": post},
        )
        return cls([envelope], "AAAAAAAAACpv3q2-7wEjRQ")


class Reading(msgspec.Struct):
    """The parameters of a request for events; `wait` is in seconds."""

    after: Cursor | None
    wait: int
    limit: int


def read_reading(query: str) -> Reading:
    """Returns the parameters in a query string. Raises Invalid with every fault."""
    given, field_errors = parse_query(query), list[FieldError]()
    wait = whole_number(given, "wait", 0, 0, LONGEST_WAIT, field_errors)
    limit = whole_number(given, "limit", MOST, 1, MOST, field_errors)
    after = None
    try:
        after = parse_cursor(given["after"], "after") if "after" in given else None
    except Invalid as error:
        field_errors += error.field_errors
    if field_errors:
        raise Invalid(field_errors)
    return Reading(after, wait, limit)
