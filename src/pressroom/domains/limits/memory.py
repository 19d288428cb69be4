"""Rate limits in this process's memory, saved to the database twice a second (docs/limits.md#storage-of-counts)."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from pressroom.clock import DAY, MINUTE, SECOND, Clock
from pressroom.db import Database, Query, Tx, ahead_of_requests
from pressroom.domains.limits import queries
from pressroom.domains.limits.models import Holder, KeyWrite, Left, Rates, Verdict
from pressroom.domains.limits.reserve import Reserve
from pressroom.domains.limits.windows import StoredWindows, Windows, merged, moved, not_after, with_writes
from pressroom.errors import PressroomError, Unavailable
from pressroom.ids import first_id
from pressroom.jobs.write_behind import WriteBehind

IDLE: Final = 2 * MINUTE
"""After so long without a request, saved windows leave the memory; the next request loads them again."""

FORGIVEN_SECONDS: Final = 1.0
"""How old unsaved counts may be before requests are refused: a kill loses no more than this."""

SAVE_PATIENCE: Final = 2.0
"""Seconds that a request waits for a late save."""


class Superseded(PressroomError):
    """Another process counts now; this one must not overwrite its windows."""


class MemoryLimiter:
    """The limiter of a single API process. A crash loses at most the last second of requests that wrote nothing.

    Args:
        rates: The limits of every key.
        db: Where the windows are saved.
        clock: The time of the windows.
        written: Queries for the writes of a key (`key_id`, `first_id`, `since`), which are counted again after a crash.
        monotonic: Returns seconds that never run backwards.
        reserve: The file for counts while the database cannot store them.
    """

    def __init__(
        self,
        rates: Rates,
        db: Database,
        clock: Clock,
        written: Sequence[Query[KeyWrite]] = (),
        monotonic: Callable[[], float] = time.monotonic,
        reserve: Reserve | None = None,
    ) -> None:
        self.rates = rates
        self._db = db
        self._clock = clock
        self._written = written
        self._windows: dict[str, Windows] = {}
        self._touched: dict[str, int] = {}
        self._changed = WriteBehind[Windows](self._save, monotonic=monotonic)
        self._reserve = reserve
        self._drift = 0
        self._holder: str | None = None
        self._recover_before = 0
        self._suspended = False
        self._may_admit: Callable[[], bool] = _always
        self._unsaved: dict[str, StoredWindows] = {}
        self._encoder = msgspec.json.Encoder()
        self._decoder = msgspec.json.Decoder(StoredWindows)

    async def take_over(self, holder: str, may_admit: Callable[[], bool] | None = None) -> None:
        """Begins to count as the process `holder`, in place of the previous one.

        Unless the previous process recorded a clean stop, writes of keys since its last save are counted too
        (docs/limits.md#after-a-crash). Nothing is admitted while `may_admit` returns False.
        """
        # First of all: from this commit on the previous process can save nothing more (`Superseded`), so the rows read
        # below are its last word.
        before = await self._db.transact(queries.set_holder, holder)
        if self._reserve is not None:
            await self._db.transact(_merge, self._reserve.load(), self._encoder, self._decoder)
            await self._reserve.clear()
            self._reserve.allocate()
        # After a crash, requests of the last second are missing from the saved windows. Their writes are in the
        # database; reads without a trace are forgiven.
        if before is None or (not before.clean and before.holder != self._holder):
            self._recover_before = self._clock.now()
        self._holder = holder
        self._may_admit = may_admit or _always
        self._resume()

    async def attempt(self, key_id: str, *, is_post: bool, rates: Rates | None = None) -> Verdict:
        """Charges one request of a key, or of something else with its own `rates`, and returns the verdict.

        Raises Unavailable while this process may not count, or cannot save its counts.
        """
        # With unsaved counts older than a second, a kill now would forgive more than a second of requests.
        if self._is_save_late():
            await self._wait_for_save()
        windows = await self._windows_of(key_id, rates)
        # After all awaits, and none follows before the charge: a take-over in between would let this process admit
        # beside its successor.
        self._check_counting()
        verdict = windows.attempt(self._clock.steady(), is_post=is_post)
        self._touched[key_id] = verdict.now
        self._changed.add(key_id, windows)
        if self._drift:
            verdict.move(self._drift)
        return verdict

    async def peek(self, key_id: str, *, is_post: bool, rates: Rates | None = None) -> Verdict:
        """Returns the state of the key's windows; charges nothing."""
        verdict = (await self._windows_of(key_id, rates)).peek(self._clock.steady(), is_post=is_post)
        verdict.move(self._drift)
        return verdict

    async def look(self, key_id: str, rates: Rates | None = None) -> tuple[Left, Left]:
        """Returns the remaining requests of the key's minute and 24 hours; charges nothing."""
        return (await self._windows_of(key_id, rates)).look(self._clock.steady())

    async def flush(self) -> None:
        """Saves the counts since the last flush, and drops idle windows from memory."""
        # Once another process has taken over, the rows are its own: older counts would reset its windows.
        if self._may_save():
            # Behind waiting requests, the save would be late, and a late save refuses all of them.
            with ahead_of_requests():
                await self._save_or_keep()
        quiet_since = self._clock.steady() - IDLE
        for key_id in [key_id for key_id, at in self._touched.items() if at < quiet_since]:
            # Dropped while unsaved, they would be loaded again without their latest requests.
            if key_id not in self._changed.pending:
                del self._touched[key_id]
                del self._windows[key_id]

    def suspend(self) -> None:
        """Refuses every request until `take_over`: another process may be counting soon."""
        self._suspended = True

    async def ping(self) -> str | None:
        """Raises Unavailable while every request is refused. Returns None."""
        self._check_counting()
        self._check_saved()
        return None

    async def close(self) -> None:
        """Refuses every request from now on, saves the last counts, and records a clean stop."""
        may_save = self._may_save()
        self.suspend()
        # A write that is under way would otherwise finish behind the record of the clean stop.
        while self._changed.is_writing:
            await self._changed.tried()
        if may_save:
            await self._save_or_keep()
            # A transaction of its own, and last: only after everything is saved is the stop a clean one.
            await self._db.transact(_save_all, {}, self._holder, True)
        self._holder = None

    async def _windows_of(self, key_id: str, rates: Rates | None) -> Windows:
        wanted = rates or self.rates
        while (windows := self._windows.get(key_id)) is None:
            await self._load(key_id, wanted)
        if windows.rates is not wanted and windows.rates != wanted:
            windows.limit(wanted)
        return windows

    def _may_save(self) -> bool:
        return not self._suspended or self._holder is not None

    async def _save_or_keep(self) -> None:
        """Saves the counts; when the database cannot store them, writes them to the reserve."""
        try:
            await self._changed.flush()
        except PressroomError:
            if self._reserve is not None:
                await self._reserve.keep(self._stored(self._changed.pending))
            raise
        # Not while values wait: the reserve may hold their only stored copy.
        if self._reserve is not None and not self._changed.pending:
            await self._reserve.clear()

    async def _save(self, changed: dict[str, Windows]) -> None:
        states = {key_id: self._encoder.encode(held).decode() for key_id, held in self._stored(changed).items()}
        await self._db.transact(_save_all, states, self._holder, False)

    def _stored(self, changed: Mapping[str, Windows]) -> dict[str, StoredWindows]:
        """Returns windows as they are stored: by the time of the database's records."""
        self._note_drift()
        now = self._clock.steady()
        return {key_id: moved(windows.stored(now), self._drift) for key_id, windows in changed.items()}

    def _note_drift(self) -> None:
        """Records the difference between the steady time of windows and the stored time, once a clock was set."""
        drift = self._clock.now() - self._clock.steady()
        self._drift = drift if abs(drift) >= SECOND else 0

    def _resume(self) -> None:
        """Counts again, from the saved windows and this process's unsaved ones."""
        for key_id, windows in self._changed.take().items():
            self._unsaved[key_id] = windows.stored(0)
        self._windows.clear()
        self._touched.clear()
        self._suspended = False

    async def _load(self, key_id: str, rates: Rates) -> None:
        row = await self._db.one(queries.FIND_WINDOWS, key_id=key_id)
        stored = self._decoder.decode(row.state) if row else StoredWindows([], [], [], [])
        stored.saved_at = stored.saved_at or (row.updated_at if row else 0)
        now = self._clock.now()
        # Only for windows that were saved before the crash; those saved since have the writes in them.
        if stored.saved_at < self._recover_before:
            since = max(stored.saved_at, now - DAY)
            stored = with_writes(stored, await self._db.read(_written_since, self._written, key_id, since))
        self._note_drift()
        stored, now = moved(stored, -self._drift), self._clock.steady()
        if (unsaved := self._unsaved.pop(key_id, None)) is not None:
            stored = merged(stored, unsaved)
        self._touched.setdefault(key_id, now)
        # Two requests may have loaded the same key at once: both must count in the same windows.
        windows = self._windows.setdefault(key_id, Windows(rates, not_after(stored, now)))
        # Held again, since they are still not saved.
        if unsaved is not None:
            self._changed.add(key_id, windows)

    def _is_save_late(self) -> bool:
        return self._changed.age() > FORGIVEN_SECONDS

    async def _wait_for_save(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SAVE_PATIENCE):
                while self._is_save_late() and not self._changed.failed:
                    await self._changed.tried()
        self._check_saved()

    def _check_saved(self) -> None:
        if self._is_save_late():
            raise Unavailable("What the rate limiter counts cannot be saved right now.")

    def _check_counting(self) -> None:
        if self._suspended or not self._may_admit():
            raise Unavailable("The rate limiter cannot count right now.")


def _always() -> bool:
    return True


async def _save_all(tx: Tx, states: dict[str, str], holder: str | None, clean: bool) -> None:
    if holder is not None and not await queries.confirm_holder(tx, holder, clean=clean):
        raise Superseded("Another process counts the rate limits of this database now.")
    await queries.save_windows(tx, states)


async def _merge(
    tx: Tx,
    kept: dict[str, StoredWindows],
    encoder: msgspec.json.Encoder,
    decoder: msgspec.json.Decoder[StoredWindows],
) -> None:
    """Merges counts from the reserve of an earlier process into the saved windows."""
    states: dict[str, str] = {}
    for key_id, windows in kept.items():
        row = await tx.one(queries.FIND_WINDOWS, key_id=key_id)
        both = merged(decoder.decode(row.state), windows) if row else windows
        states[key_id] = encoder.encode(both).decode()
    await queries.save_windows(tx, states)


async def _written_since(tx: Tx, written: Sequence[Query[KeyWrite]], key_id: str, since: int) -> list[KeyWrite]:
    values = {"key_id": key_id, "since": since, "first_id": first_id(since)}
    return [write for query in written for write in await tx.all(query, **{name: values[name] for name in query.names})]


async def find_holder(tx: Tx) -> Holder | None:
    """Returns the process that counts for this database or was the last to; None before the first."""
    return await tx.one(queries.FIND_HOLDER)
