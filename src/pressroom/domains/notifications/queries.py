"""SQL of the notifications package."""

from typing import Final

from pressroom.db import Command, Query, Tx, sql
from pressroom.domains.notifications.models import Notification

# Only the newest `limit` are read: the head of a page shows no larger number.
COUNT_UNREAD: Final = Query(
    int,
    "SELECT count(*) FROM (SELECT actor_id FROM notifications WHERE account_id = :account_id AND read_at IS NULL"
    " ORDER BY id DESC LIMIT :limit) newest LEFT JOIN accounts a ON a.id = newest.actor_id"
    " WHERE a.suspended_at IS NULL",
)

ERASE_RECEIVED: Final = Command(
    "DELETE FROM notifications WHERE account_id = :account_id AND id IN"
    " (SELECT id FROM notifications WHERE account_id = :account_id ORDER BY id LIMIT :batch)"
)

ERASE_CAUSED: Final = Command(
    "DELETE FROM notifications WHERE (account_id, id) IN"
    " (SELECT account_id, id FROM notifications WHERE actor_id = :account_id ORDER BY account_id, id LIMIT :batch)"
)


@sql.run(
    "INSERT INTO notifications (id, account_id, type, actor_id, post_id, webhook_id, key_id, created_at)"
    " VALUES (:notification_id, :account_id, :notification_type, :actor_id, :post_id, :webhook_id,"
    " :key_id, :now) ON CONFLICT DO NOTHING"
)
async def insert_notification(
    tx: Tx,
    *,
    notification_id: str,
    account_id: str,
    notification_type: str,
    actor_id: str | None,
    post_id: str | None,
    webhook_id: str | None,
    key_id: str | None,
) -> None:
    """Inserts a notification, unless it repeats that the same account follows, or asks to."""
    ...


# Of a follow or a request that was taken back.
@sql.run(
    "DELETE FROM notifications WHERE account_id = :account_id AND actor_id = :actor_id"
    " AND type IN ('follow', 'follow.requested')"
)
async def forget_follow(tx: Tx, account_id: str, actor_id: str) -> None:
    """Deletes the notifications that the other account follows this one, or asks to."""
    ...


@sql.all(
    "SELECT n.id, n.type, n.created_at, n.read_at, n.post_id, n.webhook_id, n.key_id,"
    " a.id AS actor_id, a.username, a.display_name, a.avatar_token, coalesce(a.verified, FALSE) AS verified,"
    " a.suspended_at IS NOT NULL AS hidden FROM notifications n LEFT JOIN accounts a ON a.id = n.actor_id"
    " WHERE n.account_id = :account_id AND n.id < :before ORDER BY n.id DESC LIMIT :limit"
)
async def list_notifications(tx: Tx, account_id: str, *, before: str, limit: int) -> list[Notification]:
    """Returns notifications of the account, hidden ones too, newest first, before `before`."""
    ...


async def count_unread(tx: Tx, account_id: str, *, limit: int) -> int:
    """Returns how many notifications the account has not read; `limit` at the most."""
    return await tx.one(COUNT_UNREAD, account_id=account_id, limit=limit) or 0


@sql.run(
    "UPDATE notifications SET read_at = :now WHERE account_id = :account_id AND id IN"
    " (SELECT id FROM notifications WHERE account_id = :account_id AND read_at IS NULL AND id <= :up_to"
    " ORDER BY id DESC LIMIT :limit)"
)
async def mark_read(tx: Tx, account_id: str, *, up_to: str, limit: int) -> None:
    """Marks the newest `limit` unread notifications with ids up to `up_to` as read."""
    ...


@sql.run(
    "UPDATE notifications SET read_at = coalesce(read_at, :now)"
    " WHERE account_id = :account_id AND id = :notification_id"
)
async def mark_one(tx: Tx, account_id: str, notification_id: str) -> bool:
    """Marks a notification as read, if it is not yet; returns whether the account has it."""
    ...


@sql.run(
    "DELETE FROM notifications WHERE created_at <= :until AND (account_id, id) IN"
    " (SELECT account_id, id FROM notifications WHERE created_at <= :until ORDER BY created_at LIMIT :batch)"
)
async def purge_notifications(tx: Tx, *, until: int, batch: int) -> int:
    """Removes notifications made up to `until` (milliseconds), oldest first, and returns how many."""
    ...


async def erase_notifications(tx: Tx, account_id: str, batch: int) -> int:
    """Removes notifications that an account received or caused; returns the larger number."""
    received = await tx.run(ERASE_RECEIVED, account_id=account_id, batch=batch)
    return max(received, await tx.run(ERASE_CAUSED, account_id=account_id, batch=batch))
