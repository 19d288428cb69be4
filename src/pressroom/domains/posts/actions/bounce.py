"""Sharing a post again, plainly or with a comment of one's own (docs/posts.md#bounces)."""

from contextlib import suppress

from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.limits.allowance import Allowance
from pressroom.domains.posts.actions.edit import delete_post
from pressroom.domains.posts.actions.lookup import get_post, get_view
from pressroom.domains.posts.actions.publish import check_quota, new_post, save_and_emit, spend_quota
from pressroom.domains.posts.models import BARE, PostType, PostView, SeenPost
from pressroom.domains.posts.parsed_text import ParsedText
from pressroom.domains.posts.queries import writing
from pressroom.domains.posts.visibility import Visibility
from pressroom.errors import Code, Conflict, FieldError, NotFound, Unprocessable


async def bounce_post(
    tx: Tx, caller: Caller, post_id: str, content: ParsedText | None, allowance: Allowance
) -> PostView:
    """Bounces a post and returns the bounce: a quote when there is `content`. A plain bounce stands for its original.

    Raises NotFound when the caller does not see the post, Unprocessable when it is not PUBLIC, Conflict when the
    account has a plain bounce of it already, QuotaExceeded when the daily quota is spent.
    """
    kind = PostType.SHARE if content is None else PostType.QUOTE
    original = await _resolve(tx, post_id, caller.account.id)
    visibility = await writing.count_bounce(tx, original.id, plain=kind is PostType.SHARE)
    _check_bounceable(visibility)
    if kind is PostType.SHARE and await writing.find_plain_bounce(tx, caller.account.id, original.id):
        raise Conflict("The account has bounced this post already. Delete that bounce first, or quote the post.")
    await spend_quota(tx, caller, allowance)
    bounce = new_post(tx, caller, kind, content, BARE)
    bounce.original_id = original.id
    bounce.preview_url = content.link if content else None
    await save_and_emit(tx, bounce, content)
    return await get_view(tx, bounce.id, caller.account.id)


async def unbounce_post(tx: Tx, caller: Caller, post_id: str) -> str:
    """Deletes the caller's plain bounce of a post and returns the post's id. Without one nothing changes.

    Raises NotFound when the caller does not see the post.
    """
    original = await _resolve(tx, post_id, caller.account.id)
    bounce_id = await writing.find_plain_bounce(tx, caller.account.id, original.id)
    if bounce_id is not None:
        with suppress(NotFound):  # It has just been deleted.
            await delete_post(tx, caller, bounce_id)
    return original.id


async def precheck_quote(tx: Tx, caller: Caller, post_id: str, content: ParsedText, allowance: Allowance) -> str | None:
    """Looks ahead at a quoting `bounce_post` without writing; returns the page whose card the quote will show.

    Raises what that would raise, by the same checks.
    """
    _check_bounceable((await _resolve(tx, post_id, caller.account.id)).visibility)
    await check_quota(tx, caller, allowance)
    return content.link


def _check_bounceable(visibility: str | None) -> None:
    """Checks the visibility of the post to bounce; None when it was deleted."""
    if visibility is None:
        raise NotFound("There is no such post.")
    if visibility != Visibility.PUBLIC:
        message = f"Only PUBLIC posts can be bounced; this one is {visibility}."
        raise Unprocessable([FieldError("body", Code.NOT_ALLOWED, message)])


async def _resolve(tx: Tx, post_id: str, reader: str) -> SeenPost:
    """Returns the post, or its original if it is a plain bounce. Raises NotFound."""
    post = await get_post(tx, post_id, reader)
    if post.type == PostType.SHARE and post.original_id is not None:
        return await get_post(tx, post.original_id, reader)
    return post
