"""SQL of the exclusions of admins."""

from pressroom.db import Tx, sql
from pressroom.domains.explore.models import Exclusion, PickKind

_EXCLUSION = (
    "SELECT x.id, x.kind, x.subject, coalesce(CASE x.kind WHEN 'account' THEN s.username WHEN 'hub' THEN h.slug END,"
    " x.subject) AS name, x.reason, a.username AS admin, x.created_at FROM explore_exclusions x"
    " JOIN accounts a ON a.id = x.admin_id LEFT JOIN accounts s ON x.kind = 'account' AND s.id = x.subject"
    " LEFT JOIN hubs h ON x.kind = 'hub' AND h.id = x.subject"
)


@sql.run(
    "INSERT INTO explore_exclusions (id, kind, subject, account_id, reason, admin_id, created_at)"
    " VALUES (:exclusion_id, :kind, :subject, :account_id, :reason, :admin_id, :now) ON CONFLICT DO NOTHING"
)
async def insert_exclusion(
    tx: Tx, *, exclusion_id: str, kind: PickKind, subject: str, account_id: str | None, reason: str, admin_id: str
) -> bool:
    """Inserts an exclusion. Returns False when the subject is out of explore already."""
    ...


@sql.one(f"{_EXCLUSION} WHERE x.id = :exclusion_id")
async def find_exclusion(tx: Tx, exclusion_id: str) -> Exclusion | None:
    """Returns the exclusion with this id."""
    ...


@sql.all(f"{_EXCLUSION} WHERE x.id < :before ORDER BY x.id DESC LIMIT :limit")
async def list_exclusions(tx: Tx, before: str, limit: int) -> list[Exclusion]:
    """Returns exclusions with ids before `before`, newest first."""
    ...


@sql.one("DELETE FROM explore_exclusions WHERE id = :exclusion_id RETURNING coalesce(account_id, '')")
async def delete_exclusion(tx: Tx, exclusion_id: str) -> str | None:
    """Deletes an exclusion. Returns the id of its account, empty for none; None when there is no such exclusion."""
    ...


@sql.run(
    "DELETE FROM explore_exclusions WHERE account_id = :account_id AND id IN"
    " (SELECT id FROM explore_exclusions WHERE account_id = :account_id LIMIT :batch)"
)
async def erase_exclusions(tx: Tx, account_id: str, batch: int) -> int:
    """Deletes up to `batch` exclusions of an account and its posts, and returns how many."""
    ...
