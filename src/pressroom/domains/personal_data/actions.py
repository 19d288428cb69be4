"""Asking for a copy of everything, and deleting the caller's account. Each action takes an open transaction first."""

from pressroom.clock import iso
from pressroom.db import Tx
from pressroom.domains.accounts.actions import get_account, get_record
from pressroom.domains.accounts.queries import lock_account
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import Kind, Source
from pressroom.domains.keys.models import RevokedBy
from pressroom.domains.moderation.actions import delete_account
from pressroom.domains.moderation.models import check_not_admin
from pressroom.domains.personal_data import queries
from pressroom.domains.personal_data.models import EXPORT_JOB, Export, ExportState
from pressroom.domains.sign_in.attempts import SignInAttempt, forget_failures
from pressroom.errors import Conflict, NotFound
from pressroom.jobs import queue


async def request_export(tx: Tx, account_id: str, source: Source) -> Export:
    """Has a copy of all that belongs to the account made, and returns it as it stands.

    Raises Conflict while one is being made, and within a day of the one before (docs/people.md#a-copy-of-everything).
    """
    if not await lock_account(tx, account_id):
        raise NotFound("There is no such account, or it is suspended.")
    before = await queries.find_export(tx, account_id)
    if before is not None and before.state == ExportState.PENDING:
        raise Conflict("A copy is being made already.")
    if before is not None and (next_at := before.next_at(tx.now)) is not None:
        raise Conflict(f"One copy a day: the next can be asked for from {iso(next_at)} on.")
    await queries.request_export(tx, account_id)
    await record(tx, account_id, Kind.EXPORT_REQUESTED, source)
    await queue.enqueue(tx, EXPORT_JOB, account_id, account_id=account_id)
    return await _get(tx, account_id)


async def find_export(tx: Tx, account_id: str) -> Export | None:
    """Returns the latest copy of the account, None when there is none to speak of."""
    export = await queries.find_export(tx, account_id)
    over = export is not None and export.state == ExportState.READY and not export.is_ready(tx.now)
    return None if over else export


async def get_ready(tx: Tx, account_id: str) -> Export:
    """Returns the account's copy, which can be fetched. Raises NotFound."""
    export = await queries.find_export(tx, account_id)
    if export is None or not export.is_ready(tx.now):
        raise NotFound("There is no copy to fetch. Ask for one: POST /api/auth/export")
    return export


async def delete_own_account(tx: Tx, account_id: str, attempt: SignInAttempt) -> str:
    """Deletes the account for its owner, who gave the right password in `attempt`; returns its id.

    The account must be locked. Raises NotFound, Unprocessable for an admin's (docs/operations.md#admins).
    """
    account = await get_account(tx, account_id)
    check_not_admin(account.username, is_admin=(await get_record(tx, account.username)).is_admin)
    await forget_failures(tx, attempt)
    await delete_account(tx, account.username, by=RevokedBy.SELF)
    return account.id


async def _get(tx: Tx, account_id: str) -> Export:
    export = await queries.find_export(tx, account_id)
    if export is None:
        raise NotFound("There is no such copy.")
    return export
