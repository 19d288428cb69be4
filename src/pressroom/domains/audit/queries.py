"""SQL of the audit package."""

from typing import Final

from pressroom.db import Tx, sql
from pressroom.domains.audit.models import Entry

_ENTRY: Final = (
    "SELECT e.id, e.account_id, e.kind, e.at, e.times, e.actor, e.admin_id, a.username AS admin, e.operator,"
    " e.address, e.detail"
    " FROM audit_entries e LEFT JOIN accounts a ON a.id = e.admin_id"
)


@sql.run(
    "INSERT INTO audit_entries"
    " (account_id, id, kind, at, times, actor, admin_id, operator, address, detail, counted_as) VALUES"
    " (:account_id, :entry_id, :kind, :now, 1, :actor, :admin_id, :operator, :address, :detail, NULL)"
)
async def insert_entry(
    tx: Tx,
    *,
    account_id: str,
    entry_id: str,
    kind: str,
    actor: str,
    admin_id: str | None,
    operator: str | None,
    address: str,
    detail: str,
) -> None:
    """Inserts an entry."""
    ...


@sql.run(
    "INSERT INTO audit_entries (account_id, id, kind, at, times, actor, admin_id, address, detail, counted_as)"
    " VALUES (:account_id, :entry_id, :kind, :now, 1, :actor, NULL, :address, '{}', :counted_as)"
    " ON CONFLICT (account_id, counted_as) WHERE counted_as IS NOT NULL"
    " DO UPDATE SET times = audit_entries.times + 1, at = excluded.at"
)
async def count_entry(
    tx: Tx, *, account_id: str, entry_id: str, kind: str, actor: str, address: str, counted_as: str
) -> None:
    """Inserts an entry, or adds one to the count of the entry with the same `counted_as`."""
    ...


@sql.all(f"{_ENTRY} WHERE e.account_id = :account_id AND e.id < :before ORDER BY e.id DESC LIMIT :limit")
async def list_entries(tx: Tx, account_id: str, before: str, limit: int) -> list[Entry]:
    """Returns at most `limit` entries of the account with ids before `before`, newest first."""
    ...


# The condition is that of the index audit_entries_admin.
@sql.all(f"{_ENTRY} WHERE e.actor IN ('admin', 'operator') AND e.id < :before ORDER BY e.id DESC LIMIT :limit")
async def list_admin_entries(tx: Tx, before: str, limit: int) -> list[Entry]:
    """Returns at most `limit` acts of admins and of the operator with ids before `before`, newest first."""
    ...


@sql.run(
    "DELETE FROM audit_entries WHERE account_id = :account_id AND id IN (SELECT id FROM audit_entries"
    " WHERE account_id = :account_id AND actor NOT IN ('admin', 'operator') LIMIT :batch)"
)
async def delete_entries(tx: Tx, account_id: str, batch: int) -> int:
    """Deletes entries of the account but for acts of admins and the operator, and returns how many."""
    ...


@sql.all(
    f"{_ENTRY} WHERE e.account_id = :account_id AND e.kind IN ('key.made', 'key.revoked')"
    " AND e.detail LIKE '%\"label\":%' LIMIT :limit"
)
async def list_labelled(tx: Tx, account_id: str, limit: int) -> list[Entry]:
    """Returns at most `limit` entries of the account that hold the label of a key."""
    ...


@sql.run("UPDATE audit_entries SET detail = :detail WHERE account_id = :account_id AND id = :entry_id")
async def set_detail(tx: Tx, account_id: str, entry_id: str, detail: str) -> None:
    """Replaces the facts of an entry, JSON of names and short values."""
    ...


# The condition is that of the index audit_entries_acts.
@sql.run(
    "UPDATE audit_entries SET address = '' WHERE (account_id, id) IN (SELECT account_id, id FROM audit_entries"
    " WHERE admin_id = :account_id AND address <> '' LIMIT :batch)"
)
async def erase_addresses(tx: Tx, account_id: str, batch: int) -> int:
    """Erases the addresses of the account's acts as an admin. Returns the number of entries, at most `batch`."""
    ...


@sql.run(
    "DELETE FROM audit_entries WHERE at <= :until AND (account_id, id) IN"
    " (SELECT account_id, id FROM audit_entries WHERE at <= :until ORDER BY at LIMIT :batch)"
)
async def purge_entries(tx: Tx, *, until: int, batch: int) -> int:
    """Removes entries made up to `until` (milliseconds), oldest first, and returns how many."""
    ...
