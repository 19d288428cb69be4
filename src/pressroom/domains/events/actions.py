"""Emitting an event in the transaction of the write that it reports."""

from collections.abc import Awaitable, Callable

import msgspec

from pressroom.db import Tx
from pressroom.domains.events import queries
from pressroom.domains.events.models import Event, EventData
from pressroom.ids import new_id

_encoder = msgspec.json.Encoder()

Subscriber = Callable[[Tx, Event], Awaitable[None]]

_subscribers: list[Subscriber] = []


def on_event(subscriber: Subscriber) -> None:
    """Has `subscriber(tx, event)` run in the transaction of every event. To subscribe again changes nothing.

    A package that emits events need not know the packages that pass them on.
    """
    if subscriber not in _subscribers:
        _subscribers.append(subscriber)


async def emit(tx: Tx, data: EventData, *, account_id: str, key_id: str | None = None) -> Event:
    """Appends an event of the account, tells every subscriber of it and returns it.

    `data` also says which kind of event it is. `key_id` is given when the event concerns that key alone. The event
    exists exactly when the transaction commits (docs/webhooks.md#events).
    """
    event = Event(new_id(tx.now), account_id, key_id, data.event, _encoder.encode(data).decode())
    await queries.insert_event(tx, event)
    for subscriber in _subscribers:
        await subscriber(tx, event)
    return event
