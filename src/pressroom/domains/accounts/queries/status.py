"""An account's status (private, suspended, deleted, admin), password and counters."""

from collections.abc import Mapping, Sequence
from typing import Final

from pressroom.db import Command, Query, Tx, sql
from pressroom.db.params import in_list, spread
from pressroom.domains.accounts.models import (
    AccountFilter,
    AccountRecord,
    AccountStatus,
    NamedAccount,
    PostCounts,
)

_RECORD: Final = (
    "id, username, email, display_name, bio, verified, email_verified, is_private, discoverable, is_creator,"
    " total_followers, total_following, total_posts, created_at, avatar_token, cover_token, limits, suspended_at,"
    " deleted_at, is_admin, is_moderator"
)


# Each condition is that of an index.
LIST_SUSPENDED: Final = Query(
    AccountRecord,
    f"SELECT {_RECORD} FROM accounts WHERE suspended_at IS NOT NULL AND deleted_at IS NULL AND id < :before"
    " ORDER BY id DESC LIMIT :limit",
)

LIST_DELETED: Final = Query(
    AccountRecord,
    f"SELECT {_RECORD} FROM accounts WHERE deleted_at IS NOT NULL AND id < :before ORDER BY id DESC LIMIT :limit",
)

LIST_ADMINS: Final = Query(
    AccountRecord, f"SELECT {_RECORD} FROM accounts WHERE is_admin AND id < :before ORDER BY id DESC LIMIT :limit"
)

LIST_MODERATORS: Final = Query(
    AccountRecord, f"SELECT {_RECORD} FROM accounts WHERE is_moderator AND id < :before ORDER BY id DESC LIMIT :limit"
)

FIND_BY_NAME: Final = Query(
    AccountRecord,
    f"SELECT {_RECORD} FROM accounts WHERE username_key >= :first AND username_key < :beyond"
    " AND username_key > coalesce((SELECT p.username_key FROM accounts p WHERE p.id = :after), '')"
    " ORDER BY username_key LIMIT :limit",
)

FIND_BY_EMAIL: Final = Query(
    AccountRecord,
    f"SELECT {_RECORD} FROM accounts WHERE email_key >= :first AND email_key < :beyond"
    " AND email_key > coalesce((SELECT p.email_key FROM accounts p WHERE p.id = :after), '')"
    " ORDER BY email_key LIMIT :limit",
)

NAMES_OF: Final = Query(
    NamedAccount, f"SELECT id, username FROM accounts WHERE id IN ({in_list('id')}) AND deleted_at IS NULL"
)

# Locked in the order of their ids, so that no two transactions deadlock. A row that was waited for is read anew.
LOCK_STATUS: Final = Query(
    AccountStatus,
    f"SELECT id, is_private, suspended_at FROM accounts WHERE id IN ({in_list('id')}) ORDER BY id FOR NO KEY UPDATE",
)

_STATUS: Final = "SELECT id, is_private, suspended_at FROM accounts WHERE id = :account_id"


ADD_POSTS: Final = Command(
    "UPDATE accounts SET total_posts = total_posts + :total, public_posts = public_posts + :public,"
    " followers_posts = followers_posts + :followers, connections_posts = connections_posts + :connections,"
    " last_entry_id = CASE WHEN last_entry_id < :last THEN :last ELSE last_entry_id END WHERE id = :account_id"
)

ADD_FOLLOWERS: Final = Command("UPDATE accounts SET total_followers = total_followers + :count WHERE id = :account_id")

ADD_FOLLOWING: Final = Command("UPDATE accounts SET total_following = total_following + :count WHERE id = :account_id")

FIND_POST_COUNTS: Final = Query(
    PostCounts,
    "SELECT public_posts AS public, followers_posts AS followers, connections_posts AS connections"
    " FROM accounts WHERE id = :account_id",
)


_LISTS: Final = {
    AccountFilter.SUSPENDED: LIST_SUSPENDED,
    AccountFilter.DELETED: LIST_DELETED,
    AccountFilter.ADMIN: LIST_ADMINS,
    AccountFilter.MODERATOR: LIST_MODERATORS,
}


@sql.one(f"SELECT {_RECORD} FROM accounts WHERE username_key = :username_key")
async def find_record(tx: Tx, username_key: str) -> AccountRecord | None:
    """Returns the account with this folded user name as an operator sees it, in any status, or None."""
    ...


@sql.all(f"SELECT {_RECORD} FROM accounts WHERE id < :before ORDER BY id DESC LIMIT :limit")
async def list_records(tx: Tx, *, before: str, limit: int) -> list[AccountRecord]:
    """Returns at most `limit` accounts with ids before `before`, newest first, as an operator sees them."""
    ...


async def list_filtered(tx: Tx, only: AccountFilter, *, before: str, limit: int) -> list[AccountRecord]:
    """Returns at most `limit` accounts that it lets through, with ids before `before`, newest first."""
    return await tx.all(_LISTS[only], before=before, limit=limit)


async def find_by_prefix(tx: Tx, prefix: str, *, by_email: bool, after: str, limit: int) -> list[AccountRecord]:
    """Returns at most `limit` accounts whose user name, or e-mail address, begins with `prefix` (folded), in its order.

    `after` is the id of the last account of the page before; empty for the first page.
    """
    query = FIND_BY_EMAIL if by_email else FIND_BY_NAME
    return await tx.all(query, first=prefix, beyond=f"{prefix}\U0010ffff", after=after, limit=limit)


@sql.run("UPDATE accounts SET limits = :limits, updated_at = :now WHERE id = :account_id AND deleted_at IS NULL")
async def set_limits(tx: Tx, account_id: str, limits: str | None) -> None:
    """Stores an account's own limits, as JSON; None: those of the settings."""
    ...


async def names_of(tx: Tx, account_ids: Sequence[str]) -> dict[str, str]:
    """Returns the present user names of those of at most BATCH accounts that are not deleted, by id."""
    return {each.id: each.username for each in await tx.all(NAMES_OF, **spread("id", account_ids))}


async def lock_status(tx: Tx, *account_ids: str) -> dict[str, AccountStatus]:
    """Locks at most BATCH accounts against changes of their followers; returns their present status, by id."""
    return {each.id: each for each in await tx.all(LOCK_STATUS, **spread("id", account_ids))}


@sql.one(_STATUS)
async def find_status(tx: Tx, account_id: str) -> AccountStatus | None:
    """Returns the account's status, or None when there is no such account."""
    ...


# Other writes in the account's name go on.
@sql.one(f"{_STATUS} FOR KEY SHARE")
async def hold_status(tx: Tx, account_id: str) -> AccountStatus | None:
    """Returns the same; the status does not change until the transaction ends."""
    ...


async def add_posts(tx: Tx, account_id: str, by_visibility: Mapping[str, int], *, new_id: str = "") -> None:
    """Adds to the counters of an account's posts, by visibility; negative numbers subtract. `new_id`: of a new post."""
    await tx.later(
        ADD_POSTS,
        account_id=account_id,
        total=sum(by_visibility.values()),
        public=by_visibility.get("PUBLIC", 0),
        followers=by_visibility.get("FOLLOWERS", 0),
        connections=by_visibility.get("CONNECTIONS", 0),
        last=new_id,
    )


@sql.run(
    "UPDATE accounts SET updated_at = :now,"
    " last_entry_id = CASE WHEN last_entry_id < :clip_id THEN :clip_id ELSE last_entry_id END WHERE id = :account_id"
)
async def note_clip(tx: Tx, account_id: str, clip_id: str) -> None:
    """Notes an account's new clip, and locks the account until the transaction ends."""
    ...


async def add_follow(tx: Tx, *, account_id: str, followed_id: str, count: int) -> None:
    """Adds `count` (1 or -1) to the counters of a follower and the followed account, which the caller has locked."""
    await tx.run(ADD_FOLLOWING, account_id=account_id, count=count)
    await tx.run(ADD_FOLLOWERS, account_id=followed_id, count=count)


async def count_posts(tx: Tx, account_id: str) -> PostCounts:
    """Returns how many posts the account has, by visibility; deleted ones are left out."""
    return await tx.one(FIND_POST_COUNTS, account_id=account_id) or PostCounts(0, 0, 0)


@sql.run("UPDATE accounts SET suspended_at = :at, updated_at = :now WHERE id = :account_id")
async def suspend(tx: Tx, account_id: str, at: int | None) -> None:
    """Marks an account as suspended since `at` (milliseconds), or as not suspended (None)."""
    ...


# No login is folded to such a key, no password has such a hash, and nobody can be called such a name. That the account
# was suspended before shows in the two times: they differ.
@sql.run(
    "UPDATE accounts SET username = '[deleted]', username_key = ':' || id, email = '', email_key = ':' || id,"
    " password_hash = '!', display_name = 'Deleted account', bio = NULL, avatar_token = NULL, cover_token = NULL,"
    " is_admin = FALSE, is_moderator = FALSE, verified = FALSE, email_verified = FALSE,"
    " suspended_at = coalesce(suspended_at, :now), deleted_at = :now, updated_at = :now WHERE id = :account_id"
)
async def erase(tx: Tx, account_id: str) -> None:
    """Erases names, e-mail address, password and bio of an account for good."""
    ...


@sql.one("SELECT deleted_at FROM accounts WHERE id = :account_id AND deleted_at IS NOT NULL")
async def find_deleted_at(tx: Tx, account_id: str) -> int | None:
    """Returns when the account was deleted (milliseconds), or None."""
    ...


@sql.run(
    "UPDATE accounts SET verified = :verified, email_verified = :email_verified, updated_at = :now"
    " WHERE id = :account_id"
)
async def set_verified(tx: Tx, account_id: str, *, verified: bool, email_verified: bool) -> None:
    """Sets whether the account bears the badge, and whether its e-mail address counts as confirmed."""
    ...


@sql.run("UPDATE accounts SET is_admin = :is_admin, updated_at = :now WHERE id = :account_id")
async def set_admin(tx: Tx, account_id: str, *, is_admin: bool) -> None:
    """Gives the account the rights of an admin, or takes them away."""
    ...


@sql.run("UPDATE accounts SET is_moderator = :is_moderator, updated_at = :now WHERE id = :account_id")
async def set_moderator(tx: Tx, account_id: str, *, is_moderator: bool) -> None:
    """Gives the account the rights of a moderator, or takes them away."""
    ...


@sql.run(
    "UPDATE accounts SET email_verified = TRUE, updated_at = :now WHERE id = :account_id"
    " AND email = (SELECT t.email FROM one_time_tokens t WHERE t.token_hash = :token_hash)"
)
async def verify_email(tx: Tx, account_id: str, token_hash: str) -> None:
    """Marks the account's e-mail address as verified if the token was sent there."""
    ...


# Processing may end after the account was deleted.
@sql.run("UPDATE accounts SET avatar_token = :token, updated_at = :now WHERE id = :account_id AND deleted_at IS NULL")
async def set_avatar(tx: Tx, account_id: str, token: str | None) -> None:
    """Sets the token of the picture that the account shows; None: a drawn one. Does nothing once it is deleted."""
    ...


@sql.run("UPDATE accounts SET cover_token = :token, updated_at = :now WHERE id = :account_id AND deleted_at IS NULL")
async def set_cover(tx: Tx, account_id: str, token: str | None) -> None:
    """Sets the token of the cover that the account shows; None: no cover. Does nothing once it is deleted."""
    ...


@sql.run("UPDATE accounts SET password_hash = :password_hash, updated_at = :now WHERE id = :account_id")
async def set_password(tx: Tx, account_id: str, password_hash: str) -> None:
    """Replaces the account's password hash."""
    ...


@sql.run(
    "UPDATE accounts SET email = :email, email_key = :email_key, email_verified = FALSE, updated_at = :now"
    " WHERE id = :account_id"
)
async def set_email(tx: Tx, account_id: str, email: str, email_key: str) -> None:
    """Replaces the account's e-mail address by one that is still to be verified."""
    ...
