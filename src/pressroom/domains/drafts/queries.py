"""SQL of the drafts package."""

from typing import Final

from pressroom.db import Command, Query, Tx, sql
from pressroom.domains.drafts.models import Draft
from pressroom.domains.limits.models import KeyWrite

_DRAFT: Final = (
    "SELECT d.id, d.account_id, d.key_id, d.version, d.state, d.fields, d.publish_at, d.scheduled_by_key,"
    " d.needs_approval, d.refusal, d.post_id, d.created_at, d.updated_at, k.label AS key_label, k.key_prefix"
    " FROM drafts d LEFT JOIN api_keys k ON k.id = d.key_id"
)

LOCK: Final = Query(str, "SELECT account_id FROM draft_locks WHERE account_id = :account_id FOR UPDATE")

ADD_LOCK: Final = Command("INSERT INTO draft_locks (account_id) VALUES (:account_id) ON CONFLICT DO NOTHING")

# The writes of a key since a time: read when the process that counted its requests was killed.
DRAFTS_BY_KEY: Final = Query(
    KeyWrite,
    "SELECT created_at AS at, FALSE AS is_post FROM drafts"
    " WHERE account_id = (SELECT account_id FROM api_keys WHERE id = :key_id) AND id >= :first_id AND key_id = :key_id"
    " AND created_at >= :since",
)

# The writes of a session: its windows are named `account:` and the account's id.
DRAFTS_SIGNED_IN: Final = Query(
    KeyWrite,
    "SELECT created_at AS at, FALSE AS is_post FROM drafts WHERE account_id = substr(:key_id, 9) AND id >= :first_id"
    " AND key_id IS NULL AND created_at >= :since",
)


async def lock_drafts(tx: Tx, account_id: str) -> None:
    """Locks the drafts of an account against other transactions. Nothing else of the account is locked before it."""
    if await tx.one(LOCK, account_id=account_id) is None:
        await tx.run(ADD_LOCK, account_id=account_id)
        await tx.one(LOCK, account_id=account_id)


@sql.one(f"{_DRAFT} WHERE d.account_id = :account_id AND d.id = :draft_id")
async def find_draft(tx: Tx, account_id: str, draft_id: str) -> Draft | None:
    """Returns a draft of the account."""
    ...


@sql.all(f"{_DRAFT} WHERE d.account_id = :account_id AND d.id < :before ORDER BY d.id DESC LIMIT :limit")
async def list_drafts(tx: Tx, account_id: str, before: str, limit: int) -> list[Draft]:
    """Returns drafts of the account in any state with ids before `before`, newest first."""
    ...


@sql.all(f"{_DRAFT} WHERE d.key_id = :key_id AND d.id < :before ORDER BY d.id DESC LIMIT :limit")
async def list_of_key(tx: Tx, key_id: str, before: str, limit: int) -> list[Draft]:
    """Returns drafts that a key made with ids before `before`, newest first."""
    ...


@sql.all(
    f"{_DRAFT} WHERE d.account_id = :account_id AND d.state = :state AND d.id < :before ORDER BY d.id DESC LIMIT :limit"
)
async def list_in_state(tx: Tx, account_id: str, state: str, before: str, limit: int) -> list[Draft]:
    """Returns drafts of the account in a state with ids before `before`, newest first."""
    ...


@sql.one("SELECT count(*) FROM drafts WHERE account_id = :account_id AND state IN ('draft', 'refused')")
async def count_open(tx: Tx, account_id: str) -> int:
    """Returns how many drafts of the account are neither scheduled nor published."""
    ...


@sql.one("SELECT count(*) FROM drafts WHERE account_id = :account_id AND state = 'scheduled'")
async def count_scheduled(tx: Tx, account_id: str) -> int:
    """Returns how many drafts of the account are scheduled."""
    ...


@sql.run(
    "INSERT INTO drafts (id, account_id, key_id, version, state, fields, publish_at, scheduled_by_key, needs_approval,"
    " created_at, updated_at) VALUES (:draft_id, :account_id, :key_id, 1, :state, :fields, :publish_at,"
    " :scheduled_by_key, :needs_approval, :now, :now)"
)
async def insert_draft(
    tx: Tx,
    *,
    draft_id: str,
    account_id: str,
    key_id: str | None,
    state: str,
    fields: str,
    publish_at: int | None,
    scheduled_by_key: bool,
    needs_approval: bool,
) -> None:
    """Inserts a draft with version 1."""
    ...


@sql.run(
    "UPDATE drafts SET version = version + 1, state = :state, fields = :fields, publish_at = :publish_at,"
    " scheduled_by_key = :scheduled_by_key, needs_approval = :needs_approval, refusal = :refusal, post_id = :post_id,"
    " updated_at = :now WHERE account_id = :account_id AND id = :draft_id"
)
async def update_draft(
    tx: Tx,
    *,
    account_id: str,
    draft_id: str,
    state: str,
    fields: str,
    publish_at: int | None,
    scheduled_by_key: bool,
    needs_approval: bool,
    refusal: str | None,
    post_id: str | None,
) -> None:
    """Replaces the columns of a draft that can change. Its version grows by one."""
    ...


@sql.run("DELETE FROM drafts WHERE account_id = :account_id AND id = :draft_id")
async def delete_draft(tx: Tx, account_id: str, draft_id: str) -> None:
    """Removes a draft."""
    ...


@sql.run(
    "DELETE FROM drafts WHERE (account_id, id) IN (SELECT account_id, id FROM drafts WHERE state = 'published'"
    " AND updated_at <= :until ORDER BY updated_at LIMIT :batch)"
)
async def purge_published(tx: Tx, *, until: int, batch: int) -> int:
    """Removes at most `batch` drafts of posts that were published by `until` (milliseconds); returns their number."""
    ...


@sql.run(
    "DELETE FROM drafts WHERE account_id = :account_id AND id IN (SELECT id FROM drafts"
    " WHERE account_id = :account_id ORDER BY id LIMIT :batch)"
)
async def erase_rows(tx: Tx, account_id: str, batch: int) -> int:
    """Removes at most `batch` drafts of an account; returns their number."""
    ...


@sql.run("DELETE FROM draft_locks WHERE account_id = :account_id")
async def erase_lock(tx: Tx, account_id: str) -> None:
    """Removes the lock of an account that has no drafts any more."""
    ...
