"""Editing, deleting and hiding a post, and erasing the posts of a deleted account.

Rules: docs/posts.md#edits, docs/posts.md#deletion, docs/moderation.md#hidden-posts, docs/people.md#deleting-an-account.
"""

from collections import Counter
from typing import Final

import msgspec

from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.queries import status
from pressroom.domains.media.actions import move_of_owner
from pressroom.domains.media.queries import hide_of_owner
from pressroom.domains.notifications.models import NotificationType
from pressroom.domains.notifications.queries import replace_actor
from pressroom.domains.posts.actions.lookup import get_view
from pressroom.domains.posts.actions.reach import reach_readers_anew
from pressroom.domains.posts.models import Edit, ParsedText, PostType, PostView, parse_text
from pressroom.domains.posts.queries import indexing, reach, reactions, writing
from pressroom.domains.posts.queries.writing import OwnPost
from pressroom.domains.posts.visibility import Visibility, narrows
from pressroom.domains.previews.actions import want_card
from pressroom.errors import Code, FieldError, NotFound, Unprocessable
from pressroom.ids import new_id

POSTS: Final = 20
"""Posts that one transaction erases."""


class _Edited(msgspec.Struct, frozen=True):
    """A post after an edit; `new_card` is a card that it did not show before."""

    content: ParsedText | None
    visibility: Visibility
    card_url: str | None
    new_card: str | None


async def edit_post(tx: Tx, caller: Caller, post_id: str, edit: Edit) -> PostView:
    """Changes the given fields, sets editedAt, stores the version before and returns the post.

    Raises NotFound, also for somebody else's post; Unprocessable for the text of a plain bounce, and for the
    visibility of any bounce and of a post that an admin has hidden.
    """
    author = caller.account.id
    before = _get_found(await writing.lock_own(tx, author, post_id))
    after = _plan(before, edit)
    if edit.commenters is not None:
        await writing.set_commenters(tx, author, post_id, edit.commenters)
    # Only the choice of who may comment was changed, which versions do not record.
    if not edit.makes_version:
        return await get_view(tx, post_id, author)
    await _store_edit(tx, caller, post_id, before, after)
    if Visibility.CUSTOM in (before.visibility, after.visibility) and after.visibility != before.visibility:
        await reach.set_audience_live(tx, post_id, live=after.visibility == Visibility.CUSTOM)
    if before.has_media and narrows(Visibility(before.visibility), after.visibility):
        await move_of_owner(tx, post_id)
    if after.new_card is not None:
        await want_card(tx, after.new_card, author)
    # After the audience: who is notified depends on who may see the post now.
    await reach_readers_anew(tx, author, post_id, after.content, after.visibility)
    if after.visibility != before.visibility:
        await status.add_posts(tx, author, {before.visibility: -1, after.visibility: 1})
    return await get_view(tx, post_id, author)


async def _store_edit(tx: Tx, caller: Caller, post_id: str, before: OwnPost, after: _Edited) -> None:
    """Stores the version before an edit and the post after it. A job indexes its words anew."""
    # Of two edits at once the second to get the lock may have begun first: time does not run backwards for that.
    at = max(tx.now, before.written_at)
    await writing.insert_version(
        tx,
        account_id=caller.account.id,
        post_id=post_id,
        version_id=new_id(at, post_id),
        before=before,
        at=at,
        key_id=caller.key_id,
    )
    await writing.edit_post(
        tx,
        account_id=caller.account.id,
        post_id=post_id,
        content=after.content.text if after.content else None,
        visibility=after.visibility,
        preview_url=after.card_url,
        at=at,
    )
    # In this transaction: the index never misses an edit, and lags behind it by a second.
    await indexing.note_unindexed(tx, post_id)


async def precheck_edit(tx: Tx, caller: Caller, post_id: str, edit: Edit) -> str | None:
    """Checks an edit before `edit_post` and writes nothing; returns the URL of a link card that the edit adds.

    Raises the refusals of that action, by the same checks.
    """
    return _plan(_get_found(await writing.find_own(tx, caller.account.id, post_id)), edit).new_card


async def delete_post(tx: Tx, caller: Caller, post_id: str) -> str:
    """Marks the caller's own post as deleted, reduces the counters that it fed and returns its id.

    Raises NotFound, also for somebody else's post and for a second deletion.
    """
    author = caller.account.id
    post = _get_found(await writing.lock_own(tx, author, post_id))
    await take_post_down(tx, author, post_id, post, caller.key_id)
    await status.add_posts(tx, author, {post.visibility: -1})
    return post_id


async def take_post_down(tx: Tx, author: str, post_id: str, post: OwnPost, key_id: str | None) -> None:
    """Marks a post that the caller has locked as deleted, and reduces the counters that it fed but for its author's."""
    await writing.delete_post(tx, author, post_id, key_id)
    if post.type != PostType.SHARE:
        await indexing.note_unindexed(tx, post_id)
    await reach.delete_tags(tx, account_id=author, post_id=post_id)
    if post.visibility == Visibility.CUSTOM:
        await reach.set_audience_live(tx, post_id, live=False)
    # Hidden, not removed: files of deleted posts are kept for audit and served to nobody.
    if post.has_media:
        await hide_of_owner(tx, post_id)
    if post.original_id is not None:
        await writing.uncount_bounce(tx, post.original_id, plain=post.type == PostType.SHARE)
        if post.type == PostType.SHARE:
            await _forget_bounce(tx, post.original_id, author)


async def _forget_bounce(tx: Tx, original_id: str, account_id: str) -> None:
    """Has the notification of a post's bounces name another account, once the one that it names deleted its bounce."""
    other = await reactions.find_bouncer(tx, original_id)
    await replace_actor(
        tx, post_id=original_id, notification_type=NotificationType.BOUNCE, actor_id=account_id, other_id=other
    )


def _plan(before: OwnPost, edit: Edit) -> _Edited:
    """Decides the result of an edit. Raises Unprocessable when the post may not be edited so.

    The card follows the text, unless it was asked for by name or media takes its place.
    """
    _check_editable(before, edit)
    content = edit.content
    if content is None and before.content is not None:
        content = parse_text(before.content)
    card_url = before.preview_url
    if not (before.preview_forced or before.has_media):
        card_url = content.link if content else None
    new_card = None if card_url == before.preview_url else card_url
    return _Edited(content, edit.visibility or Visibility(before.visibility), card_url, new_card)


def _get_found(post: OwnPost | None) -> OwnPost:
    if post is None:
        raise NotFound("There is no such post.")
    return post


def _check_editable(post: OwnPost, edit: Edit) -> None:
    field_errors: list[FieldError] = []
    if edit.content is not None and post.type == PostType.SHARE:
        message = "A plain bounce has no text of its own. Delete it and quote the post instead."
        field_errors.append(FieldError("content", Code.NOT_ALLOWED, message))
    if edit.visibility is not None and post.type != PostType.POST:
        field_errors.append(FieldError("visibility", Code.NOT_ALLOWED, "A bounce is always PUBLIC."))
    if post.hidden_at is not None and edit.visibility not in (None, Visibility.PRIVATE):
        message = "An admin has hidden this post: it stays PRIVATE."
        field_errors.append(FieldError("visibility", Code.NOT_ALLOWED, message))
    if field_errors:
        raise Unprocessable(field_errors)


async def hide_post(tx: Tx, author: str, post_id: str) -> None:
    """Makes a post PRIVATE; its author cannot change that until `unhide_post`.

    Raises NotFound when it was deleted, Unprocessable for a bounce, which is always PUBLIC.
    """
    before = await writing.lock_own(tx, author, post_id)
    if before is None:
        raise NotFound("There is no such post.")
    if before.type != PostType.POST:
        message = "A bounce is always PUBLIC and cannot be hidden. Delete it instead."
        raise Unprocessable([FieldError("decision", Code.NOT_ALLOWED, message)])
    await writing.hide_post(tx, author, post_id)
    await reach.delete_tags(tx, account_id=author, post_id=post_id)
    if before.visibility == Visibility.CUSTOM:
        await reach.set_audience_live(tx, post_id, live=False)
    if before.has_media and narrows(Visibility(before.visibility), Visibility.PRIVATE):
        await move_of_owner(tx, post_id)
    if before.visibility != Visibility.PRIVATE:
        await status.add_posts(tx, author, {before.visibility: -1, Visibility.PRIVATE: 1})


async def unhide_post(tx: Tx, author: str, post_id: str) -> None:
    """Lets the author change the visibility of a hidden post again; the post itself stays PRIVATE."""
    await writing.unhide_post(tx, author, post_id)


async def erase_posts(tx: Tx, account_id: str, before: str) -> str | None:
    """Deletes and erases the account's next posts with ids below `before`; returns the last id, None at the end.

    The rows remain, so that permalinks answer 410 rather than 404. A repeated call does no harm.
    """
    # Newest first, as bouncing and deleting a bounce lock a bounce before its original: otherwise two could deadlock.
    post_ids = await writing.list_unerased(tx, account_id, before=before, limit=POSTS)
    gone: Counter[str] = Counter()
    for post_id in post_ids:
        post = await writing.lock_own(tx, account_id, post_id)
        if post is not None:
            await take_post_down(tx, account_id, post_id, post, None)
            gone[post.visibility] -= 1
        await reach.replace_audience(tx, post_id=post_id, author=account_id, account_ids=())
        await writing.erase_post(tx, account_id, post_id)
    if gone:
        await status.add_posts(tx, account_id, gone)
    return post_ids[-1] if post_ids else None
