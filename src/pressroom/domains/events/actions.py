"""Appending an event to the transaction of the write that it reports, and telling those who pass events on."""

from collections.abc import Awaitable, Callable

import msgspec

from pressroom.db import Tx
from pressroom.domains.events import queries
from pressroom.domains.events.models import Event, EventType
from pressroom.ids import new_id

_encoder = msgspec.json.Encoder()

Subscriber = Callable[[Tx, Event], Awaitable[None]]

_subscribers: list[Subscriber] = []


def on_event(subscriber: Subscriber) -> None:
    """Has `subscriber(tx, event)` run in the transaction of every event. Registering it again changes nothing.

    Rooms that make events need not know of those that pass them on.
    """
    if subscriber not in _subscribers:
        _subscribers.append(subscriber)


async def append_event(
    tx: Tx, event_type: EventType, data: msgspec.Struct, *, account_id: str, key_id: str | None = None
) -> Event:
    """Writes down that something happened, and has it passed on; the event.

    `data` is what receivers find under `data`. `key_id` is given when the event concerns that key alone.
    The event exists exactly when the transaction commits (docs/webhooks.md#envelope).
    """
    event = Event(new_id(tx.now), account_id, key_id, event_type, _encoder.encode(data).decode())
    await queries.insert_event(tx, event)
    for subscriber in _subscribers:
        await subscriber(tx, event)
    return event
