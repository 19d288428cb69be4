"""Removal of rows past their time (docs/operations.md#retention)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from pressroom.db import Database, Tx
from pressroom.domains.accounts.queries import purge_reserved
from pressroom.domains.audit.actions import purge_entries
from pressroom.domains.idempotency import once as idempotency
from pressroom.domains.keys import actions as keys
from pressroom.domains.limits import actions as limits
from pressroom.domains.notifications import actions as notifications
from pressroom.domains.previews import actions as previews
from pressroom.domains.reports import actions as reports
from pressroom.domains.sign_in import attempts
from pressroom.domains.sign_in.queries import sessions
from pressroom.domains.sign_in.queries.tokens import purge_tokens
from pressroom.domains.sign_up import invitations
from pressroom.domains.webhooks.actions import retention as webhooks
from pressroom.jobs import queue
from pressroom.jobs.sweeps import BATCH

Purge = Callable[[Tx, int], Awaitable[int]]
"""`purge(tx, batch)` removes up to so many rows and returns how many; no fewer than `batch`: there may be more."""

PAUSE: Final = 0.004
"""Seconds between two batches, in which waiting requests are answered (docs/decisions/0004-retention-batches.md)."""

PURGES: Final[tuple[tuple[str, Purge], ...]] = (
    ("idempotent answers", idempotency.purge_answers),
    ("sessions", sessions.purge_sessions),
    ("reserved user names", purge_reserved),
    ("invitations", invitations.purge),
    ("one-time tokens", purge_tokens),
    ("attempts to sign in and up", attempts.purge_attempts),
    ("limits of yesterday", limits.purge_limits),
    ("usage of keys of last month", keys.purge_usage),
    ("audit log", purge_entries),
    ("notifications", notifications.purge_notifications),
    ("decided reports", reports.purge_cases),
    ("link cards", previews.purge_failures),
    ("dead jobs", queue.purge_dead),
    ("deliveries", webhooks.purge_deliveries),
    ("deliveries to paused endpoints", webhooks.purge_paused),
    ("events", webhooks.purge_events),
    ("endpoints of expired keys", webhooks.close_expired),
    ("ended endpoints", webhooks.sweep_endpoints),
)
"""Every rule about rows, by its name in the log."""


async def purge_rows(db: Database, purge: Purge) -> None:
    """Removes what a rule is about in batches until one is not full, so that no transaction is long."""
    while await db.transact(purge, BATCH) >= BATCH:
        await asyncio.sleep(PAUSE)
