"""Leasing: takes endpoints with due deliveries, and saves the results of their batches."""

from collections.abc import Callable, Sequence

import msgspec

from pressroom.db import Tx
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import SERVICE, Kind
from pressroom.domains.notifications.actions import notify
from pressroom.domains.notifications.models import NotificationType
from pressroom.domains.webhooks.models import RETENTION, Endpoint, Speed
from pressroom.domains.webhooks.queries import leases
from pressroom.domains.webhooks.queries.leases import DeliveryOutcome, LeasedEndpoint, PendingDelivery
from pressroom.domains.webhooks.retries import EndpointHealth
from pressroom.domains.webhooks.slots import AT_ONCE, Slots


class Lease(msgspec.Struct):
    """A leased endpoint and the first deliveries to send. `probing`: it fails, so that one delivery is tried alone."""

    endpoint: Endpoint
    tests: list[PendingDelivery]
    pending: list[PendingDelivery]
    probing: bool


class LeaseResult(msgspec.Struct):
    """The result of a lease: the endpoint's health and speed, unsaved outcomes, and whether more deliveries are due.

    `recovered`: a test succeeded and no attempt failed after it, so pending deliveries are brought forward.
    """

    endpoint: Endpoint
    health: EndpointHealth
    outcomes: list[DeliveryOutcome]
    more: bool
    speed: Speed
    recovered: bool


class Leases(msgspec.Struct):
    """Leases that were taken, and whether more endpoints could be leased at once."""

    leases: list[Lease]
    more: bool


class SavedResults(msgspec.Struct):
    """Results that disabled their endpoint, and results to save later because the endpoint is locked."""

    disabled: list[LeaseResult]
    postponed: list[LeaseResult]


async def take_leases(
    tx: Tx, token: str, until: int, slots: Slots, size: int, is_in_hand: Callable[[str], bool]
) -> Leases:
    """Leases endpoints for which slots are free until `until` (milliseconds), each with up to `size` due deliveries.

    `is_in_hand` returns whether this worker sends to the endpoint with this id, or has unsaved results of it.
    """
    leased = Leases([], more=False)
    for speed in slots.speeds():
        if not slots.has_free(speed):
            continue
        candidates = await leases.find_candidates(tx, speed=speed, full=slots.full_accounts(speed))
        # The lease of an endpoint in hand may be lost. Leased again with the same token, its old results would pass for
        # those of the new lease, and overwrite the results that another worker saved in between.
        others = [each for each in candidates if not is_in_hand(each.id)]
        chosen = slots.choose(speed, others, len(leased.leases))
        found = [await leases.lease_endpoint(tx, each, token=token, until=until) for each in chosen]
        leased.leases += [await _begin_lease(tx, each, token, size) for each in found if each is not None]
        leased.more = leased.more or (len(chosen) == AT_ONCE and any(found))
    return leased


async def _begin_lease(tx: Tx, endpoint: Endpoint, token: str, size: int) -> Lease:
    tests = await leases.find_tests(tx, endpoint, token=token, limit=size)
    probing = endpoint.probe_at is not None
    limit = 0 if endpoint.probe_at is not None and endpoint.probe_at > tx.now else 1 if probing else size
    pending = await leases.find_due(tx, endpoint, token=token, after="", limit=limit) if limit else []
    return Lease(endpoint, tests, pending, probing)


async def refill(tx: Tx, endpoint: Endpoint, token: str, after: str, limit: int) -> list[PendingDelivery]:
    """Returns the next due deliveries, of events after `after`; none once the endpoint may not be sent to."""
    return await leases.find_due(tx, endpoint, token=token, after=after, limit=limit)


async def save_results(
    tx: Tx, token: str, outcomes: Sequence[DeliveryOutcome], results: Sequence[LeaseResult]
) -> SavedResults:
    """Saves outcomes of batches under way and the results of finished ones, and gives the leases of these back.

    Outcomes under a lost lease are not saved.
    """
    await leases.save_outcomes(tx, outcomes, token=token)
    saved = SavedResults([], [])
    # In the order in which queueing locks them, so that no two transactions wait in a circle.
    for result in sorted(results, key=lambda each: (each.endpoint.account_id, each.endpoint.id)):
        await _end_lease(tx, token, result, saved)
    return saved


async def _end_lease(tx: Tx, token: str, result: LeaseResult, saved: SavedResults) -> None:
    endpoint, health = result.endpoint, result.health
    found = await leases.lock_leased(tx, endpoint, token=token)
    if found is None:
        # Locked by another transaction, the lease is still ours and its result waits; lost, its result is void.
        if await leases.holds_lease(tx, endpoint, token=token):
            saved.postponed.append(result)
        return
    await leases.save_outcomes(tx, result.outcomes, token=token)
    reason = health.disabled_reason if found.alive else None
    probe_at = _next_probe(tx, result, found)
    if reason is not None:
        await leases.disable(tx, endpoint.account_id, endpoint.id, reason=reason, sweep_at=tx.now + RETENTION)
        await notify(tx, endpoint.account_id, NotificationType.WEBHOOK_DISABLED, webhook_id=endpoint.id)
        await record(tx, endpoint.account_id, Kind.ENDPOINT_DISABLED, SERVICE, webhookId=endpoint.id, reason=reason)
        saved.disabled.append(result)
    due_at = await _next_due(tx, result, probe_at, token) if found.alive and reason is None else None
    await leases.release(
        tx, endpoint, failures=health.failures, probe_at=probe_at, next_due_at=due_at, speed=result.speed
    )


def _next_probe(tx: Tx, result: LeaseResult, found: LeasedEndpoint) -> int | None:
    """Returns when the endpoint is probed next (milliseconds); None while it does not fail."""
    endpoint, health = result.endpoint, result.health
    if health != EndpointHealth(endpoint.consecutive_failures, endpoint.probe_at):
        probe_at = health.probe_at
    else:  # Only tests were sent: the probe may have been brought forward meanwhile
        probe_at = found.probe_at
    return min(probe_at, tx.now) if result.recovered and probe_at is not None else probe_at


async def _next_due(tx: Tx, result: LeaseResult, probe_at: int | None, token: str) -> int | None:
    if result.recovered:
        await leases.bring_forward(tx, result.endpoint)
    if result.more or await leases.find_tests(tx, result.endpoint, token=token, limit=1):
        return tx.now
    earliest = await leases.earliest_due(tx, result.endpoint)
    return None if earliest is None else max(earliest, probe_at or 0)
