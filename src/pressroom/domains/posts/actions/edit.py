"""Editing and deleting one's own posts (docs/posts.md#edits, docs/posts.md#deletion)."""

from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.queries import standing
from pressroom.domains.media.actions import hide_of_owner, move_of_owner
from pressroom.domains.posts.actions.lookup import get_view
from pressroom.domains.posts.actions.reach import reach_readers_anew
from pressroom.domains.posts.models import Edit, PostType, PostView
from pressroom.domains.posts.queries import reach, writing
from pressroom.domains.posts.queries.writing import OwnPost
from pressroom.domains.posts.visibility import Visibility, narrows
from pressroom.domains.previews.actions import want_card
from pressroom.domains.previews.links import link_of
from pressroom.errors import Code, FieldError, NotFound, Unprocessable
from pressroom.ids import new_id


async def edit_post(tx: Tx, caller: Caller, post_id: str, edit: Edit) -> PostView:
    """Changes what was given and sets editedAt; the version before is kept.

    Raises NotFound, also for somebody else's post; Unprocessable for the text of a plain bounce and the
    visibility of any bounce.
    """
    author = caller.account.id
    before = await _lock_own(tx, author, post_id)
    _check_editable(before, edit)
    content = before.content if edit.content is None else edit.content
    visibility = edit.visibility or Visibility(before.visibility)
    # Of two edits at once the second to get the lock may have begun first: time does not run backwards for that.
    at = max(tx.now, before.written_at)
    await writing.insert_version(
        tx,
        account_id=author,
        post_id=post_id,
        version_id=new_id(at),
        before=before,
        at=at,
        key_id=caller.key_id,
    )
    preview_url = _preview_url(before, content)
    await writing.edit_post(
        tx,
        account_id=author,
        post_id=post_id,
        content=content,
        visibility=visibility,
        preview_url=preview_url,
        at=at,
    )
    if Visibility.CUSTOM in (before.visibility, visibility) and visibility != before.visibility:
        await reach.set_audience_live(tx, post_id, live=visibility == Visibility.CUSTOM)
    if before.has_media and narrows(Visibility(before.visibility), visibility):
        await move_of_owner(tx, post_id)
    if preview_url is not None and preview_url != before.preview_url:
        await want_card(tx, preview_url, author)
    await reach_readers_anew(tx, author, post_id, content or "", visibility)
    if visibility != before.visibility:
        await standing.add_posts(tx, author, {before.visibility: -1, visibility: 1})
    return await get_view(tx, post_id, author)


async def foresee_edit(tx: Tx, caller: Caller, post_id: str, edit: Edit) -> str | None:
    """The page whose card the edited post will bear anew; raises what `edit_post` would, and writes nothing."""
    before = await writing.find_own(tx, caller.account.id, post_id)
    if before is None:
        raise NotFound("There is no such post.")
    _check_editable(before, edit)
    url = _preview_url(before, before.content if edit.content is None else edit.content)
    return None if url == before.preview_url else url


async def delete_post(tx: Tx, caller: Caller, post_id: str) -> str:
    """Deletes the caller's own post softly: its row stays, and what it counted for is taken back; its id.

    Raises NotFound, also for somebody else's post and for a second deletion.
    """
    author = caller.account.id
    post = await _lock_own(tx, author, post_id)
    await writing.delete_post(tx, author, post_id, caller.key_id)
    await reach.delete_tags(tx, account_id=author, post_id=post_id)
    if post.visibility == Visibility.CUSTOM:
        await reach.set_audience_live(tx, post_id, live=False)
    if post.has_media:
        await hide_of_owner(tx, post_id)
    if post.original_id is not None:
        await writing.uncount_bounce(tx, post.original_id, plain=post.type == PostType.SHARE)
    await standing.add_posts(tx, author, {post.visibility: -1})
    return post_id


async def _lock_own(tx: Tx, author: str, post_id: str) -> OwnPost:
    post = await writing.lock_own(tx, author, post_id)
    if post is None:
        raise NotFound("There is no such post.")
    return post


def _preview_url(before: OwnPost, content: str | None) -> str | None:
    """The card follows the text, unless it was asked for by name or media takes its place."""
    if before.preview_forced or before.has_media:
        return before.preview_url
    return link_of(content)


def _check_editable(post: OwnPost, edit: Edit) -> None:
    field_errors: list[FieldError] = []
    if edit.content is not None and post.type == PostType.SHARE:
        message = "A plain bounce has no text of its own. Delete it and quote the post instead."
        field_errors.append(FieldError("content", Code.NOT_ALLOWED, message))
    if edit.visibility is not None and post.type != PostType.POST:
        field_errors.append(FieldError("visibility", Code.NOT_ALLOWED, "A bounce is always PUBLIC."))
    if field_errors:
        raise Unprocessable(field_errors)
