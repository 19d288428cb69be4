"""Leases on endpoints: whoever holds one delivers, and writes down what came of it."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx, Value
from pressroom.domains.webhooks.models import State


class Leased(msgspec.Struct):
    """An endpoint on which a lease is held. `probe_at` is set while it fails (milliseconds)."""

    account_id: str
    id: str
    url: str
    consecutive_failures: int
    probe_at: int | None


class Waiting(msgspec.Struct):
    """A delivery that is due, with the event that it is made of and the secret to sign it with. `attempts` is JSON."""

    account_id: str
    webhook_id: str
    event_id: str
    envelope_id: str
    event_type: str
    data: str
    secret: str
    tries: int
    attempts: str


class Outcome(msgspec.Struct):
    """What an attempt made of a delivery. Times in milliseconds; `attempts` is JSON."""

    account_id: str
    webhook_id: str
    event_id: str
    state: State
    tries: int
    attempts: str
    due_at: int
    finished_at: int | None


# Oldest first: an endpoint whose turn is over goes to the end, so that none waits for a long queue of another.
LEASE_ENDPOINTS: Final = Query(
    Leased,
    "UPDATE webhooks SET lease_token = :token, leased_until = :until WHERE (account_id, id) IN"
    " (SELECT account_id, id FROM webhooks WHERE next_due_at <= :now AND leased_until <= :now"
    " ORDER BY next_due_at LIMIT :limit FOR UPDATE SKIP LOCKED)"
    " RETURNING account_id, id, url, consecutive_failures, probe_at",
)

ANY_DUE: Final = Query(
    int, "SELECT next_due_at FROM webhooks WHERE next_due_at <= :now AND leased_until <= :now LIMIT 1"
)

NEXT_DUE: Final = Query(
    int,
    "SELECT next_due_at FROM webhooks WHERE next_due_at > :now ORDER BY next_due_at LIMIT 1",
)

RENEW_LEASES: Final = Command(
    "UPDATE webhooks SET leased_until = :until WHERE account_id = :account_id AND id = :id AND lease_token = :token"
)

FORGET_LEASES: Final = Command("UPDATE webhooks SET lease_token = NULL, leased_until = 0 WHERE lease_token IS NOT NULL")

# What is due is read under the lease, at most a tenth of a second before it is sent: after that nothing goes to an
# endpoint that was removed, disabled or closed.
_DUE: Final = (
    "SELECT d.account_id, d.webhook_id, d.event_id, d.envelope_id, d.event_type, e.data, w.secret, d.tries, d.attempts"
    " FROM webhooks w JOIN deliveries d ON d.account_id = w.account_id AND d.webhook_id = w.id"
    " JOIN events e ON e.account_id = d.account_id AND e.id = d.event_id"
    " WHERE w.account_id = :account_id AND w.id = :webhook_id AND w.lease_token = :token"
    " AND w.removed_at IS NULL AND w.disabled_at IS NULL AND d.state = 'pending' AND d.event_id > :after"
)

FIND_DUE: Final = Query(
    Waiting,
    f"{_DUE} AND d.due_at <= :now AND d.event_type <> 'webhook.test'"
    " AND (w.closed_at IS NULL OR d.event_type = 'apikey.revoked') ORDER BY d.event_id LIMIT :limit",
)

FIND_TESTS: Final = Query(
    Waiting, f"{_DUE} AND d.event_type = 'webhook.test' AND w.closed_at IS NULL ORDER BY d.event_id LIMIT :limit"
)

# Whoever holds the lock may take a while; the worker has other endpoints to write about meanwhile.
LOCK_LEASED: Final = Query(
    bool,
    "SELECT disabled_at IS NULL AND removed_at IS NULL FROM webhooks"
    " WHERE account_id = :account_id AND id = :webhook_id AND lease_token = :token FOR UPDATE SKIP LOCKED",
)

HOLDS_LEASE: Final = Query(
    str,
    "SELECT id FROM webhooks WHERE account_id = :account_id AND id = :webhook_id AND lease_token = :token",
)

RECORD_OUTCOME: Final = Command(
    "UPDATE deliveries SET state = :state, tries = :tries, attempts = :attempts, due_at = :due_at,"
    " finished_at = :finished_at"
    " WHERE account_id = :account_id AND webhook_id = :webhook_id AND event_id = :event_id AND state = 'pending'"
    " AND EXISTS (SELECT 1 FROM webhooks w WHERE w.account_id = :account_id AND w.id = :webhook_id"
    " AND w.lease_token = :token)"
)

EARLIEST_DUE: Final = Query(
    int,
    "SELECT min(d.due_at) FROM webhooks w JOIN deliveries d ON d.account_id = w.account_id AND d.webhook_id = w.id"
    " JOIN events e ON e.account_id = d.account_id AND e.id = d.event_id"
    " WHERE w.account_id = :account_id AND w.id = :webhook_id AND d.state = 'pending'"
    " AND (w.closed_at IS NULL OR d.event_type = 'apikey.revoked')",
)

RELEASE: Final = Command(
    "UPDATE webhooks SET lease_token = NULL, leased_until = 0, consecutive_failures = :failures, probe_at = :probe_at,"
    " next_due_at = :next_due_at WHERE account_id = :account_id AND id = :webhook_id"
)

DISABLE: Final = Command(
    "UPDATE webhooks SET disabled_at = :now, disabled_reason = :reason, sweep_at = coalesce(sweep_at, :sweep_at)"
    " WHERE account_id = :account_id AND id = :webhook_id"
)


async def lease_endpoints(tx: Tx, *, token: str, until: int, limit: int) -> list[Leased]:
    """Takes leases until `until` (milliseconds) on endpoints that have something to do and nobody to do it."""
    return await tx.all(LEASE_ENDPOINTS, token=token, until=until, limit=limit, now=tx.now)


async def next_due(tx: Tx) -> int | None:
    """When the next endpoint will have something to do, in milliseconds."""
    return await tx.one(NEXT_DUE, now=tx.now)


async def renew_leases(tx: Tx, held: Sequence[Leased], *, token: str, until: int) -> None:
    """Prolongs leases that are still held."""
    rows: list[Mapping[str, Value]] = [
        {"account_id": each.account_id, "id": each.id, "token": token, "until": until} for each in held
    ]
    await tx.run_each(RENEW_LEASES, rows)


async def forget_leases(tx: Tx) -> None:
    """Gives back all leases, whoever held them."""
    await tx.run(FORGET_LEASES)


async def find_due(tx: Tx, leased: Leased, *, token: str, after: str, limit: int) -> list[Waiting]:
    """What is due for the endpoint, oldest event first, of events after `after`; nothing once the lease is lost."""
    return await tx.all(
        FIND_DUE,
        account_id=leased.account_id,
        webhook_id=leased.id,
        token=token,
        after=after,
        limit=limit,
        now=tx.now,
    )


async def find_tests(tx: Tx, leased: Leased, *, token: str, limit: int) -> list[Waiting]:
    """Test deliveries that wait for the endpoint: they pass whatever else waits."""
    return await tx.all(
        FIND_TESTS, account_id=leased.account_id, webhook_id=leased.id, token=token, after="", limit=limit
    )


async def lock_leased(tx: Tx, leased: Leased, *, token: str) -> bool | None:
    """Whether the endpoint is still to be delivered to. Nobody queues meanwhile.

    None when the lease is lost, or somebody else holds the lock just now.
    """
    return await tx.one(LOCK_LEASED, account_id=leased.account_id, webhook_id=leased.id, token=token)


async def holds_lease(tx: Tx, leased: Leased, *, token: str) -> bool:
    """Whether the lease still holds."""
    held = await tx.one(HOLDS_LEASE, account_id=leased.account_id, webhook_id=leased.id, token=token)
    return held is not None


async def record_outcomes(tx: Tx, outcomes: Sequence[Outcome], *, token: str) -> None:
    """Writes down how attempts ended that were made under a lease which still holds."""
    await tx.run_each(RECORD_OUTCOME, [msgspec.structs.asdict(outcome) | {"token": token} for outcome in outcomes])


async def earliest_due(tx: Tx, leased: Leased) -> int | None:
    """When the first of what waits for the endpoint is due, in milliseconds."""
    return await tx.one(EARLIEST_DUE, account_id=leased.account_id, webhook_id=leased.id)


async def release(tx: Tx, leased: Leased, *, failures: int, probe_at: int | None, next_due_at: int | None) -> None:
    """Gives the lease back and writes down how the endpoint stands (times in milliseconds)."""
    await tx.run(
        RELEASE,
        account_id=leased.account_id,
        webhook_id=leased.id,
        failures=failures,
        probe_at=probe_at,
        next_due_at=next_due_at,
    )


async def disable(tx: Tx, leased: Leased, *, reason: str, sweep_at: int) -> None:
    """Sends the endpoint nothing more."""
    await tx.run(
        DISABLE,
        account_id=leased.account_id,
        webhook_id=leased.id,
        reason=reason,
        sweep_at=sweep_at,
        now=tx.now,
    )
