"""Commenting and reading comments. Each takes an open transaction first."""

import msgspec

from pressroom.clock import MINUTE
from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.queries import lock_account
from pressroom.domains.comments import queries
from pressroom.domains.comments.events import comment_created
from pressroom.domains.comments.models import (
    EDITABLE,
    NO_PARENT,
    NOT_OPEN,
    Comment,
    CommentDraft,
)
from pressroom.domains.events.actions import emit
from pressroom.domains.notifications.actions import notify
from pressroom.domains.notifications.models import NotificationType
from pressroom.domains.posts.actions.lookup import find_post, get_post
from pressroom.domains.posts.models import SeenPost
from pressroom.domains.posts.queries import writing
from pressroom.domains.privacy.actions import list_filtering
from pressroom.errors import Code, FieldError, NotFound, Unprocessable
from pressroom.ids import new_id, time_of


async def add_comment(tx: Tx, caller: Caller, post_id: str, draft: CommentDraft) -> Comment:
    """Adds a comment to a post, or a reply to one of its comments, and returns it.

    Raises NotFound when the caller does not see the post, Unprocessable when the parent is no comment on it or the
    author takes no comments of the caller (docs/posts.md#comments).
    """
    post = await get_post(tx, post_id, caller.account.id)
    if not post.may_be_commented():
        raise Unprocessable([FieldError("body", Code.NOT_ALLOWED, NOT_OPEN)])
    # Locks the post, which may have been deleted since it was read: then the counter finds no row.
    if not await writing.count_comment(tx, post_id):
        raise NotFound("There is no such post.")
    parent = await _parent(tx, caller, post_id, draft.parent_id) if draft.parent_id is not None else None
    comment = _comment(tx, caller, post_id, draft, parent)
    await queries.insert_comment(tx, comment)
    # Adding an endpoint locks the account too. Without this lock the event could be queued neither for a replaced
    # endpoint nor for the one that takes its place.
    await lock_account(tx, caller.account.id)
    await emit(tx, comment_created(comment), account_id=caller.account.id)
    await _notify(tx, post, comment, parent)
    return comment


async def list_in_time(
    tx: Tx, post_id: str, reader: str, after: str, limit: int, *, by_key: bool = False
) -> list[Comment]:
    """Returns the comments on a post, oldest first, if `reader` (an account's id, or empty) may see the post.

    With `by_key` it must be visible to the reader's key.

    Raises NotFound.
    """
    await get_post(tx, post_id, reader, by_key=by_key)
    return await queries.list_in_time(tx, post_id, reader=reader, after=after, limit=limit)


async def get_own(tx: Tx, caller: Caller, comment_id: str) -> Comment:
    """Returns the caller's own comment, if it stands and they still see its post. Raises NotFound."""
    comment = await queries.find_by_id(tx, comment_id, reader=caller.account.id)
    if comment is None or comment.account_id != caller.account.id:
        raise _no_comment()
    await _get_seen_post(tx, comment, caller)
    return comment


async def edit_comment(tx: Tx, caller: Caller, comment_id: str, content: str) -> Comment:
    """Changes the content of the caller's own comment and returns it.

    Raises NotFound, Unprocessable when it is older than EDITABLE (docs/posts.md#editing-comments).
    """
    comment = await get_own(tx, caller, comment_id)
    # By the transaction's time: a request that began in time and waited may be late.
    check_editable(comment, tx.now)
    # It was deleted since it was read.
    if not await queries.edit_comment(tx, caller.account.id, comment_id, content):
        raise _no_comment()
    return msgspec.structs.replace(comment, content=content, edited_at=tx.now)


def check_editable(comment: Comment, now: int) -> None:
    """Checks that a comment can still be edited at `now` (milliseconds). Raises Unprocessable."""
    if now >= comment.created_at + EDITABLE:
        minutes = EDITABLE // MINUTE
        message = f"A comment can be edited for {minutes} minutes. Delete it instead, and say it anew."
        raise Unprocessable([FieldError("body", Code.NOT_ALLOWED, message)])


async def get_deletable(tx: Tx, caller: Caller, comment_id: str) -> Comment:
    """Returns a comment that the caller may delete: their own, and any under a post of theirs. Raises NotFound."""
    # Also one across a block, which the author of the post does not see, but everybody else does.
    comment = await queries.find_by_id(tx, comment_id, reader="")
    if comment is None:
        raise _no_comment()
    if comment.account_id != caller.account.id:
        post = await _get_seen_post(tx, comment, caller)
        if not post.is_author:
            raise _no_comment()
    return comment


async def delete_comment(tx: Tx, caller: Caller, comment_id: str) -> Comment:
    """Marks a comment as deleted and returns it as it was: the caller's own, or one under a post of theirs.

    Raises NotFound, also for a second deletion.
    """
    comment = await get_deletable(tx, caller, comment_id)
    await _delete(tx, comment)
    return comment


async def remove_comment(tx: Tx, comment_id: str) -> None:
    """Marks a comment as deleted, whosever it is: for admins. Raises NotFound."""
    comment = await queries.find_undeleted(tx, comment_id)
    if comment is None:
        raise _no_comment()
    await _delete(tx, comment)


async def get_seen(tx: Tx, caller: Caller, comment_id: str) -> Comment:
    """Returns a comment under a post that the caller sees. Raises NotFound."""
    comment = await queries.find_by_id(tx, comment_id, reader=caller.account.id)
    if comment is None:
        raise _no_comment()
    await _get_seen_post(tx, comment, caller)
    return comment


async def _delete(tx: Tx, comment: Comment) -> None:
    # The post is locked first, as by a new comment; the statements that follow take the count back with it.
    await writing.uncount_comment(tx, comment.post_id)
    if not await queries.delete_comment(tx, comment.account_id, comment.id):
        raise _no_comment()


async def _get_seen_post(tx: Tx, comment: Comment, caller: Caller) -> SeenPost:
    try:
        return await get_post(tx, comment.post_id, caller.account.id)
    except NotFound:
        # As for an unknown comment: the id must not reveal a comment under a hidden post.
        raise _no_comment() from None


def _no_comment() -> NotFound:
    return NotFound("There is no such comment.")


async def _parent(tx: Tx, caller: Caller, post_id: str, parent_id: str) -> Comment:
    parent = await queries.find_comment(tx, post_id, parent_id, reader=caller.account.id)
    if parent is None:
        raise Unprocessable([FieldError("parentId", Code.NOT_ALLOWED, NO_PARENT)])
    return parent


async def _notify(tx: Tx, post: SeenPost, comment: Comment, parent: Comment | None) -> None:
    """Notifies the author of the post and, of a reply, that of the parent, who may see the post no longer.

    One account is notified once: a reply to the post's author is no comment to them as well.
    """
    notified = {post.account_id: NotificationType.COMMENT}
    if parent is not None and parent.account_id != comment.account_id and await _may_hear(tx, post, parent.account_id):
        notified[parent.account_id] = NotificationType.REPLY
    # Nobody is notified of a comment under their own post by themselves.
    notified.pop(comment.account_id, None)
    filtering = await list_filtering(tx, list(notified), comment.content)
    for account_id, notification_type in notified.items():
        if account_id not in filtering:
            await notify(
                tx,
                account_id,
                notification_type,
                actor_id=comment.account_id,
                post_id=comment.post_id,
                comment_id=comment.id,
            )


async def _may_hear(tx: Tx, post: SeenPost, account_id: str) -> bool:
    """Returns whether an account may see a post; for its author it is not read again."""
    return account_id == post.account_id or await find_post(tx, post.id, account_id) is not None


def _comment(tx: Tx, caller: Caller, post_id: str, draft: CommentDraft, parent: Comment | None) -> Comment:
    account, key, media = caller.account, caller.key, draft.media
    # A reply sorts after its parent, also within a millisecond, and when another server's clock is ahead.
    comment_id = new_id(max(tx.now, time_of(parent.id) + 1) if parent else tx.now, post_id)
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
        edited_at=None,
        deleted_at=None,
        username=account.username,
        display_name=account.display_name,
        avatar_token=account.avatar_token,
        verified=account.verified,
        key_id=caller.key_id,
        key_label=key.label if key else None,
        key_prefix=key.key_prefix if key else None,
    )
