"""Liking, saving and voting, each by a signed-in account."""

from typing import Final

from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.notifications.actions import notify
from pressroom.domains.notifications.models import NotificationType
from pressroom.domains.notifications.queries import replace_actor
from pressroom.domains.posts.actions.lookup import get_post, get_view
from pressroom.domains.posts.models import Poll
from pressroom.domains.posts.queries import reach, reactions
from pressroom.errors import Code, Conflict, FieldError, Invalid, NotFound, Unprocessable

REACTIONS: Final = 50
"""Likes, and votes, that one transaction removes."""

ROWS: Final = 500
"""Rows without a counter that one transaction removes."""


async def like_post(tx: Tx, caller: Caller, post_id: str) -> None:
    """Makes the caller like the post, if they do not yet. Raises NotFound when they may not see it."""
    post = await get_post(tx, post_id, caller.account.id)
    # Only the like that was inserted counts: a second one at the same time finds the row and changes nothing.
    if await reactions.insert_like(tx, post.id, caller.account.id):
        await _count_like(tx, post.id, 1)
        await notify(tx, post.account_id, NotificationType.LIKE, actor_id=caller.account.id, post_id=post.id)


async def unlike_post(tx: Tx, caller: Caller, post_id: str) -> None:
    """Removes the caller's like, if there is one. Raises NotFound when they may not see the post."""
    post = await get_post(tx, post_id, caller.account.id)
    # Only the like that was deleted counts, as above.
    if await reactions.delete_like(tx, post.id, caller.account.id):
        await _count_like(tx, post.id, -1)
        await _forget_like(tx, post.id, caller.account.id)


async def save_post(tx: Tx, caller: Caller, post_id: str) -> None:
    """Saves the post for the caller, if it is not saved yet. Raises NotFound when they may not see it."""
    post = await get_post(tx, post_id, caller.account.id)
    await reactions.insert_save(tx, post.id, caller.account.id)


async def unsave_post(tx: Tx, caller: Caller, post_id: str) -> None:
    """Removes the caller's mark of having saved the post. Raises NotFound when they may not see it."""
    post = await get_post(tx, post_id, caller.account.id)
    await reactions.delete_save(tx, post.id, caller.account.id)


async def vote(tx: Tx, caller: Caller, post_id: str, choices: list[int]) -> Poll:
    """Records the caller's only vote and returns the poll with it. `choices` are positions, each given once.

    Raises NotFound when the caller does not see the post or it has no poll, Invalid when the poll has no such
    options or takes a single one, Conflict for a second vote, Unprocessable when the poll is closed.
    """
    poll = (await get_view(tx, post_id, caller.account.id)).poll
    if poll is None:
        raise NotFound("This post has no poll.")
    if field_errors := choice_errors(choices, len(poll.options), multiple=poll.multiple):
        raise Invalid(field_errors)
    chosen = sorted(choices)
    text = " ".join(map(str, chosen))
    if not await reactions.insert_vote(tx, post_id=post_id, account_id=caller.account.id, choices=text):
        raise Conflict("The account has voted in this poll already; a vote is final.")
    # After the vote's row: a second vote is a Conflict also when the poll has closed meanwhile. The refusal takes the
    # row back.
    if poll.closes_at <= tx.now:
        raise Unprocessable([FieldError("body", Code.NOT_ALLOWED, "This poll is closed.")])
    await reactions.count_vote(tx, post_id, chosen)
    voted = (await get_view(tx, post_id, caller.account.id)).poll
    return voted or poll


async def take_reactions_back(tx: Tx, account_id: str) -> bool:
    """Removes likes, saves and votes of an account, and its entries in allowlists. Returns whether others remain."""
    liked = await reactions.list_liked(tx, account_id, limit=REACTIONS)
    for post_id in liked:
        # A request that was under way may have taken it back since it was listed.
        if await reactions.delete_like(tx, post_id, account_id):
            await reactions.uncount_like(tx, post_id)
            await _forget_like(tx, post_id, account_id)
    ballots = await reactions.list_ballots(tx, account_id, limit=REACTIONS)
    for ballot in ballots:
        await reactions.take_vote_back(tx, account_id, ballot)
    rows = max(await reactions.erase_saves(tx, account_id, ROWS), await reach.erase_listed(tx, account_id, ROWS))
    return max(len(liked), len(ballots)) >= REACTIONS or rows >= ROWS


def choice_errors(choices: list[int], options: int, *, multiple: bool) -> list[FieldError]:
    """Returns the fault of choices in a poll of so many options."""
    field_errors = [
        FieldError(f"choices[{place}]", Code.OUT_OF_RANGE, f"This poll has the options 0 to {options - 1}.")
        for place, choice in enumerate(choices)
        if choice >= options
    ]
    if len(choices) > 1 and not multiple:
        field_errors.append(FieldError("choices", Code.TOO_MANY, "This poll takes a single choice."))
    return field_errors


async def _forget_like(tx: Tx, post_id: str, account_id: str) -> None:
    """Has the notification of a post's likes name another account, once the one that it names has taken its like back.

    The post is locked: a later like waits for this transaction.
    """
    other = await reactions.find_liker(tx, post_id)
    await replace_actor(
        tx, post_id=post_id, notification_type=NotificationType.LIKE, actor_id=account_id, other_id=other
    )


async def _count_like(tx: Tx, post_id: str, count: int) -> None:
    if not await reactions.count_like(tx, post_id, count):
        raise NotFound("There is no such post.")
