"""Long work on the event loop in slices, so that nobody waits for the whole of it."""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Final

SLICE: Final = 4_096
"""Characters of HTML in a slice: half a millisecond to two of rendering."""


class Slices:
    """Renders pages a slice at a time: one slice of one page in each round of the event loop, the pages in turn.

    So a request that is no page waits for one slice, however many pages are asked for and however dense they are.
    """

    def __init__(self) -> None:
        self._slot = asyncio.Lock()

    async def join(self, pieces: Iterable[str]) -> str:
        """All pieces together. None of them may itself take long to make."""
        remaining, done = iter(pieces), list[str]()
        more = True
        while more:
            async with self._slot:  # It lets those who wait go on in their order.
                more = _take(remaining, done)
                await asyncio.sleep(0)
        return "".join(done)


def _take(pieces: Iterator[str], done: list[str]) -> bool:
    """Adds one slice of the pieces to what is done; whether there may be more."""
    size = 0
    for piece in pieces:
        done.append(piece)
        size += len(piece)
        if size >= SLICE:
            return True
    return False
