"""The operator's commands on accounts. Each returns the command's output."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import msgspec
from rich.markup import escape
from rich.table import Table

from pressroom.clock import SECOND, SystemClock
from pressroom.db import Database, Tx
from pressroom.domains.accounts.actions import get_record
from pressroom.domains.accounts.queries import status
from pressroom.domains.audit.models import OPERATOR, Source
from pressroom.domains.keys import queries as keys
from pressroom.domains.keys.models import check_reason
from pressroom.domains.limits.models import OwnLimits
from pressroom.domains.moderation import actions
from pressroom.domains.moderation.schemas import RecordList, RecordOut, record_shape
from pressroom.domains.sign_in.passwords import Passwords
from pressroom.domains.sign_in.schemas import NewPassword
from pressroom.errors import Code, FieldError, Invalid
from pressroom.ids import BEYOND
from pressroom.web.json_bodies import decode
from pressroom.web.paging import cursor_field_errors

SIGNED_OUT_AT_ONCE: Final = 200
"""Sessions that one transaction ends, so that requests go on meanwhile."""


async def list_accounts(db: Database, limit: int, cursor: str | None) -> RecordList:
    """Returns a page of at most `limit` accounts, newest first. Raises Invalid for a malformed cursor."""
    if field_errors := cursor_field_errors(cursor):
        raise Invalid(field_errors)
    found = await db.read(status.list_records, before=cursor or BEYOND, limit=limit + 1)
    more = found[limit - 1].id if len(found) > limit else None
    return RecordList([record_shape(record) for record in found[:limit]], more)


def table(found: RecordList) -> Table:
    """Returns the accounts as a table for people to read."""
    shown = Table("id", "user name", "status", "role", "e-mail", "posts", "followers", "created", box=None)
    for each in found.accounts:
        shown.add_row(
            each.id,
            each.username,
            each.status,
            "admin" if each.is_admin else "moderator" if each.is_moderator else "",
            escape(each.email if each.email.isprintable() else ascii(each.email)[1:-1]),
            str(each.total_posts),
            str(each.total_followers),
            each.created_at,
        )
    return shown


async def show(db: Database, username: str) -> RecordOut:
    """Returns one account. Raises NotFound."""
    return await db.read(_show, username)


async def password(db: Database, username: str, given: str, source: Source) -> RecordOut:
    """Replaces the password of an account, under the same rules as sign-up. Raises Invalid, NotFound."""
    await db.read(get_record, username)
    wanted = decode(NewPassword, msgspec.json.encode({"password": given}), [], SystemClock().now())
    passwords = Passwords()
    try:
        password_hash = await passwords.hash(wanted.password)
    finally:
        passwords.close()
    return record_shape(await db.transact(actions.set_password, username, password_hash, source))


async def remove_two_factor(db: Database, username: str, source: Source) -> RecordOut:
    """Takes two-factor sign-in off an account. Raises NotFound, also when it is off."""
    return record_shape(await db.transact(actions.remove_two_factor, username, source))


async def suspend(db: Database, username: str, reason: str, source: Source) -> RecordOut:
    """Suspends an account. Raises NotFound, Invalid for a blank or over-long reason."""
    check_reason(reason)
    return record_shape(await db.transact(actions.suspend_account, username, reason, source))


async def limit(
    db: Database,
    username: str,
    limits: Mapping[str, int | None],
    until: datetime | None,
    reason: str | None,
    source: Source,
) -> RecordOut:
    """Gives an account limits of its own, by the names of OwnLimits, until a UTC time. Raises NotFound, Invalid."""
    if reason is not None:
        check_reason(reason)
    ends_at = None if until is None else int(until.replace(tzinfo=UTC).timestamp() * SECOND)
    if ends_at is not None and ends_at <= SystemClock().now():
        raise Invalid([FieldError("until", Code.OUT_OF_RANGE, "Must lie in the future.")])
    own = OwnLimits(**limits, ends_at=ends_at)
    return record_shape(await db.transact(actions.set_limits, username, own, reason, source))


async def restore(db: Database, username: str, source: Source) -> RecordOut:
    """Ends the suspension of an account. Raises NotFound."""
    return record_shape(await db.transact(actions.restore_account, username, source=source))


async def sign_out(db: Database, username: str | None, source: Source) -> int:
    """Ends the sessions of an account, or of all (None). Returns how many. Raises NotFound."""
    if username is not None:
        return await db.transact(actions.sign_out_account, username, source)
    total = 0
    while ended := await db.transact(actions.sign_out_some, SIGNED_OUT_AT_ONCE, source):
        total += ended
    return total


async def delete(db: Database, username: str, reason: str | None, source: Source) -> RecordOut:
    """Deletes an account; returns it with the names it had. Raises NotFound, and Invalid for a blank reason."""
    if reason is not None:
        check_reason(reason)
    return record_shape(await db.transact(actions.delete_account, username, reason=reason, source=source))


async def admin(db: Database, username: str, *, revoke: bool, source: Source = OPERATOR) -> RecordOut:
    """Gives an account the rights of an admin, or takes them away (`revoke`). Raises NotFound, Conflict."""
    return record_shape(await db.transact(actions.set_admin, username, is_admin=not revoke, source=source))


async def moderator(db: Database, username: str, *, revoke: bool, source: Source = OPERATOR) -> RecordOut:
    """Gives an account the rights of a moderator, or takes them away (`revoke`). Raises NotFound, Conflict."""
    return record_shape(await db.transact(actions.set_moderator, username, is_moderator=not revoke, source=source))


async def _show(tx: Tx, username: str) -> RecordOut:
    record = await get_record(tx, username)
    return record_shape(record, await keys.count_active(tx, record.id))
