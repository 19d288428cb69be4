"""Importing posts that were published elsewhere, with their dates (docs/importing.md)."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from pressroom.db import Tx
from pressroom.domains.accounts.actions import get_account
from pressroom.domains.accounts.queries import status
from pressroom.domains.media.actions import attach_media, take_storage
from pressroom.domains.posts.models import BARE, ImportedPost, Post, PostType
from pressroom.domains.posts.queries import reach, writing
from pressroom.domains.posts.visibility import Visibility
from pressroom.errors import Conflict, NotFound
from pressroom.ids import new_id


async def import_posts(tx: Tx, account_id: str, posts: Sequence[ImportedPost], storage: int) -> int:
    """Inserts posts as of their own times, each source once, and returns how many are new.

    They are history: nobody is notified, no event is emitted and no quota of the day is spent. Their words are not
    indexed, since `search.actions.index_again` is to follow once they are all there. `storage` is how many bytes of
    media the account may store.

    Raises:
        NotFound: The account was suspended or deleted.
        Unprocessable: The media are too large.
        Conflict: Another import inserted a post with media meanwhile.
    """
    # In the order in which rows are locked everywhere (docs/architecture.md#locks).
    await take_storage(
        tx, await get_account(tx, account_id), "media", [file for post in posts for file in post.media], storage
    )
    account = await status.hold_status(tx, account_id)
    if account is None or account.suspended_at is not None:
        raise NotFound("The account was suspended or deleted.")
    new, last = Counter[str](), ""
    for each in posts:
        post = _post_of(account_id, each)
        if await writing.insert_imported(tx, post, each.source):
            last = max(last, post.id)
            new[each.visibility] += 1
            await _attach(tx, post, each)
        elif each.media:
            raise Conflict("Another import was quicker: run this one again.")  # its files count as stored already
    if new:
        await status.add_posts(tx, account_id, new, new_id=last)
    return new.total()


def _post_of(account_id: str, imported: ImportedPost) -> Post:
    return Post(
        **msgspec.structs.asdict(msgspec.structs.replace(BARE, visibility=imported.visibility)),
        id=new_id(imported.created_at, account_id),
        account_id=account_id,
        key_id=None,
        type=PostType.POST,
        content=imported.content.text if imported.content else None,
        created_at=imported.created_at,
        updated_at=imported.created_at,
        has_media=bool(imported.media),
    )


async def _attach(tx: Tx, post: Post, imported: ImportedPost) -> None:
    if imported.content is not None and imported.visibility == Visibility.PUBLIC:
        tags = imported.content.hashtags
        await reach.insert_tags(tx, account_id=post.account_id, post_id=post.id, tags=tags)
    await attach_media(tx, post.account_id, post.id, imported.media)
