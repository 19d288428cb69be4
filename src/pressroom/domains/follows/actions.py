"""Following and no longer following. Each takes an open transaction first."""

from pressroom.db import Tx
from pressroom.domains.accounts.actions import get_account_by_username
from pressroom.domains.accounts.models import Caller
from pressroom.domains.follows import queries
from pressroom.errors import Code, Fault, Unprocessable


async def follow(tx: Tx, caller: Caller, username: str) -> None:
    """The caller follows `username` from now on; once more changes nothing.

    Raises NotFound for an unknown account, Unprocessable for the caller's own.
    """
    followed = await get_account_by_username(tx, username)
    if followed.id == caller.account.id:
        raise Unprocessable([Fault("username", Code.NOT_ALLOWED, "Nobody can follow their own account.")])
    if await queries.insert_follow(tx, account_id=caller.account.id, followed_id=followed.id):
        await queries.count_follow(tx, account_id=caller.account.id, followed_id=followed.id, count=1)


async def unfollow(tx: Tx, caller: Caller, username: str) -> None:
    """The caller no longer follows `username`; once more changes nothing. Raises NotFound."""
    followed = await get_account_by_username(tx, username)
    if await queries.delete_follow(tx, account_id=caller.account.id, followed_id=followed.id):
        await queries.count_follow(tx, account_id=caller.account.id, followed_id=followed.id, count=-1)
