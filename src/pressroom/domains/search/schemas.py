"""Wire shapes of the search, and its query string."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from pressroom.domains.posts.schemas import PostOut
from pressroom.domains.search.models import Search, parse_search
from pressroom.errors import Code, FieldError, Invalid
from pressroom.text import normalise
from pressroom.web.paging import Page, read_page
from pressroom.web.query import parse_query
from pressroom.web.routing import QueryParameter

LONGEST: Final = 200
"""Characters of a search."""


class SearchKind(StrEnum):
    """What is searched for."""

    POSTS = "posts"


PARAMETERS: Final = (
    QueryParameter(
        "q",
        'The search: words, `"phrases"`, `-without`, and of posts the operators `from:name`, `#tag`,'
        " `has:media|link|poll`, `since:2026-11-20`, `until:2026-11-20`. Required.",
        {"type": "string", "minLength": 1, "maxLength": LONGEST},
    ),
    QueryParameter(
        "kind", "What is searched for.", {"type": "string", "enum": list(SearchKind), "default": SearchKind.POSTS}
    ),
)


class SearchOut(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """A page of results, in the list of their kind."""

    kind: SearchKind
    posts: Annotated[list[PostOut] | None, Meta(description="Newest first.")] = None
    next_cursor: Annotated[str | None, Meta(description="The cursor of the next page; null on the last.")]
    complete: Annotated[
        bool, Meta(description="False when the time of the search was used up: `nextCursor` goes on from there.")
    ]


class Asked(msgspec.Struct):
    """What a query string asks for. `search` is that of posts."""

    kind: SearchKind
    text: str
    search: Search
    page: Page


def read_asked(query: str) -> Asked:
    """Returns what a query string asks for. Raises Invalid with everything that is wrong."""
    given = parse_query(query)
    field_errors: list[FieldError] = []
    page = Page(1)
    try:
        page = read_page(query)
    except Invalid as invalid:
        field_errors += invalid.field_errors
    kind = given.get("kind", SearchKind.POSTS)
    if kind not in tuple(SearchKind):
        field_errors.append(FieldError("kind", Code.INVALID_CHOICE, f"Must be one of {', '.join(SearchKind)}."))
    text = _text(given, field_errors)
    search = parse_search(text)
    if text and search.is_empty:
        field_errors.append(FieldError("q", Code.TOO_SHORT, "This holds no word: give letters or digits."))
    if field_errors:
        raise Invalid(field_errors)
    return Asked(SearchKind(kind), text, search, page)


def _text(given: Mapping[str, str], field_errors: list[FieldError]) -> str:
    """Returns the text of a search; empty, with an error, when there is none or too much."""
    text = normalise(given.get("q", "")[: LONGEST * 5])
    if not text:
        field_errors.append(FieldError("q", Code.REQUIRED, "Give the words to look for."))
    elif len(text) > LONGEST:
        field_errors.append(FieldError("q", Code.TOO_LONG, f"A search has at most {LONGEST} characters."))
        return ""
    return text
