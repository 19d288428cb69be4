"""Windows in the process's memory, written behind to the database once a second."""

import msgspec

from pressroom.clock import MINUTE, Clock
from pressroom.db import Database, Tx
from pressroom.domains.limits import queries
from pressroom.domains.limits.models import Rates, Verdict
from pressroom.domains.limits.windows import StoredWindows, Windows, merged, not_after
from pressroom.errors import Unavailable

IDLE = 2 * MINUTE
"""Windows untouched for so long, and saved, are let go; they are loaded again when their key returns."""


class MemoryLimiter:
    """The limiter of a single API process. A crash loses at most what was counted since the last flush."""

    def __init__(self, rates: Rates, db: Database, clock: Clock) -> None:
        self.rates = rates
        self._db = db
        self._clock = clock
        self._windows: dict[str, Windows] = {}
        self._touched: dict[str, int] = {}
        self._dirty: set[str] = set()
        self._suspended = False
        self._unsaved: dict[str, StoredWindows] = {}
        self._encoder = msgspec.json.Encoder()
        self._decoder = msgspec.json.Decoder(StoredWindows)

    async def attempt(self, key_id: str, *, is_post: bool) -> Verdict:
        """Charges one request of a key and says what the windows make of it. Raises Unavailable while suspended."""
        windows = self._windows.get(key_id) or await self._load(key_id)
        self._check_not_suspended()
        verdict = windows.attempt(self._clock.now(), is_post=is_post)
        self._touched[key_id] = verdict.now
        self._dirty.add(key_id)
        return verdict

    async def peek(self, key_id: str) -> Verdict:
        """The state of the key's minute; charges nothing."""
        windows = self._windows.get(key_id) or await self._load(key_id)
        return windows.peek(self._clock.now())

    async def flush(self) -> None:
        """Writes what was counted since the last flush, and forgets keys that have gone quiet.

        Writes nothing while suspended: the rows are another process's then.
        """
        if self._suspended:
            return
        dirty, self._dirty = self._dirty, set()
        states = {key_id: self._encoder.encode(self._windows[key_id].stored()).decode() for key_id in dirty}
        if states:
            try:
                await self._db.transact(_save_all, states)
            except BaseException:
                self._dirty |= dirty
                raise
        quiet_since = self._clock.now() - IDLE
        for key_id in [key_id for key_id, at in self._touched.items() if at < quiet_since]:
            if key_id not in self._dirty:
                del self._touched[key_id]
                del self._windows[key_id]

    def suspend(self) -> None:
        """Admits nothing until `resume`: another process may be counting."""
        self._suspended = True

    def resume(self) -> None:
        """Counts again: what the database holds by now, and what this process had not saved."""
        for key_id in self._dirty:
            self._unsaved[key_id] = self._windows[key_id].stored()
        self._windows.clear()
        self._touched.clear()
        self._dirty.clear()
        self._suspended = False

    async def ping(self) -> None:
        """Raises Unavailable while suspended."""
        self._check_not_suspended()

    async def close(self) -> None:
        """Writes what is left."""
        await self.flush()

    async def _load(self, key_id: str) -> Windows:
        state = await self._db.one(queries.FIND_WINDOWS, key_id=key_id)
        stored = self._decoder.decode(state) if state else None
        if (unsaved := self._unsaved.pop(key_id, None)) is not None:
            stored = merged(stored, unsaved) if stored else unsaved
        if stored is not None:
            stored = not_after(stored, self._clock.now())
        self._touched.setdefault(key_id, self._clock.now())
        # Two requests may have loaded the same key at once: both must count in the same windows.
        return self._windows.setdefault(key_id, Windows(self.rates, stored))

    def _check_not_suspended(self) -> None:
        if self._suspended:
            raise Unavailable("The rate limiter cannot count right now.")


async def _save_all(tx: Tx, states: dict[str, str]) -> None:
    for key_id in sorted(states):
        await queries.save_windows(tx, key_id=key_id, state=states[key_id])
