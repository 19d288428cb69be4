"""The page of the search (docs/web-app.md#search)."""

from typing import Final
from urllib.parse import urlencode

from pressroom.domains.accounts.models import Caller
from pressroom.domains.reading.actions import PostPage
from pressroom.domains.reading.rendering import given, posts_values, reader_id, reading_page
from pressroom.domains.search.posts import PATIENCE, search_posts
from pressroom.domains.search.routes import search_names
from pressroom.domains.search.schemas import Asked, SearchKind, read_asked
from pressroom.errors import Invalid
from pressroom.text import normalise
from pressroom.web.access import Page
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()

SEARCH: Final = "/search"


@routes.get(SEARCH, Page(), summary="Search")
async def show_search(request: Request[Caller]) -> Response:
    """Renders the field of the search and, once it holds something, the results."""
    text, kind = normalise(given(request, "q")), given(request, "kind")
    values: dict[str, object] = {"text": text, "kind": kind, "problem": "", "robots": "noindex", "count": 0}
    if not text:
        return await reading_page(request, "search/search.html", {**values, "kind": SearchKind.POSTS})
    try:
        asked = read_asked(request.query)
    except Invalid as invalid:
        problems = [each.message for each in invalid.field_errors if each.field == "q"]
        if len(problems) < len(invalid.field_errors):
            raise
        return await reading_page(request, "search/search.html", {**values, "problem": problems[0]})
    return await reading_page(request, "search/search.html", values | await _results(request, asked))


async def _results(request: Request[Caller], asked: Asked) -> dict[str, object]:
    """Returns the values of the template for a page of results."""
    here = f"{SEARCH}?{urlencode({'q': asked.text, 'kind': asked.kind})}"
    cursor = given(request, "cursor")
    values: dict[str, object] = {"kind": asked.kind, "first_page": here if cursor else None}
    if asked.kind is SearchKind.POSTS:
        reader, page = reader_id(request), asked.page
        found = await search_posts(request.db, asked.search, reader, page.cursor, page.limit, budget=PATIENCE)
        shown = posts_values(request, PostPage(found.posts, None), here)
        values = shown | values | {"count": len(found.posts), "complete": found.is_complete}
        next_cursor = found.cursor
    else:
        result = await search_names(request, asked)
        names = result.people or result.hubs or result.tags or []
        values |= {"names": names, "count": len(names), "complete": result.complete}
        next_cursor = result.next_cursor
    values["next_page"] = f"{here}&{urlencode({'cursor': next_cursor})}" if next_cursor else None
    return values
