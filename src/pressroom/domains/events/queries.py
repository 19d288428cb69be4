"""SQL of the events package."""

from typing import Final

from pressroom.db import Command, Tx
from pressroom.domains.events.models import Event

INSERT_EVENT: Final = Command(
    "INSERT INTO events (id, account_id, key_id, type, data, created_at)"
    " VALUES (:id, :account_id, :key_id, :type, :data, :now)"
)


async def insert_event(tx: Tx, event: Event) -> None:
    """Appends one event, at the transaction's time."""
    await tx.run(
        INSERT_EVENT,
        id=event.id,
        account_id=event.account_id,
        key_id=event.key_id,
        type=event.type,
        data=event.data,
        now=tx.now,
    )
