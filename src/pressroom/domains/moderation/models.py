"""Why keys were revoked when an operator gives no reason, the kind of a deletion's job, and that admins stay."""

from typing import Final

from pressroom.domains.accounts.models import AccountRecord
from pressroom.errors import Code, FieldError, Unprocessable

SUSPENDED: Final = "The account was suspended."
DELETED: Final = "The account was deleted."

DELETION_JOB: Final = "account deletion"
"""The kind of job that erases the belongings of a deleted account; its subject is the account's id."""


def check_not_staff(record: AccountRecord) -> None:
    """Raises Unprocessable for the account of an admin or moderator: neither suspends or deletes the other.

    So no admin is lost by accident, the last one least of all (docs/operations.md#admins).
    """
    if record.is_moderator and not record.is_admin:
        message = (
            f"{record.username} is a moderator. On the server: pressroom account moderator {record.username} --revoke"
        )
        raise Unprocessable([FieldError("username", Code.NOT_ALLOWED, message)])
    check_not_admin(record.username, is_admin=record.is_admin)


def check_not_admin(username: str, *, is_admin: bool) -> None:
    """Raises Unprocessable for an account that is an admin's."""
    if is_admin:
        raise Unprocessable([admin_stays(username)])


def admin_stays(username: str) -> FieldError:
    """Returns the refusal to suspend or delete an admin's account."""
    message = f"{username} is an admin. On the server: pressroom account admin {username} --revoke"
    return FieldError("username", Code.NOT_ALLOWED, message)
