"""The job that publishes a scheduled draft at its time (docs/drafts.md#scheduled-posts).

Its post, event and deliveries, the draft's state and the end of the job commit together. So a worker that is killed
anywhere has either published it or done nothing, and of two workers the second finds the job gone.
"""

from typing import Final

import msgspec

from pressroom.clock import MINUTE, SECOND
from pressroom.db import Database, Tx
from pressroom.domains.accounts.queries import find_account, status
from pressroom.domains.drafts import queries
from pressroom.domains.drafts.actions import PUBLISH_JOB, PUBLISH_SCOPE, complete, publish_view, save_draft
from pressroom.domains.drafts.models import Draft, DraftState
from pressroom.domains.keys.models import KeyStatus
from pressroom.domains.keys.queries import find_key
from pressroom.domains.limits.models import Allowance
from pressroom.domains.notifications.actions import notify
from pressroom.domains.notifications.models import NotificationType
from pressroom.errors import Code, FieldError, Invalid, NotFound, QuotaExceeded, Refused, Unprocessable
from pressroom.jobs import queue
from pressroom.jobs.queue import Job
from pressroom.jobs.worker import Handler

TOGETHER: Final = 8
LEASE: Final = 2 * SECOND
"""Short: after a kill another worker has to publish within 5 s (docs/drafts.md#scheduled-posts)."""
WAITS: Final = (SECOND, 5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE)


def publishing_handler(db: Database, allowance: Allowance) -> Handler:
    """Returns the job's handler."""

    async def work(job: Job, token: str) -> None:
        try:
            await db.transact(publish_due, job, token, allowance)
        except (Refused, QuotaExceeded) as refusal:
            # In a transaction of its own: the refusal rolled that of the attempt back, with the end of the job.
            await db.transact(refuse_due, job, token, reason_of(refusal))

    return Handler(PUBLISH_JOB, work, TOGETHER, WAITS, gave_up=give_up, lease=LEASE)


async def publish_due(tx: Tx, job: Job, token: str, allowance: Allowance) -> None:
    """Publishes a draft whose time has come and finishes the job.

    Does nothing when another worker has the job, or the draft was changed meanwhile. Raises what publishing a post
    raises, and Unprocessable when the account or the key that scheduled the draft is no longer active.
    """
    # The drafts are locked before the job, as by an edit: in the other order the two could deadlock.
    draft = await _find_due(tx, job)
    # The lease ran out and another worker has the job, or an edit has replaced it.
    if not await queue.finish(tx, job, token) or draft is None:
        return
    await _check_active(tx, draft)
    account = await find_account(tx, draft.account_id)
    if account is None:
        raise NotFound("The account was deleted.")
    await publish_view(tx, account, (await complete(tx, [draft]))[0], allowance)


async def refuse_due(tx: Tx, job: Job, token: str, reason: str) -> None:
    """Finishes a job whose draft could not be published. That stays, with the reason, and its owner is notified."""
    draft = await _find_due(tx, job)
    if await queue.finish(tx, job, token) and draft is not None:
        await _refuse(tx, draft, reason)


async def give_up(tx: Tx, job: Job, reason: str) -> None:
    """Keeps the draft of a job that failed at every try, and notifies its owner."""
    draft = await _find_due(tx, job)
    if draft is not None:
        await _refuse(tx, draft, "The server failed to publish it, several times. Publish it again.")


def reason_of(refusal: Refused | QuotaExceeded) -> str:
    """Returns all messages of a refusal, for the owner of the draft."""
    if isinstance(refusal, Unprocessable | Invalid):
        return " ".join(dict.fromkeys(fault.message for fault in refusal.field_errors))
    return refusal.message


async def _find_due(tx: Tx, job: Job) -> Draft | None:
    """Locks the drafts of the job's account; returns its draft if that is to be published now."""
    await queries.lock_drafts(tx, job.account_id)
    draft = await queries.find_draft(tx, job.account_id, job.subject)
    # The row decides: the job may be one of an earlier schedule.
    is_due = draft is not None and draft.state == DraftState.SCHEDULED and (draft.publish_at or 0) <= tx.now
    return draft if is_due else None


async def _check_active(tx: Tx, draft: Draft) -> None:
    # Suspension and revocation count at the time of publishing, not of scheduling.
    now = await status.find_status(tx, draft.account_id)
    if now is None or now.suspended_at is not None:
        raise Unprocessable([FieldError("body", Code.NOT_ALLOWED, "The account was suspended at that time.")])
    if not draft.scheduled_by_key or draft.key_id is None:
        return
    key = await find_key(tx, draft.key_id)
    if key is None or key.status(tx.now) is not KeyStatus.ACTIVE or PUBLISH_SCOPE not in key.scopes.split(" "):
        message = f"The key that scheduled it was no longer active: {draft.key_label or 'without a label'}."
        raise Unprocessable([FieldError("body", Code.NOT_ALLOWED, message)])


async def _refuse(tx: Tx, draft: Draft, reason: str) -> None:
    await save_draft(tx, msgspec.structs.replace(draft, state=DraftState.REFUSED, refusal=reason))
    await notify(tx, draft.account_id, NotificationType.DRAFT_REFUSED, draft_id=draft.id)
