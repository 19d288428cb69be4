"""SQL of the accounts package."""

from collections.abc import Sequence
from typing import Final

from pressroom.db import Command, Query, Tx, sql
from pressroom.db.params import batches, in_list, in_rows, spread
from pressroom.domains.accounts.models import Account, Block

ACCOUNT_COLUMNS: Final = (
    "a.id, a.username, a.email, a.display_name, a.bio, a.verified, a.email_verified, a.is_private,"
    " a.discoverable, a.is_creator, a.total_followers, a.total_following, a.total_posts, a.created_at, a.avatar_token,"
    " a.cover_token, a.limits"
)


FIND_SHOWN_NAME: Final = Query(str, "SELECT display_name FROM accounts WHERE id = :account_id AND suspended_at IS NULL")

COUNT_ACCOUNTS: Final = Query(int, "SELECT count(*) FROM (SELECT 1 FROM accounts LIMIT 1) AS any_account")

INSERT_ACCOUNT: Final = Query(
    str,
    "INSERT INTO accounts (id, username, username_key, email, email_key, password_hash, display_name, bio,"
    " verified, email_verified, is_private, is_creator, total_followers, total_following, total_posts,"
    " created_at, updated_at) VALUES (:id, :username, :username_key, :email, :email_key, :password_hash,"
    " :display_name, NULL, FALSE, FALSE, FALSE, FALSE, 0, 0, 0, :now, :now) ON CONFLICT DO NOTHING RETURNING id",
)

UPDATE_ACCOUNT: Final = Command(
    "UPDATE accounts SET username = :username, username_key = :username_key, display_name = :display_name,"
    " bio = :bio, is_private = :is_private, discoverable = :discoverable, updated_at = :now WHERE id = :account_id"
)

# The holder of this row's lock alone decides about the account's caps.
LOCK_ACCOUNT: Final = Query(
    str,
    "UPDATE accounts SET updated_at = :now WHERE id = :account_id AND suspended_at IS NULL RETURNING id",
)

# Against everybody who writes in the account's name, as a change of its user name needs it. Taken at once, not after a
# weaker lock that they wait behind: each would wait for the other.
LOCK_WHOLLY: Final = Query(str, "SELECT id FROM accounts WHERE id = :account_id FOR UPDATE")


class Credentials(Account):
    """An account with the hash that its password must match."""

    password_hash: str


@sql.one(f"SELECT {ACCOUNT_COLUMNS} FROM accounts a WHERE a.id = :account_id")
async def find_account(tx: Tx, account_id: str) -> Account | None:
    """Returns the account with this id."""
    ...


@sql.one(f"SELECT {ACCOUNT_COLUMNS} FROM accounts a WHERE a.username_key = :username_key AND a.suspended_at IS NULL")
async def find_by_username(tx: Tx, username_key: str) -> Account | None:
    """Returns the account with this user name, folded."""
    ...


@sql.one(f"SELECT {ACCOUNT_COLUMNS} FROM accounts a WHERE a.email_key = :email_key AND a.suspended_at IS NULL")
async def find_by_email(tx: Tx, email_key: str) -> Account | None:
    """Returns the account with this e-mail address, folded, unless it is suspended."""
    ...


async def any_account(tx: Tx) -> bool:
    """Returns whether there is an account at all."""
    return bool(await tx.one(COUNT_ACCOUNTS))


async def insert_account(
    tx: Tx,
    *,
    account_id: str,
    username: str,
    username_key: str,
    email: str,
    email_key: str,
    password_hash: str,
    display_name: str,
) -> bool:
    """Inserts an account. Returns False when its user name or e-mail address is taken."""
    made = await tx.one(
        INSERT_ACCOUNT,
        id=account_id,
        username=username,
        username_key=username_key,
        email=email,
        email_key=email_key,
        password_hash=password_hash,
        display_name=display_name,
        now=tx.now,
    )
    return made is not None


@sql.one(
    "SELECT CASE WHEN username_key = :username_key THEN 'username' ELSE 'email' END FROM accounts"
    " WHERE (username_key = :username_key OR email_key = :email_key) AND id <> :but ORDER BY 1 DESC LIMIT 1"
)
async def find_taken(tx: Tx, *, username_key: str, email_key: str, but: str) -> str | None:
    """Returns `username` or `email`, whichever an account other than `but` has; None when neither is taken."""
    ...


async def update_account(tx: Tx, account: Account, *, username_key: str) -> None:
    """Writes the columns of an account that its owner may change."""
    await tx.run(
        UPDATE_ACCOUNT,
        account_id=account.id,
        username=account.username,
        username_key=username_key,
        display_name=account.display_name,
        bio=account.bio,
        is_private=account.is_private,
        discoverable=account.discoverable,
        now=tx.now,
    )


async def lock_account(tx: Tx, account_id: str) -> bool:
    """Locks the account until the transaction ends. Returns False when it is suspended."""
    return await tx.one(LOCK_ACCOUNT, account_id=account_id, now=tx.now) is not None


async def lock_wholly(tx: Tx, account_id: str) -> None:
    """Locks the account against every write in its name until the transaction ends. Must come before other locks."""
    await tx.one(LOCK_WHOLLY, account_id=account_id)


@sql.one(
    f"SELECT {ACCOUNT_COLUMNS}, a.password_hash FROM accounts a WHERE a.username_key = :login OR a.email_key = :login"
)
async def find_credentials(tx: Tx, login: str) -> Credentials | None:
    """Returns the account whose user name or e-mail address is `login`, folded."""
    ...


@sql.one(f"SELECT {ACCOUNT_COLUMNS}, a.password_hash FROM accounts a WHERE a.id = :account_id")
async def find_own_credentials(tx: Tx, account_id: str) -> Credentials | None:
    """Returns the account with this id."""
    ...


FIND_RESERVED: Final = Query(
    str,
    "SELECT account_id FROM reserved_usernames WHERE username_key = :username_key AND reserved_until > :now"
    " AND account_id <> :but",
)

COUNT_RESERVED: Final = Query(
    int, "SELECT count(*) FROM reserved_usernames WHERE account_id = :account_id AND reserved_until > :now"
)

WAS_DELETED: Final = Query(
    int,
    "SELECT 1 FROM reserved_usernames r JOIN accounts a ON a.id = r.account_id"
    " WHERE r.username_key = :username_key AND r.reserved_until > :now AND a.suspended_at = a.deleted_at",
)


@sql.run(
    "INSERT INTO reserved_usernames (username_key, account_id, reserved_until)"
    " VALUES (:username_key, :account_id, :until) ON CONFLICT (username_key) DO UPDATE SET"
    " account_id = excluded.account_id, reserved_until = excluded.reserved_until"
)
async def reserve_username(tx: Tx, username_key: str, account_id: str, *, until: int) -> None:
    """Reserves a user name for this account until `until` (milliseconds)."""
    ...


@sql.run("DELETE FROM reserved_usernames WHERE username_key = :username_key")
async def free_username(tx: Tx, username_key: str) -> None:
    """Ends a reservation: the name is in use again."""
    ...


async def is_reserved(tx: Tx, username_key: str, *, but: str) -> bool:
    """Returns whether a user name is reserved for an account other than `but`."""
    return await tx.one(FIND_RESERVED, username_key=username_key, but=but, now=tx.now) is not None


async def count_reserved(tx: Tx, account_id: str) -> int:
    """Returns how many user names are reserved for the account."""
    return await tx.one(COUNT_RESERVED, account_id=account_id, now=tx.now) or 0


async def was_deleted(tx: Tx, username_key: str) -> bool:
    """Returns whether a user name is reserved for an account that was deleted, and not suspended before."""
    return await tx.one(WAS_DELETED, username_key=username_key, now=tx.now) is not None


@sql.run(
    "DELETE FROM reserved_usernames WHERE username_key IN (SELECT username_key FROM reserved_usernames"
    " WHERE reserved_until <= :now ORDER BY reserved_until LIMIT :batch)"
)
async def purge_reserved(tx: Tx, batch: int) -> int:
    """Removes reservations that have ended, oldest first, and returns how many."""
    ...


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


INSERT_WORDS: Final = Command(
    "INSERT INTO account_words (account_id, word)"
    f" SELECT :account_id, column1 FROM (VALUES {in_rows('word')}) AS words WHERE column1 <> '' ON CONFLICT DO NOTHING"
)


async def insert_words(tx: Tx, account_id: str, words: Sequence[str]) -> None:
    """Has an account be found by these words."""
    for batch in batches(words):
        await tx.later(INSERT_WORDS, account_id=account_id, **spread("word", batch))


@sql.run("DELETE FROM account_words WHERE account_id = :account_id")
async def delete_words(tx: Tx, account_id: str) -> None:
    """Removes all words by which an account is found."""
    ...
