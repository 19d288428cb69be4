"""The job that erases all that belongs to a deleted account (docs/people.md#deleting-an-account).

The account's own fields are erased as it is deleted: `moderation.actions.delete_account`, by `accounts.queries.status`.
Every part of it may be done again and ends the same, so a worker that is killed anywhere costs nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from pressroom.blobs import Blobs
from pressroom.clock import DAY, HOUR, MINUTE, SECOND
from pressroom.db import Database, Tx
from pressroom.db.params import BATCH
from pressroom.domains.accounts.queries import status
from pressroom.domains.audit.actions import erase_entries
from pressroom.domains.audit.queries import erase_addresses
from pressroom.domains.clips.queries import erase_clips
from pressroom.domains.comments.queries import clear_keys
from pressroom.domains.drafts.actions import erase_drafts
from pressroom.domains.explore.queries import erase_exclusions
from pressroom.domains.follows.actions import TOGETHER, end_follows
from pressroom.domains.follows.queries import erase_blocks, erase_mutes
from pressroom.domains.hubs.actions import leave_hubs
from pressroom.domains.idempotency.queries import erase_answers
from pressroom.domains.keys.queries import erase_keys
from pressroom.domains.media import queries as media
from pressroom.domains.media.models import every_key
from pressroom.domains.moderation.models import DELETION_JOB
from pressroom.domains.notifications.queries import erase_notifications
from pressroom.domains.personal_data.archive import remove_copies
from pressroom.domains.personal_data.queries import erase_export
from pressroom.domains.posts.actions.edit import erase_posts
from pressroom.domains.posts.actions.react import take_reactions_back
from pressroom.domains.posts.queries.reach import erase_mentions
from pressroom.domains.privacy.queries import delete_filters
from pressroom.domains.reports.queries import erase_reports
from pressroom.domains.sign_in.queries import attempts
from pressroom.domains.sign_up.queries import erase_invitations
from pressroom.domains.webhooks.actions.retention import erase_endpoints
from pressroom.domains.webhooks.queries.retention import has_news
from pressroom.ids import BEYOND
from pressroom.jobs import queue
from pressroom.jobs.queue import Job
from pressroom.jobs.worker import Handler, Postpone

ROWS: Final = 500
"""Rows that one transaction removes."""

PAUSE_SECONDS: Final = 0.01
"""Pause between two transactions, so that others can write."""

LOOK: Final = MINUTE
"""How long the job waits before it looks again whether endpoints have heard of the deletion."""

NEWS: Final = DAY
"""For how long endpoints are waited for."""

IN_FLIGHT: Final = HOUR
"""After so long the job erases rows of requests that were under way when the account was deleted; none takes as
long."""

WAITS: Final = (SECOND, 10 * SECOND, MINUTE, 10 * MINUTE, HOUR, 4 * HOUR, DAY)

Part = Callable[[Tx, str], Awaitable[bool]]
"""One transaction of the job: `part(tx, account_id)` returns whether there is more of the kind to do."""


Kind = Callable[[Tx, str, int], Awaitable[int]]
"""Erases rows of one kind in a transaction: `kind(tx, account_id, most)` returns how many, `most` at the most."""


async def _end_follows(tx: Tx, account_id: str, most: int) -> int:
    return await end_follows(tx, account_id)


# A kind each, so that no transaction holds the locks of one while it works on another.
KINDS: Final[tuple[tuple[Kind, int], ...]] = (
    (_end_follows, TOGETHER),
    (erase_blocks, ROWS),
    (erase_mutes, ROWS),
    (leave_hubs, BATCH),
    (erase_keys, ROWS),
    (erase_notifications, ROWS),
    (erase_answers, ROWS),
    (erase_reports, ROWS),
    (erase_exclusions, ROWS),
    (erase_entries, ROWS),
    (erase_addresses, ROWS),
    (erase_invitations, ROWS),
    (erase_clips, ROWS),
    (erase_drafts, ROWS),
    (erase_mentions, ROWS),
    (media.hide_of_account, ROWS),
)


def deletion_handler(db: Database, blobs: Blobs) -> Handler:
    """Returns the job's handler."""

    async def repeat(part: Part, account_id: str) -> None:
        while await db.transact(part, account_id):
            await asyncio.sleep(PAUSE_SECONDS)

    async def erase(kind: Kind, account_id: str, most: int) -> None:
        while await db.transact(kind, account_id, most) >= most:
            await asyncio.sleep(PAUSE_SECONDS)

    async def walk(part: Callable[[Tx, str, str], Awaitable[str | None]], account_id: str, start: str) -> None:
        place: str | None = start
        while place is not None:
            place = await db.transact(part, account_id, place)
            await asyncio.sleep(PAUSE_SECONDS)

    async def work(job: Job, token: str) -> None:
        account_id = job.subject
        # Each step is a transaction of its own that can be repeated: a killed job begins here again.
        await db.transact(attempts.erase_sign_in, account_id)
        await db.transact(delete_filters, account_id)
        for kind, most in KINDS:
            await erase(kind, account_id, most)
        await repeat(take_reactions_back, account_id)
        await walk(erase_posts, account_id, BEYOND)
        await walk(_clear_keys, account_id, "")
        await _remove_files(db, blobs, account_id)
        await db.transact(erase_export, account_id)
        await remove_copies(blobs, account_id)
        await repeat(_erase_endpoints, account_id)
        # Everything above is done again after the wait: requests that were under way may have written since.
        wait = await db.transact(_finish, job, token)
        if wait:
            raise Postpone("Something of the account is still to come.", wait)

    return Handler(DELETION_JOB, work, together=2, waits=WAITS)


async def _remove_files(db: Database, blobs: Blobs, account_id: str) -> None:
    while media_ids := await db.read(media.list_ended, account_id, limit=BATCH):
        # The files before their rows: a kill in between leaves rows, which name the files for the next try.
        await blobs.delete(*(key for media_id in media_ids for key in every_key(media_id)))
        await db.transact(media.delete_media, account_id, media_ids)


async def _clear_keys(tx: Tx, account_id: str, after: str) -> str | None:
    return await clear_keys(tx, account_id, after=after, limit=ROWS)


async def _erase_endpoints(tx: Tx, account_id: str) -> bool:
    deleted_at = await status.find_deleted_at(tx, account_id) or 0
    return await erase_endpoints(tx, account_id, deleted_at + NEWS, ROWS)


async def _finish(tx: Tx, job: Job, token: str) -> int:
    """Finishes the job and returns 0, or returns for how many milliseconds it is to wait."""
    account_id = job.subject
    deleted_at = await status.find_deleted_at(tx, account_id) or 0
    news = tx.now < deleted_at + NEWS and await has_news(tx, account_id)
    # Endpoints hear of the revocation of their keys, for a day at most; files in processing belong to another job.
    if news or await media.has_media(tx, account_id):
        return LOOK
    # A request that had begun before the deletion may still commit rows of the account.
    if tx.now < deleted_at + IN_FLIGHT:
        return deleted_at + IN_FLIGHT - tx.now
    await media.delete_stored(tx, account_id)
    await queue.finish(tx, job, token)
    return 0
