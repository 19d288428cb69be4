"""Slots for fetches of pages: bounded in all, for each account and for each site."""

import asyncio
import functools
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from publicsuffixlist import PublicSuffixList

from pressroom.errors import PressroomError
from pressroom.threads import MadeOnce

TOGETHER: Final = 32
"""Pages that one process fetches together."""

OF_ACCOUNT: Final = 4
OF_DOMAIN: Final = 4
"""Of those, for one account, and from one registrable domain: pages that hang must not take all slots."""

MOST_WAITING: Final = 256
WAITING_OF_ACCOUNT: Final = 16
"""Fetches that wait for a slot, in all and for one account. Further cards are left to their jobs."""

PATIENCE_SECONDS: Final = 5.0
"""How long a fetch waits for a slot before its job is put behind the others."""


class Busy(PressroomError):
    """No slot is free, and this fetch may not wait (any longer) for one."""


class _WaitingFetch:
    def __init__(self, account_id: str, domain: str) -> None:
        self.account_id = account_id
        self.domain = domain
        self.admitted: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class FetchSlots:
    """Slots for fetches. The next free slot goes to the account with the fewest fetches under way.

    So however much one account has queued, the first card of another gets the next slot that its site allows.
    """

    def __init__(self) -> None:
        self._busy = 0
        self._of_account: Counter[str] = Counter()
        self._of_domain: Counter[str] = Counter()
        self._waiting: list[_WaitingFetch] = []
        self._suffixes = MadeOnce(_suffixes)

    async def prepare(self) -> None:
        """Reads the list of public suffixes, once, in a thread: it takes a tenth of a second and 5 MB.

        Taking a slot without that waits for it.
        """
        await self._suffixes.get()

    @asynccontextmanager
    async def taken(self, account_id: str, host: str, *, bounded: bool = True) -> AsyncGenerator[None]:
        """Waits for a slot for a fetch from `host` on behalf of an account, and holds it while the context lasts.

        Raises Busy when none is free for PATIENCE_SECONDS, or at once when too many wait already. The latter holds for
        `bounded` fetches; the number of others is bounded by their jobs.
        """
        one = _WaitingFetch(account_id, registrable(host))
        if not self._fits(one):
            self._check_queue(account_id, bounded=bounded)
            self._waiting.append(one)
            await self._admitted(one)
        else:
            self._count(one, 1)
        try:
            yield
        finally:
            self._count(one, -1)
            self._admit()

    async def _admitted(self, one: _WaitingFetch) -> None:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await one.admitted
        except BaseException as error:
            # Timed out or cancelled. A slot that was given at this moment is handed on, or it would be lost for good.
            if one in self._waiting:
                self._waiting.remove(one)
            else:  # it has just been admitted
                self._count(one, -1)
                self._admit()
            if isinstance(error, TimeoutError):
                raise Busy("Other link cards come first.") from None
            raise

    def _check_queue(self, account_id: str, *, bounded: bool) -> None:
        own = sum(each.account_id == account_id for each in self._waiting)
        if bounded and (own >= WAITING_OF_ACCOUNT or len(self._waiting) >= MOST_WAITING):
            raise Busy("Too many link cards are waited for already.")

    def _admit(self) -> None:
        while fitting := [each for each in self._waiting if self._fits(each)]:
            # By fetches under way, not by arrival: an account that queued hundreds does not delay the first of another.
            one = min(fitting, key=lambda each: self._of_account[each.account_id])
            self._waiting.remove(one)
            self._count(one, 1)
            one.admitted.set_result(None)

    def _fits(self, one: _WaitingFetch) -> bool:
        return (
            self._busy < TOGETHER
            and self._of_account[one.account_id] < OF_ACCOUNT
            and self._of_domain[one.domain] < OF_DOMAIN
        )

    def _count(self, one: _WaitingFetch, number: int) -> None:
        self._busy += number
        for counter, key in ((self._of_account, one.account_id), (self._of_domain, one.domain)):
            counter[key] += number
            if not counter[key]:
                del counter[key]


@functools.lru_cache(4_096)
def registrable(host: str) -> str:
    """Returns the part of a host name that can be registered: `example.co.uk` of `a.b.example.co.uk`.

    For addresses, and for names that are public suffixes themselves, returns the host.
    """
    if ":" in host or host.rpartition(".")[2].isdigit():
        return host
    return _suffixes().privatesuffix(host.lower().rstrip(".")) or host


@functools.cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()
