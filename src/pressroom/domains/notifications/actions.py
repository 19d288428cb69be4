"""Telling an account of something, in the transaction in which it happened."""

from pressroom.db import Tx
from pressroom.domains.notifications import queries
from pressroom.domains.notifications.models import RETENTION, Notification, NotificationType
from pressroom.ids import new_id


async def notify(
    tx: Tx,
    account_id: str,
    notification_type: NotificationType,
    *,
    actor_id: str | None = None,
    post_id: str | None = None,
    webhook_id: str | None = None,
    key_id: str | None = None,
) -> None:
    """Tells the account of something; of what, the identifiers say that are given."""
    await queries.insert_notification(
        tx,
        notification_id=new_id(tx.now),
        account_id=account_id,
        notification_type=notification_type,
        actor_id=actor_id,
        post_id=post_id,
        webhook_id=webhook_id,
        key_id=key_id,
    )


async def forget_follow(tx: Tx, account_id: str, actor_id: str) -> None:
    """Takes back what the account was told of the other one's following it: it was taken back as well."""
    await queries.forget_follow(tx, account_id, actor_id)


async def list_notifications(tx: Tx, account_id: str, before: str, limit: int) -> list[Notification]:
    """Notifications of the account, newest first, before `before`."""
    return await queries.list_notifications(tx, account_id, before=before, limit=limit)


async def purge_notifications(tx: Tx, batch: int) -> int:
    """Removes notifications after 90 days; how many."""
    return await queries.purge_notifications(tx, until=tx.now - RETENTION, batch=batch)
