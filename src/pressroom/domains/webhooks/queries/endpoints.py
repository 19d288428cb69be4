"""Endpoints: adding, reading, changing and removing them, and the figures of their pending and latest deliveries."""

from typing import Final

from pressroom.db import Query, Tx, sql
from pressroom.domains.webhooks.models import (
    COUNTED,
    LATEST,
    SHOWN,
    EndpointFigures,
    ListedWebhook,
    Predecessor,
    Webhook,
)

_WEBHOOK: Final = (
    f"id, key_id, url, label, events, substr(secret, 1, {SHOWN}) AS secret_prefix, previous_secret_expires_at,"
    " created_at, paused_at, disabled_at, disabled_reason, consecutive_failures, probe_at, origin_id, closed_at"
)


FIND_WEBHOOK: Final = Query(
    Webhook,
    f"SELECT {_WEBHOOK} FROM webhooks WHERE account_id = :account_id AND id = :webhook_id"
    " AND key_id = :key_id AND removed_at IS NULL",
)

LOCK_WEBHOOK: Final = Query(Webhook, f"{FIND_WEBHOOK.text} FOR UPDATE")


@sql.run(
    "INSERT INTO webhooks (id, account_id, key_id, url, label, events, secret, created_at, key_expires_at,"
    " consecutive_failures, leased_until, origin_id, speed) VALUES (:webhook_id, :account_id, :key_id,"
    " :url, :label, :events, :secret,"
    " :now, :key_expires_at, 0, 0, :origin_id, :speed)"
)
async def insert_webhook(
    tx: Tx,
    *,
    webhook_id: str,
    account_id: str,
    key_id: str,
    key_expires_at: int | None,
    url: str,
    label: str | None,
    events: str,
    secret: str,
    origin_id: str,
    speed: str,
) -> None:
    """Inserts an endpoint."""
    ...


# Of removed endpoints with the same URL, the one that was removed last is continued first, each by one endpoint.
@sql.one(
    "SELECT r.origin_id, r.speed FROM webhooks r WHERE r.key_id = :key_id AND r.removed_at IS NOT NULL"
    " AND r.account_id = :account_id AND r.url = :url AND r.sweep_at > :now AND NOT EXISTS (SELECT 1 FROM webhooks s"
    " WHERE s.account_id = r.account_id AND s.origin_id = r.origin_id AND s.removed_at IS NULL)"
    " ORDER BY r.removed_at DESC, r.id DESC LIMIT 1"
)
async def find_predecessor(tx: Tx, account_id: str, key_id: str, url: str) -> Predecessor | None:
    """Returns the removed endpoint that a new one with this URL continues: the last one that no other continues."""
    ...


@sql.one("SELECT count(*) FROM webhooks WHERE key_id = :key_id AND removed_at IS NULL")
async def count_webhooks(tx: Tx, key_id: str) -> int:
    """Returns the number of the key's endpoints, disabled ones included."""
    ...


async def find_webhook(tx: Tx, account_id: str, key_id: str, webhook_id: str, *, lock: bool = False) -> Webhook | None:
    """Returns an endpoint of the key. With `lock`, nothing is queued or saved for it meanwhile by others."""
    query = LOCK_WEBHOOK if lock else FIND_WEBHOOK
    return await tx.one(query, account_id=account_id, key_id=key_id, webhook_id=webhook_id)


@sql.all(
    f"SELECT {_WEBHOOK}, key_expires_at, (SELECT k.label FROM api_keys k WHERE k.id = key_id) AS key_label"
    " FROM webhooks WHERE account_id = :account_id AND removed_at IS NULL AND id < :before"
    " ORDER BY id DESC LIMIT :limit"
)
async def list_of_account(tx: Tx, account_id: str, *, before: str, limit: int) -> list[ListedWebhook]:
    """Returns endpoints of all keys of an account, newest first, added before the id `before`."""
    ...


@sql.all(
    f"SELECT {_WEBHOOK} FROM webhooks WHERE key_id = :key_id AND removed_at IS NULL AND id < :before"
    " ORDER BY id DESC LIMIT :limit"
)
async def list_webhooks(tx: Tx, key_id: str, *, before: str, limit: int) -> list[Webhook]:
    """Returns endpoints of the key, newest first, added before the id `before`."""
    ...


@sql.run(
    "UPDATE webhooks SET removed_at = :now, sweep_at = :sweep_at, next_due_at = NULL"
    " WHERE account_id = :account_id AND id = :webhook_id AND key_id = :key_id AND removed_at IS NULL"
)
async def remove_webhook(tx: Tx, account_id: str, key_id: str, webhook_id: str, *, sweep_at: int) -> bool:
    """Removes an endpoint, its rows from `sweep_at` (milliseconds) on. Returns False for an unknown endpoint."""
    ...


@sql.run(
    "UPDATE webhooks SET sweep_at = :now WHERE key_id = :key_id AND removed_at IS NOT NULL AND sweep_at > :now"
    " AND id NOT IN (SELECT id FROM webhooks WHERE key_id = :key_id AND removed_at IS NOT NULL"
    " ORDER BY removed_at DESC, id DESC LIMIT :most)"
)
async def forget_removed(tx: Tx, key_id: str, *, most: int) -> None:
    """Has the next sweep take all removed endpoints of the key except the last `most`."""
    ...


@sql.one("SELECT secret FROM webhooks WHERE account_id = :account_id AND id = :webhook_id")
async def find_secret(tx: Tx, account_id: str, webhook_id: str) -> str | None:
    """Returns the signing secret of an endpoint, which no answer may hold."""
    ...


@sql.run(
    "UPDATE webhooks SET secret = :secret, previous_secret_expires_at = :previous_expires_at"
    " WHERE account_id = :account_id AND id = :webhook_id"
)
async def rotate_secret(tx: Tx, account_id: str, webhook_id: str, *, secret: str, previous_expires_at: int) -> None:
    """Gives an endpoint a new secret."""
    ...


@sql.run("UPDATE webhooks SET events = :events, label = :label WHERE account_id = :account_id AND id = :webhook_id")
async def change_webhook(tx: Tx, account_id: str, webhook_id: str, *, events: str, label: str | None) -> None:
    """Changes the event types and the label of an endpoint."""
    ...


@sql.run("UPDATE webhooks SET paused_at = :now, next_due_at = NULL WHERE account_id = :account_id AND id = :webhook_id")
async def pause_webhook(tx: Tx, account_id: str, webhook_id: str) -> None:
    """Pauses an endpoint: nothing is due for it until it is resumed."""
    ...


# The worker finds out whether anything is due: a probe may lie ahead, and a test goes before it.
@sql.run("UPDATE webhooks SET paused_at = NULL, next_due_at = :now WHERE account_id = :account_id AND id = :webhook_id")
async def resume_webhook(tx: Tx, account_id: str, webhook_id: str) -> None:
    """Resumes an endpoint and makes it due at once."""
    ...


@sql.run(
    "UPDATE webhooks SET closed_at = :now, sweep_at = coalesce(sweep_at, :sweep_at)"
    " WHERE account_id = :account_id AND key_id = :key_id AND closed_at IS NULL AND removed_at IS NULL"
)
async def close_webhooks(tx: Tx, account_id: str, key_id: str, *, sweep_at: int) -> None:
    """Closes the endpoints of a revoked key: no further event is queued for them."""
    ...


_OWN: Final = "d.account_id = w.account_id AND d.webhook_id = w.id"
_LATEST: Final = f"(SELECT d.state FROM deliveries d WHERE {_OWN} ORDER BY d.event_id DESC LIMIT {LATEST}) AS latest"

# Each figure is looked up by index for one endpoint at a time, and ends at its bound: without an order, or in a join, a
# planner may walk through all deliveries. Of a closed endpoint only the news of that still goes out: the newest event.
_FIGURES: Final = (
    "SELECT w.id, w.next_due_at, CASE WHEN w.closed_at IS NULL"
    f" THEN (SELECT count(*) FROM (SELECT 1 FROM deliveries d WHERE {_OWN} AND d.state = 'pending'"
    f" ORDER BY d.event_id LIMIT {COUNTED + 1}) AS waiting)"
    f" ELSE (SELECT count(*) FROM (SELECT d.event_type FROM deliveries d WHERE {_OWN} AND d.state = 'pending'"
    " ORDER BY d.event_id DESC LIMIT 1) AS newest WHERE newest.event_type = 'apikey.revoked') END AS waiting,"
    f" (SELECT d.event_id FROM deliveries d WHERE {_OWN} AND d.state = 'pending' ORDER BY d.event_id LIMIT 1)"
    " AS oldest_waiting,"
    f" (SELECT count(*) FROM {_LATEST}) AS latest,"
    f" (SELECT count(*) FROM {_LATEST} WHERE latest.state = 'delivered') AS delivered,"
    f" (SELECT count(*) FROM {_LATEST} WHERE latest.state = 'failed') AS failed"
    " FROM webhooks w WHERE w.account_id = :account_id AND w.removed_at IS NULL"
)


@sql.one(f"{_FIGURES} AND w.key_id = :key_id AND w.id = :webhook_id")
async def find_figures(tx: Tx, account_id: str, key_id: str, webhook_id: str) -> EndpointFigures | None:
    """Returns the figures of an endpoint."""
    ...


@sql.all(f"{_FIGURES} AND w.key_id = :key_id ORDER BY w.id DESC")
async def list_figures(tx: Tx, account_id: str, key_id: str) -> list[EndpointFigures]:
    """Returns the figures of each endpoint of a key, newest first."""
    ...


@sql.all(f"{_FIGURES} AND w.id < :before ORDER BY w.id DESC LIMIT :limit")
async def list_figures_of_account(tx: Tx, account_id: str, *, before: str, limit: int) -> list[EndpointFigures]:
    """Returns the figures of endpoints of all keys of an account, newest first, added before the id `before`."""
    ...
