"""Indexing hashtags and notifying mentioned accounts (docs/posts.md#hashtags-and-mentions); the allowlist."""

from typing import Final

from pressroom.db import Tx
from pressroom.db.params import batches
from pressroom.domains.accounts.models import Caller, folded
from pressroom.domains.accounts.queries import status
from pressroom.domains.media.actions import move_of_owner
from pressroom.domains.notifications.actions import notify
from pressroom.domains.notifications.models import NotificationType
from pressroom.domains.posts.models import MENTIONED, ParsedText, PostType, parse_text
from pressroom.domains.posts.queries import reach, writing
from pressroom.domains.posts.queries.writing import OwnPost
from pressroom.domains.posts.visibility import Relationship, Visibility, may_see
from pressroom.domains.privacy.actions import list_filtering
from pressroom.errors import Code, FieldError, NotFound, Unprocessable
from pressroom.jobs import queue
from pressroom.jobs.queue import Job

TAGS_TOGETHER: Final = 500
"""Rows of hashtags that one transaction hides or shows, rounded up to whole posts."""


async def reach_readers(tx: Tx, author: str, post_id: str, content: ParsedText, visibility: Visibility) -> None:
    """Indexes the hashtags of a new PUBLIC post, and notifies mentioned accounts."""
    if visibility == Visibility.PUBLIC:
        await reach.insert_tags(tx, account_id=author, post_id=post_id, tags=content.hashtags)
    await _notify_mentioned(tx, author, post_id, content, visibility)


async def reach_readers_anew(
    tx: Tx, author: str, post_id: str, content: ParsedText | None, visibility: Visibility
) -> None:
    """Does the same after an edit: hashtags follow the new text, and nobody is notified twice."""
    await reach.delete_tags(tx, account_id=author, post_id=post_id)
    if content is not None:
        await reach_readers(tx, author, post_id, content, visibility)


async def move_tags(tx: Tx, job: Job, token: str, after: str) -> str | None:
    """Hides or shows the hashtags of an account's next posts after `after`; returns the last id, None at the end.

    An account that turns private or public waits for the end of this transaction, and then enqueues a job of its own.
    """
    # Locks the account, so that it cannot turn between this look and the commit.
    account = await status.hold_status(tx, job.subject)
    hidden = account is None or account.is_private or account.suspended_at is not None
    last = await reach.move_tags(tx, job.subject, after=after, limit=TAGS_TOGETHER, hidden=hidden)
    if last is None:
        await queue.finish(tx, job, token)
    return last


async def list_audience(tx: Tx, caller: Caller, post_id: str) -> tuple[OwnPost, list[str]]:
    """Returns the caller's own post and the user names on its allowlist. Raises NotFound, also for somebody else's."""
    post = await writing.find_own(tx, caller.account.id, post_id)
    if post is None:
        raise NotFound("There is no such post.")
    return post, await reach.list_audience_names(tx, post_id)


async def set_audience(tx: Tx, caller: Caller, post_id: str, usernames: list[str]) -> int:
    """Replaces the allowlist of the caller's own post and returns how many accounts it names.

    Mentioned accounts that may see the post now are notified. Raises NotFound, also for somebody else's post;
    Unprocessable for a bounce, and with an error for each unknown name.
    """
    author = caller.account.id
    # Locked, so that an edit of the visibility and this list do not miss each other.
    post = await writing.lock_own(tx, author, post_id)
    if post is None:
        raise NotFound("There is no such post.")
    if post.type != PostType.POST:
        raise Unprocessable([FieldError("body", Code.NOT_ALLOWED, "A bounce is PUBLIC and has no allowlist.")])
    keys = [folded(username) for username in usernames]
    named = await reach.find_named(tx, list(dict.fromkeys(keys)))
    unknown = [
        FieldError(f"usernames[{place}]", Code.INVALID_CHOICE, f"There is no account {usernames[place]}.")
        for place, key in enumerate(keys)
        if key not in named
    ]
    if unknown:
        raise Unprocessable(unknown)
    account_ids = [account_id for account_id in dict.fromkeys(named.values()) if account_id != author]
    shrinks = not set(await reach.list_audience(tx, post_id)).issubset(account_ids)
    await reach.replace_audience(tx, post_id=post_id, author=author, account_ids=account_ids)
    if post.visibility == Visibility.CUSTOM:
        # As for a narrowed visibility: the old addresses must open nothing for those who were taken off.
        if shrinks and post.has_media:
            await move_of_owner(tx, post_id)
        await _notify_mentioned(tx, author, post_id, parse_text(post.content or ""), Visibility.CUSTOM)
    return len(named)


async def _notify_mentioned(tx: Tx, author: str, post_id: str, content: ParsedText, visibility: Visibility) -> None:
    """Notifies mentioned accounts that may see the post and were not notified before; at most MENTIONED for one post.

    An account that filters the text is left out, until an edit.
    """
    if not content.mentions:
        return
    # Over all edits: otherwise each edit could notify as many more accounts.
    left = MENTIONED - await reach.count_told(tx, post_id)
    for batch in batches(content.mentions):
        found = {
            each.username_key: each for each in await reach.find_mentioned(tx, batch, author=author, post_id=post_id)
        }
        filtering = await list_filtering(tx, [each.id for each in found.values()], content.text)
        for mentioned in (found[name] for name in batch if name in found):
            relationship = Relationship(False, mentioned.follows, mentioned.followed_back, mentioned.listed)
            if mentioned.id == author or mentioned.was_notified or not may_see(visibility, relationship):
                continue
            if mentioned.id in filtering:
                continue
            if left <= 0:
                return
            left -= 1
            await reach.insert_mention(tx, post_id, mentioned.id)
            await notify(tx, mentioned.id, NotificationType.MENTION, actor_id=author, post_id=post_id)
