"""E-mail addresses and domains that nobody can sign up with."""

from collections.abc import Sequence
from typing import Final

from pressroom.db import Command, Query, Tx, sql
from pressroom.db.params import in_list, spread
from pressroom.domains.accounts.models import Block

FIND_BLOCKED: Final = Query(str, f"SELECT pattern FROM blocked_addresses WHERE pattern IN ({in_list('pattern')})")


INSERT_BLOCK: Final = Command(
    "INSERT INTO blocked_addresses (id, pattern, reason, created_at) VALUES (:id, :pattern, :reason, :now)"
    " ON CONFLICT DO NOTHING"
)


async def is_blocked(tx: Tx, patterns: Sequence[str]) -> bool:
    """Returns whether one of the patterns, at most BATCH, is blocked."""
    return await tx.one(FIND_BLOCKED, **spread("pattern", patterns)) is not None


@sql.all(
    "SELECT id, pattern, reason, created_at FROM blocked_addresses WHERE id < :before ORDER BY id DESC LIMIT :limit"
)
async def list_blocks(tx: Tx, before: str, limit: int) -> list[Block]:
    """Returns blocks with ids before `before`, newest first."""
    ...


async def insert_block(tx: Tx, *, block_id: str, pattern: str, reason: str) -> bool:
    """Blocks an address or a domain. Returns False when it is blocked already."""
    return bool(await tx.run(INSERT_BLOCK, id=block_id, pattern=pattern, reason=reason, now=tx.now))


@sql.one("DELETE FROM blocked_addresses WHERE id = :block_id RETURNING pattern")
async def delete_block(tx: Tx, block_id: str) -> str | None:
    """Takes a block off. Returns its pattern, None when there is no such block."""
    ...
