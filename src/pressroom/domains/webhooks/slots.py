"""The endpoints that a worker sends to next, and how much at once (docs/webhooks.md#slow-endpoints). Only counts.

A slot is one request under way. New, quick and slow endpoints have a pool of slots each, so that quick endpoints are
sent to at once however many others hang. A request that takes longer than a second moves to the slow pool and frees
its slot, so a quick or new endpoint waits at most a second for one. The slow pool may hold more than its slots that
way, within the concurrency; no slow endpoint is begun meanwhile.
"""

from collections import Counter, deque
from collections.abc import Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

import msgspec

from pressroom.domains.webhooks.models import Endpoint, Speed

SLOW_SECONDS: Final = 1.0
"""An attempt that takes longer is slow."""

AT_ONCE: Final = 32
"""Endpoints of one pool that are leased in one transaction, and results that are saved in one: none may be long."""

CONCURRENCY: Final = 1_888
"""Requests under way at once, unless a setting gives another number: each costs a socket and some 40 KB."""


class SlotPool(msgspec.Struct, frozen=True):
    """A number of slots, and how many of them endpoints of one account and of one receiving host can have."""

    slots: int
    of_account: int
    of_host: int


POOLS: Final = {
    Speed.QUICK: SlotPool(256, of_account=64, of_host=128),
    Speed.NEW: SlotPool(96, of_account=48, of_host=48),
    Speed.SLOW: SlotPool(192, of_account=48, of_host=96),
}
"""The pools of CONCURRENCY."""

_PARTS: Final = {Speed.QUICK: 2, Speed.NEW: 6, Speed.SLOW: 3}
"""The part of a smaller concurrency that a pool may have: a half, a sixth, a third."""


def pools_of(concurrency: int) -> dict[Speed, SlotPool]:
    """Returns the pools of a worker that has so many requests under way at once.

    They grow in proportion to POOLS. A smaller concurrency is shared out among them.
    """
    return {speed: _pool_of(concurrency, pool, _PARTS[speed]) for speed, pool in POOLS.items()}


def _pool_of(concurrency: int, pool: SlotPool, part: int) -> SlotPool:
    slots = max(1, min(concurrency // part, max(pool.slots, pool.slots * concurrency // CONCURRENCY)))
    of_account, of_host = (max(1, share * slots // pool.slots) for share in (pool.of_account, pool.of_host))
    return SlotPool(slots, of_account=of_account, of_host=of_host)


class Slot(msgspec.Struct):
    """The slots that one batch has of a pool: `width` of them."""

    speed: Speed
    account_id: str
    host: str
    width: int


class _Use:
    """The slots of one pool that are in use."""

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
    """The slots of one worker. `concurrency` is the most that are in use at once; None: CONCURRENCY."""

    def __init__(self, concurrency: int | None = None) -> None:
        self._concurrency = concurrency or CONCURRENCY
        self._pools = POOLS if concurrency is None else pools_of(concurrency)
        self._uses = {speed: _Use() for speed in self._pools}
        self._order = deque(self._pools)

    def speeds(self) -> list[Speed]:
        """Returns the pools in the order in which they are to choose: each is the first in turn."""
        self._order.rotate()
        return list(self._order)

    def has_free(self, speed: Speed) -> bool:
        """Returns whether a slot of the pool is free."""
        return self._free(speed) > 0

    def full_accounts(self, speed: Speed) -> list[str]:
        """Returns the accounts that have as many slots of the pool as they can have."""
        share = self._pools[speed].of_account
        return [account for account, count in self._uses[speed].accounts.items() if count >= share]

    def choose(self, speed: Speed, candidates: Sequence[Endpoint], others: int = 0) -> list[Endpoint]:
        """Returns the endpoints to begin next, at most AT_ONCE, one slot each, beside `others` that were chosen before.

        Endpoints of accounts with the fewest requests under way come first; among equals, the order is kept.
        """
        pool, use = self._pools[speed], self._uses[speed]
        accounts, hosts = use.accounts.copy(), use.hosts.copy()
        ranked: list[tuple[int, int, Endpoint]] = []
        for place, candidate in enumerate(candidates):
            ranked.append((accounts[candidate.account_id], place, candidate))
            accounts[candidate.account_id] += 1
        chosen: list[Endpoint] = []
        most = min(AT_ONCE, self._free(speed, others))
        for ahead, _, candidate in sorted(ranked, key=lambda each: each[:2]):
            host = host_of(candidate.url)
            if len(chosen) < most and ahead < pool.of_account and hosts[host] < pool.of_host:
                hosts[host] += 1
                chosen.append(candidate)
        return chosen

    def take(self, speed: Speed, account_id: str, url: str) -> Slot:
        """Takes one slot for an endpoint that was chosen."""
        slot = Slot(Speed(speed), account_id, host_of(url), 1)
        self._uses[speed].add(slot, 1)
        return slot

    def widen(self, slot: Slot, wanted: int) -> None:
        """Widens a slot up to `wanted`, from half of the free slots of the pool.

        It stays as it is while the slow pool holds more than its slots: a receiver that hangs then costs one request.
        """
        if self._uses[Speed.SLOW].slots > self._pools[Speed.SLOW].slots:
            return
        pool, use = self._pools[slot.speed], self._uses[slot.speed]
        free = min(
            self._free(slot.speed) // 2,
            pool.of_account - use.accounts[slot.account_id],
            pool.of_host - use.hosts[slot.host],
        )
        use.add(slot, -1)
        slot.width += max(0, min(wanted - slot.width, free))
        use.add(slot, 1)

    def slow_down(self, slot: Slot) -> bool:
        """Moves a slot to the slow pool, even a full one; returns False when the other pools need the rest."""
        if slot.speed is not Speed.SLOW:
            # The slow pool may outgrow its slots, but never into those of the other pools: hanging receivers would
            # take all requests, and no quick endpoint would be sent to.
            kept = self._pools[Speed.QUICK].slots + self._pools[Speed.NEW].slots
            if self._uses[Speed.SLOW].slots + slot.width > self._concurrency - kept:
                return False
            self._uses[slot.speed].add(slot, -1)
            slot.speed = Speed.SLOW
            self._uses[slot.speed].add(slot, 1)
        return True

    def give_back(self, slot: Slot) -> None:
        """Frees the slots of a batch."""
        self._uses[slot.speed].add(slot, -1)

    def _free(self, speed: Speed, others: int = 0) -> int:
        """Returns how many slots of the pool are free, beside `others` that are about to be taken."""
        in_use = sum(use.slots for use in self._uses.values())
        return min(self._pools[speed].slots - self._uses[speed].slots, self._concurrency - in_use - others)


@lru_cache(2_048)
def host_of(url: str) -> str:
    """Returns host and port of a URL."""
    return urlsplit(url).netloc.lower()


def speed_after(before: Speed, longest: float | None) -> Speed:
    """Returns the speed of an endpoint after a batch whose longest attempt took so many seconds (None: it had none)."""
    if longest is None:
        return before
    return Speed.SLOW if longest > SLOW_SECONDS else Speed.QUICK
