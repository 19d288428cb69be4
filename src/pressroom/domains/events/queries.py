"""SQL of the events package."""

from collections.abc import Sequence
from typing import Final

from pressroom.db import Command, Query, Tx, sql
from pressroom.domains.events.models import Event
from pressroom.ids import time_of

INSERT_EVENT: Final = Command(
    "INSERT INTO events (id, account_id, key_id, type, data, created_at, trace)"
    " VALUES (:id, :account_id, :key_id, :type, :data, :now, :trace)"
)

DELETE_EVENT: Final = Command("DELETE FROM events WHERE account_id = :account_id AND id = :id")


FIND_LATEST: Final = Query(str, "SELECT coalesce(max(id), '') FROM events")


async def insert_event(tx: Tx, event: Event, trace: str | None) -> None:
    """Appends one event, at the transaction's time. `trace` names the span of the request that caused it."""
    await tx.later(
        INSERT_EVENT,
        id=event.id,
        account_id=event.account_id,
        key_id=event.key_id,
        type=event.type,
        data=event.data,
        now=tx.now,
        trace=trace,
    )


async def delete_events(tx: Tx, events: Sequence[tuple[str, str]]) -> None:
    """Removes events, given by the ids of their account and their own."""
    await tx.run_each(DELETE_EVENT, [{"account_id": account_id, "id": event_id} for account_id, event_id in events])


async def find_latest_time(tx: Tx) -> int:
    """Returns when the latest event was appended (milliseconds), 0 when there is none."""
    latest = await tx.one(FIND_LATEST)
    return time_of(latest) if latest else 0


@sql.run(
    "DELETE FROM events WHERE account_id = :account_id AND id IN"
    " (SELECT id FROM events WHERE account_id = :account_id ORDER BY id LIMIT :batch)"
)
async def erase_events(tx: Tx, account_id: str, batch: int) -> int:
    """Removes events of an account, oldest first, and returns how many."""
    ...
