"""Emitting an event in the transaction of the write that it reports."""

import msgspec

from pressroom import tracing
from pressroom.db import Tx
from pressroom.domains.events import queries
from pressroom.domains.events.models import Event, EventData
from pressroom.ids import new_id

_encoder = msgspec.json.Encoder()


async def emit(tx: Tx, data: EventData, *, account_id: str, key_id: str | None = None, at_end: bool = False) -> Event:
    """Appends an event of the account, runs the database's subscribers for it and returns it.

    `data` also says which kind of event it is. `key_id` is given when the event concerns that key alone. `at_end`: the
    subscribers may run when the action is over (docs/architecture.md#round-trips). The event exists exactly when the
    transaction commits (docs/webhooks.md#events).
    """
    event = Event(new_id(tx.now, account_id), account_id, key_id, data.event, _encoder.encode(data).decode())
    await queries.insert_event(tx, event, tracing.current())
    tx.announce(account_id)
    for subscriber in tx.subscribers:
        if at_end:
            await tx.at_end(subscriber, event)
        else:
            await subscriber(tx, event)
    return event
