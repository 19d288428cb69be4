"""SQL of the comments package."""

from collections.abc import Sequence
from typing import Final

from pressroom.db import Command, Query, Tx, sql
from pressroom.db.params import in_list, spread
from pressroom.domains.comments.models import Comment
from pressroom.domains.follows.queries import blocks_sql
from pressroom.domains.limits.models import KeyWrite

INSERT_COMMENT: Final = Command(
    "INSERT INTO comments (id, post_id, parent_id, thread_id, account_id, key_id, content, media_type, media_url,"
    " created_at) VALUES (:id, :post_id, :parent_id, :thread_id, :account_id, :key_id, :content, :media_type,"
    " :media_url, :created_at)"
)

_COMMENT: Final = (
    "c.id, c.post_id, c.parent_id, c.thread_id, c.account_id, c.content, c.media_type, c.media_url, c.created_at,"
    " c.edited_at, c.deleted_at, a.username, a.display_name, a.avatar_token, a.verified, c.key_id,"
    " k.label AS key_label, k.key_prefix"
    " FROM comments c JOIN accounts a ON a.id = c.account_id LEFT JOIN api_keys k ON k.id = c.key_id"
)

_SHOWN: Final = (
    "(a.suspended_at IS NULL OR a.suspended_at = a.deleted_at)"
    f" AND NOT (:reader <> '' AND {blocks_sql(':reader', 'c.account_id')})"
)
"""Left out are comments of suspended accounts and, across a block, of the other account. Replies to them stay, and
comments of deleted accounts too."""

_STANDS: Final = f"c.deleted_at IS NULL AND {_SHOWN}"


LIST_IN_TIME: Final = Query(
    Comment,
    f"SELECT {_COMMENT} WHERE c.post_id = :post_id AND c.id > :after AND {_STANDS} ORDER BY c.id LIMIT :limit",
)

LIST_IN_THREADS: Final = Query(
    Comment,
    f"SELECT {_COMMENT} WHERE c.post_id = :post_id AND (c.thread_id, c.id) > (:thread_id, :after)"
    f" AND {_STANDS} ORDER BY c.thread_id, c.id LIMIT :limit",
)


# Deleted ones too: their place stays where somebody replied.
LIST_BY_ID: Final = Query(
    Comment, f"SELECT {_COMMENT} WHERE c.post_id = :post_id AND c.id IN ({in_list('id')}) AND {_SHOWN}"
)


_OWN: Final = "WHERE account_id = :account_id AND id = :comment_id AND deleted_at IS NULL"


# The writes of a key since a time: read when the process that counted its requests was killed.
COMMENTS_BY_KEY: Final = Query(
    KeyWrite,
    "SELECT created_at AS at, FALSE AS is_post FROM comments"
    " WHERE account_id = (SELECT account_id FROM api_keys WHERE id = :key_id) AND id >= :first_id AND key_id = :key_id"
    " AND created_at >= :since",
)

# The writes of a session: its windows are named `account:` and the account's id.
COMMENTS_SIGNED_IN: Final = Query(
    KeyWrite,
    "SELECT created_at AS at, FALSE AS is_post FROM comments WHERE account_id = substr(:key_id, 9) AND id >= :first_id"
    " AND key_id IS NULL AND created_at >= :since",
)


LIST_WITH_KEY: Final = Query(
    str,
    "SELECT id FROM comments WHERE account_id = :account_id AND id > :after AND key_id IS NOT NULL"
    " ORDER BY id LIMIT :limit",
)

CLEAR_KEYS: Final = Command(
    "UPDATE comments SET key_id = NULL WHERE account_id = :account_id AND id > :after AND id <= :last"
)


async def clear_keys(tx: Tx, account_id: str, *, after: str, limit: int) -> str | None:
    """Erases the keys of the next `limit` comments after `after`; returns the last id, None at the end."""
    found = await tx.all(LIST_WITH_KEY, account_id=account_id, after=after, limit=limit)
    if not found:
        return None
    await tx.run(CLEAR_KEYS, account_id=account_id, after=after, last=found[-1])
    return found[-1]


async def insert_comment(tx: Tx, comment: Comment) -> None:
    """Inserts a new comment."""
    await tx.run(
        INSERT_COMMENT,
        id=comment.id,
        post_id=comment.post_id,
        parent_id=comment.parent_id,
        thread_id=comment.thread_id,
        account_id=comment.account_id,
        key_id=comment.key_id,
        content=comment.content,
        media_type=comment.media_type,
        media_url=comment.media_url,
        created_at=comment.created_at,
    )


@sql.one(f"SELECT {_COMMENT} WHERE c.post_id = :post_id AND c.id = :comment_id AND {_STANDS}")
async def find_comment(tx: Tx, post_id: str, comment_id: str, *, reader: str) -> Comment | None:
    """Returns the comment with this id under this post, as `reader` (an account's id, or empty) finds it."""
    ...


async def list_in_time(tx: Tx, post_id: str, *, reader: str, after: str, limit: int) -> list[Comment]:
    """Returns comments under a post, oldest first, after `after`."""
    return await tx.all(LIST_IN_TIME, post_id=post_id, reader=reader, after=after, limit=limit)


async def list_in_threads(
    tx: Tx, post_id: str, *, reader: str, thread_id: str, after: str, limit: int
) -> list[Comment]:
    """Returns comments under a post by thread, oldest first, after the comment `after` of thread `thread_id`."""
    return await tx.all(LIST_IN_THREADS, post_id=post_id, reader=reader, thread_id=thread_id, after=after, limit=limit)


async def list_by_id(tx: Tx, post_id: str, comment_ids: Sequence[str], *, reader: str) -> list[Comment]:
    """Returns the comments under a post with these ids, at most BATCH, deleted ones too, in no order."""
    return await tx.all(LIST_BY_ID, post_id=post_id, reader=reader, **spread("id", comment_ids))


@sql.one(f"SELECT {_COMMENT} WHERE c.id = :comment_id AND {_STANDS}")
async def find_by_id(tx: Tx, comment_id: str, *, reader: str) -> Comment | None:
    """Returns the comment with this id, if it stands, as `reader` (an account's id, or empty) finds it."""
    ...


# For admins: also of a suspended account.
@sql.one(f"SELECT {_COMMENT} WHERE c.id = :comment_id AND c.deleted_at IS NULL")
async def find_undeleted(tx: Tx, comment_id: str) -> Comment | None:
    """Returns the comment with this id unless it is deleted, also one of a suspended account."""
    ...


@sql.run(f"UPDATE comments SET content = :content, edited_at = :now {_OWN}")
async def edit_comment(tx: Tx, account_id: str, comment_id: str, content: str) -> bool:
    """Changes the content of an account's comment. Returns False when it does not stand."""
    ...


@sql.run(f"UPDATE comments SET deleted_at = :now {_OWN}")
async def delete_comment(tx: Tx, account_id: str, comment_id: str) -> bool:
    """Marks an account's comment as deleted. Returns False when it does not stand."""
    ...
