"""SQL of the events package."""

from collections.abc import Sequence
from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx, sql
from pressroom.db.params import in_list, spread
from pressroom.domains.events.models import Event, EventType
from pressroom.ids import time_of

COUNT_EVENT: Final = Command(
    "INSERT INTO event_counters (account_id, latest) VALUES (:account_id, 1)"
    " ON CONFLICT (account_id) DO UPDATE SET latest = event_counters.latest + 1"
)

INSERT_EVENT: Final = Command(
    "INSERT INTO events (id, account_id, key_id, type, data, created_at, trace, number)"
    " VALUES (:id, :account_id, :key_id, :type, :data, :now, :trace,"
    " (SELECT latest FROM event_counters WHERE account_id = :counted_for))"
)

DELETE_EVENT: Final = Command("DELETE FROM events WHERE account_id = :account_id AND id = :id")


FIND_LATEST: Final = Query(str, "SELECT coalesce(max(id), '') FROM events")


async def insert_event(tx: Tx, event: Event, trace: str | None) -> None:
    """Appends one event, at the transaction's time. `trace` names the span of the request that caused it."""
    counted = event.type is not EventType.WEBHOOK_TEST
    if counted:
        # Locks the counter until the commit. An event that took the next number cannot be seen before this one: readers
        # who follow the numbers skip nothing, however long the time between its statements and its commit.
        await tx.later(COUNT_EVENT, account_id=event.account_id)
    await tx.later(
        INSERT_EVENT,
        id=event.id,
        account_id=event.account_id,
        key_id=event.key_id,
        type=event.type,
        data=event.data,
        now=tx.now,
        trace=trace,
        counted_for=event.account_id if counted else None,
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


@sql.run("DELETE FROM event_counters WHERE account_id = :account_id")
async def erase_counter(tx: Tx, account_id: str) -> None:
    """Removes the counter of an account that has no more events."""
    ...


class NumberedEvent(msgspec.Struct):
    """An event in its place among those of its account; see `Event`."""

    number: int
    id: str
    key_id: str | None
    type: str
    data: str


class Place(msgspec.Struct):
    """The place of an event; `id` is None when the event has been removed."""

    number: int
    id: str | None


class Latest(msgspec.Struct):
    """The number of an account's latest event."""

    account_id: str
    latest: int


@sql.all(
    "SELECT number, id, key_id, type, data FROM events WHERE account_id = :account_id AND number >= :first"
    " AND id >= :since ORDER BY number LIMIT :limit"
)
async def list_from(tx: Tx, account_id: str, *, first: int, since: str, limit: int) -> list[NumberedEvent]:
    """Returns events of an account from the number `first` on, in the order of their numbers, but those with ids below
    `since`."""
    ...


@sql.one(
    "SELECT number, id FROM events WHERE account_id = :account_id AND number >= 0 AND id >= :since"
    " ORDER BY number LIMIT 1"
)
async def find_oldest(tx: Tx, account_id: str, *, since: str) -> Place | None:
    """Returns the place of an account's oldest event with an id from `since` on."""
    ...


@sql.one(
    "SELECT c.latest AS number, e.id FROM event_counters c"
    " LEFT JOIN events e ON e.account_id = c.account_id AND e.number = c.latest WHERE c.account_id = :account_id"
)
async def find_latest(tx: Tx, account_id: str) -> Place | None:
    """Returns the place of an account's latest event; None when there never was any."""
    ...


LATEST_OF: Final = Query(
    Latest, f"SELECT account_id, latest FROM event_counters WHERE account_id IN ({in_list('account')})"
)


async def list_latest(tx: Tx, account_ids: Sequence[str]) -> list[Latest]:
    """Returns the numbers of the latest events of these accounts, at most BATCH, in no order."""
    return await tx.all(LATEST_OF, **spread("account", account_ids))
