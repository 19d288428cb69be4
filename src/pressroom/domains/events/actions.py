"""Appending an event to the transaction of the write that it reports."""

import msgspec

from pressroom.db import Tx
from pressroom.domains.events import queries
from pressroom.domains.events.models import EventType
from pressroom.ids import new_id

_encoder = msgspec.json.Encoder()


async def append_event(
    tx: Tx, event_type: EventType, data: msgspec.Struct, *, account_id: str, key_id: str | None = None
) -> str:
    """Writes down that something happened; the event's id.

    `data` is what receivers find under `data`. `key_id` is given when the event concerns that key alone.
    The event exists exactly when the transaction commits (SPEC, Events).
    """
    event_id = new_id(tx.now)
    await queries.insert_event(
        tx,
        event_id=event_id,
        account_id=account_id,
        key_id=key_id,
        event_type=event_type,
        data=_encoder.encode(data).decode(),
    )
    return event_id
