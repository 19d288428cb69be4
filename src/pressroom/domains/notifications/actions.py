"""Adding, listing and removing notifications. Each action takes an open transaction first."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Protocol, TypeVar

from pressroom.db import Database, Tx
from pressroom.domains.notifications import queries
from pressroom.domains.notifications.models import (
    COUNTED,
    MAIL_PAUSE,
    MARKED,
    RETENTION,
    Bundle,
    Notification,
    NotificationType,
    Subjects,
    Way,
    usual_way,
)
from pressroom.errors import NotFound
from pressroom.ids import BEYOND, new_id
from pressroom.jobs import queue
from pressroom.jobs.queue import Job


async def notify(
    tx: Tx,
    account_id: str,
    notification_type: NotificationType,
    *,
    actor_id: str | None = None,
    post_id: str | None = None,
    comment_id: str | None = None,
    webhook_id: str | None = None,
    key_id: str | None = None,
    case_id: str | None = None,
    draft_id: str | None = None,
) -> None:
    """Notifies the account, unless the actor is the account itself, or one that it must not or will not hear of.

    The given ids name its subjects. Always one row (docs/notifications.md).
    """
    if actor_id == account_id:
        return
    await queries.insert_notification(
        tx,
        new_id(tx.now, account_id),
        account_id=account_id,
        notification_type=notification_type,
        actor_id=actor_id,
        subjects=Subjects(post_id, comment_id, webhook_id, key_id, case_id, draft_id),
    )


async def list_notifications(tx: Tx, account_id: str, before: str, limit: int) -> tuple[list[Notification], str | None]:
    """Returns at most `limit` notifications of the account with ids before `before`, newest first, and the id below
    which the next page begins; None: this is the last."""

    # Also hidden rows: the page's cost is bounded by `read_shown`, not by the number of hidden ones.
    async def read(before: str, most: int) -> list[Notification]:
        return await queries.list_notifications(tx, account_id, before=before, limit=most)

    return await read_shown(read, before, limit)


async def count_unread(db: Database, account_id: str) -> int:
    """Returns how many notifications the account has not read; COUNTED stands for more than 99. One statement."""
    return await db.one(queries.COUNT_UNREAD, account_id=account_id, limit=COUNTED) or 0


async def read_unread(tx: Tx, account_id: str) -> int:
    """Returns how many notifications the account has not read; COUNTED stands for more than 99."""
    return await queries.count_unread(tx, account_id, limit=COUNTED)


async def mark_read(tx: Tx, account_id: str, up_to: str) -> int:
    """Marks the account's notifications up to the id `up_to` as read, at most MARKED of them, newest first.

    Later ones stay unread. Returns how many are unread then.
    """
    await queries.mark_read(tx, account_id, up_to=up_to, limit=MARKED)
    return await read_unread(tx, account_id)


async def mark_one(tx: Tx, account_id: str, notification_id: str) -> int:
    """Marks one notification as read; returns how many are unread then. Raises NotFound if it is not the account's."""
    # The statement names the account: an id of somebody else's notification touches no row.
    if not await queries.mark_one(tx, account_id, notification_id):
        raise NotFound("There is no such notification.")
    return await read_unread(tx, account_id)


async def read_settings(tx: Tx, account_id: str) -> dict[NotificationType, Way]:
    """Returns the way in which the account hears of each type."""
    chosen = {each.type: each.way for each in await queries.list_settings(tx, account_id)}
    return {each: chosen.get(each, usual_way(each)) for each in NotificationType}


async def change_settings(
    tx: Tx, account_id: str, changes: Mapping[NotificationType, Way]
) -> dict[NotificationType, Way]:
    """Changes the ways of some types and returns those of all. Earlier notifications stay."""
    for notification_type in sorted(changes):  # one order, so that no two transactions wait for each other
        await queries.save_setting(tx, account_id, notification_type, changes[notification_type])
    return await read_settings(tx, account_id)


async def queue_mails(tx: Tx, batch: int) -> int:
    """Enqueues the jobs that mail notifications, of at most `batch` of them; returns their number.

    An account has one job: while it waits to mail the next bundle, further notifications join that.
    """
    found = await queries.queue_wanted(tx, batch)
    # In one order, so that two transactions that enqueue for the same accounts do not deadlock.
    for account_id in sorted(set(found)):
        await queue.enqueue(tx, MAIL_JOB, account_id, account_id=account_id)
    return len(found)


async def finish_mail(tx: Tx, job: Job, token: str, bundle: Bundle, *, was_sent: bool) -> None:
    """Finishes a job that mailed a bundle, and enqueues the next one, before which MAIL_PAUSE passes.

    When nothing was sent, only notifications that were queued meanwhile need another job.
    """
    account_id = job.subject
    # First, so that notifications that are being queued for this job are either seen here or enqueue another.
    held = await queue.finish(tx, job, token)
    await queries.clear_mailed(tx, account_id, bundle.ids)
    # One mail names as many as it can, and mentions the rest, which is not mailed one by one afterwards.
    if bundle.has_more:
        await queries.clear_queued(tx, account_id, up_to=bundle.ids[-1], limit=MARKED)
    # After a mail always: the next job's due time is the pause in which further notifications gather.
    if held and (was_sent or await queries.has_queued(tx, account_id)):
        due_at = tx.now + MAIL_PAUSE if was_sent else 0
        await queue.enqueue(tx, MAIL_JOB, account_id, account_id=account_id, due_at=due_at)


async def give_mail_up(tx: Tx, job: Job, reason: str) -> None:
    """Leaves the notifications of a job that cannot be mailed unmailed; they stay in the app."""
    await queries.clear_queued(tx, job.subject, up_to=BEYOND, limit=MARKED)


async def stop_mails(tx: Tx, account_id: str, only: NotificationType | None = None) -> None:
    """Has the account hear of a type, or of every type, in the app alone where it was mailed."""
    ways = await read_settings(tx, account_id)
    mailed = [each for each, way in ways.items() if way == Way.MAIL and only in (None, each)]
    await change_settings(tx, account_id, dict.fromkeys(mailed, Way.APP))


async def purge_notifications(tx: Tx, batch: int, *, kept: int = RETENTION) -> int:
    """Removes at most `batch` notifications older than `kept` milliseconds; returns their number."""
    return await queries.purge_notifications(tx, until=tx.now - kept, batch=batch)


MAIL_JOB: Final = "notification mail"
"""The kind of job that mails notifications; its subject is the account's id."""

LOOKED_AT: Final = 500
"""Further rows that a page looks at when some of its rows are hidden."""


class Row(Protocol):
    """A row of a list that is ordered by its ids."""

    @property
    def id(self) -> str: ...

    @property
    def hidden(self) -> bool: ...


R = TypeVar("R", bound=Row)


async def read_shown(
    read: Callable[[str, int], Awaitable[list[R]]], before: str, limit: int
) -> tuple[list[R], str | None]:
    """Reads a page of the rows that are not hidden.

    Where many rows are hidden it is shorter than `limit`, or empty, although others follow: however many there are,
    no more than LOOKED_AT beside those of a page are read.

    Args:
        read: Returns so many rows with ids before this one, newest first, hidden ones too.
        before: The id below which the page begins.
        limit: How many rows the page has at the most.

    Returns: The rows, and the id below which the next page begins; None: this is the last.
    """
    shown: list[R] = []
    # A second read, and no third: a page costs the same however many rows in a row are hidden.
    for most in (limit + 1, LOOKED_AT):
        found = await read(before, most)
        shown += [row for row in found if not row.hidden]
        if len(shown) > limit:
            return shown[:limit], shown[limit - 1].id if limit else before
        if len(found) < most:
            return shown, None
        before = found[-1].id
    return shown, before
