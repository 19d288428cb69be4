"""Follows and follow requests. Each action takes an open transaction first.

An action that changes something locks both accounts first, in the order of their ids: one transaction at a time
decides about a pair of accounts, and no two deadlock.
"""

from typing import Final

from pressroom.db import Tx
from pressroom.db.params import BATCH
from pressroom.domains.accounts.actions import get_account_by_username
from pressroom.domains.accounts.models import Account, Caller
from pressroom.domains.accounts.queries import status
from pressroom.domains.follows import queries
from pressroom.domains.follows.models import Accepted, Following
from pressroom.domains.notifications.actions import notify
from pressroom.domains.notifications.models import NotificationType
from pressroom.domains.notifications.queries import forget_follow
from pressroom.errors import Code, FieldError, NotFound, Unprocessable
from pressroom.ids import new_id
from pressroom.jobs import queue
from pressroom.jobs.queue import Job

TOGETHER: Final = BATCH - 1
"""How many requests one transaction accepts: one statement locks their accounts and the followed one."""


async def follow(tx: Tx, caller: Caller, username: str) -> Following:
    """Makes the caller follow `username` or, where that account is private, request it. Repeating changes nothing.

    Returns the new state. Raises NotFound for an unknown account, Unprocessable for the caller's own
    (docs/people.md#private-accounts).
    """
    followed = await get_account_by_username(tx, username)
    if followed.id == caller.account.id:
        raise Unprocessable([FieldError("username", Code.NOT_ALLOWED, "Nobody can follow their own account.")])
    # Both accounts, in the order of their ids. Under the lock neither turns private, blocks or is suspended.
    now = (await status.lock_status(tx, caller.account.id, followed.id)).get(followed.id)
    if now is None or now.suspended_at is not None:
        raise NotFound(f"There is no account {username}.")
    pair = {"account_id": caller.account.id, "followed_id": followed.id}
    between = await queries.get_between(tx, account_id=caller.account.id, other_id=followed.id)
    # The answer of an unknown account: a block must not show.
    if between.blocked:
        raise NotFound(f"There is no account {username}.")
    if between.follows:
        return Following(True)
    if now.is_private:
        if await queries.insert_request(tx, request_id=new_id(tx.now, pair["followed_id"]), **pair):
            await notify(tx, followed.id, NotificationType.FOLLOW_REQUESTED, actor_id=caller.account.id)
        return Following(False, True)
    # The account turned public since it was asked: the follow takes the place of the request.
    await queries.delete_request(tx, **pair)
    await _begin(tx, **pair)
    await notify(tx, followed.id, NotificationType.FOLLOW, actor_id=caller.account.id)
    return Following(True)


async def unfollow(tx: Tx, caller: Caller, username: str) -> Following:
    """Ends the caller's follow of `username`, or the request for one. Repeating changes nothing. Raises NotFound."""
    followed = await get_account_by_username(tx, username)
    await _withdraw(tx, follower=caller.account, followed=followed)
    return Following(False)


async def end_relations(tx: Tx, account: Account, other: Account) -> None:
    """Ends the follows between two accounts and their requests, and locks both until the transaction ends."""
    await _withdraw(tx, follower=account, followed=other)
    await _withdraw(tx, follower=other, followed=account)


async def remove_follower(tx: Tx, caller: Caller, username: str) -> Following:
    """Ends the follow of the caller by `username`. Repeating changes nothing. Raises NotFound."""
    await _end(tx, follower=await get_account_by_username(tx, username), followed=caller.account)
    return Following(False)


async def accept_request(tx: Tx, caller: Caller, username: str) -> Following:
    """Accepts the request of `username` to follow the caller, and notifies that account. Repeating changes nothing.

    Raises NotFound when the account neither follows the caller nor has requested to.
    """
    pair = await _lock_request(tx, caller, username)
    if await queries.delete_request(tx, **pair):
        await _accept(tx, **pair)
    # A repeated acceptance: the request is gone, since it was accepted.
    elif not (await queries.get_between(tx, account_id=pair["account_id"], other_id=caller.account.id)).follows:
        raise NotFound(f"{username} has not asked to follow you.")
    return Following(True)


async def reject_request(tx: Tx, caller: Caller, username: str) -> Following:
    """Removes the request of `username` to follow the caller, without a notification. Raises NotFound without one."""
    if not await queries.delete_request(tx, **await _lock_request(tx, caller, username)):
        raise NotFound(f"{username} has not asked to follow you.")
    return Following(False)


async def accept_all(tx: Tx, caller: Caller, up_to: str) -> Accepted:
    """Accepts the requests to follow the caller that have waited longest, TOGETHER at the most.

    Those after `up_to` wait on, and those of suspended accounts, which no list shows.
    """
    followed_id = caller.account.id
    waiting = await queries.list_shown(tx, followed_id, up_to=up_to, limit=TOGETHER)
    # All in one statement, in the order of ids: one by one, two acceptances could deadlock.
    now = await status.lock_status(tx, followed_id, *waiting)
    accepted = 0
    for account_id in waiting:
        # Suspended or deleted between the list and the lock.
        if account_id not in now or now[account_id].suspended_at is not None:
            continue
        if await queries.delete_request(tx, account_id=account_id, followed_id=followed_id):
            await _accept(tx, account_id=account_id, followed_id=followed_id)
            accepted += 1
    return Accepted(accepted, bool(await queries.list_shown(tx, followed_id, up_to=up_to, limit=1)))


async def accept_waiting(tx: Tx, job: Job, token: str) -> bool:
    """Accepts a batch of the requests to follow an account that turned public; returns True when none is left.

    Those who asked are notified; the owner is not, who knows that the account is open to all. Does nothing when the
    account is private again.
    """
    followed_id = job.subject
    waiting = await queries.list_waiting(tx, followed_id, TOGETHER)
    now = (await status.lock_status(tx, followed_id, *waiting)).get(followed_id)
    if now is None or now.is_private or not (waiting or await queries.list_waiting(tx, followed_id, 1)):
        # Under the lock: a later request sees whether the account is private.
        await queue.finish(tx, job, token)
        return True
    for account_id in waiting:
        if await queries.delete_request(tx, account_id=account_id, followed_id=followed_id):
            await _accept(tx, account_id=account_id, followed_id=followed_id)
    return False


async def end_follows(tx: Tx, account_id: str) -> int:
    """Ends up to TOGETHER follows of an account and by it, and as many requests; returns the larger number."""
    others = await queries.list_pairs(tx, account_id, limit=TOGETHER)
    # All at once, in the order of ids: one by one, two deletions of accounts that follow each other would deadlock.
    await status.lock_status(tx, account_id, *others)
    for other in others:
        for follower, followed in ((account_id, other), (other, account_id)):
            if await queries.delete_follow(tx, account_id=follower, followed_id=followed):
                await status.add_follow(tx, account_id=follower, followed_id=followed, count=-1)
    return max(len(others), await queries.erase_requests(tx, account_id, TOGETHER))


async def _begin(tx: Tx, *, account_id: str, followed_id: str) -> None:
    # The counters follow the row that was inserted: a second follow at once counts nothing.
    if await queries.insert_follow(tx, account_id=account_id, followed_id=followed_id):
        await status.add_follow(tx, account_id=account_id, followed_id=followed_id, count=1)


async def _accept(tx: Tx, *, account_id: str, followed_id: str) -> None:
    await _begin(tx, account_id=account_id, followed_id=followed_id)
    await notify(tx, account_id, NotificationType.FOLLOW_ACCEPTED, actor_id=followed_id)


async def _end(tx: Tx, *, follower: Account, followed: Account) -> None:
    await status.lock_status(tx, follower.id, followed.id)
    if await queries.delete_follow(tx, account_id=follower.id, followed_id=followed.id):
        await status.add_follow(tx, account_id=follower.id, followed_id=followed.id, count=-1)
        await forget_follow(tx, followed.id, follower.id)


async def _withdraw(tx: Tx, *, follower: Account, followed: Account) -> None:
    """Ends a follow or the request for one."""
    await _end(tx, follower=follower, followed=followed)
    if await queries.delete_request(tx, account_id=follower.id, followed_id=followed.id):
        await forget_follow(tx, followed.id, follower.id)


async def _lock_request(tx: Tx, caller: Caller, username: str) -> dict[str, str]:
    """Locks both accounts; returns the columns that identify the request of `username`. Raises NotFound."""
    asking = await get_account_by_username(tx, username)
    await status.lock_status(tx, asking.id, caller.account.id)
    return {"account_id": asking.id, "followed_id": caller.account.id}
