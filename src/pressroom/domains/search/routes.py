"""Search over HTTP."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.schemas import author_of
from pressroom.domains.hubs.schemas import hub_shape
from pressroom.domains.media.urls import addresses_of
from pressroom.domains.posts.examples import POST_EXAMPLE
from pressroom.domains.posts.schemas import post_shape
from pressroom.domains.search.names import search_hubs, search_people, search_tags
from pressroom.domains.search.posts import search_posts
from pressroom.domains.search.schemas import (
    LONGEST,
    PARAMETERS,
    Asked,
    FoundTagOut,
    SearchKind,
    SearchOut,
    cursor_of,
    read_asked,
)
from pressroom.errors import Code, FieldError, Invalid
from pressroom.web.access import SessionOnly
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes, Tag

TAG = Tag("Search", "Posts by their words; people, hubs and hashtags by the beginnings of their names.")
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
    """Posts that the account may see, by their words, newest first, without plain bounces and those of muted accounts;
    or people, hubs and hashtags by the beginnings of their names. Case and accents do not count. Text that is no
    operator is words. A new post is found within 5 seconds. A search that takes too long ends early: `complete` is
    false, and `nextCursor` goes on from there."""
    asked = read_asked(request.query)
    if asked.kind is not SearchKind.POSTS:
        return json_response(await search_names(request, asked))
    reader, page = request.caller.account.id, asked.page
    found = await search_posts(request.db, asked.search, reader, page.cursor, page.limit)
    addresses, now = addresses_of(request), request.clock.now()
    posts = [post_shape(view, addresses, now) for view in found.posts]
    return json_response(SearchOut(kind=asked.kind, posts=posts, next_cursor=found.cursor, complete=found.is_complete))


async def search_names(request: Request[Caller], asked: Asked) -> SearchOut:
    """Returns a page of people, hubs or hashtags as the caller sees them."""
    reader, limit, base_url = request.caller.account.id, asked.page.limit, request.settings.base_url
    result = SearchOut(kind=asked.kind, next_cursor=None, complete=True)
    match asked.kind:
        case SearchKind.PEOPLE:
            found = await search_people(request.db, asked.text, reader, asked.place, limit)
            result.people = [author_of(each.id, each, base_url) for each in found.found]
        case SearchKind.HUBS:
            found = await search_hubs(request.db, asked.text, reader, asked.place, limit)
            result.hubs = [hub_shape(each, base_url) for each in found.found]
        case _:
            found = await search_tags(request.db, asked.text, reader, asked.place, limit)
            result.tags = [FoundTagOut(each.word) for each in found.found]
    result.next_cursor, result.complete = cursor_of(found.place), found.is_complete
    return result
