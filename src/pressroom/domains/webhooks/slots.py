"""Which endpoints a worker sends to next, and how much at once (docs/webhooks.md#slow-endpoints). Only counts.

A slot is one request under way. New, quick and slow endpoints have slots of their own, so that however many hang, the
quick are sent to at once. A request that takes longer than a second leaves its slot to the next and counts among the
slow from then on; so the quick and the new wait a second for a free slot at the most, and slots of the slow can be in
use beyond their number, in which case none of the slow is begun.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

import msgspec

from pressroom.domains.webhooks.models import Candidate, Speed

SLOW_SECONDS: Final = 1.0
"""An attempt that takes longer is slow."""

AT_ONCE: Final = 32
"""Endpoints of one pool that are leased in one transaction, so that none is long."""

MOST: Final = 1_536
"""Requests under way beyond which none is moved to the slow: each costs a socket and some 40 KB."""


class SlotPool(msgspec.Struct, frozen=True):
    """Slots, and how many of them the endpoints of one account and of one receiving host can have."""

    slots: int
    of_account: int
    of_host: int


POOLS: Final = {
    Speed.QUICK: SlotPool(256, of_account=64, of_host=128),
    Speed.NEW: SlotPool(96, of_account=48, of_host=48),
    Speed.SLOW: SlotPool(192, of_account=48, of_host=96),
}


class Slot(msgspec.Struct):
    """What one turn has of a pool: as many slots as it is wide."""

    speed: Speed
    account_id: str
    host: str
    width: int


class _Use:
    """What is in use of one pool."""

    def __init__(self) -> None:
        self.slots = 0
        self.accounts: Counter[str] = Counter()
        self.hosts: Counter[str] = Counter()

    def add(self, slot: Slot, sign: int) -> None:
        self.slots += sign * slot.width
        for counter, key in ((self.accounts, slot.account_id), (self.hosts, slot.host)):
            counter[key] += sign * slot.width
            if not counter[key]:
                del counter[key]


class Slots:
    """The slots of one worker."""

    def __init__(self) -> None:
        self._uses = {speed: _Use() for speed in POOLS}

    def has_room(self, speed: Speed) -> bool:
        """Whether a slot of the pool is free."""
        return self._uses[speed].slots < POOLS[speed].slots

    def full_accounts(self, speed: Speed) -> list[str]:
        """The accounts that have all they can have of a pool."""
        return [account for account, count in self._uses[speed].accounts.items() if count >= POOLS[speed].of_account]

    def choose(self, speed: Speed, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Those that are begun next, at most AT_ONCE, one slot each.

        First come those of accounts with the fewest requests under way; among equals, in the order given.
        """
        pool, use = POOLS[speed], self._uses[speed]
        accounts, hosts = use.accounts.copy(), use.hosts.copy()
        ranked: list[tuple[int, int, Candidate]] = []
        for place, candidate in enumerate(candidates):
            ranked.append((accounts[candidate.account_id], place, candidate))
            accounts[candidate.account_id] += 1
        chosen: list[Candidate] = []
        most = min(AT_ONCE, pool.slots - use.slots)
        for ahead, _, candidate in sorted(ranked, key=lambda each: each[:2]):
            host = host_of(candidate.url)
            if len(chosen) < most and ahead < pool.of_account and hosts[host] < pool.of_host:
                hosts[host] += 1
                chosen.append(candidate)
        return chosen

    def take(self, speed: Speed, account_id: str, url: str) -> Slot:
        """Takes one slot, for an endpoint that was chosen."""
        slot = Slot(Speed(speed), account_id, host_of(url), 1)
        self._uses[speed].add(slot, 1)
        return slot

    def widen(self, slot: Slot, wanted: int) -> None:
        """Makes it up to `wanted` slots, of the half of the pool that is free.

        There are no more while more of the slow are under way than have slots: what goes wrong then goes wrong
        narrowly.
        """
        if self._uses[Speed.SLOW].slots > POOLS[Speed.SLOW].slots:
            return
        pool, use = POOLS[slot.speed], self._uses[slot.speed]
        free = min(
            (pool.slots - use.slots) // 2,
            pool.of_account - use.accounts[slot.account_id],
            pool.of_host - use.hosts[slot.host],
        )
        use.add(slot, -1)
        slot.width += max(0, min(wanted - slot.width, free))
        use.add(slot, 1)

    def slow_down(self, slot: Slot) -> bool:
        """Moves a slot among the slow, whether there is room or not; False when far too many are under way."""
        if slot.speed is not Speed.SLOW:
            if sum(use.slots for use in self._uses.values()) > MOST:
                return False
            self._uses[slot.speed].add(slot, -1)
            slot.speed = Speed.SLOW
            self._uses[slot.speed].add(slot, 1)
        return True

    def give_back(self, slot: Slot) -> None:
        """Frees a slot."""
        self._uses[slot.speed].add(slot, -1)


@lru_cache(2_048)
def host_of(url: str) -> str:
    """The host and port that a URL leads to."""
    return urlsplit(url).netloc.lower()


def speed_after(before: Speed, longest: float | None) -> Speed:
    """How quick an endpoint is after a turn whose longest attempt took so many seconds; None: there was none."""
    if longest is None:
        return before
    return Speed.SLOW if longest > SLOW_SECONDS else Speed.QUICK
