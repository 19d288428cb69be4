"""Reads a page of notifications, with what they are about, on one snapshot."""

from pressroom.db import Tx
from pressroom.domains.inbox import queries
from pressroom.domains.inbox.models import NOTICES, Notice, NoticePage, ShownNotice
from pressroom.domains.posts.queries.lookup import find_posts
from pressroom.domains.reading.markup import excerpt
from pressroom.ids import BEYOND

LONGEST_WORDS = 160


async def open_notices(tx: Tx, account_id: str, unread_before: str | None, read_before: str | None) -> NoticePage:
    """Returns a page of notifications: the unread ones, newest first, and the read ones behind the last of them.

    A page begins with the unread ones before `unread_before`, or with the read ones before `read_before`.
    """
    unread: list[Notice] = []
    read: list[Notice] = []
    if read_before is None:
        unread = await queries.list_unread(tx, account_id, before=unread_before or BEYOND, limit=NOTICES + 1)
    if len(unread) <= NOTICES:
        left = NOTICES - len(unread)
        read = await queries.list_read(tx, account_id, before=read_before or BEYOND, limit=left + 1)
    next_page = None
    if len(unread) > NOTICES:
        unread, next_page = unread[:NOTICES], f"before={unread[NOTICES - 1].id}"
    elif len(unread) + len(read) > NOTICES:
        read = read[: NOTICES - len(unread)]
        next_page = f"read={read[-1].id if read else BEYOND}"
    words = await _words(tx, [*unread, *read], account_id)
    shown = [[ShownNotice(each, words.get(each.post_id or "")) for each in part] for part in (unread, read)]
    return NoticePage(shown[0], shown[1], next_page)


async def _words(tx: Tx, notices: list[Notice], reader: str) -> dict[str, str]:
    """Returns the beginning of each post that a notification is about and that the reader may still see, by its id."""
    post_ids = list(dict.fromkeys(each.post_id for each in notices if each.post_id))
    found = await find_posts(tx, post_ids, reader=reader) if post_ids else []
    standing = [post for post in found if post.deleted_at is None and post.may_be_seen()]
    return {post.id: excerpt(post.content or "", LONGEST_WORDS) for post in standing}
