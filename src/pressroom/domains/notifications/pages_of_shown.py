"""Pages of rows of which some are hidden, in a bounded number of rows (docs/people.md#notifications)."""

from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeVar

LOOKED_AT: Final = 500
"""Further rows that a page looks at when some of its rows are hidden."""


class Row(Protocol):
    """A row of a list that is ordered by its ids."""

    @property
    def id(self) -> str: ...

    @property
    def hidden(self) -> bool: ...


R = TypeVar("R", bound=Row)


async def read_shown(
    read: Callable[[str, int], Awaitable[list[R]]], before: str, limit: int
) -> tuple[list[R], str | None]:
    """Reads a page of the rows that are not hidden.

    Where many rows are hidden it is shorter than `limit`, or empty, although others follow: however many there are,
    no more than LOOKED_AT beside those of a page are read.

    Args:
        read: Returns so many rows with ids before this one, newest first, hidden ones too.
        before: The id below which the page begins.
        limit: How many rows the page has at the most.

    Returns: The rows, and the id below which the next page begins; None: this is the last.
    """
    shown: list[R] = []
    for most in (limit + 1, LOOKED_AT):
        found = await read(before, most)
        shown += [row for row in found if not row.hidden]
        if len(shown) > limit:
            return shown[:limit], shown[limit - 1].id if limit else before
        if len(found) < most:
            return shown, None
        before = found[-1].id
    return shown, before
