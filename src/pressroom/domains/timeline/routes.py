"""The timeline over HTTP."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.media.urls import addresses_of
from pressroom.domains.posts.examples import POST_EXAMPLE
from pressroom.domains.timeline.actions import count_new, get_recent, read_timeline
from pressroom.domains.timeline.schemas import EntryKind, EntryOut, NewEntriesOut, TimelineOut, entry_shape
from pressroom.errors import Code, FieldError, Invalid
from pressroom.web.access import SessionOnly
from pressroom.web.paging import is_id, read_page
from pressroom.web.query import parse_query
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import QueryParameter, Routes, Tag

TAG = Tag("Timeline", "Posts of followed accounts and joined hubs.")
routes: Final = Routes[Caller](TAG)

_NO_PLACE: Final = Invalid(
    [FieldError("after", Code.INVALID_FORMAT, "Give the id of the newest entry that was shown.")]
)


@routes.get(
    "/api/timeline",
    SessionOnly(),
    summary="Read the timeline",
    gives=TimelineOut,
    paged=True,
    response_example=TimelineOut([EntryOut(EntryKind.POST, POST_EXAMPLE.id, post=POST_EXAMPLE)], None),
)
async def show_timeline(request: Request[Caller]) -> Response:
    """Posts, bounces and clips of followed accounts, the account's own, and those in hubs that it joined, newest first,
    as far as it may see them now. A post and its bounces stand once in a page. Muted accounts and posts that match a
    word filter are left out, so a page may have fewer than `limit` entries, or none, although others follow."""
    page, account = read_page(request.query), request.caller.account
    found = await request.db.read(read_timeline, account.id, account.total_following, page.before, page.limit)
    addresses, now = addresses_of(request), request.clock.now()
    return json_response(TimelineOut([entry_shape(each, addresses, now) for each in found.entries], found.next_page))


@routes.get(
    "/api/timeline/new",
    SessionOnly(),
    summary="Count new entries",
    gives=NewEntriesOut,
    fails=(_NO_PLACE,),
    query=(QueryParameter("after", "The id of the newest entry that was shown.", {"type": "string", "maxLength": 26}),),
    response_example=NewEntriesOut(3, POST_EXAMPLE.id),
)
async def count_new_entries(request: Request[Caller]) -> Response:
    """The number of entries that came since `after`. It is cheap while nothing is new. While the count is 0, the next
    request gives the `after` of the answer."""
    after, account = parse_query(request.query).get("after", ""), request.caller.account
    if not is_id(after):
        raise _NO_PLACE
    recent = await get_recent(request.db, account.id, after)
    if not recent.looked_at:
        return json_response(NewEntriesOut(0, after))
    count, looked_to = await request.db.read(count_new, account.id, account.total_following, after, recent)
    return json_response(NewEntriesOut(count, looked_to))
