"""Following over HTTP, and the followed account's decisions about it."""

import re
from typing import Final

from pressroom.domains.accounts.models import Caller, folded
from pressroom.domains.accounts.schemas import AuthorOut
from pressroom.domains.follows import actions, queries
from pressroom.domains.follows.queries import suggest_followed
from pressroom.domains.follows.schemas import (
    AcceptedOut,
    AcceptRequests,
    FollowedList,
    FollowerList,
    FollowerOut,
    FollowOut,
    RequestList,
    RequestOut,
    SuggestionsOut,
    WaitingList,
    WaitingOut,
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
from pressroom.web.paging import read_paged
from pressroom.web.query import parse_query
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import QueryParameter, Routes, Tag

TAG = Tag("Follows", "Who follows whom: what FOLLOWERS and CONNECTIONS posts go by.")
routes: Final = Routes[Caller](TAG)


_NOBODY = NotFound("There is no account mira_press.")
_NOT_ASKED = NotFound("mira_press has not asked to follow you.")


@routes.post(
    "/api/follow-requests/accept",
    SessionOnly(),
    summary="Accept all follow requests",
    body_optional=True,
    gives=AcceptedOut,
    example=AcceptRequests(up_to=RequestOut.example().request_id),
    response_example=AcceptedOut(12, left=False),
)
async def accept_follow_requests(request: Request[Caller], body: AcceptRequests) -> Response:
    """Accepts those who have waited longest, 49 at the most in one request; `left` says whether others of those wait.
    With `upTo`, requests made after the list was shown go on waiting."""
    return await request.once(actions.accept_all, accepted_shape, request.caller, body.up_to or BEYOND)


@routes.get(
    "/api/follow-requests/sent",
    SessionOnly(),
    summary="List whom you asked to follow",
    gives=WaitingList,
    paged=True,
    response_example=WaitingList([WaitingOut.example()], None),
)
async def list_sent_requests(request: Request[Caller]) -> Response:
    """The account's own requests that wait for an answer, newest account first. DELETE /api/accounts/{username}/follow
    takes one back."""
    shown, cursor = await read_paged(
        request, lambda person: person.listed_as, queries.list_sent, request.caller.account.id
    )
    return json_response(WaitingList([waiting_shape(person, request.settings.base_url) for person in shown], cursor))


@routes.post(
    "/api/accounts/{username}/follow",
    SessionOnly(),
    summary="Follow an account",
    gives=FollowOut,
    fails=(
        _NOBODY,
        Unprocessable([FieldError("username", Code.NOT_ALLOWED, "Nobody can follow their own account.")]),
    ),
    response_example=FollowOut(True, False),
)
async def follow(request: Request[Caller]) -> Response:
    """From now on the account's FOLLOWERS posts are for the caller too, and its CONNECTIONS posts where the account
    follows back. A private account is asked first: `requested` is true until it answers, and those who wait when it
    turns public become followers. Following once more changes nothing."""
    return await request.once(actions.follow, follow_shape, request.caller, request.parameters["username"])


@routes.delete(
    "/api/accounts/{username}/follow",
    SessionOnly(),
    summary="Unfollow an account",
    gives=FollowOut,
    fails=(_NOBODY,),
    response_example=FollowOut(False, False),
)
async def unfollow(request: Request[Caller]) -> Response:
    """Takes a follow back, or the request for one. Where there is neither, nothing changes."""
    return await request.once(actions.unfollow, follow_shape, request.caller, request.parameters["username"])


@routes.get(
    "/api/follow-requests",
    SessionOnly(),
    summary="List those who ask to follow you",
    gives=RequestList,
    paged=True,
    response_example=RequestList([RequestOut.example()], None),
)
async def list_follow_requests(request: Request[Caller]) -> Response:
    """Open requests to follow the account, latest first."""
    shown, cursor = await read_paged(
        request, lambda person: person.listed_as, queries.list_requests, request.caller.account.id
    )
    return json_response(RequestList([request_shape(each, request.settings.base_url) for each in shown], cursor))


@routes.post(
    "/api/follow-requests/{username}/accept",
    SessionOnly(),
    summary="Accept a follower",
    gives=FollowerOut,
    fails=(_NOT_ASKED,),
    response_example=FollowerOut(True),
)
async def accept_follow_request(request: Request[Caller]) -> Response:
    """From now on the account that asked follows the caller. Accepting once more changes nothing."""
    return await request.once(actions.accept_request, follower_shape, request.caller, request.parameters["username"])


@routes.post(
    "/api/follow-requests/{username}/reject",
    SessionOnly(),
    summary="Reject a follower",
    gives=FollowerOut,
    fails=(_NOT_ASKED,),
    response_example=FollowerOut(False),
)
async def reject_follow_request(request: Request[Caller]) -> Response:
    """Rejects the request. The account that asked is not notified, and may ask again."""
    return await request.once(actions.reject_request, follower_shape, request.caller, request.parameters["username"])


@routes.get(
    "/api/followers",
    SessionOnly(),
    summary="List your followers",
    gives=FollowerList,
    paged=True,
    response_example=FollowerList([AuthorOut.example()], None),
)
async def list_followers(request: Request[Caller]) -> Response:
    """The account's followers, newest account first."""
    shown, cursor = await read_paged(
        request, lambda person: person.listed_as, queries.list_followers, request.caller.account.id
    )
    return json_response(FollowerList([person_shape(each, request.settings.base_url) for each in shown], cursor))


@routes.delete(
    "/api/followers/{username}",
    SessionOnly(),
    summary="Remove a follower",
    gives=FollowerOut,
    fails=(_NOBODY,),
    response_example=FollowerOut(False),
)
async def remove_follower(request: Request[Caller]) -> Response:
    """The account no longer follows the caller, and is not notified. If it did not follow, nothing changes."""
    return await request.once(actions.remove_follower, follower_shape, request.caller, request.parameters["username"])


@routes.get(
    "/api/follows",
    SessionOnly(),
    summary="List whom you follow",
    gives=FollowedList,
    paged=True,
    response_example=FollowedList([AuthorOut.example()], None),
)
async def list_follows(request: Request[Caller]) -> Response:
    """The accounts that the account follows, newest account first."""
    shown, cursor = await read_paged(
        request, lambda person: person.listed_as, queries.list_followed, request.caller.account.id
    )
    return json_response(FollowedList([person_shape(each, request.settings.base_url) for each in shown], cursor))


MOST: Final = 8
"""Suggestions in one response."""

LOOKED_AT: Final = 2_000
"""Followed accounts that one search reads."""

LONGEST: Final = 30

_OF_NAMES: Final = re.compile(r"\w*", re.ASCII)
_TOO_LONG: Final = Invalid([FieldError("prefix", Code.TOO_LONG, f"A user name has at most {LONGEST} characters.")])


@routes.get(
    "/api/follows/suggestions",
    SessionOnly(),
    summary="Suggest user names",
    gives=SuggestionsOut,
    fails=(_TOO_LONG,),
    query=(
        QueryParameter(
            "prefix", "What the user names begin with, in any case.", {"type": "string", "maxLength": LONGEST}
        ),
    ),
    response_example=SuggestionsOut([AuthorOut.example()]),
)
async def suggest_follows(request: Request[Caller]) -> Response:
    """Up to 8 accounts that the account follows, by the beginning of their user names: for an allowlist. Of whoever it
    does not follow nothing is told."""
    prefix = parse_query(request.query).get("prefix", "").removeprefix("@")
    if len(prefix) > LONGEST:
        raise _TOO_LONG
    if not _OF_NAMES.fullmatch(prefix):
        return json_response(SuggestionsOut([]))
    own = request.caller.account.id
    found = await request.db.read(suggest_followed, own, folded(prefix), looked_at=LOOKED_AT, limit=MOST)
    return json_response(SuggestionsOut([person_shape(each, request.settings.base_url) for each in found]))
