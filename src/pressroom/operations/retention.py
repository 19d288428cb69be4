"""Removal of rows past their time (docs/operations.md#retention)."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import msgspec

from pressroom.clock import DAY
from pressroom.db import Database, LockedElsewhere, Tx
from pressroom.db.postgres.partitions import WEEK, Week, analyze, drop, list_ended, make_ahead
from pressroom.domains.accounts.queries import purge_reserved
from pressroom.domains.audit import actions as audit
from pressroom.domains.drafts import actions as drafts
from pressroom.domains.idempotency import once as idempotency
from pressroom.domains.keys import actions as keys
from pressroom.domains.limits import actions as limits
from pressroom.domains.notifications import actions as notifications
from pressroom.domains.previews import actions as previews
from pressroom.domains.reports import actions as reports
from pressroom.domains.shared_state.queries import purge_secrets
from pressroom.domains.sign_in import attempts
from pressroom.domains.sign_in.queries import sessions
from pressroom.domains.sign_in.queries.tokens import purge_tokens
from pressroom.domains.sign_up import invitations
from pressroom.domains.webhooks.actions import retention as webhooks
from pressroom.jobs import queue
from pressroom.jobs.sweeps import Batch
from pressroom.logs import Log
from pressroom.settings import Settings

PURGES: Final[tuple[tuple[str, Batch], ...]] = (
    ("idempotent answers", idempotency.purge_answers),
    ("sessions", sessions.purge_sessions),
    ("reserved user names", purge_reserved),
    ("invitations", invitations.purge),
    ("one-time tokens", purge_tokens),
    ("attempts to sign in and up", attempts.purge_attempts),
    ("limits of yesterday", limits.purge_limits),
    ("usage of keys of last month", keys.purge_usage),
    ("audit log", audit.purge_entries),
    ("server secrets", purge_secrets),
    ("notifications", notifications.purge_notifications),
    ("drafts of published posts", drafts.purge_published),
    ("decided reports", reports.purge_cases),
    ("link cards", previews.purge_failures),
    ("dead jobs", queue.purge_dead),
    ("deliveries", webhooks.purge_deliveries),
    ("deliveries to paused endpoints", webhooks.purge_paused),
    ("events", webhooks.purge_events),
    ("endpoints of expired keys", webhooks.close_expired),
    ("ended endpoints", webhooks.sweep_endpoints),
    ("statistics of endpoints of last month", webhooks.purge_statistics),
)
"""Every rule about rows, by its name in the log."""

FindLasting = Callable[[Tx, str, str, int], Awaitable[str | None]]
"""`find_lasting(tx, first, end, kept)` returns the condition of the rows that outlive a partition, None while they are
too many to be moved; `kept` is how long rows are kept (milliseconds)."""

# Deliveries first: an event lasts as long as one of its deliveries.
PARTITIONED: Final[tuple[tuple[str, FindLasting], ...]] = (
    ("deliveries", webhooks.find_lasting_deliveries),
    ("events", webhooks.find_lasting_events),
)
"""The tables whose partitions are dropped on PostgreSQL (docs/decisions/0020-partitions.md)."""

SPARED: Final = WEEK + DAY
"""Milliseconds for which rows of these tables are spared on PostgreSQL, so that their partition is dropped instead: it
is due when the last row of its week is. Rows whose partition could not be dropped for a day go in batches after all."""


class Kept(msgspec.Struct, frozen=True):
    """For how many milliseconds rows are kept, where a setting says so."""

    deliveries: int = webhooks.RETENTION
    notifications: int = notifications.RETENTION
    log: int = audit.RETENTION


KEPT: Final = Kept()


def kept_of(settings: Settings) -> Kept:
    """Returns the times of the settings."""
    return Kept(
        deliveries=settings.delivery_retention_days * DAY,
        notifications=settings.notification_retention_days * DAY,
        log=settings.log_retention_days * DAY,
    )


def purges_of(engine: str, kept: Kept = KEPT) -> list[tuple[str, Batch]]:
    """Returns every rule about rows of a database of this engine."""
    deliveries = kept.deliveries + (SPARED if engine == "postgres" else 0)
    by_setting: dict[str, Batch] = {
        "deliveries": partial(webhooks.purge_deliveries, kept=deliveries),
        "events": partial(webhooks.purge_events, kept=deliveries),
        "notifications": partial(notifications.purge_notifications, kept=kept.notifications),
        "audit log": partial(audit.purge_entries, kept=kept.log),
    }
    return [(name, by_setting.get(name, purge)) for name, purge in PURGES]


async def rotate_partitions(db: Database, log: Log, kept: int = KEPT.deliveries) -> None:
    """Makes partitions ahead and drops those whose rows are past their time (`kept`: milliseconds), on PostgreSQL."""
    if db.engine != "postgres":
        return
    try:
        await make_ahead(db)
        for table, find_lasting in PARTITIONED:
            ended = await db.read(_list_expired, table, kept)
            dropped = [week for week in ended if await _drop(db, log, week, find_lasting, kept)]
            # Once for all weeks: statistics of the whole table still count the dropped rows.
            if dropped:
                await analyze(db, dropped[0].table)
    except LockedElsewhere:
        log.info("partitions are in use, tried again in a minute")


async def _list_expired(tx: Tx, table: str, kept: int) -> list[Week]:
    return await list_ended(tx, table, webhooks.expired_until(tx, kept))


async def _drop(db: Database, log: Log, week: Week, find_lasting: FindLasting, kept: int) -> bool:
    """Drops the partition of a week, unless too many of its rows are still needed. Returns whether it did."""
    lasting = await db.read(find_lasting, week.first, week.end, kept)
    # Rows that stay are moved while requests wait, so only few may be.
    if lasting is None:
        log.info("partition is kept for now: too many of its rows are still needed", partition=week.partition.name)
        return False
    await drop(db, week, lasting)
    log.info("partition dropped", partition=week.partition.name)
    return True
