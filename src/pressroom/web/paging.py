"""Pages of lists: the parameters `limit` (1 to 100; 20 if absent) and `cursor`, and `nextCursor` in the response."""

import re
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final, TypeVar, TypeVarTuple

import msgspec

from pressroom.db import Tx
from pressroom.errors import Code, FieldError, Invalid
from pressroom.ids import BEYOND
from pressroom.web.query import parse_query, whole_number
from pressroom.web.request import Request

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_CURSOR: Final = re.compile(r"[0-9A-Z]{26}")
ID_PATTERN: Final = f"^{_CURSOR.pattern}$"
"""The pattern of an id, for schemas."""


class Page(msgspec.Struct, frozen=True):
    """A page of a list: up to `limit` items that follow the `cursor`; without one, from the beginning."""

    limit: int
    cursor: str | None = None

    @property
    def before(self) -> str:
        """In a list with the newest item first: all items of the page have smaller ids than this."""
        return self.cursor or BEYOND

    @property
    def after(self) -> str:
        """In a list with the oldest item first: all items of the page have greater ids than this."""
        return self.cursor or ""


def read_page(query: str) -> Page:
    """Returns the page that a query string asks for. Raises Invalid with everything that is wrong."""
    given = parse_query(query)
    field_errors: list[FieldError] = []
    limit, cursor = whole_number(given, "limit", 20, 1, 100, field_errors), given.get("cursor")
    field_errors += cursor_field_errors(cursor)
    if field_errors:
        raise Invalid(field_errors)
    return Page(limit, cursor)


def cursor_field_errors(cursor: str | None) -> list[FieldError]:
    """The error of a wrong cursor."""
    if cursor is None or _CURSOR.fullmatch(cursor):
        return []
    return [FieldError("cursor", Code.INVALID_FORMAT, "Use the nextCursor of the page before, unchanged.")]


def is_id(text: str) -> bool:
    """Returns whether a text has the shape of an id."""
    return _CURSOR.fullmatch(text) is not None


def shown_id_errors(field: str, given: str | None) -> Iterator[FieldError]:
    """Yields an error when the name of an entry of a list is no id. Compared with ids, another text would
    stand before or after all of them: `zz` as the last one shown would mean everything.
    """
    if given is not None and not is_id(given):
        yield FieldError(field, Code.INVALID_FORMAT, "Must be an id that the list showed, unchanged.")


def place_of(query: str, name: str = "before", form: re.Pattern[str] = _CURSOR) -> str | None:
    """Returns where the page that a query string asks for begins; None for the first page.

    Args:
        query: The query string of the page's address.
        name: The parameter that holds the place.
        form: The pattern of a place: an id, unless it is given.

    Raises:
        Invalid: The parameter holds something else.
    """
    given = parse_query(query).get(name)
    if given is None or form.fullmatch(given):
        return given
    message = "This is no place in the list: begin at its first page, and follow its links."
    raise Invalid([FieldError(name, Code.INVALID_FORMAT, message)])


def split(rows: list[T], page: Page, key: Callable[[T], str]) -> tuple[list[T], str | None]:
    """Returns the rows of a page and the next cursor, given rows that were read with one more than the limit.

    `key` returns the cursor that stands for a row.
    """
    if len(rows) <= page.limit:
        return rows, None
    return rows[: page.limit], key(rows[page.limit - 1])


async def read_paged(
    request: Request[Any],
    key: Callable[[T], str],
    action: Callable[[Tx, *Ts, str, int], Awaitable[list[T]]],
    *args: *Ts,
    page: Page | None = None,
    oldest_first: bool = False,
) -> tuple[list[T], str | None]:
    """Reads a page of a list, and returns its rows and the next cursor.

    Args:
        request: The request for it.
        key: Returns the cursor that stands for a row.
        action: Takes `args`, the id before or after which the page begins, and how many rows to return at most.
        args: The first arguments of the action.
        page: Unless given, the page that the request's query string asks for.
        oldest_first: Whether the list begins with the oldest item.

    Raises:
        Invalid: The query string asks for a wrong page.
    """
    page = page or read_page(request.query)
    rows = await request.db.read(action, *args, page.after if oldest_first else page.before, page.limit + 1)
    return split(rows, page, key)
