"""How much each key is used: counted in the process, written behind once a second (docs/keys.md#usage)."""

from collections import deque
from typing import Final

import msgspec

from pressroom.clock import HOUR
from pressroom.db import Database, Tx
from pressroom.domains.keys import queries
from pressroom.domains.keys.models import RECENT_REFUSALS, Counts, Refusal
from pressroom.jobs.write_behind import WriteBehind

MOST_KEYS: Final = 10_000
"""Keys whose usage may wait to be written: more come only while the database is away, and go uncounted."""

MOST_REFUSALS: Final = 2_000
"""Refusals of all keys that may wait to be written; further ones are counted, but not listed."""

ACCEPTED, LIMITED, REFUSED, FAILED = range(4)


class Unwritten(msgspec.Struct):
    """The usage of one key since the last write.

    `hours` holds four counts (accepted, limited, refused, failed) for each hour since 1970.
    """

    hours: dict[int, list[int]]
    refusals: deque[Refusal]


class KeyUsage:
    """Counts the responses to requests with a key, by hour and outcome, and holds the last refusals."""

    def __init__(self, db: Database) -> None:
        # A cancelled write continues in the background: its counts must not be added again.
        self._held = WriteBehind[Unwritten](
            lambda held: db.transact(_write_all, held), merge=_merged, most=MOST_KEYS, repeatable=False
        )
        self._refusals = 0

    def note(self, key_id: str, now: int, status: int) -> None:
        """Counts a response with this status, sent at `now` (milliseconds)."""
        hour = now // HOUR
        held = self._held.pending.get(key_id)
        if held is None:
            held = Unwritten({}, deque(maxlen=RECENT_REFUSALS))
            self._held.add(key_id, held)
        counts = held.hours.get(hour)
        if counts is None:
            counts = held.hours[hour] = [0, 0, 0, 0]
        counts[_outcome(status)] += 1

    def note_refusal(self, key_id: str, refusal: Refusal) -> None:
        """Counts a response 4xx and lists it among the key's last refusals."""
        self.note(key_id, refusal.refused_at, refusal.status)
        held = self._held.pending.get(key_id)
        # A program that hammers with refused requests must not fill the memory with them.
        if held is None or self._refusals >= MOST_REFUSALS:
            return
        self._refusals += len(held.refusals) < RECENT_REFUSALS
        held.refusals.append(refusal)

    async def flush(self) -> None:
        """Writes the counts."""
        self._refusals = 0
        try:
            await self._held.flush()
        finally:
            self._refusals = sum(len(held.refusals) for held in self._held.pending.values())


def _outcome(status: int) -> int:
    if status < 400:
        return ACCEPTED
    if status == 429:
        return LIMITED
    return REFUSED if status < 500 else FAILED


def _merged(earlier: Unwritten, later: Unwritten) -> Unwritten:
    for hour, counts in later.hours.items():
        before = earlier.hours.get(hour, (0, 0, 0, 0))
        earlier.hours[hour] = [one + other for one, other in zip(before, counts, strict=True)]
    earlier.refusals.extend(later.refusals)
    return earlier


async def _write_all(tx: Tx, held: dict[str, Unwritten]) -> None:
    # In the order of their ids, so that two processes that write the same keys do not deadlock.
    keys = sorted(held)
    hours = ((key_id, hour, Counts(*counts)) for key_id in keys for hour, counts in sorted(held[key_id].hours.items()))
    await queries.add_usage(tx, list(hours))
    for key_id in keys:
        if held[key_id].refusals:
            await queries.add_refusals(tx, key_id, list(held[key_id].refusals))
