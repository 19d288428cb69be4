"""Actions of admins. Each takes an open transaction first, and writes each act into the audit log."""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from pressroom.clock import DAY
from pressroom.db import Tx
from pressroom.db.params import batches
from pressroom.domains.accounts.actions import get_record
from pressroom.domains.accounts.models import AccountRecord, folded
from pressroom.domains.accounts.queries import status
from pressroom.domains.administration import queries
from pressroom.domains.administration.models import (
    ENDPOINTS_SHOWN,
    KEYS_SHOWN,
    MOST,
    Counts,
    check_suspended,
)
from pressroom.domains.audit import actions as audit
from pressroom.domains.audit.models import Entry, Kind, Source
from pressroom.domains.audit.queries import list_admin_entries
from pressroom.domains.keys import actions as keys
from pressroom.domains.keys.actions import get_key, list_by_status
from pressroom.domains.keys.models import ApiKey, KeysByStatus, RevokedBy
from pressroom.domains.media import actions as media
from pressroom.domains.media.actions import LONG_VIDEOS, PICTURES, VIDEOS
from pressroom.domains.moderation import actions as moderation
from pressroom.domains.moderation.models import check_not_staff
from pressroom.domains.personal_data.models import EXPORT_JOB
from pressroom.domains.webhooks.actions import endpoints
from pressroom.domains.webhooks.actions.endpoints import get_webhook
from pressroom.domains.webhooks.models import Webhook
from pressroom.domains.webhooks.queries.endpoints import list_of_account
from pressroom.errors import Code, Conflict, FieldError, NotFound, Unprocessable
from pressroom.ids import BEYOND, time_of
from pressroom.jobs import overview
from pressroom.jobs.overview import DeadJob, Depth, RetriedJob

FINAL: Final = frozenset({EXPORT_JOB})
"""Kinds of jobs whose outcome stands when they are dead: the owner saw the failure, and can ask again."""

OF_FILES: Final = frozenset({PICTURES, VIDEOS, LONG_VIDEOS})
"""Kinds of jobs that process a file, which waits for them again when they are tried again."""


class Overview(msgspec.Struct):
    """The state of the installation. Times in milliseconds; `oldest_waiting_at` is that of an event."""

    counts: Counts
    depths: list[Depth]
    oldest_waiting_at: int | None


class Facts(msgspec.Struct):
    """An account with its keys, its endpoints, and the bytes of media that it stores."""

    record: AccountRecord
    keys: KeysByStatus
    endpoints: Sequence[Webhook]
    stored_bytes: int


class NamedEntry(msgspec.Struct):
    """An entry of the log, and the present user name of the account that it is about, if any."""

    entry: Entry
    username: str | None


async def read_overview(tx: Tx) -> Overview:
    """Returns the state of the installation, at a cost that has a bound."""
    oldest = await queries.find_oldest_waiting(tx)
    return Overview(
        await queries.count(tx, tx.now - DAY),
        await overview.list_depths(tx, MOST + 1),
        None if oldest is None else time_of(oldest),
    )


async def read_account(tx: Tx, username: str) -> Facts:
    """Returns an account with its belongings. Raises NotFound."""
    record = await get_record(tx, username)
    return Facts(
        record,
        await list_by_status(tx, record.id, BEYOND, KEYS_SHOWN),
        await list_of_account(tx, record.id, before=BEYOND, limit=ENDPOINTS_SHOWN),
        await queries.find_stored_bytes(tx, record.id),
    )


async def verify_account(
    tx: Tx, source: Source, username: str, reason: str, *, verified: bool | None, email_verified: bool | None
) -> AccountRecord:
    """Gives an account its badge, or takes it away, and records whether its e-mail address counts as confirmed.

    Returns the account's record. None leaves it as it is. Raises NotFound.
    """
    record = await moderation.lock_record(tx, username)
    badge = record.verified if verified is None else verified
    confirmed = record.email_verified if email_verified is None else email_verified
    await status.set_verified(tx, record.id, verified=badge, email_verified=confirmed)
    shown = {"verified": str(badge).lower(), "emailVerified": str(confirmed).lower()}
    await audit.record(tx, record.id, Kind.ACCOUNT_VERIFIED, source, reason=reason, **shown)
    return await get_record(tx, username)


async def suspend_account(tx: Tx, source: Source, username: str, reason: str) -> AccountRecord:
    """Suspends an account and returns its record. Raises NotFound, Conflict when it is suspended, Unprocessable for an
    admin's."""
    record = await moderation.lock_record(tx, username)
    check_not_staff(record)
    check_suspended(record, is_suspended=False)
    return await moderation.suspend_account(tx, username, reason, source)


async def restore_account(tx: Tx, source: Source, username: str, reason: str) -> AccountRecord:
    """Ends a suspension and returns the account's record. Raises NotFound, Conflict when it is not suspended."""
    check_suspended(await moderation.lock_record(tx, username), is_suspended=True)
    return await moderation.restore_account(tx, username, reason, source)


async def delete_account(tx: Tx, source: Source, username: str, typed: str, reason: str) -> AccountRecord:
    """Deletes an account, whose user name was `typed` to show that this one is meant; returns its record.

    Raises NotFound, Unprocessable for an admin's account and for another name.
    """
    record = await moderation.lock_record(tx, username)
    check_not_staff(record)
    # Compared under the lock: the account may have changed its name since the page was shown.
    if folded(typed.strip().removeprefix("@")) != folded(record.username):
        raise Unprocessable([FieldError("username", Code.INVALID_CHOICE, "That is not the name of this account.")])
    return await moderation.delete_account(tx, username, reason=reason, source=source)


async def get_owned_key(tx: Tx, username: str, key_id: str) -> tuple[AccountRecord, ApiKey]:
    """Returns an account and one of its keys. Raises NotFound."""
    record = await get_record(tx, username)
    return record, await get_key(tx, record.id, key_id)


async def revoke_key(tx: Tx, source: Source, username: str, key_id: str, reason: str) -> ApiKey:
    """Revokes a key of an account and returns it. Raises NotFound, Conflict when it is revoked."""
    _, key = await get_owned_key(tx, username, key_id)
    if key.revoked_at is not None:
        raise Conflict("The key is revoked already.")
    return await keys.revoke_key(tx, key_id, RevokedBy.ADMIN, reason, source)


async def get_owned_webhook(tx: Tx, username: str, key_id: str, webhook_id: str) -> tuple[AccountRecord, Webhook]:
    """Returns an account and one of its endpoints. Raises NotFound."""
    record = await get_record(tx, username)
    return record, await get_webhook(tx, record.id, key_id, webhook_id)


async def disable_webhook(tx: Tx, source: Source, username: str, key_id: str, webhook_id: str, reason: str) -> Webhook:
    """Disables an endpoint of an account and returns it. Raises NotFound, Conflict when it is disabled."""
    record = await get_record(tx, username)
    return await endpoints.disable_webhook(tx, record.id, key_id, webhook_id, reason, source)


async def read_jobs(tx: Tx, before: str, limit: int) -> tuple[list[Depth], list[DeadJob]]:
    """Returns the pending jobs by kind, and at most `limit` dead ones with ids before `before`, newest first."""
    return await overview.list_depths(tx, MOST + 1), await overview.list_dead(tx, before=before, limit=limit)


async def retry_job(tx: Tx, source: Source, job_id: str) -> RetriedJob:
    """Has a dead job tried again and returns it. Raises NotFound, Unprocessable for what ended for good."""
    job = await overview.retry(tx, job_id)
    if job is None:
        raise NotFound("There is no such dead job.")
    if job.kind in FINAL:
        raise Unprocessable([FieldError("id", Code.NOT_ALLOWED, "It failed for good: its owner asks again.")])
    # In the same transaction: a file never waits for a job that does not exist.
    if job.kind in OF_FILES:
        await media.process_again(tx, job.subject)
    subject = overview.shown_subject(job.subject)
    await audit.record(tx, "", Kind.JOB_RETRIED, source, jobId=job.id, job=job.kind, subject=subject)
    return job


async def list_log(tx: Tx, before: str, limit: int) -> list[NamedEntry]:
    """Returns at most `limit` acts of admins and of the operator with ids before `before`, newest first."""
    entries = await list_admin_entries(tx, before, limit)
    names = await _names(tx, {each.account_id for each in entries} - {""})
    return [NamedEntry(each, names.get(each.account_id)) for each in entries]


async def _names(tx: Tx, account_ids: Iterable[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for batch in batches(sorted(account_ids)):
        names |= await status.names_of(tx, batch)
    return names
