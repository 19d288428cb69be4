"""Wire shapes of the search, and its query string."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from pressroom.domains.accounts.schemas import AuthorOut
from pressroom.domains.hubs.schemas import HubOut
from pressroom.domains.posts.schemas import PostOut
from pressroom.domains.search.models import Search, parse_search
from pressroom.domains.search.names import Place, hub_prefixes, people_prefixes, tag_prefix
from pressroom.errors import Code, FieldError, Invalid
from pressroom.text import normalise
from pressroom.web.paging import Page, cursor_field_errors, read_page
from pressroom.web.query import parse_query
from pressroom.web.routing import QueryParameter
from pressroom.web.wire import NextCursor

LONGEST: Final = 200
"""Characters of a search."""

MOST_WORDS: Final = 24
"""Words of a search for posts. SQLite compares the places of all of them in each post that has them, in one step."""

LONGEST_CURSOR: Final = 2_000


class SearchKind(StrEnum):
    """The kind of results of a search."""

    POSTS = "posts"
    PEOPLE = "people"
    HUBS = "hubs"
    TAGS = "tags"


PARAMETERS: Final = (
    QueryParameter(
        "q",
        'The search, required. Of posts: words, `"phrases"`, `-without`, `from:name`, `#tag`, `has:media|link|poll`,'
        " `since:2026-11-20`, `until:2026-11-20`. Otherwise: the beginnings of names.",
        {"type": "string", "minLength": 1, "maxLength": LONGEST},
    ),
    QueryParameter(
        "kind", "The kind of results.", {"type": "string", "enum": list(SearchKind), "default": SearchKind.POSTS}
    ),
)


class FoundTagOut(msgspec.Struct):
    """A hashtag."""

    name: Annotated[str, Meta(description="Its identity: normalised and in lower case, without the sign.")]


class SearchOut(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """A page of results, in the list of their kind."""

    kind: SearchKind
    posts: Annotated[list[PostOut] | None, Meta(description="Newest first.")] = None
    people: Annotated[list[AuthorOut] | None, Meta(description="In alphabetical order.")] = None
    hubs: Annotated[list[HubOut] | None, Meta(description="In alphabetical order.")] = None
    tags: Annotated[list[FoundTagOut] | None, Meta(description="In alphabetical order.")] = None
    next_cursor: NextCursor
    complete: Annotated[
        bool, Meta(description="False when the time of the search was used up: `nextCursor` goes on from there.")
    ]


class Asked(msgspec.Struct):
    """A parsed query string. `search` is that of posts; the page begins at `page.cursor` or `place`."""

    kind: SearchKind
    text: str
    search: Search
    page: Page
    place: Place | None


def read_asked(query: str) -> Asked:
    """Parses a query string. Raises Invalid with all of its faults."""
    given = parse_query(query)
    field_errors: list[FieldError] = []
    kind = given.get("kind", SearchKind.POSTS)
    if kind not in tuple(SearchKind):
        field_errors.append(FieldError("kind", Code.INVALID_CHOICE, f"Must be one of {', '.join(SearchKind)}."))
        kind = SearchKind.POSTS
    page, place = _page(query, given.get("cursor"), SearchKind(kind), field_errors)
    text = _text(given, field_errors)
    search = parse_search(text)
    if text and not _has_word(text, SearchKind(kind), search):
        field_errors.append(FieldError("q", Code.TOO_SHORT, "This holds no word: give letters or digits."))
    if kind == SearchKind.POSTS and search.words > MOST_WORDS:
        message = f"A search has at most {MOST_WORDS} words; this has {search.words}."
        field_errors.append(FieldError("q", Code.TOO_MANY, message))
    if field_errors:
        raise Invalid(field_errors)
    return Asked(SearchKind(kind), text, search, page, place)


def cursor_of(place: Place | None) -> str | None:
    """Returns the cursor of a place among names."""
    return None if place is None else urlsafe_b64encode(msgspec.json.encode(place)).decode().rstrip("=")


def _page(
    query: str, cursor: str | None, kind: SearchKind, field_errors: list[FieldError]
) -> tuple[Page, Place | None]:
    """Returns the page of a query string, and adds its faults. The cursor of posts is an id, that of names a place."""
    page, place = Page(1), None
    try:
        page = read_page(query)
    except Invalid as invalid:
        names = kind is not SearchKind.POSTS
        field_errors += [each for each in invalid.field_errors if not (names and each.field == "cursor")]
        if not any(each.field == "limit" for each in invalid.field_errors):
            page = Page(int(parse_query(query).get("limit", "20")))
    if kind is not SearchKind.POSTS and cursor is not None:
        place = _place(cursor)
        if place is None:
            field_errors += cursor_field_errors("")
    return page, place


def _place(cursor: str) -> Place | None:
    """Returns the place that a cursor names; None for a wrong one."""
    try:
        raw = urlsafe_b64decode(cursor[:LONGEST_CURSOR].encode("ascii") + b"==")
        word, id_ = msgspec.json.decode(raw, type=Place)
    except (ValueError, binascii.Error, msgspec.MsgspecError):
        return None
    return None if "\0" in word + id_ else (word, id_)


def _text(given: Mapping[str, str], field_errors: list[FieldError]) -> str:
    """Returns the text of a search; empty, with an error, when there is none or too much."""
    text = normalise(given.get("q", "")[: LONGEST * 5])
    if not text:
        field_errors.append(FieldError("q", Code.REQUIRED, "Give the words to look for."))
    elif len(text) > LONGEST:
        field_errors.append(FieldError("q", Code.TOO_LONG, f"A search has at most {LONGEST} characters."))
        return ""
    return text


def _has_word(text: str, kind: SearchKind, search: Search) -> bool:
    match kind:
        case SearchKind.POSTS:
            return not search.is_empty
        case SearchKind.PEOPLE:
            return bool(people_prefixes(text))
        case SearchKind.HUBS:
            return bool(hub_prefixes(text))
        case SearchKind.TAGS:
            return bool(tag_prefix(text))
