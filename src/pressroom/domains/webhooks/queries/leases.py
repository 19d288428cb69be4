"""Leases on endpoints: only the worker that holds an endpoint's lease delivers to it and saves the results."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import msgspec

from pressroom.db import Command, Database, Query, Tx, Value, sql
from pressroom.domains.webhooks.models import CodeClass, Endpoint, Speed, State
from pressroom.domains.webhooks.queries.statistics import EndedAttempt, add_attempts

WINDOW: Final = 2_000
"""Due endpoints of one speed that are considered together, the oldest: no transaction may be long."""

CANDIDATES: Final = 128
"""Of those, how many are offered to choose from."""


class PendingDelivery(msgspec.Struct):
    """A delivery to be sent, with the event that it is made of and the secret that signs it."""

    account_id: str
    webhook_id: str
    event_id: str
    envelope_id: str
    event_type: str
    data: str  # JSON: the event's
    secret: str
    tries: int  # how many attempts there were
    attempts: str  # JSON: the latest of them
    trace: str | None  # the span of the request that caused the event


class DeliveryOutcome(msgspec.Struct):
    """The state of a delivery after an attempt, to be saved. Times in milliseconds; `attempts` is JSON.

    `code` is the class of the latest answer, and `took` its duration; None for a failure of ours, which is no answer.
    """

    account_id: str
    webhook_id: str
    event_id: str
    state: State
    tries: int
    attempts: str
    due_at: int
    finished_at: int | None
    code: CodeClass
    took: int | None


class LeasedEndpoint(msgspec.Struct):
    """A leased endpoint as its batch finds it at the end. `alive`: it was neither removed nor disabled meanwhile.
    `probe_at` (milliseconds) may have been brought forward meanwhile."""

    alive: bool
    probe_at: int | None


_ENDPOINT: Final = "account_id, id, url, consecutive_failures, probe_at, speed"

# Accounts in rotation, of each account the oldest first. An endpoint whose batch has ended goes behind the others, so
# that none waits for a long queue of another.
FIND_CANDIDATES: Final = Query(
    Endpoint,
    f"SELECT {_ENDPOINT} FROM (SELECT {_ENDPOINT}, next_due_at,"
    " row_number() OVER (PARTITION BY account_id ORDER BY next_due_at) AS place"
    f" FROM (SELECT {_ENDPOINT}, next_due_at FROM webhooks"
    " WHERE speed = :speed AND next_due_at <= :now AND leased_until <= :now"
    " AND :full NOT LIKE '% ' || account_id || ' %' ORDER BY next_due_at LIMIT :window) AS due) AS placed"
    " ORDER BY place, next_due_at LIMIT :limit",
)

LEASE_ENDPOINT: Final = Query(
    Endpoint,
    "UPDATE webhooks SET lease_token = :token, leased_until = :until WHERE (account_id, id) IN"
    " (SELECT account_id, id FROM webhooks WHERE account_id = :account_id AND id = :id AND next_due_at <= :now"
    " AND leased_until <= :now FOR UPDATE SKIP LOCKED)"
    f" RETURNING {_ENDPOINT}",
)

ANY_DUE: Final = Query(
    int,
    "SELECT 1 WHERE "
    + " OR ".join(
        f"(:{speed} AND EXISTS (SELECT 1 FROM webhooks WHERE speed = '{speed}' AND next_due_at <= :now"
        " AND leased_until <= :now))"
        for speed in Speed
    ),
)

NEXT_DUE: Final = Query(
    int,
    "SELECT min(due_at) FROM ("
    + " UNION ALL ".join(
        f"SELECT (SELECT next_due_at FROM webhooks WHERE speed = '{speed}' AND next_due_at > :now"
        " ORDER BY next_due_at LIMIT 1) AS due_at"
        for speed in Speed
    )
    + ") AS next",
)


RENEW_LEASES: Final = Command(
    "UPDATE webhooks SET leased_until = :until WHERE account_id = :account_id AND id = :id AND lease_token = :token"
)


# Read under the lease, at most a tenth of a second before it is sent, so that an endpoint that was removed, disabled,
# paused or closed gets nothing more.
_DUE: Final = (
    "SELECT d.account_id, d.webhook_id, d.event_id, d.envelope_id, d.event_type, e.data, w.secret, d.tries, d.attempts,"
    " e.trace"
    " FROM webhooks w JOIN deliveries d ON d.account_id = w.account_id AND d.webhook_id = w.id"
    " JOIN events e ON e.account_id = d.account_id AND e.id = d.event_id"
    " WHERE w.account_id = :account_id AND w.id = :webhook_id AND w.lease_token = :token"
    " AND w.removed_at IS NULL AND w.disabled_at IS NULL AND w.paused_at IS NULL AND d.state = 'pending'"
    " AND d.event_id > :after"
)

FIND_DUE: Final = Query(
    PendingDelivery,
    f"{_DUE} AND d.due_at <= :now AND d.event_type <> 'webhook.test'"
    " AND (w.closed_at IS NULL OR d.event_type = 'apikey.revoked') ORDER BY d.event_id LIMIT :limit",
)

FIND_TESTS: Final = Query(
    PendingDelivery,
    f"{_DUE} AND d.event_type = 'webhook.test' AND w.closed_at IS NULL ORDER BY d.event_id LIMIT :limit",
)

# Another transaction may hold the lock for a while; the worker has results of other endpoints to save meanwhile.
LOCK_LEASED: Final = Query(
    LeasedEndpoint,
    "SELECT disabled_at IS NULL AND removed_at IS NULL AS alive, probe_at FROM webhooks"
    " WHERE account_id = :account_id AND id = :webhook_id AND lease_token = :token FOR UPDATE SKIP LOCKED",
)

HOLDS_LEASE: Final = Query(
    str,
    "SELECT id FROM webhooks WHERE account_id = :account_id AND id = :webhook_id AND lease_token = :token",
)

SAVE_OUTCOME: Final = Command(
    "UPDATE deliveries SET state = :state, tries = :tries, attempts = :attempts, due_at = :due_at,"
    " finished_at = :finished_at, code = :code"
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

BRING_FORWARD: Final = Command(
    "UPDATE deliveries SET due_at = :now WHERE account_id = :account_id AND webhook_id = :webhook_id"
    " AND state = 'pending' AND due_at > :now"
)

# One that was paused meanwhile is due when it is resumed.
RELEASE: Final = Command(
    "UPDATE webhooks SET lease_token = NULL, leased_until = 0, consecutive_failures = :failures, probe_at = :probe_at,"
    " next_due_at = CASE WHEN paused_at IS NULL THEN CAST(:next_due_at AS BIGINT) END, speed = :speed"
    " WHERE account_id = :account_id AND id = :webhook_id"
)


async def any_due(db: Database, now: int, speeds: Collection[Speed]) -> bool:
    """Returns whether an endpoint of one of these speeds is due at `now` (milliseconds) and not leased."""
    wanted: dict[str, Value] = {str(speed): speed in speeds for speed in Speed}
    return await db.one(ANY_DUE, now=now, **wanted) is not None


async def find_candidates(tx: Tx, *, speed: Speed, full: Sequence[str]) -> list[Endpoint]:
    """Returns endpoints of this speed that are due and not leased, except those of the accounts `full`."""
    return await tx.all(
        FIND_CANDIDATES, speed=speed, full=f" {' '.join(full)} ", window=WINDOW, limit=CANDIDATES, now=tx.now
    )


async def lease_endpoint(tx: Tx, endpoint: Endpoint, *, token: str, until: int) -> Endpoint | None:
    """Leases an endpoint until `until` (milliseconds); returns None when another worker has just leased it."""
    return await tx.one(
        LEASE_ENDPOINT, account_id=endpoint.account_id, id=endpoint.id, token=token, until=until, now=tx.now
    )


async def next_due(tx: Tx) -> int | None:
    """Returns when the next endpoint is due, in milliseconds."""
    return await tx.one(NEXT_DUE, now=tx.now)


@sql.one(
    "SELECT min(due_at) FROM ("
    + " UNION ALL ".join(
        f"SELECT (SELECT next_due_at FROM webhooks WHERE speed = '{speed}' AND next_due_at <= :now"
        " ORDER BY next_due_at LIMIT 1) AS due_at"
        for speed in Speed
    )
    + ") AS oldest"
)
async def oldest_due(tx: Tx) -> int | None:
    """Returns since when the endpoint that has waited longest has been due, in milliseconds."""
    ...


async def renew_leases(tx: Tx, held: Sequence[Endpoint], *, token: str, until: int) -> None:
    """Prolongs leases that are still held."""
    rows: list[Mapping[str, Value]] = [
        {"account_id": each.account_id, "id": each.id, "token": token, "until": until} for each in held
    ]
    await tx.run_each(RENEW_LEASES, rows)


@sql.run("UPDATE webhooks SET lease_token = NULL, leased_until = 0 WHERE lease_token IS NOT NULL")
async def forget_leases(tx: Tx) -> None:
    """Gives back all leases of all workers."""
    ...


async def find_due(tx: Tx, endpoint: Endpoint, *, token: str, after: str, limit: int) -> list[PendingDelivery]:
    """Returns due deliveries, oldest event first, of events after `after`; none once the lease is lost."""
    return await tx.all(
        FIND_DUE,
        account_id=endpoint.account_id,
        webhook_id=endpoint.id,
        token=token,
        after=after,
        limit=limit,
        now=tx.now,
    )


async def find_tests(tx: Tx, endpoint: Endpoint, *, token: str, limit: int) -> list[PendingDelivery]:
    """Returns pending test deliveries; they go before all others."""
    return await tx.all(
        FIND_TESTS, account_id=endpoint.account_id, webhook_id=endpoint.id, token=token, after="", limit=limit
    )


async def lock_leased(tx: Tx, endpoint: Endpoint, *, token: str) -> LeasedEndpoint | None:
    """Locks a leased endpoint, so that nothing is queued for it meanwhile.

    Returns it; None when the lease is lost or another transaction holds the lock.
    """
    return await tx.one(LOCK_LEASED, account_id=endpoint.account_id, webhook_id=endpoint.id, token=token)


async def holds_lease(tx: Tx, endpoint: Endpoint, *, token: str) -> bool:
    """Returns whether the lease is still held."""
    held = await tx.one(HOLDS_LEASE, account_id=endpoint.account_id, webhook_id=endpoint.id, token=token)
    return held is not None


async def save_outcomes(tx: Tx, outcomes: Sequence[DeliveryOutcome], *, token: str) -> None:
    """Saves outcomes of attempts that were made under a lease that is still held, and counts the attempts.

    Rows are changed in the order in which a redelivery changes them, so that no two transactions wait in a circle.
    """
    ordered = sorted(outcomes, key=lambda each: (each.account_id, each.webhook_id, each.event_id))
    rows = [msgspec.structs.asdict(outcome) | {"token": token} for outcome in ordered]
    for row in rows:
        del row["took"]
    await tx.run_each(SAVE_OUTCOME, rows)
    ended = [
        EndedAttempt(each.account_id, each.webhook_id, each.code, each.took)
        for each in ordered
        if each.took is not None
    ]
    await add_attempts(tx, ended, token=token)


async def bring_forward(tx: Tx, endpoint: Endpoint) -> None:
    """Makes all pending deliveries of the endpoint due at once."""
    await tx.run(BRING_FORWARD, account_id=endpoint.account_id, webhook_id=endpoint.id, now=tx.now)


async def earliest_due(tx: Tx, endpoint: Endpoint) -> int | None:
    """Returns when the first pending delivery of the endpoint is due, in milliseconds."""
    return await tx.one(EARLIEST_DUE, account_id=endpoint.account_id, webhook_id=endpoint.id)


async def release(
    tx: Tx, endpoint: Endpoint, *, failures: int, probe_at: int | None, next_due_at: int | None, speed: Speed
) -> None:
    """Gives the lease back and saves the health of the endpoint (times in milliseconds)."""
    await tx.run(
        RELEASE,
        account_id=endpoint.account_id,
        webhook_id=endpoint.id,
        failures=failures,
        probe_at=probe_at,
        next_due_at=next_due_at,
        speed=speed,
    )


@sql.run(
    "UPDATE webhooks SET disabled_at = :now, disabled_reason = :reason, sweep_at = coalesce(sweep_at, :sweep_at),"
    " next_due_at = NULL"
    " WHERE account_id = :account_id AND id = :webhook_id"
)
async def disable(tx: Tx, account_id: str, webhook_id: str, *, reason: str, sweep_at: int) -> None:
    """Disables the endpoint: nothing more is sent to it."""
    ...
