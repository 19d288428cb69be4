"""Erasing the posts of a deleted account, and taking back its reactions (docs/people.md#deleting-an-account).

Each action does a part, in one transaction, and does no harm when it is done again. Posts are locked newest first, as
bouncing and deleting a bounce lock a bounce before its original.
"""

from collections import Counter
from typing import Final

from pressroom.db import Tx
from pressroom.domains.accounts.queries import status
from pressroom.domains.posts.actions.edit import take_post_down
from pressroom.domains.posts.queries import erasure, reach, reactions, writing

POSTS: Final = 20
"""Posts that one transaction erases."""

REACTIONS: Final = 50
"""Likes that one transaction takes back, and votes."""

ROWS: Final = 500
"""Rows that nothing counts and that one transaction removes."""


async def erase_posts(tx: Tx, account_id: str, before: str) -> str | None:
    """Deletes and erases the account's next posts with ids below `before`; the last of them, None: there are no more.

    The rows stay, so that permalinks say that a post was deleted.
    """
    post_ids = await erasure.list_unerased(tx, account_id, before=before, limit=POSTS)
    gone: Counter[str] = Counter()
    for post_id in post_ids:
        post = await writing.lock_own(tx, account_id, post_id)
        if post is not None:
            await take_post_down(tx, account_id, post_id, post, None)
            gone[post.visibility] -= 1
        await reach.replace_audience(tx, post_id=post_id, author=account_id, account_ids=())
        await erasure.erase_post(tx, account_id, post_id)
    if gone:
        await status.add_posts(tx, account_id, gone)
    return post_ids[-1] if post_ids else None


async def take_reactions_back(tx: Tx, account_id: str) -> bool:
    """Takes back likes, saves and votes of an account, and its places on allowlists. Returns whether there are more."""
    liked = await erasure.list_liked(tx, account_id, limit=REACTIONS)
    for post_id in liked:
        if await reactions.delete_like(tx, post_id, account_id):
            await erasure.uncount_like(tx, post_id)
    ballots = await erasure.list_ballots(tx, account_id, limit=REACTIONS)
    for ballot in ballots:
        await erasure.take_vote_back(tx, account_id, ballot)
    rows = max(await erasure.erase_saves(tx, account_id, ROWS), await erasure.erase_listed(tx, account_id, ROWS))
    return max(len(liked), len(ballots)) >= REACTIONS or rows >= ROWS
