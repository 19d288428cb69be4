"""Commenting and reading comments. Each takes an open transaction first."""

from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.queries import lock_account
from pressroom.domains.comments import queries
from pressroom.domains.comments.events import comment_created
from pressroom.domains.comments.models import (
    NO_PARENT,
    Comment,
    CommentDraft,
)
from pressroom.domains.events.actions import emit
from pressroom.domains.posts.actions.lookup import get_post
from pressroom.domains.posts.queries import writing
from pressroom.errors import Code, FieldError, NotFound, Unprocessable
from pressroom.ids import new_id, time_of


async def add_comment(tx: Tx, caller: Caller, post_id: str, draft: CommentDraft) -> Comment:
    """Adds a comment to a post, or a reply to one of its comments, and returns it.

    Raises NotFound when the caller does not see the post, Unprocessable when the parent is no comment on it
    (docs/posts.md#comments).
    """
    await get_post(tx, post_id, caller.account.id)
    if not await writing.count_comment(tx, post_id):
        raise NotFound("There is no such post.")
    parent = await _parent(tx, post_id, draft.parent_id) if draft.parent_id is not None else None
    comment = _comment(tx, caller, post_id, draft, parent)
    await queries.insert_comment(tx, comment)
    await lock_account(tx, caller.account.id)  # as every publisher does: docs/architecture.md#locks
    await emit(tx, comment_created(comment), account_id=caller.account.id)
    return comment


async def list_in_time(
    tx: Tx, post_id: str, reader: str, after: str, limit: int, *, by_key: bool = False
) -> list[Comment]:
    """Returns the comments on a post, oldest first, if `reader` (an account's id, or empty) may see the post.

    With `by_key` it must be visible to the reader's key.

    Raises NotFound.
    """
    await get_post(tx, post_id, reader, by_key=by_key)
    return await queries.list_in_time(tx, post_id, after=after, limit=limit)


async def _parent(tx: Tx, post_id: str, parent_id: str) -> Comment:
    parent = await queries.find_comment(tx, post_id, parent_id)
    if parent is None:
        raise Unprocessable([FieldError("parentId", Code.NOT_ALLOWED, NO_PARENT)])
    return parent


def _comment(tx: Tx, caller: Caller, post_id: str, draft: CommentDraft, parent: Comment | None) -> Comment:
    account, key, media = caller.account, caller.key, draft.media
    # A reply sorts after what it answers, also within a millisecond, and when another server's clock is ahead.
    comment_id = new_id(max(tx.now, time_of(parent.id) + 1) if parent else tx.now)
    return Comment(
        id=comment_id,
        post_id=post_id,
        parent_id=parent.id if parent else None,
        thread_id=parent.thread_id if parent else comment_id,
        account_id=account.id,
        content=draft.content,
        media_type=media.type if media else None,
        media_url=media.url if media else None,
        created_at=tx.now,
        username=account.username,
        display_name=account.display_name,
        verified=account.verified,
        key_id=caller.key_id,
        key_label=key.label if key else None,
        key_prefix=key.key_prefix if key else None,
    )
