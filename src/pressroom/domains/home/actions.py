"""Reads notifications with their subjects, for a page or a mail, on one snapshot."""

from typing import Final

from msgspec.structs import replace

from pressroom.db import Tx
from pressroom.domains.home.models import MAILED, NOTICES, Notice, NoticePage, ShownNotice
from pressroom.domains.home.queries import list_queued, list_read, list_unread
from pressroom.domains.notifications.actions import list_notifications, read_shown
from pressroom.domains.notifications.models import Bundle, Notification
from pressroom.domains.posts.actions.lookup import list_seen
from pressroom.domains.posts.queries.lookup import find_posts
from pressroom.domains.reading.entity_links import excerpt
from pressroom.ids import BEYOND

LONGEST_WORDS: Final = 160


async def open_notices(tx: Tx, account_id: str, unread_before: str | None, read_before: str | None) -> NoticePage:
    """Returns a page of notifications: the unread ones, newest first, and the read ones behind the last of them.

    A page begins with the unread ones before `unread_before`, or with the read ones before `read_before`.
    """

    async def read_unread(before: str, most: int) -> list[Notice]:
        return await list_unread(tx, account_id, before=before, limit=most)

    async def read_read(before: str, most: int) -> list[Notice]:
        return await list_read(tx, account_id, before=before, limit=most)

    unread: list[Notice] = []
    read: list[Notice] = []
    next_unread = None
    if read_before is None:
        unread, next_unread = await read_shown(read_unread, unread_before or BEYOND, NOTICES)
    if next_unread is not None:
        next_page = f"before={next_unread}"
    else:
        read, next_read = await read_shown(read_read, read_before or BEYOND, NOTICES - len(unread))
        next_page = None if next_read is None else f"read={next_read}"
    words = await _words(tx, [*unread, *read], account_id)
    return NoticePage([_shown(each, words) for each in unread], [_shown(each, words) for each in read], next_page)


async def list_seen_notifications(
    tx: Tx, account_id: str, before: str, limit: int
) -> tuple[list[Notification], str | None]:
    """Returns what `list_notifications` returns, without the ids of posts that the account may not see any more, and of
    comments on them."""
    found, next_before = await list_notifications(tx, account_id, before, limit)
    seen = await list_seen(tx, [each.post_id for each in found if each.post_id], account_id)
    return [
        each if each.post_id in seen else replace(each, post_id=None, comment_id=None) for each in found
    ], next_before


async def read_queued(tx: Tx, account_id: str) -> tuple[Bundle, list[ShownNotice]]:
    """Returns the bundle to mail to the account next, and those of its notifications that are shown."""
    found = await list_queued(tx, account_id, before=BEYOND, limit=MAILED + 1)
    listed = found[:MAILED]
    words = await _words(tx, listed, account_id)
    shown = [_shown(each, words) for each in listed if not each.hidden]
    return Bundle([each.id for each in listed], len(found) > MAILED), shown


async def _words(tx: Tx, notices: list[Notice], reader: str) -> dict[str, str]:
    """Returns the beginning of each post that a notification is about and that the reader may still see, by its id."""
    post_ids = list(dict.fromkeys(each.post_id for each in notices if each.post_id))
    found = await find_posts(tx, post_ids, reader=reader) if post_ids else []
    standing = [post for post in found if post.deleted_at is None and post.may_be_seen()]
    return {post.id: excerpt(post.content or "", LONGEST_WORDS) for post in standing}


def _shown(notice: Notice, words: dict[str, str]) -> ShownNotice:
    """Returns a notification with its text; `words` has the posts that the reader may see, by their ids."""
    text = words.get(notice.post_id or "")
    if text is not None and notice.comment_id is not None:
        text = excerpt(notice.comment or "", LONGEST_WORDS)
    return ShownNotice(notice, text)
