"""SQL of the front page and of the page of notifications."""

from typing import Final

import msgspec

from pressroom.db import Query, Tx, sql
from pressroom.domains.home.models import Notice
from pressroom.domains.notifications.queries import HIDDEN, OTHERS


class FirstSteps(msgspec.Struct):
    """The first steps that an account has ever taken."""

    has_key: bool
    has_post: bool
    has_endpoint: bool


# Not EXISTS for the posts: for that PostgreSQL may walk through the table and hope to meet one of the account soon. The
# first post from the account on is one step along the primary key.
FIND_FIRST_STEPS: Final = Query(
    FirstSteps,
    "SELECT EXISTS (SELECT 1 FROM api_keys WHERE account_id = :account_id) AS has_key,"
    " coalesce((SELECT account_id FROM posts WHERE account_id >= :account_id ORDER BY account_id, id LIMIT 1), '')"
    " = :account_id AS has_post,"
    " EXISTS (SELECT 1 FROM webhooks WHERE account_id = :account_id) AS has_endpoint",
)


_NOTICES: Final = (
    "SELECT n.id, n.type, n.created_at, n.read_at, n.post_id, n.comment_id, n.webhook_id, n.key_id, n.case_id,"
    " n.draft_id,"
    f" {OTHERS} AS others, a.id AS actor_id, a.username, a.display_name, a.avatar_token, c.content AS comment,"
    " c.thread_id, k.label AS key_label, k.expires_at AS key_expires_at, w.url, w.key_id AS webhook_key_id,"
    f" {HIDDEN} AS hidden FROM notifications n"
    " LEFT JOIN accounts a ON a.id = n.actor_id"
    " LEFT JOIN comments c ON c.account_id = n.actor_id AND c.id = n.comment_id"
    " LEFT JOIN api_keys k ON k.id = n.key_id AND k.account_id = n.account_id"
    " LEFT JOIN webhooks w ON w.id = n.webhook_id AND w.account_id = n.account_id"
    " WHERE n.account_id = :account_id AND n.id < :before"
)


@sql.all(f"{_NOTICES} AND n.read_at IS NULL ORDER BY n.id DESC LIMIT :limit")
async def list_unread(tx: Tx, account_id: str, *, before: str, limit: int) -> list[Notice]:
    """Returns unread notifications of the account, hidden ones too, newest first, before `before`."""
    ...


@sql.all(f"{_NOTICES} AND n.read_at IS NOT NULL ORDER BY n.id DESC LIMIT :limit")
async def list_read(tx: Tx, account_id: str, *, before: str, limit: int) -> list[Notice]:
    """Returns notifications that the account has read, hidden ones too, newest first, before `before`."""
    ...


@sql.all(f"{_NOTICES} AND n.mail = 'queued' ORDER BY n.id DESC LIMIT :limit")
async def list_queued(tx: Tx, account_id: str, *, before: str, limit: int) -> list[Notice]:
    """Returns notifications of the account that wait to be mailed, hidden ones too, newest first, before `before`."""
    ...
