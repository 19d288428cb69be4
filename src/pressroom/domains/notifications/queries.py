"""SQL of the notifications package."""

from collections.abc import Sequence
from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx, sql
from pressroom.domains.follows.queries import blocks_sql, mutes_sql
from pressroom.domains.notifications.models import Notification, NotificationType, Setting, Subjects, Way, usual_way

_GONE_POST: Final = (
    "n.type NOT IN ('moderation', 'report.decided')"
    " AND (SELECT p.deleted_at FROM posts p WHERE p.id = n.post_id) IS NOT NULL"
)

_GONE_COMMENT: Final = (
    "(SELECT c.deleted_at FROM comments c WHERE c.account_id = n.actor_id AND c.id = n.comment_id) IS NOT NULL"
)

HIDDEN: Final = (
    f"(a.suspended_at IS NOT NULL OR {blocks_sql('n.account_id', 'n.actor_id')}"
    f" OR {mutes_sql('n.account_id', 'n.actor_id')} OR {_GONE_COMMENT} OR ({_GONE_POST}))"
)
"""Whether a notification `n` with the actor `a` is left out of lists and counts (docs/notifications.md#hidden)."""

# The post's counters, which count distinct accounts, without its author and the actor.
OTHERS: Final = (
    "CASE WHEN n.type IN ('like', 'bounce') THEN coalesce((SELECT CASE n.type WHEN 'like' THEN p.likes - 1"
    " - (SELECT count(*) FROM likes o WHERE o.post_id = p.id AND o.account_id = p.account_id) ELSE p.shares - 1"
    " - (SELECT count(*) FROM posts o WHERE o.original_id = p.id AND o.account_id = p.account_id AND o.type = 'SHARE'"
    " AND o.deleted_at IS NULL) END FROM posts p WHERE p.id = n.post_id), 0) ELSE 0 END"
)
"""How many further accounts liked or bounced the post of a notification `n`; 0 for other types."""

# Only the newest `limit` are read: the head of a page shows no larger number.
COUNT_UNREAD: Final = Query(
    int,
    "SELECT count(*) FROM (SELECT account_id, type, actor_id, post_id, comment_id FROM notifications"
    " WHERE account_id = :account_id AND read_at IS NULL ORDER BY id DESC LIMIT :limit) n"
    f" LEFT JOIN accounts a ON a.id = n.actor_id WHERE NOT {HIDDEN}",
)

_INSERT: Final = (
    "INSERT INTO notifications (id, account_id, type, actor_id, post_id, comment_id, webhook_id, key_id, case_id,"
    " draft_id, mail, created_at) SELECT :id, :account_id, :type, :actor_id, :post_id, :comment_id, :webhook_id,"
    " :key_id, :case_id, :draft_id,"
    " CASE WHEN way = 'mail' THEN 'wanted' END, CAST(:now AS BIGINT) FROM (SELECT coalesce((SELECT s.way"
    " FROM notification_settings s WHERE s.account_id = :account_id AND s.type = :type), :usual) AS way) AS chosen"
    f" WHERE way <> 'off' AND NOT {blocks_sql(':account_id', ':actor_id')}"
    f" AND NOT {mutes_sql(':account_id', ':actor_id')} ON CONFLICT"
)

_RENEW: Final = (
    "DO UPDATE SET id = excluded.id, actor_id = excluded.actor_id, created_at = excluded.created_at, read_at = NULL,"
    " mail = excluded.mail"
)

INSERT: Final = Command(f"{_INSERT} DO NOTHING")

INSERT_IN_GROUP: Final = Command(f"{_INSERT} (post_id, type) WHERE type IN ('like', 'bounce') {_RENEW}")

INSERT_IN_CASE: Final = Command(f"{_INSERT} (case_id, account_id, type) WHERE case_id IS NOT NULL {_RENEW}")

REPLACE_ACTOR: Final = Command(
    "UPDATE notifications SET actor_id = :other_id WHERE post_id = :post_id AND type = :type AND actor_id = :actor_id"
    " AND type IN ('like', 'bounce')"
)

DELETE_GROUP: Final = Command(
    "DELETE FROM notifications WHERE post_id = :post_id AND type = :type AND actor_id = :actor_id"
    " AND type IN ('like', 'bounce')"
)

# Of a follow or a request that ended.
FORGET_FOLLOW: Final = Command(
    "DELETE FROM notifications WHERE account_id = :followed_id AND actor_id = :follower_id"
    " AND type IN ('follow', 'follow.requested')"
)

FORGET_ACCEPTANCE: Final = Command(
    "DELETE FROM notifications WHERE account_id = :follower_id AND actor_id = :followed_id AND type = 'follow.accepted'"
)

ERASE_RECEIVED: Final = Command(
    "DELETE FROM notifications WHERE account_id = :account_id AND id IN"
    " (SELECT id FROM notifications WHERE account_id = :account_id ORDER BY id LIMIT :batch)"
)

# Those of likes and bounces are left to `replace_actor`, as each like and bounce is taken back: others may stand.
ERASE_CAUSED: Final = Command(
    "DELETE FROM notifications WHERE (account_id, id) IN (SELECT account_id, id FROM notifications"
    " WHERE actor_id = :account_id AND type NOT IN ('like', 'bounce') ORDER BY account_id, id LIMIT :batch)"
)


_INSERTS: Final = {
    NotificationType.LIKE: INSERT_IN_GROUP,
    NotificationType.BOUNCE: INSERT_IN_GROUP,
    NotificationType.REPORT_MADE: INSERT_IN_CASE,
}
"""The statements of types whose notification is renewed: it moves to the top, unread."""


async def insert_notification(
    tx: Tx,
    notification_id: str,
    *,
    account_id: str,
    notification_type: NotificationType,
    actor_id: str | None,
    subjects: Subjects,
) -> None:
    """Inserts a notification, or renews the one that it is grouped with.

    Does nothing when the account has turned the type off or mutes the actor, across a block, and when it repeats that
    the same account follows.
    """
    await tx.later(
        _INSERTS.get(notification_type, INSERT),
        id=notification_id,
        account_id=account_id,
        type=notification_type,
        actor_id=actor_id,
        usual=usual_way(notification_type),
        now=tx.now,
        **msgspec.structs.asdict(subjects),
    )


async def replace_actor(
    tx: Tx, *, post_id: str, notification_type: NotificationType, actor_id: str, other_id: str | None
) -> None:
    """Puts another account in the place of the last one that liked or bounced a post; None: there is no other."""
    group = {"post_id": post_id, "type": notification_type, "actor_id": actor_id}
    if other_id is None:
        await tx.later(DELETE_GROUP, **group)
    else:
        await tx.later(REPLACE_ACTOR, other_id=other_id, **group)


async def forget_follow(tx: Tx, followed_id: str, follower_id: str) -> None:
    """Deletes the notifications that an account follows the other, asks to, or was accepted."""
    pair = {"followed_id": followed_id, "follower_id": follower_id}
    await tx.later(FORGET_FOLLOW, **pair)
    await tx.later(FORGET_ACCEPTANCE, **pair)


@sql.run("DELETE FROM notifications WHERE case_id = :case_id AND type = 'report.made'")
async def forget_case(tx: Tx, case_id: str) -> None:
    """Deletes the notifications of admins that a case waits for a decision."""
    ...


@sql.all(
    "SELECT n.id, n.type, n.created_at, n.read_at, n.post_id, n.comment_id, n.webhook_id, n.key_id, n.case_id,"
    " n.draft_id,"
    f" {OTHERS} AS others, a.id AS actor_id, a.username, a.display_name, a.avatar_token,"
    f" coalesce(a.verified, FALSE) AS verified, {HIDDEN} AS hidden"
    " FROM notifications n LEFT JOIN accounts a ON a.id = n.actor_id"
    " WHERE n.account_id = :account_id AND n.id < :before ORDER BY n.id DESC LIMIT :limit"
)
async def list_notifications(tx: Tx, account_id: str, *, before: str, limit: int) -> list[Notification]:
    """Returns notifications of the account, hidden ones too, newest first, before `before`."""
    ...


async def count_unread(tx: Tx, account_id: str, *, limit: int) -> int:
    """Returns how many notifications the account has not read; `limit` at the most."""
    return await tx.one(COUNT_UNREAD, account_id=account_id, limit=limit) or 0


@sql.run(
    "UPDATE notifications SET read_at = :now, mail = NULL WHERE account_id = :account_id AND id IN"
    " (SELECT id FROM notifications WHERE account_id = :account_id AND read_at IS NULL AND id <= :up_to"
    " ORDER BY id DESC LIMIT :limit)"
)
async def mark_read(tx: Tx, account_id: str, *, up_to: str, limit: int) -> None:
    """Marks the newest `limit` unread notifications with ids up to `up_to` as read."""
    ...


@sql.run(
    "UPDATE notifications SET read_at = coalesce(read_at, :now), mail = NULL"
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


# A worker that mails those of an account waits here for the row of its job (`queue.enqueue`), or is waited for.
QUEUE_WANTED: Final = Query(
    str,
    "UPDATE notifications SET mail = 'queued' WHERE mail = 'wanted' AND (account_id, id) IN"
    " (SELECT account_id, id FROM notifications WHERE mail = 'wanted' ORDER BY account_id, id LIMIT :batch)"
    " RETURNING account_id",
)

CLEAR_QUEUED: Final = Command(
    "UPDATE notifications SET mail = NULL WHERE account_id = :account_id AND mail = 'queued' AND id IN"
    " (SELECT id FROM notifications WHERE account_id = :account_id AND mail = 'queued' AND id <= :up_to"
    " ORDER BY id DESC LIMIT :limit)"
)

CLEAR_ONE: Final = Command(
    "UPDATE notifications SET mail = NULL WHERE account_id = :account_id AND id = :id AND mail = 'queued'"
)


async def queue_wanted(tx: Tx, batch: int) -> list[str]:
    """Marks notifications that are to be mailed, at most `batch`, as queued. Returns the account of each."""
    return await tx.all(QUEUE_WANTED, batch=batch)


async def clear_mailed(tx: Tx, account_id: str, ids: Sequence[str]) -> None:
    """Marks notifications of an account as mailed."""
    await tx.run_each(CLEAR_ONE, [{"account_id": account_id, "id": each} for each in ids])


async def clear_queued(tx: Tx, account_id: str, *, up_to: str, limit: int) -> None:
    """Marks the newest `limit` queued notifications with ids up to `up_to` as not to be mailed."""
    await tx.run(CLEAR_QUEUED, account_id=account_id, up_to=up_to, limit=limit)


@sql.one("SELECT TRUE FROM notifications WHERE account_id = :account_id AND mail = 'queued' LIMIT 1")
async def has_queued(tx: Tx, account_id: str) -> bool:
    """Returns whether the account has notifications that wait to be mailed."""
    ...


UPSERT_SETTING: Final = Command(
    "INSERT INTO notification_settings (account_id, type, way) VALUES (:account_id, :type, :way)"
    " ON CONFLICT (account_id, type) DO UPDATE SET way = excluded.way"
)

DELETE_SETTING: Final = Command("DELETE FROM notification_settings WHERE account_id = :account_id AND type = :type")

ERASE_SETTINGS: Final = Command("DELETE FROM notification_settings WHERE account_id = :account_id")


@sql.all("SELECT type, way FROM notification_settings WHERE account_id = :account_id")
async def list_settings(tx: Tx, account_id: str) -> list[Setting]:
    """Returns the ways that the account has chosen and that are not the usual ones."""
    ...


async def save_setting(tx: Tx, account_id: str, notification_type: NotificationType, way: Way) -> None:
    """Stores the way that an account chooses for a type; of the usual way no row is kept."""
    if way is usual_way(notification_type):
        await tx.later(DELETE_SETTING, account_id=account_id, type=notification_type)
    else:
        await tx.later(UPSERT_SETTING, account_id=account_id, type=notification_type, way=way)


async def erase_notifications(tx: Tx, account_id: str, batch: int) -> int:
    """Removes settings of an account, and notifications that it received or caused; returns the larger number.

    Likes and bounces of others' posts keep their notifications (`replace_actor`).
    """
    await tx.run(ERASE_SETTINGS, account_id=account_id)
    received = await tx.run(ERASE_RECEIVED, account_id=account_id, batch=batch)
    return max(received, await tx.run(ERASE_CAUSED, account_id=account_id, batch=batch))
