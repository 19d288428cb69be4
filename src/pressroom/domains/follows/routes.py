"""Following over HTTP, and what the followed account may do about it."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.schemas import AUTHOR_EXAMPLE
from pressroom.domains.follows import actions
from pressroom.domains.follows.schemas import (
    REQUEST_EXAMPLE,
    WAITING_EXAMPLE,
    AcceptedOut,
    AcceptRequests,
    FollowedList,
    FollowerList,
    FollowerOut,
    FollowOut,
    RequestList,
    WaitingList,
    accepted_shape,
    follow_shape,
    follower_shape,
    person_shape,
    request_shape,
    waiting_shape,
)
from pressroom.errors import Code, FieldError, Invalid, NotFound, Unprocessable
from pressroom.ids import BEYOND
from pressroom.web.access import SessionOnly
from pressroom.web.paging import read_page, split
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Tag, declare, declare_with_body

TAG = Tag("Follows", "Who follows whom: what FOLLOWERS and CONNECTIONS posts go by.")

_NOBODY = NotFound("There is no account mira_press.")
_NOT_ASKED = NotFound("mira_press has not asked to follow you.")
_BAD_PAGE = Invalid([FieldError("limit", Code.OUT_OF_RANGE, "Must be a whole number from 1 to 100.")])


@declare(
    "POST",
    "/api/accounts/{username}/follow",
    SessionOnly(),
    summary="Follow an account",
    gives=FollowOut,
    fails=(
        _NOBODY,
        Unprocessable([FieldError("username", Code.NOT_ALLOWED, "Nobody can follow their own account.")]),
    ),
    tag=TAG,
    idempotent=True,
    response_example=FollowOut(True, False),
)
async def follow(request: Request[Caller]) -> Response:
    """From now on the account's FOLLOWERS posts are for the caller too, and its CONNECTIONS posts where the account
    follows back. A private account is asked first: `requested` is true until it answers, and those who wait when it
    turns public become followers. Following once more changes nothing."""
    return await request.once(actions.follow, follow_shape, 200, request.caller, request.parameters["username"])


@declare(
    "DELETE",
    "/api/accounts/{username}/follow",
    SessionOnly(),
    summary="Unfollow an account",
    gives=FollowOut,
    fails=(_NOBODY,),
    tag=TAG,
    idempotent=True,
    response_example=FollowOut(False, False),
)
async def unfollow(request: Request[Caller]) -> Response:
    """Takes a follow back, or the request for one. Where there is neither, nothing changes."""
    return await request.once(actions.unfollow, follow_shape, 200, request.caller, request.parameters["username"])


@declare(
    "GET",
    "/api/follow-requests",
    SessionOnly(),
    summary="List those who ask to follow you",
    gives=RequestList,
    fails=(_BAD_PAGE,),
    tag=TAG,
    paged=True,
    response_example=RequestList([REQUEST_EXAMPLE], None),
)
async def list_follow_requests(request: Request[Caller]) -> Response:
    """Who waits for the account's answer, latest first."""
    page = read_page(request.query)
    found = await request.db.read(actions.list_requests, request.caller.account.id, page.before, page.limit + 1)
    shown, cursor = split(found, page, lambda person: person.listed_as)
    return json_response(RequestList([request_shape(each, request.settings.base_url) for each in shown], cursor))


@declare(
    "POST",
    "/api/follow-requests/{username}/accept",
    SessionOnly(),
    summary="Accept a follower",
    gives=FollowerOut,
    fails=(_NOT_ASKED,),
    tag=TAG,
    idempotent=True,
    response_example=FollowerOut(True),
)
async def accept_follow_request(request: Request[Caller]) -> Response:
    """From now on the account that asked follows the caller. Accepting once more changes nothing."""
    return await request.once(
        actions.accept_request, follower_shape, 200, request.caller, request.parameters["username"]
    )


@declare(
    "POST",
    "/api/follow-requests/{username}/reject",
    SessionOnly(),
    summary="Reject a follower",
    gives=FollowerOut,
    fails=(_NOT_ASKED,),
    tag=TAG,
    idempotent=True,
    response_example=FollowerOut(False),
)
async def reject_follow_request(request: Request[Caller]) -> Response:
    """Rejects the request. The account that asked is not notified, and may ask again."""
    return await request.once(
        actions.reject_request, follower_shape, 200, request.caller, request.parameters["username"]
    )


@declare(
    "GET",
    "/api/followers",
    SessionOnly(),
    summary="List your followers",
    gives=FollowerList,
    fails=(_BAD_PAGE,),
    tag=TAG,
    paged=True,
    response_example=FollowerList([AUTHOR_EXAMPLE], None),
)
async def list_followers(request: Request[Caller]) -> Response:
    """Who follows the account, newest account first."""
    page = read_page(request.query)
    found = await request.db.read(actions.list_followers, request.caller.account.id, page.before, page.limit + 1)
    shown, cursor = split(found, page, lambda person: person.listed_as)
    return json_response(FollowerList([person_shape(each, request.settings.base_url) for each in shown], cursor))


@declare(
    "DELETE",
    "/api/followers/{username}",
    SessionOnly(),
    summary="Remove a follower",
    gives=FollowerOut,
    fails=(_NOBODY,),
    tag=TAG,
    idempotent=True,
    response_example=FollowerOut(False),
)
async def remove_follower(request: Request[Caller]) -> Response:
    """The account no longer follows the caller, and is not notified. If it did not follow, nothing changes."""
    return await request.once(
        actions.remove_follower, follower_shape, 200, request.caller, request.parameters["username"]
    )


@declare(
    "GET",
    "/api/follows",
    SessionOnly(),
    summary="List whom you follow",
    gives=FollowedList,
    fails=(_BAD_PAGE,),
    tag=TAG,
    paged=True,
    response_example=FollowedList([AUTHOR_EXAMPLE], None),
)
async def list_follows(request: Request[Caller]) -> Response:
    """Whom the account follows, newest account first."""
    page = read_page(request.query)
    found = await request.db.read(actions.list_followed, request.caller.account.id, page.before, page.limit + 1)
    shown, cursor = split(found, page, lambda person: person.listed_as)
    return json_response(FollowedList([person_shape(each, request.settings.base_url) for each in shown], cursor))


@declare_with_body(
    "POST",
    "/api/follow-requests/accept",
    SessionOnly(),
    summary="Accept all follow requests",
    takes=AcceptRequests,
    body_optional=True,
    gives=AcceptedOut,
    idempotent=True,
    tag=TAG,
    example=AcceptRequests(up_to=REQUEST_EXAMPLE.request_id),
    response_example=AcceptedOut(12, left=False),
)
async def accept_follow_requests(request: Request[Caller], body: AcceptRequests) -> Response:
    """Accepts those who have waited longest, 49 at the most in one request; `left` says whether others of those wait.
    With `upTo`, whoever asked after the list was shown waits on."""
    return await request.once(actions.accept_all, accepted_shape, 200, request.caller, body.up_to or BEYOND)


@declare(
    "GET",
    "/api/follow-requests/sent",
    SessionOnly(),
    summary="List whom you asked to follow",
    gives=WaitingList,
    fails=(_BAD_PAGE,),
    tag=TAG,
    paged=True,
    response_example=WaitingList([WAITING_EXAMPLE], None),
)
async def list_sent_requests(request: Request[Caller]) -> Response:
    """The account's own requests that wait for an answer, newest account first. DELETE /api/accounts/{username}/follow
    takes one back."""
    page = read_page(request.query)
    people = await request.db.read(actions.list_sent, request.caller.account.id, page.before, page.limit + 1)
    shown, cursor = split(people, page, lambda person: person.listed_as)
    return json_response(WaitingList([waiting_shape(person, request.settings.base_url) for person in shown], cursor))


ROUTES: Final = (
    accept_follow_requests,
    list_sent_requests,
    follow,
    unfollow,
    list_follow_requests,
    accept_follow_request,
    reject_follow_request,
    list_followers,
    remove_follower,
    list_follows,
)
