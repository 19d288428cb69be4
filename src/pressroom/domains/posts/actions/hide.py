"""Hiding a post by decision of an admin (docs/moderation.md#hidden-posts). A transaction comes first."""

from pressroom.db import Tx
from pressroom.domains.accounts.queries import status
from pressroom.domains.media.actions import move_of_owner
from pressroom.domains.posts.models import PostType
from pressroom.domains.posts.queries import reach, writing
from pressroom.domains.posts.visibility import Visibility, narrows
from pressroom.errors import Code, FieldError, NotFound, Unprocessable


async def hide_post(tx: Tx, author: str, post_id: str) -> None:
    """Makes a post PRIVATE until `show_post`, whatever its author edits.

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


async def show_post(tx: Tx, author: str, post_id: str) -> None:
    """Lets the author choose again who may see a hidden post; until then it stays PRIVATE."""
    await writing.show_post(tx, author, post_id)
