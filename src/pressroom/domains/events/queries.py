"""The events room's SQL."""

from typing import Final

from pressroom.db import Command, Tx

INSERT_EVENT: Final = Command(
    "INSERT INTO events (id, account_id, key_id, type, data, created_at)"
    " VALUES (:id, :account_id, :key_id, :type, :data, :created_at)"
)


async def insert_event(
    tx: Tx, *, event_id: str, account_id: str, key_id: str | None, event_type: str, data: str
) -> None:
    """Appends one event; `data` is JSON text."""
    await tx.run(
        INSERT_EVENT,
        id=event_id,
        account_id=account_id,
        key_id=key_id,
        type=event_type,
        data=data,
        created_at=tx.now,
    )
