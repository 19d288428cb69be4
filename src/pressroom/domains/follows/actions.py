"""Following, asking to, and what the followed account does about it. Each takes an open transaction first.

Every verb locks both accounts first, in the order of their ids: what is decided about two accounts is decided by one
transaction at a time, and no two wait in a circle.
"""

from typing import Final

from pressroom.db import Tx
from pressroom.db.params import BATCH
from pressroom.domains.accounts.actions import get_account_by_username
from pressroom.domains.accounts.models import Account, Caller
from pressroom.domains.accounts.queries import status
from pressroom.domains.follows import queries
from pressroom.domains.follows.models import Following, Person
from pressroom.domains.notifications.actions import forget_follow, notify
from pressroom.domains.notifications.models import NotificationType
from pressroom.errors import Code, FieldError, NotFound, Unprocessable
from pressroom.ids import new_id
from pressroom.jobs import queue
from pressroom.jobs.queue import Job

TOGETHER: Final = BATCH - 1
"""Requests that one transaction accepts: their accounts and the followed one are locked by one statement."""


async def follow(tx: Tx, caller: Caller, username: str) -> Following:
    """The caller follows `username` from now on or, where that account is private, asks to; once more changes nothing.

    Raises NotFound for an unknown account, Unprocessable for the caller's own (docs/people.md#private-accounts).
    """
    followed = await get_account_by_username(tx, username)
    if followed.id == caller.account.id:
        raise Unprocessable([FieldError("username", Code.NOT_ALLOWED, "Nobody can follow their own account.")])
    now = (await status.lock_status(tx, caller.account.id, followed.id)).get(followed.id)
    if now is None or now.suspended_at is not None:
        raise NotFound(f"There is no account {username}.")
    pair = {"account_id": caller.account.id, "followed_id": followed.id}
    if (await queries.find_between(tx, account_id=caller.account.id, other_id=followed.id)).follows:
        return Following(True)
    if now.is_private:
        if await queries.insert_request(tx, request_id=new_id(tx.now), **pair):
            await notify(tx, followed.id, NotificationType.FOLLOW_REQUESTED, actor_id=caller.account.id)
        return Following(False, True)
    await queries.delete_request(tx, **pair)
    await _begin(tx, **pair)
    await notify(tx, followed.id, NotificationType.FOLLOW, actor_id=caller.account.id)
    return Following(True)


async def unfollow(tx: Tx, caller: Caller, username: str) -> Following:
    """The caller neither follows `username` nor asks to any more; once more changes nothing. Raises NotFound."""
    followed = await get_account_by_username(tx, username)
    await _end(tx, follower=caller.account, followed=followed)
    if await queries.delete_request(tx, account_id=caller.account.id, followed_id=followed.id):
        await forget_follow(tx, followed.id, caller.account.id)
    return Following(False)


async def remove_follower(tx: Tx, caller: Caller, username: str) -> Following:
    """`username` does not follow the caller any more; once more changes nothing. Raises NotFound."""
    await _end(tx, follower=await get_account_by_username(tx, username), followed=caller.account)
    return Following(False)


async def accept_request(tx: Tx, caller: Caller, username: str) -> Following:
    """`username`, who asked to, follows the caller from now on; once more changes nothing.

    Raises NotFound when the account neither asked to nor follows the caller.
    """
    pair = await _lock_request(tx, caller, username)
    if await queries.delete_request(tx, **pair):
        await _begin(tx, **pair)
    elif not (await queries.find_between(tx, account_id=pair["account_id"], other_id=caller.account.id)).follows:
        raise NotFound(f"{username} has not asked to follow you.")
    return Following(True)


async def reject_request(tx: Tx, caller: Caller, username: str) -> Following:
    """`username` asks to follow the caller no longer, and is not told. Raises NotFound when there is no request."""
    if not await queries.delete_request(tx, **await _lock_request(tx, caller, username)):
        raise NotFound(f"{username} has not asked to follow you.")
    return Following(False)


async def list_requests(tx: Tx, account_id: str, before: str, limit: int) -> list[Person]:
    """Who asks to follow the account, latest first, before `before`."""
    return await queries.list_requests(tx, account_id, before=before, limit=limit)


async def list_followers(tx: Tx, account_id: str, before: str, limit: int) -> list[Person]:
    """Who follows the account, newest account first, before `before`."""
    return await queries.list_followers(tx, account_id, before=before, limit=limit)


async def list_followed(tx: Tx, account_id: str, before: str, limit: int) -> list[Person]:
    """Whom the account follows, newest account first, before `before`."""
    return await queries.list_followed(tx, account_id, before=before, limit=limit)


async def accept_waiting(tx: Tx, job: Job, token: str) -> bool:
    """Accepts the next of those who wait to follow an account that turned public; True when that was all.

    Nobody is told: the account did not follow anybody, and opened itself to all. Whoever asked of an account that was
    private again by then goes on waiting.
    """
    followed_id = job.subject
    waiting = await queries.find_waiting(tx, followed_id, TOGETHER)
    now = (await status.lock_status(tx, followed_id, *waiting)).get(followed_id)
    if now is None or now.is_private or not (waiting or await queries.find_waiting(tx, followed_id, 1)):
        # Under the lock: whoever asks from now on sees what the account is.
        await queue.finish(tx, job, token)
        return True
    for account_id in waiting:
        if await queries.delete_request(tx, account_id=account_id, followed_id=followed_id):
            await _begin(tx, account_id=account_id, followed_id=followed_id)
    return False


async def _begin(tx: Tx, *, account_id: str, followed_id: str) -> None:
    if await queries.insert_follow(tx, account_id=account_id, followed_id=followed_id):
        await status.add_follow(tx, account_id=account_id, followed_id=followed_id, count=1)


async def _end(tx: Tx, *, follower: Account, followed: Account) -> None:
    await status.lock_status(tx, follower.id, followed.id)
    if await queries.delete_follow(tx, account_id=follower.id, followed_id=followed.id):
        await status.add_follow(tx, account_id=follower.id, followed_id=followed.id, count=-1)
        await forget_follow(tx, followed.id, follower.id)


async def _lock_request(tx: Tx, caller: Caller, username: str) -> dict[str, str]:
    """The request of `username` to the caller, by its key, with both accounts locked. Raises NotFound."""
    asking = await get_account_by_username(tx, username)
    await status.lock_status(tx, asking.id, caller.account.id)
    return {"account_id": asking.id, "followed_id": caller.account.id}
