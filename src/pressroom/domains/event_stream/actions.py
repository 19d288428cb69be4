"""Reading the events of an account in their order. Each action takes an open transaction first."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from pressroom.clock import DAY
from pressroom.db import Tx
from pressroom.domains.event_stream.cursors import Cursor
from pressroom.domains.events import queries
from pressroom.domains.events.models import EventType, envelope, envelope_id_of
from pressroom.domains.events.queries import NumberedEvent
from pressroom.domains.keys.models import KeyStatus
from pressroom.domains.keys.queries import find_key
from pressroom.errors import CursorExpired, ExpiredKey, RevokedKey
from pressroom.ids import first_id

KEPT: Final = 30 * DAY
"""For how long (milliseconds) events can be read."""


class ReadEvent(NamedTuple):
    """An event as a key reads it: its kind, its envelope, and the place behind it."""

    event: str
    envelope: bytes
    cursor: Cursor


class Batch(NamedTuple):
    """Events that follow a cursor.

    Attributes:
        events: Those that the key may read, in their order.
        cursor: The place behind all that was looked at.
        is_last: Whether the last of them is the key's revocation: nothing follows.
    """

    events: list[ReadEvent]
    cursor: Cursor
    is_last: bool = False


async def begin(tx: Tx, account_id: str, key_id: str, after: Cursor | None, limit: int) -> tuple[Batch, int | None]:
    """Returns the first events that a key reads after a cursor, or the place behind the latest event without one, and
    when the key expires (milliseconds).

    Raises CursorExpired, and RevokedKey or ExpiredKey when the key has ended since the request began.
    """
    # The key is read in the snapshot of the events: otherwise the news of its revocation could stand before the place
    # where a stream begins, which would then never end.
    key = await find_key(tx, key_id)
    if key is None or key.revoked_at is not None:
        raise RevokedKey("This key was revoked. Create another one, signed in: POST /api/auth/api-keys.")
    if key.status(tx.now) is KeyStatus.EXPIRED:
        raise ExpiredKey("This key has expired. Create another one, signed in: POST /api/auth/api-keys.")
    if after is not None:
        return await read_after(tx, account_id, key_id, after, limit), key.expires_at
    latest = await queries.find_latest(tx, account_id)
    return Batch([], Cursor(0) if latest is None else Cursor.behind(latest.number, latest.id)), key.expires_at


async def read_after(tx: Tx, account_id: str, key_id: str, after: Cursor, limit: int) -> Batch:
    """Returns at most `limit` events of the account that follow a cursor, for a key of the account.

    Raises CursorExpired when the first that follows is no longer kept.
    """
    since = first_id(tx.now - KEPT)
    found = await queries.list_from(tx, account_id, first=after.number, since=since, limit=limit + 1)
    if found and found[0].number == after.number:
        if not after.fits(found[0].id):
            raise CursorExpired(str(await _oldest(tx, account_id, since)))
        del found[0]
    elif not found:
        latest = await queries.find_latest(tx, account_id)
        if (latest.number if latest else 0) != after.number:
            raise CursorExpired(str(await _oldest(tx, account_id, since)))
    whole = _unbroken(found[:limit], after.number)
    if found and not whole:
        raise CursorExpired(str(await _oldest(tx, account_id, since)))
    return _for_key(key_id, whole, after)


def _unbroken(found: Sequence[NumberedEvent], after: int) -> Sequence[NumberedEvent]:
    """Returns the events up to the first gap in their numbers.

    Numbers have no gaps of their own: an event that is not there was removed for its age, and is reported as such.
    """
    for place, event in enumerate(found):
        if event.number != after + place + 1:
            return found[:place]
    return found


def _for_key(key_id: str, found: Sequence[NumberedEvent], after: Cursor) -> Batch:
    """Returns of these events those that the key may read; nothing after the news of its own revocation."""
    read: list[ReadEvent] = []
    cursor = after
    for event in found:
        cursor = Cursor.behind(event.number, event.id)
        if event.key_id not in (None, key_id):
            continue
        body = envelope(envelope_id_of(key_id, event.id), event.id, event.type, event.data)
        read.append(ReadEvent(event.type, body, cursor))
        if event.type == EventType.APIKEY_REVOKED:
            return Batch(read, cursor, is_last=True)
    return Batch(read, cursor)


async def _oldest(tx: Tx, account_id: str, since: str) -> Cursor:
    """Returns the place before the oldest event that is kept, or behind the latest when none is."""
    if (oldest := await queries.find_oldest(tx, account_id, since=since)) is not None:
        return Cursor(oldest.number - 1)
    latest = await queries.find_latest(tx, account_id)
    return Cursor(latest.number if latest else 0)
