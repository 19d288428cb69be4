"""Following over HTTP."""

from pressroom.domains.accounts.models import Caller
from pressroom.domains.follows import actions
from pressroom.domains.follows.schemas import FollowingOut
from pressroom.errors import Code, Fault, NotFound, Unprocessable
from pressroom.web.access import SessionOnly
from pressroom.web.routing import Answer, Call, Tag, declare

TAG = Tag("Follows", "Who follows whom: what FOLLOWERS and CONNECTIONS posts go by.")

_NOBODY = NotFound("There is no account mira_press.")


@declare(
    "POST",
    "/api/accounts/{username}/follow",
    SessionOnly(),
    summary="Follow an account",
    gives=FollowingOut,
    fails=(
        _NOBODY,
        Unprocessable([Fault("username", Code.NOT_ALLOWED, "Nobody can follow their own account.")]),
    ),
    idempotent=True,
    tag=TAG,
    answer_example=FollowingOut(True),
)
async def follow(call: Call[Caller]) -> Answer:
    """From now on the account's FOLLOWERS posts are for the caller too, and its CONNECTIONS posts where the account
    follows back. Following once more changes nothing."""
    return await call.once(actions.follow, lambda _: FollowingOut(True), 200, call.caller, call.parameters["username"])


@declare(
    "DELETE",
    "/api/accounts/{username}/follow",
    SessionOnly(),
    summary="Unfollow an account",
    gives=FollowingOut,
    fails=(_NOBODY,),
    idempotent=True,
    tag=TAG,
    answer_example=FollowingOut(False),
)
async def unfollow(call: Call[Caller]) -> Answer:
    """Takes a follow back. Where there is none, nothing changes."""
    return await call.once(
        actions.unfollow, lambda _: FollowingOut(False), 200, call.caller, call.parameters["username"]
    )
