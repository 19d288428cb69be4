"""Leasing: taking endpoints that have something to do, and writing down what came of it."""

from collections.abc import Sequence

import msgspec

from pressroom.db import Tx
from pressroom.domains.notifications.actions import notify
from pressroom.domains.notifications.models import NotificationType
from pressroom.domains.webhooks.models import RETENTION, Speed
from pressroom.domains.webhooks.queries import leases
from pressroom.domains.webhooks.queries.leases import Leased, Outcome, PendingDelivery
from pressroom.domains.webhooks.retry import EndpointHealth
from pressroom.domains.webhooks.slots import AT_ONCE, Slots


class Batch(msgspec.Struct):
    """A leased endpoint, and what to begin with. `probing`: it fails, so one delivery is tried and no more."""

    leased: Leased
    tests: list[PendingDelivery]
    waiting: list[PendingDelivery]
    probing: bool


class BatchResult(msgspec.Struct):
    """A turn that is over: how the endpoint stands, what is still to be written down, whether more was due, and how
    quick the endpoint was."""

    leased: Leased
    standing: EndpointHealth
    outcomes: list[Outcome]
    more: bool
    speed: Speed


class LeasedBatches(msgspec.Struct):
    """Turns to begin, and whether there may be more to lease at once."""

    turns: list[Batch]
    more: bool


async def forget_leases(tx: Tx) -> None:
    """Gives back the leases of workers that were killed: for whoever knows that no other worker is alive."""
    await leases.forget_leases(tx)


async def lease_batches(tx: Tx, token: str, until: int, slots: Slots, portion: int) -> LeasedBatches:
    """Leases endpoints that have slots until `until` (milliseconds), each with up to `portion` due deliveries."""
    begun = LeasedBatches([], more=False)
    for speed in Speed:
        if not slots.has_room(speed):
            continue
        candidates = await leases.find_candidates(tx, speed=speed, full=slots.full_accounts(speed))
        chosen = slots.choose(speed, candidates)
        found = [await leases.lease_endpoint(tx, each, token=token, until=until) for each in chosen]
        begun.turns += [await _start_batch(tx, leased, token, portion) for leased in found if leased is not None]
        begun.more = begun.more or (len(chosen) == AT_ONCE and any(found))
    return begun


async def _start_batch(tx: Tx, leased: Leased, token: str, portion: int) -> Batch:
    tests = await leases.find_tests(tx, leased, token=token, limit=portion)
    probing = leased.probe_at is not None
    size = 0 if leased.probe_at is not None and leased.probe_at > tx.now else 1 if probing else portion
    waiting = await leases.find_due(tx, leased, token=token, after="", limit=size) if size else []
    return Batch(leased, tests, waiting, probing)


async def refill(tx: Tx, leased: Leased, token: str, after: str, limit: int) -> list[PendingDelivery]:
    """What is due next, of events after `after`; nothing once the endpoint may be sent nothing more."""
    return await leases.find_due(tx, leased, token=token, after=after, limit=limit)


class Recorded(msgspec.Struct):
    """What became of turns that were to be ended: endpoints that were disabled by it, and turns that must wait for
    somebody who holds their endpoint's lock."""

    disabled: list[BatchResult]
    postponed: list[BatchResult]


async def record(tx: Tx, token: str, outcomes: Sequence[Outcome], ended: Sequence[BatchResult]) -> Recorded:
    """Writes down outcomes of turns under way, and ends others. What was done under a lost lease is not written."""
    await leases.record_outcomes(tx, outcomes, token=token)
    # In the order in which queueing locks them, so that no two transactions wait in a circle.
    recorded = Recorded([], [])
    for turn in sorted(ended, key=lambda turn: (turn.leased.account_id, turn.leased.id)):
        await _end_batch(tx, token, turn, recorded)
    return recorded


async def _end_batch(tx: Tx, token: str, turn: BatchResult, recorded: Recorded) -> None:
    alive = await leases.lock_leased(tx, turn.leased, token=token)
    if alive is None:
        if await leases.holds_lease(tx, turn.leased, token=token):
            recorded.postponed.append(turn)
        return
    await leases.record_outcomes(tx, turn.outcomes, token=token)
    reason = turn.standing.disabled_reason if alive else None
    if reason is not None:
        await leases.disable(tx, turn.leased, reason=reason, sweep_at=tx.now + RETENTION)
        await notify(tx, turn.leased.account_id, NotificationType.WEBHOOK_DISABLED, webhook_id=turn.leased.id)
    due_at = await _next_due(tx, turn, token) if alive and reason is None else None
    standing = turn.standing
    await leases.release(
        tx,
        turn.leased,
        failures=standing.failures,
        probe_at=standing.probe_at,
        next_due_at=due_at,
        speed=turn.speed,
    )
    if reason is not None:
        recorded.disabled.append(turn)


async def _next_due(tx: Tx, turn: BatchResult, token: str) -> int | None:
    if turn.more or await leases.find_tests(tx, turn.leased, token=token, limit=1):
        return tx.now
    earliest = await leases.earliest_due(tx, turn.leased)
    return None if earliest is None else max(earliest, turn.standing.probe_at or 0)
