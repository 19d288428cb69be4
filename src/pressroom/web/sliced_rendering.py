"""Renders pages in slices, so that other requests wait for one slice and never for a whole page."""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Final

SLICE: Final = 2_048
"""Characters of HTML in a slice, which takes 0.25 to 1 ms to render."""


class Slices:
    """Renders a slice at a time and gives way after each: requests come in turn (docs/architecture.md#fairness)."""

    async def join(self, pieces: Iterable[str]) -> str:
        """Returns all pieces joined. None of them may take long to make by itself."""
        remaining, done = iter(pieces), list[str]()
        while _take(remaining, done):
            await asyncio.sleep(0)
        return "".join(done)


def _take(pieces: Iterator[str], done: list[str]) -> bool:
    """Appends one slice of the pieces to `done`. Returns whether there may be more."""
    size = 0
    for piece in pieces:
        done.append(piece)
        size += len(piece)
        if size >= SLICE:
            return True
    return False
