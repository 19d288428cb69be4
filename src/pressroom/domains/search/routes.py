"""Search over HTTP."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.media.urls import addresses_of
from pressroom.domains.posts.examples import POST_EXAMPLE
from pressroom.domains.posts.schemas import post_shape
from pressroom.domains.search.looking import search_posts
from pressroom.domains.search.schemas import LONGEST, PARAMETERS, SearchKind, SearchOut, read_asked
from pressroom.errors import Code, FieldError, Invalid
from pressroom.web.access import SessionOnly
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes, Tag

TAG = Tag("Search", "Posts by their words.")
routes: Final = Routes[Caller](TAG)


@routes.get(
    "/api/search",
    SessionOnly(),
    summary="Search",
    gives=SearchOut,
    fails=(Invalid([FieldError("q", Code.TOO_LONG, f"A search has at most {LONGEST} characters.")]),),
    paged=True,
    query=PARAMETERS,
    response_example=SearchOut(kind=SearchKind.POSTS, posts=[POST_EXAMPLE], next_cursor=None, complete=True),
)
async def search(request: Request[Caller]) -> Response:
    """Posts that the account may see, by their words: newest first, without plain bounces and those of muted accounts.
    Case and accents do not count. What is no operator is a word. A new post is found within 5 seconds. A search that
    takes too long ends early: `complete` is false, and `nextCursor` goes on from there."""
    asked = read_asked(request.query)
    found = await search_posts(request.db, asked.search, request.caller.account.id, asked.page.cursor, asked.page.limit)
    addresses, now = addresses_of(request), request.clock.now()
    posts = [post_shape(view, addresses, now) for view in found.posts]
    return json_response(SearchOut(kind=asked.kind, posts=posts, next_cursor=found.cursor, complete=found.is_complete))
