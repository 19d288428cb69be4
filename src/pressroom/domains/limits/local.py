"""Rate limits of this process alone, for as long as the shared ones are away (docs/limits.md#when-redis-is-away).

Writes of people who are signed in go on in any case; requests with a key are refused unless a setting admits them.
"""

from typing import Final

from pressroom.clock import MINUTE, SECOND, Clock
from pressroom.domains.limits.guard import Limiter
from pressroom.domains.limits.models import Left, Rates, Verdict
from pressroom.domains.limits.windows import Windows
from pressroom.errors import Unavailable
from pressroom.logs import Log

IDLE: Final = 2 * MINUTE
"""After so long without a request a key's windows are forgotten."""

SETTLED: Final = 5 * SECOND
"""After so long without a failure the shared limiter is back. One node of a cluster may be away while others answer."""


class LocalWhenAway:
    """A shared limiter, and windows of this process for requests that it cannot count.

    Args:
        shared: The limiter of all processes.
        counts_keys: Whether requests with a key are counted here too. Otherwise they raise Unavailable.
        clock: The time that the windows of this process go by.
        log: Where the operator reads that the shared limiter is away, and that it is back.
        address: Where the shared limiter is, as shown in the log.
    """

    def __init__(self, shared: Limiter, clock: Clock, log: Log, *, counts_keys: bool, address: str) -> None:
        self.rates = shared.rates
        self._shared = shared
        self._counts_keys = counts_keys
        self._clock = clock
        self._log = log
        self._address = address
        self._windows: dict[str, Windows] = {}
        self._touched: dict[str, int] = {}
        self._failed_at: int | None = None
        self._has_answered = False

    async def attempt(self, key_id: str, *, is_post: bool, rates: Rates | None = None) -> Verdict:
        """Charges one request, to the shared limiter if that can be. Raises Unavailable."""
        try:
            verdict = await self._shared.attempt(key_id, is_post=is_post, rates=rates)
        except Unavailable:
            self._note_failure()
            if (rates or self.rates).counts_keys and not self._counts_keys:
                raise  # A guess would let a key overrun its limit by the number of processes.
            return self._local(key_id, rates).attempt(self._clock.steady(), is_post=is_post)
        # Kept for `flush`, which looks for the end of an outage: here, each request would pay for the look.
        self._has_answered = True
        return verdict

    async def peek(self, key_id: str, *, is_post: bool, rates: Rates | None = None) -> Verdict:
        """Returns the state of the key's windows; charges nothing. Raises Unavailable."""
        try:
            return await self._shared.peek(key_id, is_post=is_post, rates=rates)
        except Unavailable:
            if not self._counts_keys:
                raise
            return self._local(key_id, rates).peek(self._clock.steady(), is_post=is_post)

    async def look(self, key_id: str, rates: Rates | None = None) -> tuple[Left, Left]:
        """Returns the remaining requests of the key's minute and 24 hours; charges nothing. Raises Unavailable."""
        try:
            return await self._shared.look(key_id, rates)
        except Unavailable:
            if not self._counts_keys:
                raise
            return self._local(key_id, rates).look(self._clock.steady())

    async def flush(self) -> None:
        """Forgets windows that nobody has used for a while, and logs that the shared limiter is back."""
        await self._shared.flush()
        self._note_return()
        quiet_since = self._clock.steady() - IDLE
        for key_id in [key_id for key_id, at in self._touched.items() if at < quiet_since]:
            del self._touched[key_id], self._windows[key_id]

    async def ping(self) -> str | None:
        """Returns a notice for the operator while the shared limiter is away."""
        try:
            return await self._shared.ping()
        except Unavailable:
            self._note_failure()
            return f"{self._notice}."

    async def close(self) -> None:
        """Closes the shared limiter."""
        await self._shared.close()

    def _local(self, key_id: str, rates: Rates | None) -> Windows:
        self._touched[key_id] = self._clock.steady()
        wanted = rates or self.rates
        windows = self._windows.setdefault(key_id, Windows(wanted))
        if windows.rates != wanted:
            windows.limit(wanted)
        return windows

    @property
    def _notice(self) -> str:
        if self._counts_keys:
            return "Redis does not answer: each process counts requests for itself until it does"
        return "Redis does not answer: requests with a key are 503 until it does, nothing else"

    def _note_failure(self) -> None:
        if self._failed_at is None:
            self._log.warning(self._notice, redis=self._address)
        # Again at each failure: the outage is over once none came for SETTLED.
        self._failed_at, self._has_answered = self._clock.steady(), False

    def _note_return(self) -> None:
        if self._failed_at is not None and self._has_answered and self._clock.steady() - self._failed_at >= SETTLED:
            self._log.info("Redis answers again; all processes count together")
            self._failed_at = None
