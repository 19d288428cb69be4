"""Accounts as the operator's commands print them."""

import msgspec

from pressroom.clock import iso
from pressroom.domains.accounts.models import AccountRecord


class RecordOut(msgspec.Struct, rename="camel"):
    """An account as an operator sees it. `status`: active, suspended or deleted."""

    id: str
    username: str
    email: str
    display_name: str
    status: str
    is_admin: bool
    is_private: bool
    total_posts: int
    total_followers: int
    total_following: int
    active_keys: int | None
    """None in lists, which do not count them."""

    created_at: str
    suspended_at: str | None
    deleted_at: str | None


class RecordList(msgspec.Struct, rename="camel"):
    """A page of accounts, newest first, and the cursor of the next page."""

    accounts: list[RecordOut]
    next_cursor: str | None


def record_shape(record: AccountRecord, active_keys: int | None = None) -> RecordOut:
    """Returns the account as an operator sees it."""
    return RecordOut(
        id=record.id,
        username=record.username,
        email=record.email,
        display_name=record.display_name,
        status=record.status,
        is_admin=record.is_admin,
        is_private=record.is_private,
        total_posts=record.total_posts,
        total_followers=record.total_followers,
        total_following=record.total_following,
        active_keys=active_keys,
        created_at=iso(record.created_at),
        suspended_at=None if record.suspended_at is None else iso(record.suspended_at),
        deleted_at=None if record.deleted_at is None else iso(record.deleted_at),
    )
