"""SQL of the personal_data package: requested copies. `copied` reads their content."""

from typing import Final

from pressroom.db import Command, Tx, sql
from pressroom.domains.personal_data.models import Export

_EXPORT: Final = "SELECT account_id, state, requested_at, finished_at, expires_at, size_bytes FROM exports"


FINISH_EXPORT: Final = Command(
    "UPDATE exports SET state = 'ready', finished_at = :now, expires_at = :expires_at, size_bytes = :size_bytes"
    " WHERE account_id = :account_id AND requested_at = :requested_at AND state = 'pending'"
)


DELETE_EXPORT: Final = Command("DELETE FROM exports WHERE account_id = :account_id AND requested_at = :requested_at")


@sql.one(f"{_EXPORT} WHERE account_id = :account_id")
async def find_export(tx: Tx, account_id: str) -> Export | None:
    """Returns the latest copy of an account."""
    ...


@sql.run(
    "INSERT INTO exports (account_id, state, requested_at) VALUES (:account_id, 'pending', :now)"
    " ON CONFLICT (account_id) DO UPDATE SET state = 'pending', requested_at = excluded.requested_at,"
    " finished_at = NULL, expires_at = NULL, size_bytes = NULL"
)
async def request_export(tx: Tx, account_id: str) -> None:
    """Writes down that a copy is wanted, in place of the one before."""
    ...


async def finish_export(tx: Tx, export: Export, *, size_bytes: int, expires_at: int) -> bool:
    """Writes down that a copy can be fetched. Returns False when it is not wanted any more."""
    values = {"account_id": export.account_id, "requested_at": export.requested_at}
    return bool(await tx.run(FINISH_EXPORT, size_bytes=size_bytes, expires_at=expires_at, now=tx.now, **values))


@sql.run("UPDATE exports SET state = 'failed', finished_at = :now WHERE account_id = :account_id AND state = 'pending'")
async def fail_export(tx: Tx, account_id: str) -> None:
    """Writes down that a copy could not be made."""
    ...


@sql.all(f"{_EXPORT} WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit")
async def list_expired(tx: Tx, limit: int) -> list[Export]:
    """Returns copies whose time is over."""
    ...


async def delete_export(tx: Tx, export: Export) -> None:
    """Removes the row of a copy, unless another was asked for meanwhile."""
    await tx.run(DELETE_EXPORT, account_id=export.account_id, requested_at=export.requested_at)


@sql.run("DELETE FROM exports WHERE account_id = :account_id")
async def erase_export(tx: Tx, account_id: str) -> None:
    """Removes the row of an account's copy."""
    ...
