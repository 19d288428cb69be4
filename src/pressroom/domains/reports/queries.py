"""SQL of the reports package."""

from typing import Final

from pressroom.db import Command, Query, Tx, sql
from pressroom.domains.reports.models import Case, Report

# A report locks the row of its case: reports and a decision come one after the other.
JOIN_CASE: Final = Query(
    str,
    "INSERT INTO report_cases (id, type, subject_id, owner_id, material, opened_at)"
    " VALUES (:id, :type, :subject_id, :owner_id, :material, :now)"
    " ON CONFLICT (type, subject_id) WHERE decided_at IS NULL DO UPDATE SET reports = report_cases.reports"
    " RETURNING id",
)

INSERT_REPORT: Final = Command(
    "INSERT INTO reports (case_id, reporter_id, id, reason, material, created_at)"
    " VALUES (:case_id, :reporter_id, :id, :reason, :material, :now) ON CONFLICT DO NOTHING"
)


COUNT_REPORT: Final = Command("UPDATE report_cases SET reports = reports + 1 WHERE id = :case_id")

COUNT_OPEN: Final = Query(
    int,
    "SELECT count(*) FROM (SELECT 1 FROM reports r JOIN report_cases c ON c.id = r.case_id"
    " WHERE r.reporter_id = :reporter_id AND c.decided_at IS NULL LIMIT :limit) AS waiting",
)

COUNT_WAITING: Final = Query(
    int, "SELECT count(*) FROM (SELECT 1 FROM report_cases WHERE decided_at IS NULL LIMIT :limit) AS waiting"
)

_CASE: Final = (
    "SELECT c.id, c.type, c.subject_id, c.owner_id, c.material, c.reports, c.opened_at, c.decided_at, c.decision,"
    " c.reason, o.username, o.display_name,"
    " (SELECT d.username FROM accounts d WHERE d.id = c.decided_by) AS decided_by"
    " FROM report_cases c JOIN accounts o ON o.id = c.owner_id"
)


_OLD: Final = "SELECT id FROM report_cases WHERE decided_at <= :until ORDER BY decided_at, id LIMIT :batch"

PURGE_REPORTS: Final = Command(f"DELETE FROM reports WHERE case_id IN ({_OLD})")

PURGE_CASES: Final = Command(f"DELETE FROM report_cases WHERE id IN ({_OLD})")


# Of a deleted account: its reports, and the copies of its own posts, comments and profile.
ERASE_REPORTS: Final = Command(
    "DELETE FROM reports WHERE reporter_id = :account_id AND case_id IN"
    " (SELECT case_id FROM reports WHERE reporter_id = :account_id LIMIT :batch)"
)

ERASE_MATERIAL: Final = Command(
    "UPDATE report_cases SET material = '{}', reason = NULL WHERE id IN (SELECT id FROM report_cases"
    " WHERE owner_id = :account_id AND (material <> '{}' OR reason IS NOT NULL) LIMIT :batch)"
)


ERASE_REPORTED: Final = Command(
    "UPDATE reports SET material = '{}' WHERE material <> '{}' AND case_id IN"
    " (SELECT id FROM report_cases WHERE owner_id = :account_id)"
)


async def erase_reports(tx: Tx, account_id: str, batch: int) -> int:
    """Erases at most `batch` reports by a deleted account and as many cases about its own things.

    Returns the larger number.
    """
    await tx.run(ERASE_REPORTED, account_id=account_id)
    reports = await tx.run(ERASE_REPORTS, account_id=account_id, batch=batch)
    return max(reports, await tx.run(ERASE_MATERIAL, account_id=account_id, batch=batch))


async def join_case(tx: Tx, *, case_id: str, subject_type: str, subject_id: str, owner_id: str, material: str) -> str:
    """Opens a case under `case_id`, or finds the one that is open; returns its id and locks it."""
    found = await tx.one(
        JOIN_CASE,
        id=case_id,
        type=subject_type,
        subject_id=subject_id,
        owner_id=owner_id,
        material=material,
        now=tx.now,
    )
    assert found is not None  # noqa: S101  # the statement inserts or updates
    return found


async def insert_report(tx: Tx, *, case_id: str, reporter_id: str, report_id: str, reason: str, material: str) -> bool:
    """Inserts a report and counts it. Returns False when the account has reported this already."""
    values = {"case_id": case_id, "reporter_id": reporter_id, "id": report_id, "reason": reason}
    if not await tx.run(INSERT_REPORT, **values, material=material, now=tx.now):
        return False
    await tx.run(COUNT_REPORT, case_id=case_id)
    return True


@sql.one(
    "SELECT r.id, a.username, r.reason, r.material, r.created_at FROM reports r JOIN accounts a ON a.id = r.reporter_id"
    " WHERE r.case_id = :case_id AND r.reporter_id = :reporter_id"
)
async def find_report(tx: Tx, *, case_id: str, reporter_id: str) -> Report | None:
    """Returns the account's report of a case."""
    ...


async def count_open(tx: Tx, reporter_id: str, limit: int) -> int:
    """Returns how many reports of an account wait for a decision; `limit` at the most."""
    return await tx.one(COUNT_OPEN, reporter_id=reporter_id, limit=limit) or 0


@sql.one(f"{_CASE} WHERE c.id = :case_id")
async def find_case(tx: Tx, case_id: str) -> Case | None:
    """Returns a case, open or decided."""
    ...


@sql.run("UPDATE report_cases SET reports = reports WHERE id = :case_id")
async def lock_case(tx: Tx, case_id: str) -> None:
    """Locks a case: of two decisions at once the second waits."""
    ...


@sql.all(f"{_CASE} WHERE c.decided_at IS NULL AND c.id > :after ORDER BY c.id LIMIT :limit")
async def list_open(tx: Tx, after: str, limit: int) -> list[Case]:
    """Returns open cases, the oldest first, after `after`."""
    ...


@sql.all(f"{_CASE} WHERE c.decided_at IS NOT NULL AND c.id < :before ORDER BY c.id DESC LIMIT :limit")
async def list_decided(tx: Tx, before: str, limit: int) -> list[Case]:
    """Returns decided cases, newest first, before `before`."""
    ...


@sql.all(
    f"{_CASE} WHERE c.owner_id = :owner_id AND c.decided_at IS NOT NULL AND c.decision <> 'dismissed'"
    " AND c.id < :before ORDER BY c.id DESC LIMIT :limit"
)
async def list_of_owner(tx: Tx, owner_id: str, before: str, limit: int) -> list[Case]:
    """Returns the decisions against an account's posts, comments or itself, newest case first, before `before`."""
    ...


@sql.all(
    "SELECT r.id, a.username, r.reason, r.material, r.created_at FROM reports r JOIN accounts a ON a.id = r.reporter_id"
    " WHERE r.case_id = :case_id ORDER BY r.id LIMIT :limit"
)
async def list_reports(tx: Tx, case_id: str, limit: int) -> list[Report]:
    """Returns the first `limit` reports of a case, oldest first."""
    ...


@sql.all(
    "SELECT r.reporter_id FROM reports r JOIN report_cases c ON c.id = r.case_id WHERE r.case_id = :case_id"
    " AND r.reporter_id > :after AND r.reporter_id <> coalesce(c.decided_by, '') ORDER BY r.reporter_id LIMIT :limit"
)
async def list_reporters(tx: Tx, case_id: str, *, after: str, limit: int) -> list[str]:
    """Returns the accounts that reported the subject of a case, but for the admin who decided, after `after`."""
    ...


@sql.run(
    "UPDATE report_cases SET decided_at = :now, decided_by = :decided_by, decision = :decision, reason = :reason"
    " WHERE id = :case_id"
)
async def decide(tx: Tx, case_id: str, *, decided_by: str | None, decision: str, reason: str | None) -> None:
    """Records a decision."""
    ...


async def purge_cases(tx: Tx, *, until: int, batch: int) -> int:
    """Removes at most `batch` cases that were decided up to `until` (milliseconds), with their reports.

    Returns their number.
    """
    await tx.run(PURGE_REPORTS, until=until, batch=batch)
    return await tx.run(PURGE_CASES, until=until, batch=batch)
